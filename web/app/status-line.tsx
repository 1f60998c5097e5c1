/**
 * The buttons filter the monitor or the wall, whichever is open. Otherwise they open the monitor. In a kiosk, the
 * line is text.
 */

import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { Clapperboard } from 'lucide-react'
import type { ReactNode } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { Age } from '../parts/age.tsx'
import { isOpen } from '../parts/alerts/alerts.ts'
import { SoundButton } from '../parts/alerts/sound-button.tsx'
import { HealthItems, Lamp } from '../parts/equipment/health-list.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { allStaleSince } from './channel-state.ts'
import { useServices, useSummary, useWatchState } from './context.ts'
import { formatPercent, formatTime, plainText } from './format.ts'
import { t } from './i18n.ts'
import { useIsKiosk } from './query.ts'
import { useResource } from './resource.ts'
import { SessionBanner, StaleBanner } from './stale-banner.tsx'
import { addressOf, changeView, defaultView, parseView, type StateFilter } from './view.ts'
import { isSignedOut } from './watch-state.ts'

export function StatusLine({ children }: { children?: ReactNode }) {
  const time = useWatchState((watchState) => formatTime(watchState.now))
  return (
    <footer className="footer status-line">
      <SessionBanner />
      <StaleBanner />
      <Counts />
      <AlertsLink />
      <Shows />
      <Sources />
      {children}
      <SoundButton />
      <span className="clock" aria-hidden="true">
        {time}
      </span>
    </footer>
  )
}

function Counts() {
  const isReady = useWatchState((watchState) => watchState.phase === 'ready')
  const { channels, attention, problems, handled, replace_soon: replaceSoon } = useSummary()
  const limit = useWatchState(({ config }) => config.BATTERY_REPLACE_SOON)
  const staleSince = useWatchState(allStaleSince)
  const isReplay = useServices().replay !== null
  if (!isReady) return null
  if (staleSince !== null) {
    return (
      <section className="summary" aria-label={t('summary.label')}>
        <span className="summary-channels">{t('summary.channels', { count: channels })}</span>
        <strong className="summary-attention" data-tone="old">
          <StateIcon state="stale" />
          {isReplay ? (
            t('summary.notRecorded')
          ) : (
            <>
              {t('summary.notLive')} <Age since={staleSince} />
            </>
          )}
        </strong>
      </section>
    )
  }
  return (
    <section className="summary" aria-label={t('summary.label')}>
      <span className="summary-channels">{t('summary.channels', { count: channels })}</span>
      {attention === 0 ? null : (
        <FilterButton state="problems" tone="alarm">
          <StateIcon state="battery_low" />
          {t('summary.attention', {
            channels: t('summary.channels', { count: attention }),
            causes: t('summary.causes', { count: problems }),
          })}
        </FilterButton>
      )}
      {isReplay ? null : <Exceptions />}
      {replaceSoon === 0 ? null : (
        <FilterButton state="replace" tone="replace">
          <StateIcon state="battery_replace_soon" />
          {t('summary.replaceSoon', { count: replaceSoon, limit: formatPercent(limit) })}
        </FilterButton>
      )}
      {handled === 0 ? null : (
        <FilterButton state="handled" tone="replace">
          {t('summary.handled', { count: handled })}
        </FilterButton>
      )}
    </section>
  )
}

/** Messages that can change the counts. */
const summaryTopics = [
  ...(['frequencies', 'queue', 'status_update', 'receiver_added', 'receiver_removed', 'settings'] as const),
]

function Exceptions() {
  const { body } = useResource('/api/summary/', 'object', summaryTopics)
  const { channels, attention, replace_soon: replaceSoon, sources } = useSummary()
  const openAlerts = useWatchState(({ alerts }) => alerts.filter(isOpen).length)
  const faults = useWatchState(({ health }) => health?.details.length ?? 0)
  if (body === null) return null
  const critical = body.conflicts?.critical ?? 0
  const { queue_pending: pending, disconnected } = body
  const counts = [attention, openAlerts, critical, pending, disconnected, replaceSoon, sources.failing, faults]
  if (channels > 0 && counts.every((count) => count === 0)) {
    return (
      <strong className="summary-attention" data-tone="calm">
        <StateIcon state="ok" />
        {t('summary.allOk')}
      </strong>
    )
  }
  return (
    <>
      {critical === 0 ? null : <PageLink page="frequencies">{t('summary.conflicts', { count: critical })}</PageLink>}
      {pending === 0 ? null : <PageLink page="queue">{t('summary.pending', { count: pending })}</PageLink>}
      {disconnected === 0 ? null : (
        <PageLink page="connections">{t('summary.disconnected', { count: disconnected })}</PageLink>
      )}
    </>
  )
}

