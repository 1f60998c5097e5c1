import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { pathOf } from '../../../src/domain/pages.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { useRequest } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import '../../parts/tables/records.css'
import type { Performer } from '../../../src/contract/performers.ts'
import { t } from '../../app/i18n.ts'
import { type Assignment, type Cast, setActive, unitName, useCast } from '../../parts/channels/assignments.ts'
import { PerformerDialog, type PerformerQuestion } from './performer-dialogs.tsx'
import './performers.css'
import { showable } from '../../app/slot-records.ts'

export function Performers() {
  const resource = useCast()
  const [dialog, setDialog] = useState<PerformerQuestion | null>(null)
  return (
    <Shell title={t('performers.title')} intro={t('performers.intro')}>
      <Loaded resource={resource}>
        {(cast) => (
          <>
            <List cast={cast} onAsk={setDialog} reload={resource.reload} />
            {dialog === null ? null : (
              <PerformerDialog question={dialog} cast={cast} onDone={resource.reload} onClose={() => setDialog(null)} />
            )}
          </>
        )}
      </Loaded>
    </Shell>
  )
}

interface ListProps {
  readonly cast: Cast
  onAsk(question: PerformerQuestion): void
  reload(): Promise<void>
}

function List({ cast, onAsk, reload }: ListProps) {
  const mayOperate = useMay('operate')
  const onUnassign = useUnassign(cast, reload)
  return (
    <>
      <div className="list-actions">
        {(['add', 'addMany'] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            className="choice"
            data-tone={kind === 'add' ? 'usual' : undefined}
            disabled={!mayOperate}
            onClick={() => onAsk({ kind })}
          >
            {t(`performers.${kind}`)}
          </button>
        ))}
        {mayOperate ? (
          <Link className="choice" to={pathOf('cast')}>
            {t('cast.title')}
          </Link>
        ) : null}
        {mayOperate ? null : <span className="hint">{t('shell.requires.operator')}</span>}
      </div>
      {cast.performers.length === 0 ? (
        <Empty title={t('performers.none')}>
          <p>{t('performers.noneNext')}</p>
        </Empty>
      ) : (
        <DataTable
          caption={t('performers.list')}
          columns={performerColumns(cast, mayOperate ? { onAsk, onUnassign } : null)}
          rows={cast.performers}
          idOf={({ id }) => id}
        />
      )}
    </>
  )
}

/** Asks for no confirmation, because it can be undone. */
function useUnassign({ performers, units }: Cast, reload: () => Promise<void>) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send } = useRequest()
  return async (assignment: Assignment) => {
    const name = plainText(performers.find(({ id }) => id === assignment.performer)?.name ?? '')
    const unit = unitName(units, assignment.wireless_unit)
    const change = async (isActive: boolean, text: string, undo?: () => Promise<void>) => {
      const response = await send(() => setActive(api, assignment, isActive))
      if (response === null) return
      showMessage(response.ok ? { text, undo } : { text: response.problem.detail, tone: 'alarm' })
      await reload()
    }
    await change(false, t('performers.unassigned', { name, unit }), () =>
      change(true, t('performers.reassigned', { name, unit })),
    )
  }
}

interface PerformerActions {
  onAsk(question: PerformerQuestion): void
  onUnassign(assignment: Assignment): Promise<void>
}

export function performerColumns(cast: Cast, actions: PerformerActions | null): readonly Column<Performer>[] {
  const shown: readonly Column<Performer>[] = [
    {
      key: 'name',
      title: t('performers.columns.name'),
      sortBy: ({ name }) => name,
      cell: (performer) => <Name performer={performer} />,
    },
    {
      key: 'notes',
      title: t('performers.columns.notes'),
      cell: ({ notes }) => (notes === '' ? t('parts.unknown') : <bdi className="notes">{plainText(notes)}</bdi>),
    },
    {
      key: 'wears',
      title: t('performers.columns.transmitter'),
      sortBy: ({ id }) => cast.assignments.filter(({ performer }) => performer === id).length,
      cell: ({ id, name }) => <Assignments id={id} name={plainText(name)} cast={cast} actions={actions} />,
    },
  ]
  if (actions === null) return shown
  return [
    ...shown,
    {
      key: 'actions',
      title: t('performers.columns.actions'),
      cell: (performer) => <Actions performer={performer} onAsk={actions.onAsk} />,
    },
  ]
}

function Name({ performer }: { performer: Performer }) {
  const name = plainText(performer.name)
  const picture = showable(performer.picture)
  return (
    <span className="performer">
      {picture === null ? (
        <span className="performer-picture" />
      ) : (
        <img className="performer-picture" src={picture} alt={t('performers.picture', { name })} />
      )}
      <bdi>{name}</bdi>
    </span>
  )
}

interface AssignmentsProps {
  readonly id: number
  readonly name: string
  readonly cast: Cast
  readonly actions: PerformerActions | null
}

function Assignments({ id, name, cast: { assignments, units }, actions }: AssignmentsProps) {
  const own = assignments.filter(({ performer }) => performer === id)
  if (own.length === 0) return t('performers.noTransmitter')
  return (
    <ul className="assignments">
      {own.map((assignment) => {
        const unit = unitName(units, assignment.wireless_unit)
        return (
          <li key={assignment.id} className="row-actions">
            <bdi>{unit}</bdi>
            {actions === null ? null : (
              <button type="button" className="choice" onClick={() => actions.onUnassign(assignment)}>
                {t('performers.unassign')}
                <span className="visually-hidden">
                  {' '}
                  {name}, {unit}
                </span>
              </button>
            )}
          </li>
        )
      })}
    </ul>
  )
}

function Actions({ performer, onAsk }: { performer: Performer } & Pick<PerformerActions, 'onAsk'>) {
  return (
    <div className="row-actions">
      {(['assign', 'change', 'remove'] as const).map((kind) => (
        <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, performer })}>
          {t(`performers.${kind}`)}
          <span className="visually-hidden"> {plainText(performer.name)}</span>
        </button>
      ))}
    </div>
  )
}
