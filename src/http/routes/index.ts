/** All routes, under the mount prefix. */

import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import type { Access } from '../../actions/access/access.ts'
import { Identifications } from '../../actions/equipment/identify-receivers.ts'
import type { Config } from '../../config.ts'
import { LiveData } from '../../live/live-data.ts'
import { recordLevelResponses } from '../../live/routes/level-responses.ts'
import { listeningSocketRoute } from '../../live/routes/listening-socket.ts'
import { socketRoutes } from '../../live/routes/socket.ts'
import type { ClientShares } from '../../platform/concurrency.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import type { ResponseCache } from '../server/response.ts'
import { createVisitorHook } from '../server/visitor.ts'
import { accountRoutes } from './accounts.ts'
import { alertRoutes } from './alerts.ts'
import { audioStreamRoutes } from './audio-streams.ts'
import { backupRoutes } from './backups.ts'
import { captureRoutes } from './captures.ts'
import { checkRoutes } from './checks.ts'
import { clipRoutes } from './clips.ts'
import { discoveryRoutes, reviewRoutes } from './discovery.ts'
import { docsRoutes } from './docs.ts'
import { eventRoutes } from './events.ts'
import { frequencyRoutes } from './frequencies.ts'
import { frequencyPlanRoutes } from './frequency-plans.ts'
import { handoverRoutes } from './handovers.ts'
import { hardwareRoutes } from './hardware.ts'
import { historyRoutes } from './history.ts'
import { importRoutes } from './imports.ts'
import { listeningRoutes } from './listening.ts'
import { locationRoutes } from './locations.ts'
import { manufacturerRoutes } from './manufacturers.ts'
import { metricsRoutes } from './metrics.ts'
import { livenessRoutes, monitoringRoutes, siteRoutes, storeRoutes } from './monitoring.ts'
import { notificationRoutes } from './notifications.ts'
import { oidcRoutes } from './oidc.ts'
import { collectRoutes } from './openapi-document.ts'
import { helpRoutes, pageRoutes } from './pages.ts'
import { placeholderRoutes } from './placeholders.ts'
import { placeRoutes } from './places.ts'
import { receiverRoutes } from './receivers.ts'
import { reportRoutes } from './reports.ts'
import { scanRoutes } from './scans.ts'
import { settingRoutes } from './settings.ts'
import { showRoutes } from './shows.ts'
import { singleRecordRoutes } from './single-records.ts'
import { slotRoutes } from './slots.ts'
import { summaryRoutes } from './summary.ts'
import { supportRoutes } from './support.ts'
import { sweepRoutes } from './sweeps.ts'

/** For routes that need more than the service. */
export interface RouteOptions {
  readonly config: Config
  readonly cache: ResponseCache
  readonly version: string
  /** The folder of the built pages. */
  readonly webRoot: string
  readonly html: string
  /** WebSockets. */
  readonly sockets: ClientShares
  /** Aborts when the service stops or drains. */
  readonly handover: AbortSignal
  /** True to sign clients on this machine in as the visitor of a demo. */
  readonly hasVisitor?: boolean
}

export async function registerRoutes(
  app: FastifyInstance,
  service: Service,
  access: Access,
  { config, cache, version, webRoot, html, sockets, handover, hasVisitor = false }: RouteOptions,
): Promise<void> {
  const { mount, live, receiverStore, alerts } = service
  const collector = await collectRoutes(app, { mount, version })
  const liveData = new LiveData(live.lists, receiverStore, alerts)
  const identifications = new Identifications(service)
  const rootRoutes: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    livenessRoutes(scope, service, handover)
    socketRoutes(instance, service, liveData, sockets)
    done()
  }
  const routes: FastifyPluginCallback = (instance, options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    recordLevelResponses(instance, service)
    receiverRoutes(scope, service, { cache, liveData, identifications })
    summaryRoutes(scope, service, liveData)
    monitoringRoutes(scope, service, version)
    metricsRoutes(scope, service, version)
    supportRoutes(scope, service, version, config)
    captureRoutes(scope, service, version)
    accountRoutes(scope, access)
    oidcRoutes(scope, access, mount)
    for (const addRoutes of serviceRoutes) addRoutes(scope, service)
    docsRoutes(scope, { mount, version, collector })
    listeningSocketRoute(instance, service)
    pageRoutes(instance, { webRoot, mount, html, onVisit: hasVisitor ? createVisitorHook(access) : null })
    helpRoutes(instance, webRoot, mount)
    rootRoutes(instance, options, done)
  }
  await app.register(routes, { prefix: mount })
  // With a mount prefix, these routes are also available at the root.
  if (mount !== '') await app.register(rootRoutes)
}

/** Routes that need only the service. */
const serviceRoutes = [
  alertRoutes,
  handoverRoutes,
  hardwareRoutes,
  historyRoutes,
  placeholderRoutes,
  audioStreamRoutes,
  placeRoutes,
  frequencyRoutes,
  frequencyPlanRoutes,
  showRoutes,
  checkRoutes,
  scanRoutes,
  sweepRoutes,
  reportRoutes,
  eventRoutes,
  importRoutes,
  manufacturerRoutes,
  notificationRoutes,
  discoveryRoutes,
  reviewRoutes,
  listeningRoutes,
  clipRoutes,
  locationRoutes,
  storeRoutes,
  backupRoutes,
  settingRoutes,
  singleRecordRoutes,
  siteRoutes,
  slotRoutes,
]

/** Registers only what supervisors and Prometheus read. */
export async function registerProbes(
  app: FastifyInstance,
  service: Service,
  version: string,
  handover: AbortSignal,
): Promise<void> {
  const routes: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    livenessRoutes(scope, service, handover)
    metricsRoutes(scope, service, version)
    done()
  }
  for (const prefix of new Set([service.mount, ''])) await app.register(routes, { prefix })
}
