/** One route for each page in src/domain/pages.ts. Each page is loaded when it is opened. */

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
  useMatches,
  useParams,
  useSearch,
} from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { localSite } from '../../src/domain/equipment/sites.ts'
import { type PageName, pathOf } from '../../src/domain/pages.ts'
import { checkQuery, parseCheck } from '../checks/address.ts'
import { parseRange, rangeQuery } from '../parts/channels/channel-range.ts'
import { useServices, useWatchState } from './context.ts'
import { BrokenPage, UnknownPage } from './error-pages.tsx'
import { Frame } from './frame.tsx'
import { withTexts } from './i18n.ts'
import { Navigating } from './navigating.tsx'
import { PaletteProvider } from './palette-provider.tsx'
import { formatQuery, parseQuery, useIsKiosk } from './query.ts'
import { parseView } from './view.ts'

const Replay = lazy(async () => ({ default: (await import('../replay/replay.tsx')).Replay }))

type LiveNeed = 'nothing' | 'state' | 'levels'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly live?: LiveNeed
    readonly levelsOf?: 'view' | 'channel' | 'receiver' | 'local'
    readonly canReplay?: boolean
  }
  interface Register {
    router: ReturnType<typeof createPages>
  }
}

type RoutePath<Path extends string> = Path extends `${infer Start}:${infer Name}` ? `${Start}$${Name}` : Path

function route<Name extends PageName>(name: Name) {
  return pathOf(name).replace(':', '$') as RoutePath<ReturnType<typeof pathOf<Name>>>
}

const root = createRootRoute({ component: Everything, notFoundComponent: Unknown, staticData: { live: 'state' } })

function Everything() {
  return (
    <>
      <Navigating />
      <CurrentPage />
    </>
  )
}

function CurrentPage() {
  const { live } = useServices()
  const need = useMatches({
    select: (matches) => matches.findLast(({ staticData }) => staticData.live)?.staticData.live,
  })
  const site = useShownSite()
  useEffect(() => {
    if (need !== 'nothing') live.start(need !== 'levels' ? [] : site === null ? null : [site])
  }, [live, need, site])
  const at = useReplayTime()
  const isKiosk = useIsKiosk()
  const hasChannels = useMatches({ select: (matches) => matches.some(({ staticData }) => staticData.canReplay) })
  // All other pages consist of controls.
  if (isKiosk && !hasChannels && need !== 'nothing')
    return <Navigate to={pathOf('wall')} search={{ kiosk: '1' }} replace />
  if (at === null) return <Outlet />
  return (
    <Suspense>
      <Replay at={at}>
        <Outlet />
      </Replay>
    </Suspense>
  )
}

function useShownSite(): string | null {
  const levelsOf = useMatches({
    select: (matches) => matches.findLast(({ staticData }) => staticData.levelsOf)?.staticData.levelsOf,
  })
  const id = Number(useParams({ strict: false }).id)
  const { site = null } = parseView(useSearch({ strict: false }))
  return useWatchState(({ receivers }) => {
    if (levelsOf === 'view') return site
    const shown =
      levelsOf === 'channel'
        ? [...receivers.values()].find(({ channels }) => channels.some((channel) => channel.id === id))
        : receivers.get(levelsOf === 'receiver' ? id : -1)
    return shown?.site?.code ?? localSite
  })
}

function useReplayTime(): string | null {
  const canReplay = useMatches({ select: (matches) => matches.some(({ staticData }) => staticData.canReplay) })
  const { at, kiosk } = parseView(useSearch({ strict: false }))
  return canReplay && kiosk !== '1' ? (at ?? null) : null
}

function Unknown() {
  return (
    <Frame>
      <UnknownPage />
    </Frame>
  )
}

const nothing = { live: 'nothing' } as const
const localLevels = { live: 'levels', levelsOf: 'local' } as const
const levelsOrReplay = { live: 'levels', levelsOf: 'view', canReplay: true } as const

const framed = createRoute({
  getParentRoute: () => root,
  id: 'framed',
  component: () => (
    <Frame>
      <Outlet />
    </Frame>
  ),
})

