/**
 * The status line of every page: channels, problems, batteries, the connection, sources, alarm sound and clock. Two
 * buttons filter the monitor or the wall, whichever is open, otherwise they open the monitor.
 */

import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { Clapperboard } from 'lucide-react'
import type { ReactNode } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { isOpen } from '../alerts.ts'
import { allStaleSince } from '../channel-state.ts'
import { useSummary, useWatchState } from '../context.ts'
import { formatPercent, formatTime, plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { addressOf, changeView, defaultView, parseView, type StateFilter } from '../view.ts'
import { Age } from './age.tsx'
import { HealthItems, Lamp } from './health-list.tsx'
import { SoundButton } from './sound-button.tsx'
import { StaleBanner } from './stale-banner.tsx'
import { StateIcon } from './state-icon.tsx'

/** `children` is what a page adds. */
export function StatusLine({ children }: { children?: ReactNode }) {
  const time = useWatchState((watchState) => formatTime(watchState.now))
  return (
    <footer className="footer status-line">
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
  const { channels, problems, replace_soon: replaceSoon } = useSummary()
  const limit = useWatchState(({ config }) => config.BATTERY_REPLACE_SOON)
  const staleSince = useWatchState(allStaleSince)
  if (!isReady) return null
  return (
    <section className="summary" aria-label={t('summary.label')}>
      <span className="summary-channels">{t('summary.channels', { count: channels })}</span>
      {staleSince !== null ? (
        <strong className="summary-attention" data-tone="old">
          <StateIcon state="stale" />
          {t('summary.notLive')} <Age since={staleSince} />
        </strong>
      ) : channels === 0 ? null : problems === 0 ? (
        <strong className="summary-attention" data-tone="calm">
          <StateIcon state="ok" />
          {t('summary.allOk')}
        </strong>
      ) : (
        <FilterButton state="problems" tone="alarm">
          <StateIcon state="battery_low" />
          {t('summary.needAttention', { count: problems })}
        </FilterButton>
      )}
      {replaceSoon === 0 || staleSince !== null ? null : (
        <FilterButton state="replace" tone="replace">
          <StateIcon state="battery_replace_soon" />
          {t('summary.replaceSoon', { count: replaceSoon, limit: formatPercent(limit) })}
        </FilterButton>
      )}
    </section>
  )
}

interface FilterButtonProps {
  readonly state: StateFilter
  readonly tone: 'alarm' | 'replace'
  readonly children: React.ReactNode
}

/** Shows only the channels of a filter, or all channels again. */
function FilterButton({ state, tone, children }: FilterButtonProps) {
  const navigate = useNavigate()
  const pathname = useLocation({ select: (location) => location.pathname })
  const search = useSearch({ strict: false })
  const hasChannels = pathname === pathOf('wall') || pathname === pathOf('monitor')
  const isOn = hasChannels && parseView(search).state === state
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

/** Leads to the open alerts; to the acknowledged ones if no alert is open. */
function AlertsLink() {
  const alerts = useWatchState((watchState) => watchState.alerts)
  const open = alerts.filter(isOpen).length
  if (alerts.length === 0) return null
  return open > 0 ? (
    <Link className="alerts-link" to={pathOf('alerts')}>
      {t('alerts.open', { count: open })}
    </Link>
  ) : (
    <Link className="alerts-link" to={pathOf('alerts')} search={{ state: 'acknowledged' }}>
      {t('alerts.acknowledged', { count: alerts.length })}
    </Link>
  )
}

/** The running shows. */
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
  const health = useWatchState((watchState) => watchState.health)
  const connection = useWatchState((watchState) => watchState.connection)
  const isOld = useWatchState((watchState) => allStaleSince(watchState) !== null)
  const isLost = isOld || connection !== 'open'
  return (
    <ul className="footer-list" aria-label={t('health.label')}>
      <li className="footer-item" data-status={isLost ? 'lost' : 'live'}>
        <Lamp shape={isLost ? 'cross' : 'dot'} />
        {t(`connection.${connection}`)}
      </li>
      {health === null ? (
        <li className="footer-item">{t('health.unknown')}</li>
      ) : (
        <HealthItems health={health} isOld={isOld} />
      )}
    </ul>
  )
}
