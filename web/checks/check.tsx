import './check.css'
import '../parts/card/card.css'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ListChecks } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import type { ShowBody } from '../../src/contract/shows.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useWatchState } from '../app/context.ts'
import { formatDayTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useResource } from '../app/resource.ts'
import type { Topic } from '../app/topics.ts'
import { LivePhase } from '../parts/card/phase.tsx'
import { Notice } from '../parts/dialogs/notice.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { type CheckAddress, checkQuery, parseCheck } from './address.ts'
import { ChannelCheck } from './channel-check.tsx'
import { ChannelList, type ListedCheck } from './channel-list.tsx'
import { readFindingsMs } from './findings.ts'

export function Check() {
  const { show, channel, order } = parseCheck(useSearch({ strict: false }))
  const address = useMemo(() => ({ show, channel, order }), [show, channel, order])
  return (
    <main className="content check" id="content" tabIndex={-1}>
      <LivePhase>{show === null ? <Shows /> : <CheckOfShow id={show} address={address} />}</LivePhase>
    </main>
  )
}

function Shows({ isUnknown = false }: { isUnknown?: boolean }) {
  usePageTitle(t('pages.check'))
  const resource = useResource('/api/shows/', 'list', ['show'])
  return (
    <>
      <h1>{t('pages.check')}</h1>
      {isUnknown ? <p role="alert">{t('check.unknownShow')}</p> : null}
      <Loaded resource={resource}>
        {(shows) => <Choices shows={shows.filter(({ state }) => state !== 'ended')} />}
      </Loaded>
    </>
  )
}

function CheckOfShow({ id, address }: { id: number; address: CheckAddress }) {
  const shows = useResource('/api/shows/', 'list', ['show'])
  return (
    <Loaded resource={shows}>
      {(body) => {
        const show = body.find((candidate) => candidate.id === id)
        return show === undefined ? <Shows isUnknown={true} /> : <Channels show={show} address={address} />
      }}
    </Loaded>
  )
}

/** The findings change with events, such as those of a transmitter. */
const listTopics: readonly Topic[] = [
  ...(['check', 'show', 'event', 'event_changed', 'slots', 'groups', 'receiver_added', 'channel_removed'] as const),
]

function Channels({ show, address }: { show: ShowBody; address: CheckAddress }) {
  usePageTitle(`${t('pages.check')}: ${plainText(show.title)}`)
  const navigate = useNavigate()
  // The page of a channel reads its own findings.
  const intervalMs = address.channel === null ? readFindingsMs : undefined
  const resource = useResource(`/api/shows/${show.id}/checks/`, 'list', listTopics, intervalMs)
  const receiverOf = useReceiverOf()
  const change = useCallback(
    (changed: Partial<CheckAddress>) => {
      const search = checkQuery({ ...address, ...changed })
      void navigate({ to: pathOf('check'), search, replace: true, resetScroll: false })
    },
    [navigate, address],
  )
  return (
    <Loaded resource={resource}>
      {(body) => {
        const checks: readonly ListedCheck[] = body.flatMap((check) => {
          const receiverId = receiverOf.get(check.channel_id)
          return receiverId === undefined ? [] : { ...check, receiverId }
        })
        const check = checks.find(({ channel_id }) => channel_id === address.channel)
        return check === undefined ? (
          <ChannelList {...{ show, checks, address, change }} />
        ) : (
          <ChannelCheck key={check.channel_id} {...{ show, checks, check }} reload={resource.reload} />
        )
      }}
    </Loaded>
  )
}

function useReceiverOf(): ReadonlyMap<number, number> {
  const receivers = useWatchState((watchState) => watchState.receivers)
  return useMemo(
    () => new Map([...receivers.values()].flatMap(({ id, channels }) => channels.map((channel) => [channel.id, id]))),
    [receivers],
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