interface PageLinkProps {
  readonly page: 'alerts' | 'connections' | 'frequencies' | 'queue'
  readonly search?: { readonly state?: 'acknowledged' }
  readonly children: ReactNode
}

function PageLink({ page, search = {}, children }: PageLinkProps) {
  if (useIsKiosk()) return <span>{children}</span>
  return (
    <Link className="alerts-link" to={pathOf(page)} search={search}>
      {children}
    </Link>
  )
}

interface FilterButtonProps {
  readonly state: StateFilter
  readonly tone: 'alarm' | 'replace'
  readonly children: ReactNode
}

function FilterButton({ state, tone, children }: FilterButtonProps) {
  const navigate = useNavigate()
  const pathname = useLocation({ select: (location) => location.pathname })
  const search = useSearch({ strict: false })
  const hasChannels = pathname === pathOf('wall') || pathname === pathOf('monitor')
  const isOn = hasChannels && parseView(search).state === state
  if (useIsKiosk()) {
    return (
      <strong className="summary-attention" data-tone={tone}>
        {children}
      </strong>
    )
  }
  const press = () => {
    const next = changeView(hasChannels ? parseView(search) : {}, { state: isOn ? defaultView.state : state }, '')
    void navigate({ to: hasChannels ? pathname : pathOf('monitor'), search: addressOf(next) })
  }
  return (
    <button type="button" className="summary-attention" data-tone={tone} aria-pressed={isOn} onClick={press}>
      {children}
    </button>
  )
}

function AlertsLink() {
  const alerts = useWatchState((watchState) => watchState.alerts)
  const open = alerts.filter(isOpen).length
  if (alerts.length === 0) return null
  return open > 0 ? (
    <PageLink page="alerts">{t('alerts.open', { count: open })}</PageLink>
  ) : (
    <PageLink page="alerts" search={{ state: 'acknowledged' }}>
      {t('alerts.acknowledged', { count: alerts.length })}
    </PageLink>
  )
}

function Shows() {
  const titles = useWatchState(({ shows }) => shows.map(({ title }) => plainText(title)).join(' · '))
  if (titles === '') return null
  return (
    <span className="status-show" title={titles}>
      <Clapperboard className="icon" aria-hidden="true" />
      <span className="visually-hidden">{t('summary.show')}</span>
      <bdi className="status-show-title">{titles}</bdi>
    </span>
  )
}

function Sources() {
  const { replay } = useServices()
  return replay === null ? (
    <LiveSources />
  ) : (
    <p className="footer-item" data-status="lost">
      <Lamp shape="cross" />
      {t('connection.replay')}
    </p>
  )
}

function LiveSources() {
  const health = useWatchState((watchState) => watchState.health)
  const connection = useWatchState((watchState) => (isSignedOut(watchState) ? 'signed_out' : watchState.connection))
  const isOld = useWatchState((watchState) => allStaleSince(watchState) !== null)
  const behindSeconds = useWatchState((watchState) => watchState.behindSeconds)
  const isLost = isOld || connection !== 'open' || behindSeconds > 0
  return (
    <ul className="footer-list" aria-label={t('health.label')}>
      <li className="footer-item" data-status={isLost ? 'lost' : 'live'}>
        <Lamp shape={isLost ? 'cross' : 'dot'} />
        {behindSeconds > 0 ? t('connection.behind', { count: behindSeconds }) : t(`connection.${connection}`)}
      </li>
      {health === null ? (
        <li className="footer-item">{t('health.unknown')}</li>
      ) : (
        <HealthItems health={health} isOld={isOld} />
      )}
    </ul>
  )
}
