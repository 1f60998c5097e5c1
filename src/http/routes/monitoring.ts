/** Routes for health and refresh. */

import type { FastifyReply } from 'fastify'
import type { RefreshDeps } from '../../actions/refresh.ts'
import { refresh } from '../../actions/refresh.ts'
import * as operations from '../../contract/operations/monitoring.ts'
import type { ServiceHealth } from '../../domain/equipment/health.ts'
import { retryAfterSeconds } from '../../domain/errors.ts'
import type { ContractServer } from '../server/contract.ts'

export interface MonitoringDeps extends RefreshDeps {
  readonly version: string
  health(manufacturer: string | undefined): ServiceHealth
}

export function monitoringRoutes(app: ContractServer, deps: MonitoringDeps): void {
  app.route({
    ...operations.getHealth,
    handler: ({ query }, reply) => {
      const health = deps.health(query.manufacturer)
      setReadiness(reply, health)
      return { ...health, timestamp: new Date(deps.now()).toISOString(), version: deps.version }
    },
  })

  app.route({
    ...operations.refresh,
    handler: ({ query }) => refresh(deps, query.manufacturer),
  })
}

/** Probes for supervisors and load balancers; always available at the root, even with a mount prefix. */
export function livenessRoutes(app: ContractServer, deps: Pick<MonitoringDeps, 'health'>): void {
  app.route({
    ...operations.getLiveness,
    config: { needs: 'nothing' },
    handler: () => ({ status: 'ok' as const }),
  })
  app.route({
    ...operations.getReadiness,
    handler: (_request, reply) => {
      const health = deps.health(undefined)
      setReadiness(reply, health)
      return { status: health.status === 'unhealthy' ? ('unavailable' as const) : ('ok' as const) }
    },
  })
}

function setReadiness(reply: FastifyReply, { status }: ServiceHealth): void {
  if (status === 'unhealthy') reply.code(503).header('retry-after', retryAfterSeconds)
}
