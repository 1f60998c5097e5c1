import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { ConnectionTest, ManufacturerBody, PluginBody } from '../../../src/contract/manufacturers.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { useRequest, useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { DataTable } from '../../parts/tables/data-table.tsx'
import './manufacturers.css'
import '../../parts/tables/records.css'
import { t } from '../../app/i18n.ts'
import { ActionDialog, Dialog, DialogEnd, Removal } from '../../parts/dialogs/dialog.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { displayName, manufacturersPath } from '../../parts/equipment/manufacturer-names.tsx'
import { AddForm } from './add-form.tsx'
import { TestResult } from './connection-test.tsx'
import { isEnabled, type ManufacturerActions, manufacturerColumns } from './manufacturer-columns.tsx'
import { ManufacturerForm } from './manufacturer-form.tsx'

const topics = ['settings', 'source', 'queue'] as const

export function Manufacturers() {
  const resource = useResource(manufacturersPath, 'list', topics)
  const plugins = useResource('/api/admin/plugins/', 'list').body ?? []
  return (
    <Shell title={t('manufacturers.title')} intro={t('manufacturers.intro')}>
      <Loaded resource={resource}>
        {(records) => <List records={records} plugins={plugins} onDone={resource.reload} />}
      </Loaded>
    </Shell>
  )
}

/** Fixed when the dialog opens, because later refreshes must not change it. */
type DialogState =
  | { readonly kind: 'add' }
  | { readonly kind: 'edit' | 'test' | 'disable' | 'remove'; readonly record: ManufacturerBody }

interface ListProps {
  readonly records: readonly ManufacturerBody[]
  readonly plugins: readonly PluginBody[]
  onDone(): Promise<void>
}

function List({ records, plugins, onDone }: ListProps) {
  const mayAdminister = useMay('administer')
  const mayScan = useMay('operate')
  const [dialog, setDialog] = useState<DialogState | null>(null)
  const enable = useEnable(onDone)
  const actions: ManufacturerActions = {
    edit: (record) => setDialog({ kind: 'edit', record }),
    test: (record) => setDialog({ kind: 'test', record }),
    remove: (record) => setDialog({ kind: 'remove', record }),
    toggle: (record) => (isEnabled(record) ? setDialog({ kind: 'disable', record }) : void enable(record)),
  }
  return (
    <>
      <div className="list-actions">
        {mayAdminister ? (
          <button
            type="button"
            className="choice"
            data-tone="usual"
            disabled={plugins.length === 0}
            onClick={() => setDialog({ kind: 'add' })}
          >
            {t('manufacturers.add')}
          </button>
        ) : (
          <p>{t('shell.requires.admin')}</p>
        )}
        {mayScan ? (
          <Link className="choice" to={pathOf('find')}>
            {t('shell.pages.find.title')}
          </Link>
        ) : null}
      </div>
      {records.length > 0 ? (
        <DataTable
          caption={t('manufacturers.list')}
          columns={manufacturerColumns(mayAdminister ? actions : null)}
          rows={records}
          idOf={({ code }) => code}
        />
      ) : (
        <Empty title={t('manufacturers.none')}>
          <p>{t('manufacturers.noneNext')}</p>
        </Empty>
      )}
      {dialog === null ? null : (
        <OpenDialog
          dialog={dialog}
          records={records}
          plugins={plugins}
          onDone={onDone}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  )
}

function useEnable(onDone: () => Promise<void>) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  return async (record: ManufacturerBody) => {
    const body = { api_enabled: true, ...(record.config.enabled === false && { config: { enabled: true } }) }
    const response = await api.write('PATCH', `${manufacturersPath}${record.code}/`, body, 'object')
    await onDone()
    if (response.ok) showMessage({ text: t('manufacturers.enable.enabled', { name: displayName(record) }) })
    else showMessage({ text: response.problem.detail, tone: 'alarm' })
  }
}

interface OpenDialogProps extends ListProps {
  readonly dialog: DialogState
  onClose(): void
}

function OpenDialog({ dialog, records, plugins, onDone, onClose }: OpenDialogProps) {
  const showMessage = useShowMessage()
  const finish = (text: string) => {
    onClose()
    showMessage({ text })
    void onDone()
  }
  switch (dialog.kind) {
    case 'add':
      return (
        <Dialog title={t('manufacturers.add')} onClose={onClose}>
          <AddForm
            {...{ records, plugins, onClose }}
            onDone={(name) => finish(t('manufacturers.added', { name: plainText(name) }))}
          />
        </Dialog>
      )
    case 'edit':
      return (
        <ManufacturerForm
          record={dialog.record}
          plugins={plugins}
          onDone={(stored) => finish(t('manufacturers.saved', { name: displayName(stored) }))}
          onClose={onClose}
        />
      )
    case 'test':
      return <TestDialog record={dialog.record} onClose={onClose} />
    case 'disable':
      return <DisableQuestion record={dialog.record} onDone={onDone} onClose={onClose} />
    case 'remove':
      return <RemovalQuestion record={dialog.record} onDone={onDone} onClose={onClose} />
    default:
      return dialog satisfies never
  }
}

interface DialogProps {
  readonly record: ManufacturerBody
  onClose(): void
}

/** Tests the connection when it opens. */
function TestDialog({ record, onClose }: DialogProps) {
  const { api } = useServices()
  const { send, problem } = useRequest()
  const [tested, setTested] = useState<ConnectionTest | null>(null)
  const { code } = record
  useEffect(() => {
    void send(() => api.write('POST', `${manufacturersPath}${code}/test`, undefined, 'object')).then((response) => {
      if (response?.ok) setTested(response.body)
    })
  }, [api, send, code])
  return (
    <Dialog title={t('manufacturers.test.result', { name: displayName(record) })} onClose={onClose}>
      <div className="dialog-text">
        {tested === null && problem === null ? <p role="status">{t('manufacturers.test.testing')}</p> : null}
        {tested === null ? null : <TestResult tested={tested} />}
        {problem === null ? null : <ProblemLine problem={problem} field={problem.field} />}
      </div>
      <DialogEnd text={t('parts.dialog.close')} onClose={onClose} />
    </Dialog>
  )
}

interface QuestionProps extends DialogProps {
  onDone(): Promise<void>
}

function DisableQuestion({ record, ...kind }: QuestionProps) {
  const { api } = useServices()
  return (
    <ActionDialog
      {...kind}
      title={t('manufacturers.enable.question', { name: displayName(record) })}
      action={t('manufacturers.enable.action')}
      tone="usual"
      done={t('manufacturers.enable.disabled', { name: displayName(record) })}
      write={() => api.write('PATCH', `${manufacturersPath}${record.code}/`, { api_enabled: false }, 'object')}
    >
      <p>{t('manufacturers.enable.consequence')}</p>
    </ActionDialog>
  )
}

function RemovalQuestion({ record, ...kind }: QuestionProps) {
  return (
    <Removal
      {...kind}
      title={t('manufacturers.removal.question', { name: displayName(record) })}
      action={t('manufacturers.removal.text')}
      done={t('manufacturers.removal.done', { name: displayName(record) })}
      path={`${manufacturersPath}${record.code}/`}
    >
      <p>{t('manufacturers.removal.consequence')}</p>
    </Removal>
  )
}