const inRoot = () => root
const inFrame = () => framed

// Pages without a header.
const accessPages = [
  createRoute({
    getParentRoute: inRoot,
    path: route('sign_in'),
    staticData: nothing,
    component: lazyRouteComponent(
      withTexts(['access'], () => import('../access/sign-in.tsx')),
      'SignIn',
    ),
  }),
  createRoute({
    getParentRoute: inRoot,
    path: route('set_up'),
    staticData: nothing,
    component: lazyRouteComponent(
      withTexts(['access'], () => import('../access/set-up.tsx')),
      'SetUp',
    ),
  }),
  createRoute({
    getParentRoute: inRoot,
    path: route('kiosk'),
    staticData: nothing,
    component: lazyRouteComponent(
      withTexts(['access'], () => import('../access/kiosk.tsx')),
      'Kiosk',
    ),
  }),
  createRoute({
    getParentRoute: inRoot,
    path: route('acknowledge'),
    staticData: nothing,
    component: lazyRouteComponent(
      withTexts(['access'], () => import('../access/acknowledge.tsx')),
      'Acknowledge',
    ),
  }),
] as const

const unframed = createRoute({
  getParentRoute: inRoot,
  id: 'unframed',
  component: () => (
    <PaletteProvider>
      <Outlet />
    </PaletteProvider>
  ),
})

const wall = createRoute({
  getParentRoute: () => unframed,
  path: route('wall'),
  validateSearch: parseView,
  staticData: levelsOrReplay,
  component: lazyRouteComponent(() => import('../wall/wall.tsx'), 'Wall'),
})

