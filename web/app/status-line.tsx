/**
 * The buttons filter the monitor or the wall, whichever is open. Otherwise they open the monitor. In a kiosk, the
 * line is text. On a phone, one row shows the most severe entry, and a sheet shows all.
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
import { Menu } from '../parts/toolbar/menu.tsx'
import { useRegion } from '../parts/use-region.ts'
import { whenLoaded } from '../parts/when-loaded.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { allStaleSince } from './channel-state.ts'
import { useServices, useSummary, useWatchState } from './context.ts'
import { formatPercent, formatTime, plainText } from './format.ts'
import { t, withTexts } from './i18n.ts'
import { useIsKiosk } from './query.ts'
import { useResource } from './resource.ts'
import { useMayListen } from './session.ts'
import { MissedBanner, SessionBanner, StaleBanner } from './stale-banner.tsx'
import { narrow, useMedia } from './use-media.ts'
import { addressOf, changeView, defaultView, parseView, type StateFilter } from './view.ts'
import { isSignedOut } from './watch-state.ts'

export function StatusLine({ children }: { children?: ReactNode }) {
  const isKiosk = useIsKiosk()
  const isPhone = useMedia(narrow) && !isKiosk
  const isReady = useIsReady()
  const region = useRegion<HTMLElement>()
  return (
    <footer className="footer status-line" ref={region}>
      <SessionBanner />
      <StaleBanner />
      <MissedBanner />
      <Listening />
      {isPhone ? (
        <>
          <Menu className="status-pill" isSheet={true} button={isReady ? <Worst /> : <Connection />}>
            <div className="status-sheet">
              <Status />
            </div>
          </Menu>
          {children}
          <Clock />
          <BottomBar />
        </>
      ) : (
        <>
          <Status>{children}</Status>
          <Clock />
        </>
      )}
    </footer>
  )
}

const loadBar = withTexts(['listen'], () => import('../listen/listening-bar.tsx'))
const ListeningBar = whenLoaded(async () => (await loadBar()).ListeningBar)

/** For users who may listen. */
function Listening() {
  return useMayListen() ? <ListeningBar /> : null
}

function Clock() {
  const time = useWatchState((watchState) => formatTime(watchState.now))
  return (
    <span className="clock" aria-hidden="true">
      {time}
    </span>
  )
}

/** Until then, the counts are unknown. */
function useIsReady(): boolean {
  return useWatchState(({ phase }) => phase === 'ready')
}

function Status({ children }: { children?: ReactNode }) {
  return (
    <>
      {useIsReady() ? <Counts /> : null}
      <Shows />
      <Sources />
      {children}
      <SoundButton />
    </>
  )
}

type Tone = 'alarm' | 'old' | 'replace' | 'calm'

interface Exception {
  readonly key: string
  readonly tone: Tone
  readonly icon?: Parameters<typeof StateIcon>[0]['state']
  readonly text: string
  readonly target: StateFilter | PageTarget | null
}

interface PageTarget {
  readonly page: 'alerts' | 'connections' | 'frequencies' | 'queue'
  readonly search?: { readonly state?: 'acknowledged' }
}

/** Messages that can change the counts. */
const summaryTopics = [
  ...(['frequencies', 'queue', 'status_update', 'receiver_added', 'receiver_removed', 'settings'] as const),
]

/** The most severe comes first. */
function useExceptions(): { readonly exceptions: readonly Exception[]; readonly isAllOk: boolean } {
  const isReplay = useServices().replay !== null
  const { body } = useResource('/api/summary/', 'object', summaryTopics)
  const { channels, attention, problems, handled, replace_soon: replaceSoon, sources } = useSummary()
  const limit = useWatchState(({ config }) => config.BATTERY_REPLACE_SOON)
  const openAlerts = useWatchState(({ alerts }) => alerts.filter(isOpen).length)
  const otherAlerts = useWatchState(({ alerts }) => alerts.length) - openAlerts
  const faults = useWatchState(({ health }) => health?.details.length ?? 0) + sources.failing
  const { conflicts, queue_pending: pending = 0, disconnected = 0 } = (isReplay ? null : body) ?? {}
  const critical = conflicts?.critical ?? 0
  const causes = {
    channels: t('summary.channels', { count: attention }),
    causes: t('summary.causes', { count: problems }),
  }
  const listed: readonly (Exception & { readonly count: number })[] = [
    {
      ...{ key: 'attention', count: attention, tone: 'alarm', icon: 'battery_low' },
      ...{ text: t('summary.attention', causes), target: 'problems' },
    },
    {
      ...{ key: 'alerts', count: openAlerts, tone: 'replace' },
      ...{ text: t('alerts.open', { count: openAlerts }), target: { page: 'alerts' } },
    },
    {
      ...{ key: 'conflicts', count: critical, tone: 'replace' },
      ...{ text: t('summary.conflicts', { count: critical }), target: { page: 'frequencies' } },
    },
    {
      ...{ key: 'pending', count: pending, tone: 'replace' },
      ...{ text: t('summary.pending', { count: pending }), target: { page: 'queue' } },
    },
    {
      ...{ key: 'disconnected', count: disconnected, tone: 'replace' },
      ...{ text: t('summary.disconnected', { count: disconnected }), target: { page: 'connections' } },
    },
    {
      ...{ key: 'sources', count: faults, tone: 'replace' },
      ...{ text: t('summary.faults', { count: faults }), target: null },
    },
    {
      ...{ key: 'replace', count: replaceSoon, tone: 'replace', icon: 'battery_replace_soon' },
      ...{ text: t('summary.replaceSoon', { count: replaceSoon, limit: formatPercent(limit) }), target: 'replace' },
    },
    {
      ...{ key: 'handled', count: handled, tone: 'replace' },
      ...{ text: t('summary.handled', { count: handled }), target: 'handled' },
    },
    {
      ...{ key: 'acknowledged', count: openAlerts > 0 ? 0 : otherAlerts, tone: 'replace' },
      ...{ text: t('alerts.acknowledged', { count: otherAlerts }) },
      target: { page: 'alerts', search: { state: 'acknowledged' } },
    },
  ]
  const exceptions = listed.filter(({ count }) => count > 0)
  const isAllOk = channels > 0 && !isReplay && body !== null && exceptions.every(({ key }) => settled.includes(key))
  return { exceptions, isAllOk }
}

