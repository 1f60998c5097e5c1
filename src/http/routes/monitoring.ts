/** Routes for health and refresh. */

import type { FastifyReply } from 'fastify'
import { type IngestReceiversDeps, ingestReceivers } from '../../actions/equipment/ingest-receivers.ts'
import type { RefreshDeps } from '../../actions/sources/refresh.ts'
import { refresh } from '../../actions/sources/refresh.ts'
import { healthOperations } from '../../contract/health.ts'
import { ingestOperations } from '../../contract/ingest.ts'
import type { ServiceHealth } from '../../domain/equipment/health.ts'
import { retryAfterSeconds } from '../../domain/errors.ts'
import type { ContractServer } from '../server/contract.ts'

export interface MonitoringDeps extends RefreshDeps {
  readonly version: string
  readonly ingestDeps: IngestReceiversDeps
  health(manufacturer: string | undefined): ServiceHealth
}

export interface ProbeDeps extends Pick<MonitoringDeps, 'health'> {
  /** Whether the service is about to stop, so that a load balancer must not send it new clients. */
  isDraining(): boolean
}

export function monitoringRoutes(app: ContractServer, deps: MonitoringDeps): void {
  app.route({
    ...healthOperations.getHealth,
    handler: ({ query }, reply) => {
      const health = deps.health(query.manufacturer)
      if (health.status === 'unhealthy') setUnavailable(reply)
      return { ...health, timestamp: new Date(deps.now()).toISOString(), version: deps.version }
    },
  })

  app.route({
    ...healthOperations.refresh,
    handler: ({ query }) => refresh(deps, query.manufacturer),
  })

  app.route({
    ...ingestOperations.ingestReceivers,
    // 1,000 receivers, each with its channels.
    config: { hasOwnLimit: true, maxValues: 200_000 },
    handler: async ({ actor, body }, reply) => {
      reply.code(202)
      return ingestReceivers(deps.ingestDeps, actor, body)
    },
  })
}

/** Probes for supervisors and load balancers; always available at the root, even with a mount prefix. */
export function livenessRoutes(app: ContractServer, deps: ProbeDeps): void {
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
        const isUnhealthy = query.exclude !== 'database' && deps.health(undefined).status === 'unhealthy'
        const isReady = !isUnhealthy && !deps.isDraining()
        if (!isReady) setUnavailable(reply)
        return { status: isReady ? ('ok' as const) : ('unavailable' as const) }
      },
    })
  }
}

function setUnavailable(reply: FastifyReply): void {
  reply.code(503).header('retry-after', retryAfterSeconds)
}
