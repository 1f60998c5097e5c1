import { useState } from 'react'
import type { NotificationChannelBody, NotificationRuleBody } from '../../src/contract/notifications.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notificationTopics, notifiersPath, rulesPath, useLastDeliveries } from '../parts/notifiers.ts'
import { DataTable } from '../parts/tables/data-table.tsx'
import { type NotifierActions, notifierColumns } from './notifier-columns.tsx'
import { RemovalQuestion, RotationQuestion, TestDialog } from './notifier-dialogs.tsx'
import { NotifierForm } from './notifier-form.tsx'
import { type NewSecret, SecretOnce } from './secret-once.tsx'
import { SubscribeDialog } from './subscribe-dialog.tsx'

export function Notifiers() {
  const notifiers = useResource(notifiersPath, 'list', notificationTopics)
  const rules = useResource(rulesPath, 'list', notificationTopics)
  const reload = async () => {
    await Promise.all([notifiers.reload(), rules.reload()])
  }
  return (
    <Loaded resource={notifiers}>{(records) => <List notifiers={records} rules={rules.body} onDone={reload} />}</Loaded>
  )
}

type DialogKind = 'edit' | 'test' | 'rotate' | 'subscribe' | 'remove'

/** Fixed when the dialog opens, because later refreshes must not change it. */
type DialogState = { readonly kind: 'add' } | { readonly kind: DialogKind; readonly notifier: NotificationChannelBody }

interface ListProps {
  readonly notifiers: readonly NotificationChannelBody[]
  readonly rules: readonly NotificationRuleBody[] | null
  onDone(): Promise<void>
}

function List({ notifiers, rules, onDone }: ListProps) {
  const mayAdminister = useMay('administer')
  const [dialog, setDialog] = useState<DialogState | null>(null)
  const [newSecret, setNewSecret] = useState<NewSecret | null>(null)
  const last = useLastDeliveries(notifiers)
  const enable = useEnable(onDone)
  const ask = (kind: DialogKind) => (notifier: NotificationChannelBody) => setDialog({ kind, notifier })
  const actions: NotifierActions = {
    ...{ test: ask('test'), edit: ask('edit'), rotate: ask('rotate') },
    ...{ subscribe: ask('subscribe'), remove: ask('remove') },
    toggle: (notifier) => void enable(notifier, !notifier.enabled),
  }
  return (
    <>
      {newSecret === null ? null : <SecretOnce newSecret={newSecret} onDismiss={() => setNewSecret(null)} />}
      <div className="list-actions">
        {mayAdminister ? (
          <button type="button" className="choice" data-tone="usual" onClick={() => setDialog({ kind: 'add' })}>
            {t('notifications.channels.add')}
          </button>
        ) : (
          <p>{t('shell.requires.admin')}</p>
        )}
      </div>
      {notifiers.length > 0 ? (
        <DataTable
          caption={t('notifications.channels.list')}
          columns={notifierColumns({ rules, lastDeliveries: last.byNotifier, actions: mayAdminister ? actions : null })}
          rows={notifiers}
          idOf={({ id }) => id}
        />
      ) : (
        <Empty title={t('notifications.channels.none')}>
          <p>{t('notifications.channels.noneNext')}</p>
        </Empty>
      )}
      {dialog === null ? null : (
        <OpenDialog
          dialog={dialog}
          rules={rules ?? []}
          onSecret={setNewSecret}
          onDone={async () => {
            await Promise.all([onDone(), last.reload()])
          }}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  )
}

function useEnable(onDone: () => Promise<void>) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  return async function enable(notifier: NotificationChannelBody, enabled: boolean): Promise<void> {
    const response = await api.write('PATCH', `${notifiersPath}${notifier.id}/`, { enabled }, 'object')
    await onDone()
    const name = plainText(notifier.name)
    if (!response.ok) showMessage({ text: response.problem.detail, tone: 'alarm' })
    else if (enabled) showMessage({ text: t('notifications.channels.enabled', { name }) })
    else showMessage({ text: t('notifications.channels.disabled', { name }), undo: () => enable(notifier, true) })
  }
}

interface OpenDialogProps {
  readonly dialog: DialogState
  readonly rules: readonly NotificationRuleBody[]
  onSecret(secret: NewSecret): void
  onDone(): Promise<void>
  onClose(): void
}

function OpenDialog({ dialog, rules, onSecret, onDone, onClose }: OpenDialogProps) {
  switch (dialog.kind) {
    case 'add':
      return <NotifierForm notifier={null} {...{ onSecret, onDone, onClose }} />
    case 'edit':
      return <NotifierForm notifier={dialog.notifier} {...{ onSecret, onDone, onClose }} />
    case 'test':
      return <TestDialog notifier={dialog.notifier} {...{ onDone, onClose }} />
    case 'rotate':
      return <RotationQuestion notifier={dialog.notifier} {...{ onSecret, onDone, onClose }} />
    case 'subscribe':
      return <SubscribeDialog notifier={dialog.notifier} onClose={onClose} />
    case 'remove':
      return <RemovalQuestion notifier={dialog.notifier} {...{ rules, onDone, onClose }} />
    default:
      return dialog satisfies never
  }
}
