import { Link } from '@tanstack/react-router'
import { Moon } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { Age } from '../parts/age.tsx'
import { isOpen } from '../parts/alerts/alerts.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import { allStaleSince } from './channel-state.ts'
import { useServices, useWatchState } from './context.ts'
import { formatClockRange, formatDuration, formatTime } from './format.ts'
import { t } from './i18n.ts'
import { summarizeMissed } from './missed-alerts.ts'
import { useIsKiosk } from './query.ts'
import { signInPath } from './resource.ts'
import { isSignedOut } from './watch-state.ts'

export function StaleBanner() {
  const staleSince = useWatchState((watchState) =>
    watchState.connection === 'replay' ? null : allStaleSince(watchState),
  )
  const hasEnded = useWatchState(isSignedOut)
  const reason = useWatchState((watchState) =>
    hasEnded
      ? t('problems.sign_in.ended')
      : watchState.connection === 'lost'
        ? t('banner.lost')
        : watchState.isFresh
          ? t('banner.silent')
          : t('banner.reconnecting'),
  )
  // The first sentence already says that the service is unreachable or that the session has ended.
  const problem = useWatchState(({ problem }) =>
    problem?.kind === 'unreachable' || problem?.kind === 'sign_in' ? null : (problem?.detail ?? null),
  )
  const nextTry = useWatchState((watchState) =>
    watchState.connection !== 'lost' || watchState.nextTryAt === null || hasEnded
      ? null
      : retryText(watchState.nextTryAt - watchState.now),
  )
  const { mount } = useServices()
  const isKiosk = useIsKiosk()
  if (staleSince === null) return null
  return (
    <div className="banner">
      <StateIcon state="stale" />
      <p>
        <strong role="alert">{reason}</strong>{' '}
        <span>
          {t('banner.age.before')}
          <Age since={staleSince} />
          {t('banner.age.after', { time: formatTime(staleSince) })}
        </span>{' '}
        {problem === null ? null : <span>{problem} </span>}
        {hasEnded && !isKiosk ? <a href={signInPath(mount)}>{t('shell.signIn')}</a> : null}
        {nextTry === null ? null : <span className="next-try">{nextTry}</span>}
      </p>
    </div>
  )
}

/** The values are current, but the page shows what the former session permitted. A kiosk shows nothing that it needs. */
export function SessionBanner() {
  const hasEnded = useWatchState(({ hasSessionEnded }) => hasSessionEnded)
  const { mount } = useServices()
  if (useIsKiosk() || !hasEnded) return null
  return (
    <div className="banner">
      <StateIcon state="stale" />
      <p>
        <strong role="alert">{t('problems.sign_in.ended')}</strong> <a href={signInPath(mount)}>{t('shell.signIn')}</a>{' '}
        <button type="button" className="choice" onClick={() => location.reload()}>
          {t('brokenPage.retry')}
        </button>
      </p>
    </div>
  )
}

/** Nobody can dismiss the banner of a kiosk, so it disappears. */
const kioskMs = 10 * 60_000

export function MissedBanner() {
  const { missedAlerts, replay } = useServices()
  const gaps = useSyncExternalStore(missedAlerts.subscribe, missedAlerts.get)
  const alerts = useWatchState((watchState) => (watchState.phase === 'ready' ? watchState.alerts : null))
  const isKiosk = useIsKiosk()
  const missed = alerts === null || replay !== null ? null : summarizeMissed(gaps, alerts.filter(isOpen))
  const until = missed?.until
  useEffect(() => {
    if (!isKiosk || until === undefined) return
    const timer = setTimeout(missedAlerts.dismiss, kioskMs)
    return () => clearTimeout(timer)
  }, [isKiosk, until, missedAlerts])
  return (
    <div role="status" className="missed">
      {missed === null ? null : (
        <div className="banner" data-tone="calm">
          <Moon className="icon" aria-hidden="true" />
          <p>
            {t('banner.missed.asleep', { period: formatClockRange(missed.from, missed.until) })}{' '}
            <MissedCount count={missed.count} open={missed.open} />
          </p>
          {isKiosk ? null : (
            <button type="button" className="choice" onClick={missedAlerts.dismiss}>
              {t('parts.messages.dismiss')}
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** Links to the open alerts, or to the cleared ones if none is open. */
function MissedCount({ count, open }: { count: number; open: number }) {
  const { missedAlerts } = useServices()
  const text = [
    t('banner.missed.alerts', { count }),
    open === 0 ? t('banner.missed.noneOpen') : t('banner.missed.open', { count: open }),
  ].join(', ')
  if (useIsKiosk()) return <strong>{text}</strong>
  return (
    <Link to={pathOf('alerts')} search={open === 0 ? { state: 'cleared' } : {}} onClick={missedAlerts.dismiss}>
      {text}
    </Link>
  )
}

function retryText(ms: number): string {
  return ms > 0 ? t('banner.retryIn', { time: formatDuration(Math.ceil(ms / 1_000) * 1_000) }) : t('banner.retrying')
}
