/** Routes for health, refresh, processes, followed sites and probes. */

import type { FastifyReply } from 'fastify'
import { acknowledgeStore } from '../../actions/acknowledge-store.ts'
import { changeLogLevel } from '../../actions/change-log-level.ts'
import { ingestReceivers } from '../../actions/equipment/ingest-receivers.ts'
import { refresh } from '../../actions/sources/refresh.ts'
import { healthOperations } from '../../contract/health.ts'
import { ingestOperations } from '../../contract/ingest.ts'
import { siteOperations } from '../../contract/sites.ts'
import { retryAfterSeconds } from '../../domain/errors.ts'
import { toNodes } from '../../domain/nodes.ts'
import { commit, projectUrl } from '../../platform/build.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { listHeldLeases } from '../../storage/leases.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export function monitoringRoutes(app: ContractServer, service: Service, version: string): void {
  app.route({
    ...healthOperations.getHealth,
    handler: ({ query }, reply) => {
      const health = service.health(query.manufacturer)
      if (health.status === 'unhealthy') setUnavailable(reply)
      const update = service.updateNotice?.newerThan(version) ?? null
      const { publicUrl: public_url } = service
      const build = { version, commit, project_url: projectUrl }
      return { ...health, timestamp: new Date(now()).toISOString(), ...build, public_url, update }
    },
  })

  app.route({
    ...healthOperations.refresh,
    handler: ({ query }) => refresh(service, query.manufacturer),
  })

  app.route({
    ...ingestOperations.ingestReceivers,
    // 1,000 receivers, each with its channels.
    config: { hasOwnLimit: true, maxValues: 200_000 },
    handler: async ({ actor, body }, reply) => {
      reply.code(202)
      return ingestReceivers(service, actor, body)
    },
  })
}

/** The processes that use the database, and the incident that it had. */
export function storeRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...healthOperations.listNodes,
    config: { needs: 'inspect' },
    handler: async () => toNodes(await listHeldLeases(service.db.read)),
  })

  app.route({
    ...healthOperations.getLogLevel,
    config: { needs: 'administer' },
    handler: () => service.logLevel.body(),
  })

  app.route({
    ...healthOperations.setLogLevel,
    config: { needs: 'administer' },
    handler: ({ actor, body }) => changeLogLevel(service, actor, body),
  })

  app.route({
    ...healthOperations.acknowledgeStore,
    config: { needs: 'administer' },
    handler: ({ actor }) => acknowledgeStore(service, actor),
  })
}

/** The installations that this one follows. */
export function siteRoutes(app: ContractServer, { followedSites }: Service): void {
  app.route({ ...siteOperations.listSites, handler: (request) => paginate(request, followedSites.list()) })
}

/**
 * Probes for supervisors and load balancers; always available at the root, even with a mount prefix. While the service
 * drains, a load balancer must not send it new clients.
 */
export function livenessRoutes(app: ContractServer, service: Service, handover: AbortSignal): void {
  app.route({
    ...healthOperations.getLiveness,
    config: { needs: 'nothing' },
    handler: () => ({ status: 'ok' as const }),
  })
  for (const endpoint of [healthOperations.getReadiness, healthOperations.getReadinessAlias]) {
    app.route({
      ...endpoint,
      config: { isProbe: true },
      handler: ({ query }, reply) => {
        const isUnhealthy = query.exclude !== 'database' && service.health().status === 'unhealthy'
        const isReady = !isUnhealthy && !handover.aborted
        if (!isReady) setUnavailable(reply)
        return { status: isReady ? ('ok' as const) : ('unavailable' as const) }
      },
    })
  }
}

function setUnavailable(reply: FastifyReply): void {
  reply.code(503).header('retry-after', retryAfterSeconds)
}
