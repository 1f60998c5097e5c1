/** Lists the actions of all users that can be undone. */

import { useServices } from '../../app/context.ts'
import { formatDateTime, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import type { Received } from '../../app/operations.ts'
import { useRequest, useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { actionName } from '../../parts/action-name.ts'
import { Ago } from '../../parts/age.tsx'
import { formatSlots } from '../../parts/channels/slots.ts'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import '../../parts/tables/records.css'

type Action = Received<'GET', '/api/undo/', 'list'>[number]

const topics = ['slots', 'slot_records', 'placeholders', 'groups', 'performers', 'assignments', 'show'] as const

export function Undo() {
  const { api } = useServices()
  const mayOperate = useMay('operate')
  const showMessage = useShowMessage()
  const actions = useResource('/api/undo/', 'list', topics)
  const { send, isSending, problem } = useRequest()
  const undo = async ({ id, what }: Action) => {
    const response = await send(() => api.write('POST', `/api/undo/${id}`, undefined, 'object'))
    if (response?.ok) showMessage({ text: t('undo.done', { action: actionName(what) }) })
    await actions.reload()
  }
  const button: Column<Action> = {
    key: 'undo',
    title: t('parts.messages.undo'),
    cell: (action) => (
      <button type="button" className="choice" disabled={isSending} onClick={() => void undo(action)}>
        {t('parts.messages.undo')}
        <span className="visually-hidden"> {actionName(action.what)}</span>
      </button>
    ),
  }
  return (
    <Shell title={t('undo.title')} intro={t('undo.intro')}>
      {problem === null ? null : <ProblemLine problem={problem} />}
      <Loaded resource={actions}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t('undo.none')}>
              <p>{t('undo.noneNext')}</p>
            </Empty>
          ) : (
            <DataTable
              caption={t('undo.title')}
              columns={mayOperate ? [...columns, button] : columns}
              rows={rows}
              idOf={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Shell>
  )
}

const columns: readonly Column<Action>[] = [
  {
    key: 'at',
    title: t('audit.columns.at'),
    cell: ({ at }) => (
      <span className="stacked">
        <span>{formatDateTime(at)}</span>
        <small>
          <Ago at={at} />
        </small>
      </span>
    ),
  },
  { key: 'by', title: t('audit.columns.actor'), cell: ({ by }) => <bdi>{plainText(by)}</bdi> },
  { key: 'what', title: t('audit.columns.action'), cell: ({ what }) => actionName(what) },
  { key: 'slots', title: t('arrange.slots'), cell: ({ slots }) => formatSlots(slots) || t('parts.unknown') },
]
