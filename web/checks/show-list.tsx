import { Link } from '@tanstack/react-router'
import { ListChecks } from 'lucide-react'
import type { ShowBody } from '../../src/contract/shows.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { formatDayTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { Notice } from '../parts/dialogs/notice.tsx'
import { Loaded } from '../parts/loaded.tsx'

export function ShowList({ isUnknown }: { isUnknown: boolean }) {
  const resource = useResource('/api/shows/', 'list', ['show'])
  return (
    <>
      <h1>{t('check.title')}</h1>
      {isUnknown ? <p role="alert">{t('check.unknownShow')}</p> : null}
      <Loaded resource={resource}>
        {(shows) => <Choices shows={shows.filter(({ state }) => state !== 'ended')} />}
      </Loaded>
    </>
  )
}

function Choices({ shows }: { shows: readonly ShowBody[] }) {
  if (shows.length === 0) {
    return (
      <Notice title={t('check.noShowTitle')} icon={ListChecks}>
        <p>{t('check.noShow')}</p>
        <Link className="action" to={pathOf('shows')}>
          {t('check.planShow')}
        </Link>
      </Notice>
    )
  }
  const running = shows.filter(({ state }) => state === 'running')
  const planned = shows.filter(({ state }) => state === 'planned').toSorted(byStart)
  return (
    <>
      <p>{t('check.chooseShow')}</p>
      <ul className="check-list">
        {[...running, ...planned].map(({ id, title, state, starts_at }) => (
          <li key={id}>
            <Link className="check-row" to={pathOf('check')} search={{ show: id }}>
              <bdi className="check-name">{plainText(title)}</bdi>
              <small>
                {state === 'running' ? t('check.running') : starts_at && formatDayTime(Date.parse(starts_at))}
              </small>
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

function byStart(a: ShowBody, b: ShowBody): number {
  return (a.starts_at ?? '9').localeCompare(b.starts_at ?? '9') || a.id - b.id
}
