import '../parts/boxes.css'
import './shows.css'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { BatteryWarning, ChartSpline, ClipboardCheck, FileText, ListChecks, Table2 } from 'lucide-react'
import { useState } from 'react'
import type { ShowBody } from '../../src/contract/shows.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useWatchState } from '../app/context.ts'
import { formatPeriod, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useResource } from '../app/resource.ts'
import { serviceNow } from '../app/service-time.ts'
import { useMay } from '../app/session.ts'
import { Notice } from '../parts/dialogs/notice.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Pairs } from '../parts/pairs.tsx'
import { Scenes } from './scenes.tsx'
import { type ShowAction, ShowDialog } from './show-dialogs.tsx'
import { groupsText, planText } from './show-text.ts'

export function ShowPage() {
  const { id } = useParams({ from: '/framed/shows/$id' })
  // Messages keep the list current, so it also shows a deletion.
  const resource = useResource('/api/shows/', 'list', ['show'])
  const show = resource.body?.find((candidate) => String(candidate.id) === id)
  usePageTitle(show === undefined ? t('shows.title') : plainText(show.title))
  return (
    <main className="content shows-page" id="content" tabIndex={-1}>
      <p className="shows-back">
        <Link to={pathOf('shows')}>{t('shows.all')}</Link>
      </p>
      <Loaded resource={resource}>
        {() => (show === undefined ? <Missing /> : <Details show={show} onDone={resource.reload} />)}
      </Loaded>
    </main>
  )
}

function Missing() {
  return (
    <Notice title={t('shows.missing')}>
      <p>{t('shows.missingNext')}</p>
    </Notice>
  )
}

interface DetailsProps {
  readonly show: ShowBody
  onDone(): Promise<void>
}

function Details({ show, onDone }: DetailsProps) {
  const { state, starts_at, ends_at, started_at, ended_at, notes } = show
  const groups = useWatchState((watchState) => watchState.groups)
  const tones = { running: 'good', planned: undefined, ended: undefined } as const
  return (
    <>
      <header className="shows-head">
        <h1>
          <bdi>{plainText(show.title)}</bdi>{' '}
          <span className="tag" data-tone={tones[state]}>
            {t(`shows.states.${state}`)}
          </span>
        </h1>
        <Actions show={show} onDone={onDone} />
      </header>
      <section className="box" aria-label={t('shows.plan')}>
        <Pairs
          pairs={[
            { name: t('shows.planned'), value: planText({ starts_at, ends_at }) ?? t('shows.noTime') },
            {
              name: ended_at === null ? t('shows.startedAt') : t('shows.took'),
              value: started_at === null ? null : formatPeriod(started_at, ended_at),
            },
            { name: t('shows.channels'), value: groupsText(show, groups) },
            { name: t('shows.fields.notes'), value: <span className="show-notes">{plainNotes(notes)}</span> },
          ].filter(({ name }) => notes !== '' || name !== t('shows.fields.notes'))}
        />
      </section>
      <Links show={show} />
      <Scenes showId={show.id} />
    </>
  )
}

function plainNotes(notes: string): string {
  return notes.split('\n').map(plainText).join('\n')
}

function Actions({ show, onDone }: DetailsProps) {
  const mayOperate = useMay('operate')
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<ShowAction | null>(null)
  if (!mayOperate) return null
  const { state } = show
  const done = async () => {
    if (dialog === 'remove') await navigate({ to: pathOf('shows') })
    await onDone()
  }
  const actions: readonly ShowAction[] = [
    ...(state === 'planned' ? (['start'] as const) : state === 'running' ? (['end'] as const) : []),
    'change',
    ...(state === 'running' ? [] : (['remove'] as const)),
  ]
  return (
    <span className="box-actions">
      {actions.map((action) => (
        <button
          key={action}
          type="button"
          className="choice"
          data-tone={action === 'start' ? 'usual' : undefined}
          onClick={() => setDialog(action)}
        >
          {action === 'change' ? t('shows.change') : t(`shows.${action}.action`)}
        </button>
      ))}
      {dialog === null ? null : <ShowDialog kind={dialog} show={show} onDone={done} onClose={() => setDialog(null)} />}
    </span>
  )
}

function Links({ show: { id, starts_at, ends_at, started_at, ended_at } }: { show: ShowBody }) {
  const from = started_at ?? starts_at
  const to = ended_at ?? (started_at === null ? ends_at : null)
  const range = from === null ? {} : { from, to: to ?? new Date(serviceNow()).toISOString() }
  return (
    <nav className="show-links" aria-label={t('shows.links.label')}>
      <Link className="choice" to={pathOf('check')} search={{ show: id }}>
        <ClipboardCheck className="icon" aria-hidden="true" />
        {t('shows.links.check')}
      </Link>
      <Link className="choice" to="/check-reports/$id" params={{ id: String(id) }}>
        <ListChecks className="icon" aria-hidden="true" />
        {t('shows.links.checkReport')}
      </Link>
      {started_at === null ? null : (
        <>
          <Link className="choice" to={pathOf('timeline')} search={range}>
            <ChartSpline className="icon" aria-hidden="true" />
            {t('shows.links.timeline')}
          </Link>
          <Link className="choice" to="/reports/$id" params={{ id: String(id) }}>
            <FileText className="icon" aria-hidden="true" />
            {t('shows.links.report')}
          </Link>
        </>
      )}
      <Link className="choice" to={pathOf('crew_sheet')} search={{ show: id }}>
        <Table2 className="icon" aria-hidden="true" />
        {t('shows.links.crewSheet')}
      </Link>
      {ended_at === null ? (
        <Link className="choice" to={pathOf('changes')}>
          <BatteryWarning className="icon" aria-hidden="true" />
          {t('changes.title')}
        </Link>
      ) : null}
    </nav>
  )
}
