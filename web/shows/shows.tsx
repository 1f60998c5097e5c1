import '../parts/boxes.css'
import './shows.css'
import { Link, useNavigate } from '@tanstack/react-router'
import { BatteryWarning, Plus, Table2 } from 'lucide-react'
import { useState } from 'react'
import type { ShowBody } from '../../src/contract/shows.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { type ShowAction, ShowDialog, ShowForm } from './show-dialogs.tsx'
import { groupsText, sortShows, timeText } from './show-text.ts'

const states = ['running', 'planned', 'ended'] as const

export function Shows() {
  usePageTitle(t('shows.title'))
  const resource = useResource('/api/shows/', 'list', ['show'])
  const mayOperate = useMay('operate')
  const navigate = useNavigate()
  const [isAdding, setAdding] = useState(false)
  return (
    <main className="content shows-page" id="content" tabIndex={-1}>
      <header className="shows-head">
        <h1>{t('shows.title')}</h1>
        <Link className="choice" to={pathOf('crew_sheet')}>
          <Table2 className="icon" aria-hidden="true" />
          {t('shows.links.crewSheet')}
        </Link>
        <Link className="choice" to={pathOf('changes')}>
          <BatteryWarning className="icon" aria-hidden="true" />
          {t('changes.title')}
        </Link>
        <button
          type="button"
          className="choice"
          data-tone="usual"
          disabled={!mayOperate}
          onClick={() => setAdding(true)}
        >
          <Plus className="icon" aria-hidden="true" />
          {t('shows.add')}
        </button>
      </header>
      <p className="intro">{mayOperate ? t('shows.intro') : t('shell.requires.operator')}</p>
      <Loaded resource={resource}>
        {(shows) =>
          shows.length === 0 ? (
            <Empty title={t('shows.none')}>
              <p>{t('shows.noneNext')}</p>
            </Empty>
          ) : (
            states.map((state) => (
              <ShowList key={state} state={state} shows={sortShows(shows, state)} onDone={resource.reload} />
            ))
          )
        }
      </Loaded>
      {isAdding ? (
        <ShowForm
          show={null}
          onSaved={({ id }) => navigate({ to: pathOf('show').replace(':id', String(id)) })}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </main>
  )
}

interface ShowListProps {
  readonly state: ShowBody['state']
  readonly shows: readonly ShowBody[]
  onDone(): Promise<void>
}

function ShowList({ state, shows, onDone }: ShowListProps) {
  const mayOperate = useMay('operate')
  const groups = useWatchState((watchState) => watchState.groups)
  const [dialog, setDialog] = useState<{ readonly kind: ShowAction; readonly show: ShowBody } | null>(null)
  if (shows.length === 0) return null
  const action = state === 'planned' ? 'start' : state === 'running' ? 'end' : null
  return (
    <section className="shows-section" aria-label={t(`shows.sections.${state}`)}>
      <h2>{t(`shows.sections.${state}`)}</h2>
      <ul className="shows-list">
        {shows.map((show) => (
          <li key={show.id} className="show-item" data-state={state}>
            <Link className="show-title" to="/shows/$id" params={{ id: String(show.id) }}>
              <bdi>{plainText(show.title)}</bdi>
            </Link>
            <span className="show-time">{timeText(show)}</span>
            <span className="box-note">{groupsText(show, groups)}</span>
            {action === null || !mayOperate ? null : (
              <button type="button" className="choice" onClick={() => setDialog({ kind: action, show })}>
                {t(`shows.${action}.action`)}
                <span className="visually-hidden"> {plainText(show.title)}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {dialog === null ? null : <ShowDialog {...dialog} onDone={onDone} onClose={() => setDialog(null)} />}
    </section>
  )
}
