/** Combines the service and the HTTP server. Starts their parts in order and closes them in reverse order. */

import type { Server as RedirectServer } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { Access, type SetupOptions } from '../actions/access/access.ts'
import { createVisitor } from '../actions/access/visitor.ts'
import type { Config } from '../config.ts'
import { isLoopback } from '../domain/identity/address.ts'
import { keepSavingLevels, saveLevels } from '../ingest/levels.ts'
import { Integrations } from '../integrations/integrations.ts'
import { createCache } from '../platform/cache.ts'
import { childLifetime } from '../platform/wait.ts'
import { requireKnownEndpoints } from '../service/config-problems.ts'
import { type ConfigChanges, ConfigReloader } from '../service/config-reload.ts'
import type { ServiceOptions } from '../service/options.ts'
import { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import { addressOf, requireFreePort, toListenError } from './app/listen.ts'
import { applyProvisioning, loadProvisioning } from './app/provisioning.ts'
import { listenForRedirects } from './app/redirect.ts'
import { keepCertificate, openTls, reportMissingNames } from './app/tls.ts'
import type { CachedResponse } from './server/response.ts'
import { createServer } from './server/server.ts'

export interface App {
  readonly service: Service
  readonly server: FastifyInstance
  /** The URL on which the service listens, with the mount prefix. */
  readonly address: string
  /**
   * Gives back the leases of the sources, so that other processes take them over, and makes `/readyz` return 503.
   * Everything else continues until `close` is called.
   */
  drain(): void
  /**
   * Applies the keys of a changed configuration that a running service can apply. Throws a ConfigError if it is invalid,
   * or the database error if the manufacturers cannot be read; nothing has changed then.
   */
  reload(changed: Config): Promise<ConfigChanges>
  close(): Promise<void>
}

export interface AppOptions extends Omit<ServiceOptions, 'cache' | 'listProblems'>, SetupOptions {
  readonly version: string
  /** The folder of the built pages. */
  readonly webRoot: string
  /** True to serve only pages and the API, while other processes poll and subscribe. */
  readonly servesOnly?: boolean
  /** True to sign clients on this machine in as the visitor of a demo. */
  readonly hasVisitor?: boolean
}

/**
 * Opens the service and starts the server. Throws what `Service.open` throws, a ConfigError, or the system's error if
 * the server cannot listen.
 */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const { log } = options
  const { host, port } = config.server
  requireKnownEndpoints(config)
  await requireFreePort(config.server, 'port')
  await requireFreePort(config.server, 'redirect_port')
  const provisioning = loadProvisioning(config)
  const reloader = new ConfigReloader(config)
  const cache = createCache<CachedResponse>({ timeoutMs: () => reloader.current.settings.CACHE_TIMEOUT * 1000 })
  let integrations: Integrations | undefined
  const service = await Service.open(config, {
    ...options,
    cache,
    listProblems: () => integrations?.problems ?? [],
  })
  integrations = new Integrations(config, service, options.version)
  /** Aborts when the service stops or drains. */
  const handover = childLifetime(service.signal)
  const loops: Promise<void>[] = []
  const { oidc } = config
  const { identityProvider } = service
  const singleSignOn = oidc && identityProvider && { ...oidc, provider: identityProvider }
  const { db, secrets } = service
  const access = new Access({ db, log, secrets, singleSignOn, rolesWithTotp: config.require_totp })
  let redirects: RedirectServer | null = null
  let server: FastifyInstance | undefined
  const close = async () => {
    service.stop()
    redirects?.close()
    redirects?.closeAllConnections()
    await reloader.idle()
    await server?.close()
    await Promise.all(loops)
    await access.close()
    await saveLevels(service)
    await service.close()
  }
  try {
    if (provisioning !== null) await applyProvisioning(service, provisioning)
    const tls = await openTls(config, options)
    if (!isLoopback(host) || config.require_login) await access.openSetup(config.data_dir, options)
    const { version, webRoot, hasVisitor = false } = options
    if (hasVisitor) await createVisitor(access)
    const serverOptions = { version, webRoot, cache, tls: tls?.pair ?? null, handover: handover.signal, hasVisitor }
    const { app, applyConfig } = await createServer(config, service, access, serverOptions)
    server = app
    await app.listen({ host, port }).catch((error) => Promise.reject(toListenError(error, config.server, 'port')))
    const bound = app.server.address()
    const servicePort = typeof bound === 'object' && bound !== null ? bound.port : port
    redirects = await listenForRedirects(config, servicePort, log).catch((error) =>
      Promise.reject(toListenError(error, config.server, 'redirect_port')),
    )
    if (typeof bound === 'object' && bound !== null)
      service.outbound.destinations.blockListener(bound.address, bound.port)
    loops.push(service.follow(service.signal), access.credentials.watch(service.signal))
    await reportMissingNames(config, log)
    if (tls !== null) loops.push(keepCertificate(app, tls, log, service.signal))
    loops.push(service.notifications.run(handover.signal), integrations.run(handover.signal))
    loops.push(service.backups.run(handover.signal), service.audioStreams.run(handover.signal))
    if (service.updateNotice !== null) loops.push(service.updateNotice.run(handover.signal))
    if (service.remoteWrite !== null) loops.push(service.remoteWrite.run(handover.signal))
    if (!options.servesOnly) {
      const hasReaders = () => service.leaseManager.hasOtherNodes && service.redis?.isUp !== true
      loops.push(service.monitor.run(handover.signal), keepSavingLevels(service, hasReaders, service.signal))
      if (service.heartbeat !== null) loops.push(service.heartbeat.run(handover.signal))
    }
    if (!isLoopback(host)) await reportExposure(service, config, log)
    return {
      service,
      server: app,
      address: addressOf(app, config),
      drain: () => handover.abort(),
      reload: (changed) =>
        reloader.reload(changed, async (next) => {
          requireKnownEndpoints(next)
          await service.applyConfig(next)
          applyConfig(next)
          await reportMissingNames(next, log)
        }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Records in the log and the audit log that the service does not use TLS, or that anyone can view the installation.
 * Called only if the service is reachable from the network.
 */
async function reportExposure(
  { db }: Service,
  { server, tls, public_read }: Config,
  log: FastifyBaseLogger,
): Promise<void> {
  if (tls === null) log.warn({ host: server.host }, 'listening without TLS: traffic on this network is not encrypted')
  if (public_read)
    log.warn({ host: server.host }, 'public_read is on: anyone on this network can view the installation')
  if (tls !== null && !public_read) return
  const actor = { kind: 'cli', id: null, name: 'serve', role: 'admin', address: null } as const
  const details = { host: server.host, tls: tls === null ? 'off' : 'on', public_read }
  const entry = { actor, action: 'service.start', target: 'service', result: 'ok', details } as const
  await db
    .transaction((tx) => writeAudit(tx, entry))
    .catch((error) => log.warn({ error: String(error) }, 'audit record could not be written'))
}