const livePages = [
  createRoute({
    getParentRoute: inFrame,
    path: route('monitor'),
    validateSearch: parseView,
    staticData: levelsOrReplay,
    component: lazyRouteComponent(() => import('../monitor/monitor.tsx'), 'Monitor'),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('channel'),
    validateSearch: (query: Readonly<Record<string, unknown>>) => rangeQuery(parseRange(query)),
    staticData: { live: 'levels', levelsOf: 'channel' },
    component: lazyRouteComponent(
      withTexts(['listen'], () => import('../channel/channel.tsx')),
      'Channel',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('receiver'),
    staticData: { live: 'levels', levelsOf: 'receiver' },
    component: lazyRouteComponent(
      withTexts(['capture'], () => import('../channel/receiver.tsx')),
      'Receiver',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('timeline'),
    component: lazyRouteComponent(
      withTexts(['timeline', 'clips'], () => import('../timeline/timeline.tsx')),
      'Timeline',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('alerts'),
    component: lazyRouteComponent(() => import('../alerts/alerts.tsx'), 'Alerts'),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('frequencies'),
    staticData: localLevels,
    component: lazyRouteComponent(
      withTexts(['frequencies'], () => import('../frequencies/frequencies.tsx')),
      'FrequenciesPage',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('sites'),
    component: lazyRouteComponent(() => import('../sites/sites.tsx'), 'Sites'),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('shows'),
    component: lazyRouteComponent(
      withTexts(['shows'], () => import('../shows/shows.tsx')),
      'Shows',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('show'),
    component: lazyRouteComponent(
      withTexts(['shows'], () => import('../shows/show.tsx')),
      'ShowPage',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('check'),
    validateSearch: (query: Readonly<Record<string, unknown>>) => checkQuery(parseCheck(query)),
    staticData: localLevels,
    component: lazyRouteComponent(
      withTexts(['check'], () => import('../checks/check.tsx')),
      'Check',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('report'),
    component: lazyRouteComponent(
      withTexts(['check', 'report', 'clips'], () => import('../reports/report.tsx')),
      'Report',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('crew_sheet'),
    component: lazyRouteComponent(() => import('../reports/crew-sheet.tsx'), 'CrewSheet'),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('changes'),
    component: lazyRouteComponent(() => import('../reports/changes.tsx'), 'Changes'),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('check_report'),
    component: lazyRouteComponent(
      withTexts(['check', 'report'], () => import('../reports/check-report.tsx')),
      'CheckReport',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('handover'),
    component: lazyRouteComponent(
      withTexts(['handover', 'settings'], () => import('../handover/handover.tsx')),
      'Handover',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('about'),
    component: lazyRouteComponent(
      withTexts(['about'], () => import('./about.tsx')),
      'About',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('account'),
    component: lazyRouteComponent(
      withTexts(['access'], () => import('../access/account.tsx')),
      'Account',
    ),
  }),
] as const

const adminPages = [
  createRoute({
    getParentRoute: inFrame,
    path: route('overview'),
    component: lazyRouteComponent(
      withTexts(['connections'], () => import('../admin/overview.tsx')),
      'Overview',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('queue'),
    component: lazyRouteComponent(
      withTexts(['queue'], () => import('../admin/equipment/queue.tsx')),
      'Queue',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('movements'),
    component: lazyRouteComponent(
      withTexts(['movements'], () => import('../admin/equipment/movements.tsx')),
      'Movements',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('connections'),
    component: lazyRouteComponent(
      withTexts(['connections'], () => import('../admin/equipment/connections.tsx')),
      'Connections',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('layout'),
    component: lazyRouteComponent(
      withTexts(['layout'], () => import('../admin/layout/layout.tsx')),
      'Layout',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('groups'),
    component: lazyRouteComponent(
      withTexts(['groups'], () => import('../admin/layout/groups.tsx')),
      'Groups',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('performers'),
    component: lazyRouteComponent(
      withTexts(['cast', 'performers'], () => import('../admin/cast/performers.tsx')),
      'Performers',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('cast'),
    component: lazyRouteComponent(
      withTexts(['cast', 'performers', 'planningCenter'], () => import('../admin/cast/cast.tsx')),
      'Cast',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('undo'),
    component: lazyRouteComponent(
      withTexts(['audit', 'undo'], () => import('../admin/layout/undo.tsx')),
      'Undo',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('find'),
    component: lazyRouteComponent(
      withTexts(['find', 'manufacturers'], () => import('../admin/equipment/find.tsx')),
      'FindEquipment',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('manufacturers'),
    component: lazyRouteComponent(
      withTexts(['manufacturers'], () => import('../admin/equipment/manufacturers.tsx')),
      'Manufacturers',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('streams'),
    component: lazyRouteComponent(
      withTexts(['streams', 'listen'], () => import('../admin/audio/streams.tsx')),
      'Streams',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('settings'),
    component: lazyRouteComponent(
      withTexts(['settings'], () => import('../admin/settings/settings.tsx')),
      'SettingsPage',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('notifications'),
    component: lazyRouteComponent(
      withTexts(['notifications'], () => import('../notifications/notifications.tsx')),
      'Notifications',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('backups'),
    component: lazyRouteComponent(
      withTexts(['backups'], () => import('../admin/backups/backups.tsx')),
      'Backups',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('nodes'),
    component: lazyRouteComponent(
      withTexts(['nodes'], () => import('../admin/equipment/nodes.tsx')),
      'Nodes',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('people'),
    component: lazyRouteComponent(
      withTexts(['people'], () => import('../admin/access/people.tsx')),
      'People',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('tokens'),
    component: lazyRouteComponent(
      withTexts(['tokens', 'people'], () => import('../admin/access/tokens.tsx')),
      'Tokens',
    ),
  }),
  createRoute({
    getParentRoute: inFrame,
    path: route('audit'),
    component: lazyRouteComponent(
      withTexts(['audit'], () => import('../admin/access/audit.tsx')),
      'Audit',
    ),
  }),
] as const

export function createPages(mount: string) {
  return createRouter({
    routeTree: root.addChildren([
      ...accessPages,
      unframed.addChildren([wall]),
      framed.addChildren([...livePages, ...adminPages]),
    ]),
    basepath: mount === '' ? '/' : mount,
    parseSearch: parseQuery,
    stringifySearch: formatQuery,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: BrokenPage,
  })
}
