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
import { PerformerDialog, type PerformerQuestion } from './performer-dialogs.tsx'
import { type Cast, type Place, placesOf, useCast } from './use-cast.ts'
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
  const onUnassign = useUnassign(reload)
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
            {t('shell.pages.cast.title')}
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
function useUnassign(reload: () => Promise<void>) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send } = useRequest()
  return async ({ text: unit, unassign, assign }: Place, name: string) => {
    const change = async (write: Place['assign'], text: string, undo?: () => Promise<void>) => {
      const response = await send(() => write(api))
      if (response === null) return
      showMessage(response.ok ? { text, undo } : { text: response.problem.detail, tone: 'alarm' })
      await reload()
    }
    await change(unassign, t('performers.unassigned', { name, unit }), () =>
      change(assign, t('performers.reassigned', { name, unit })),
    )
  }
}

interface PerformerActions {
  onAsk(question: PerformerQuestion): void
  onUnassign(place: Place, name: string): Promise<void>
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
      key: 'slots',
      title: t('performers.columns.slots'),
      sortBy: ({ id }) => cast.slots.find(({ performer }) => performer?.id === id)?.slot ?? Number.MAX_SAFE_INTEGER,
      cell: ({ id, name }) => <Places places={placesOf(id, cast)} name={plainText(name)} actions={actions} />,
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

interface PlacesProps {
  readonly places: readonly Place[]
  readonly name: string
  readonly actions: PerformerActions | null
}

function Places({ places, name, actions }: PlacesProps) {
  if (places.length === 0) return t('performers.noSlot')
  return (
    <ul className="assignments">
      {places.map((place) => (
        <li key={place.key} className="row-actions">
          <bdi>{place.text}</bdi>
          {actions === null ? null : (
            <button type="button" className="choice" onClick={() => actions.onUnassign(place, name)}>
              {t('performers.unassign')}
              <span className="visually-hidden">
                {' '}
                {name}, {place.text}
              </span>
            </button>
          )}
        </li>
      ))}
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
