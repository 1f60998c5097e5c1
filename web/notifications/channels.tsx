import { useState } from 'react'
import type { NotificationChannelBody, NotificationRuleBody } from '../../src/contract/notifications.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { useLastDeliveries } from '../parts/last-deliveries.ts'
import { Loaded } from '../parts/loaded.tsx'
import { useShowMessage } from '../parts/messages.tsx'
import { channelsPath, notificationTopics, rulesPath } from './addresses.ts'
import { type ChannelActions, channelColumns } from './channel-columns.tsx'
import { RemovalQuestion, RotationQuestion, TestDialog } from './channel-dialogs.tsx'
import { ChannelForm } from './channel-form.tsx'
import { type NewSecret, SecretOnce } from './secret-once.tsx'

export function Channels() {
  const channels = useResource(channelsPath, 'list', notificationTopics)
  const rules = useResource(rulesPath, 'list', notificationTopics)
  const reload = async () => {
    await Promise.all([channels.reload(), rules.reload()])
  }
  return (
    <Loaded resource={channels}>{(records) => <List channels={records} rules={rules.body} onDone={reload} />}</Loaded>
  )
}

/** Fixed when the dialog opens, because later refreshes must not change it. */
type DialogState =
  | { readonly kind: 'add' }
  | { readonly kind: 'edit' | 'test' | 'rotate' | 'remove'; readonly channel: NotificationChannelBody }

interface ListProps {
  readonly channels: readonly NotificationChannelBody[]
  readonly rules: readonly NotificationRuleBody[] | null
  onDone(): Promise<void>
}

function List({ channels, rules, onDone }: ListProps) {
  const mayAdminister = useMay('administer')
  const [dialog, setDialog] = useState<DialogState | null>(null)
  const [newSecret, setNewSecret] = useState<NewSecret | null>(null)
  const last = useLastDeliveries(channels)
  const enable = useEnable(onDone)
  const ask = (kind: 'edit' | 'test' | 'rotate' | 'remove') => (channel: NotificationChannelBody) =>
    setDialog({ kind, channel })
  const actions: ChannelActions = {
    ...{ test: ask('test'), edit: ask('edit'), rotate: ask('rotate'), remove: ask('remove') },
    toggle: (channel) => void enable(channel, !channel.enabled),
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
      {channels.length > 0 ? (
        <DataTable
          caption={t('notifications.channels.list')}
          columns={channelColumns({ rules, lastDeliveries: last.byChannel, actions: mayAdminister ? actions : null })}
          rows={channels}
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
  return async function enable(channel: NotificationChannelBody, enabled: boolean): Promise<void> {
    const response = await api.write('PATCH', `${channelsPath}${channel.id}/`, { enabled }, 'object')
    await onDone()
    const name = plainText(channel.name)
    if (!response.ok) showMessage({ text: response.problem.detail, tone: 'alarm' })
    else if (enabled) showMessage({ text: t('notifications.channels.enabled', { name }) })
    else showMessage({ text: t('notifications.channels.disabled', { name }), undo: () => enable(channel, true) })
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
      return <ChannelForm channel={null} {...{ onSecret, onDone, onClose }} />
    case 'edit':
      return <ChannelForm channel={dialog.channel} {...{ onSecret, onDone, onClose }} />
    case 'test':
      return <TestDialog channel={dialog.channel} {...{ onDone, onClose }} />
    case 'rotate':
      return <RotationQuestion channel={dialog.channel} {...{ onSecret, onDone, onClose }} />
    case 'remove':
      return <RemovalQuestion channel={dialog.channel} {...{ rules, onDone, onClose }} />
    default:
      return dialog satisfies never
  }
}