/** Handled channels and acknowledged alerts need no attention. */
const settled: readonly string[] = ['handled', 'acknowledged']

/** Null while values are current. */
function useOutage(): ReactNode {
  const staleSince = useWatchState(allStaleSince)
  const isReplay = useServices().replay !== null
  if (staleSince === null) return null
  return (
    <>
      <StateIcon state="stale" />
      {isReplay ? (
        t('summary.notRecorded')
      ) : (
        <>
          {t('summary.notLive')} <Age since={staleSince} />
        </>
      )}
    </>
  )
}

function Counts() {
  const { channels } = useSummary()
  const { exceptions, isAllOk } = useExceptions()
  const outage = useOutage()
  return (
    <section className="summary" aria-label={t('summary.label')}>
      <span className="summary-channels">{t('summary.channels', { count: channels })}</span>
      {outage === null ? (
        exceptions.map((exception) => <ExceptionItem key={exception.key} exception={exception} />)
      ) : (
        <strong className="summary-attention" data-tone="old">
          {outage}
        </strong>
      )}
      {isAllOk && outage === null ? (
        <strong className="summary-attention" data-tone="calm">
          <StateIcon state="ok" />
          {t('summary.allOk')}
        </strong>
      ) : null}
    </section>
  )
}

/** The most severe entry of the status line. */
function Worst() {
  const { channels } = useSummary()
  const { exceptions, isAllOk } = useExceptions()
  const outage = useOutage()
  const worst = exceptions.find(({ key }) => !settled.includes(key))
  const [tone, content]: readonly [Tone, ReactNode] =
    outage !== null
      ? ['old', outage]
      : worst !== undefined
        ? [worst.tone, <ExceptionText key="worst" exception={worst} />]
        : isAllOk
          ? ['calm', t('summary.allOk')]
          : ['calm', t('summary.channels', { count: channels })]
  return (
    <span className="summary-attention" data-tone={tone}>
      {isAllOk && outage === null ? <StateIcon state="ok" /> : null}
      {content}
    </span>
  )
}

function ExceptionText({ exception: { icon, text } }: { exception: Exception }) {
  return (
    <>
      {icon === undefined ? null : <StateIcon state={icon} />}
      {text}
    </>
  )
}

function ExceptionItem({ exception }: { exception: Exception }) {
  const { tone, target } = exception
  const isKiosk = useIsKiosk()
  const text = <ExceptionText exception={exception} />
  // The list of sources shows which of them fail.
  if (target === null) return null
  if (isKiosk) {
    return (
      <strong className="summary-attention" data-tone={tone}>
        {text}
      </strong>
    )
  }
  if (typeof target === 'string') {
    return (
      <FilterButton state={target} tone={tone}>
        {text}
      </FilterButton>
    )
  }
  return (
    <Link className="alerts-link" to={pathOf(target.page)} search={target.search ?? {}}>
      {text}
    </Link>
  )
}

interface FilterButtonProps {
  readonly state: StateFilter
  readonly tone: Tone
  readonly children: ReactNode
}

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

function useConnection() {
  return useWatchState((watchState) => (isSignedOut(watchState) ? 'signed_out' : watchState.connection))
}

function Connection() {
  return <span className="summary-attention">{t(`connection.${useConnection()}`)}</span>
}

function LiveSources() {
  const health = useWatchState((watchState) => watchState.health)
  const connection = useConnection()
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
