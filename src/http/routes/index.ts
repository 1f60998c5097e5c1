/** All routes, under the mount prefix. */

import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import type { Alerts } from '../../alerts/alerts.ts'
import { LiveData } from '../../live/live-data.ts'
import { type LevelResponseDeps, recordLevelResponses } from '../../live/routes/level-responses.ts'
import { type SocketDeps, socketRoutes } from '../../live/routes/socket.ts'
import type { ClientShares } from '../../platform/client-shares.ts'
import type { ContractServer } from '../server/contract.ts'
import { type AccountDeps, accountRoutes } from './accounts.ts'
import { type AlertRoutesDeps, alertRoutes } from './alerts.ts'
import { type CheckRoutesDeps, checkRoutes } from './checks.ts'
import { type DiscoveryDeps, discoveryRoutes, reviewRoutes } from './discovery.ts'
import { docsRoutes } from './docs.ts'
import { type EventRoutesDeps, eventRoutes } from './events.ts'
import { type FrequencyRoutesDeps, frequencyRoutes } from './frequencies.ts'
import { type HardwareRoutesDeps, hardwareRoutes } from './hardware.ts'
import { type HistoryRoutesDeps, historyRoutes } from './history.ts'
import { type ImportRoutesDeps, importRoutes } from './imports.ts'
import { type LocationRoutesDeps, locationRoutes } from './locations.ts'
import { type ManufacturerRoutesDeps, manufacturerRoutes } from './manufacturers.ts'
import { type MetricsDeps, metricsRoutes } from './metrics.ts'
import { livenessRoutes, type MonitoringDeps, monitoringRoutes, type ProbeDeps } from './monitoring.ts'
import { type NotificationRoutesDeps, notificationRoutes } from './notifications.ts'
import { type OidcRoutesDeps, oidcRoutes } from './oidc.ts'
import { collectRoutes } from './openapi-document.ts'
import { helpRoutes, type PageDeps, pageRoutes } from './pages.ts'
import { type PlaceholderRoutesDeps, placeholderRoutes } from './placeholders.ts'
import { type ReceiverDeps, receiverRoutes } from './receivers.ts'
import { type ReportRoutesDeps, reportRoutes } from './reports.ts'
import { type ScanRoutesDeps, scanRoutes } from './scans.ts'
import { type SettingRoutesDeps, settingRoutes } from './settings.ts'
import { type ShowRoutesDeps, showRoutes } from './shows.ts'
import { type SingleRecordDeps, singleRecordRoutes } from './single-records.ts'
import { type SiteRoutesDeps, siteRoutes } from './sites.ts'
import { type StoreRoutesDeps, storeRoutes } from './store.ts'
import { type SummaryDeps, summaryRoutes } from './summary.ts'

export interface RoutesDeps
  extends Omit<ReceiverDeps, 'liveData'>,
    MonitoringDeps,
    ProbeDeps,
    Omit<SocketDeps, 'liveData' | 'sockets'>,
    PageDeps,
    AccountDeps,
    OidcRoutesDeps,
    AlertRoutesDeps,
    MetricsDeps,
    HardwareRoutesDeps,
    FrequencyRoutesDeps,
    PlaceholderRoutesDeps,
    ShowRoutesDeps,
    CheckRoutesDeps,
    ScanRoutesDeps,
    ReportRoutesDeps,
    HistoryRoutesDeps,
    EventRoutesDeps,
    ImportRoutesDeps,
    ManufacturerRoutesDeps,
    NotificationRoutesDeps,
    DiscoveryDeps,
    LocationRoutesDeps,
    LevelResponseDeps,
    StoreRoutesDeps,
    SingleRecordDeps,
    SiteRoutesDeps,
    Omit<SummaryDeps, 'liveData'>,
    SettingRoutesDeps {
  readonly alerts: Alerts
}

interface RouteOptions {
  readonly html: string
  /** WebSockets. */
  readonly sockets: ClientShares
}

export async function registerRoutes(
  app: FastifyInstance,
  deps: RoutesDeps,
  { html, sockets }: RouteOptions,
): Promise<void> {
  const collector = await collectRoutes(app, deps)
  const liveData = new LiveData(deps.live.lists, deps.receiverStore, deps.alerts)
  const rootRoutes: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    livenessRoutes(scope, deps)
    socketRoutes(instance, { ...deps, liveData, sockets })
    done()
  }
  const routes: FastifyPluginCallback = (instance, options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    recordLevelResponses(instance, deps)
    receiverRoutes(scope, { ...deps, liveData })
    summaryRoutes(scope, { ...deps, liveData })
    monitoringRoutes(scope, deps)
    alertRoutes(scope, deps)
    metricsRoutes(scope, deps)
    accountRoutes(scope, deps)
    oidcRoutes(scope, deps)
    hardwareRoutes(scope, deps)
    placeholderRoutes(scope, deps)
    frequencyRoutes(scope, deps)
    showRoutes(scope, deps)
    checkRoutes(scope, deps)
    scanRoutes(scope, deps)
    reportRoutes(scope, deps)
    historyRoutes(scope, deps)
    eventRoutes(scope, deps)
    importRoutes(scope, deps)
    manufacturerRoutes(scope, deps)
    notificationRoutes(scope, deps)
    discoveryRoutes(scope, deps)
    reviewRoutes(scope, deps)
    locationRoutes(scope, deps)
    storeRoutes(scope, deps)
    settingRoutes(scope, deps)
    singleRecordRoutes(scope, deps)
    siteRoutes(scope, deps)
    docsRoutes(scope, { ...deps, collector })
    pageRoutes(instance, deps, html)
    helpRoutes(instance, deps)
    rootRoutes(instance, options, done)
  }
  await app.register(routes, { prefix: deps.mount })
  // With a mount prefix, these routes are also available at the root.
  if (deps.mount !== '') await app.register(rootRoutes)
}

/** Registers only what supervisors and Prometheus read. */
export async function registerProbes(
  app: FastifyInstance,
  deps: ProbeDeps & MetricsDeps & Pick<PageDeps, 'mount'>,
): Promise<void> {
  const routes: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    livenessRoutes(scope, deps)
    metricsRoutes(scope, deps)
    done()
  }
  for (const prefix of new Set([deps.mount, ''])) await app.register(routes, { prefix })
}
