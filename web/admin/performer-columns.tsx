/** Columns of the performer list. */

import type { Performer } from '../../src/contract/resources/performers.ts'
import { plainText } from '../app/format.ts'
import type { Column } from '../parts/data-table.tsx'
import './performers.css'
import { showable } from '../app/assigned-performers.ts'
import { t } from '../app/i18n.ts'
import { type Assignment, type Cast, unitName } from '../parts/assignments.ts'
import type { PerformerQuestion } from './performer-dialogs.tsx'

interface PerformerActions {
  onAsk(question: PerformerQuestion): void
  onUnassign(assignment: Assignment): Promise<void>
}

/** Returns the columns; `actions` is null if the user may not edit performers. */
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
