/** Routes for health, refresh and settings. */

import type { FastifyReply } from 'fastify'
import { changeSetting, type SettingsDeps } from '../../actions/change-settings.ts'
import type { RefreshDeps } from '../../actions/refresh.ts'
import { refresh } from '../../actions/refresh.ts'
import * as operations from '../../contract/operations/monitoring.ts'
import type { Settings } from '../../contract/resources/settings.ts'
import type { ServiceHealth } from '../../domain/equipment/health.ts'
import { RequestError, retryAfterSeconds } from '../../domain/errors.ts'
import type { ContractServer } from '../server/contract.ts'

export interface MonitoringDeps extends RefreshDeps {
  readonly version: string
  health(manufacturer: string | undefined): ServiceHealth
  settings(manufacturer: string | undefined): Settings
  readonly settingsDeps: SettingsDeps
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

  app.route({
    ...operations.getConfig,
    handler: ({ query }) => deps.settings(query.manufacturer),
  })

  app.route({
    ...operations.changeConfig,
    config: { needs: 'configure' },
    handler: ({ actor, query: { manufacturer: inQuery }, body: { key, value, manufacturer: inBody } }) => {
      const isKnown = (code: string) => deps.manufacturers().some((manufacturer) => manufacturer.code === code)
      if (inQuery !== undefined && !isKnown(inQuery)) {
        throw new RequestError('not_found', { subject: `manufacturer ${inQuery}` })
      }
      if (typeof inBody === 'string' && !isKnown(inBody)) {
        throw new RequestError('bad_request', { details: `manufacturer: there is no manufacturer ${inBody}` })
      }
      if (inQuery !== undefined && inBody !== undefined && inBody !== inQuery) {
        throw new RequestError('bad_request', { details: 'manufacturer: expected the same value as in the query' })
      }
      return changeSetting(deps.settingsDeps, actor, { key, value, manufacturer: inQuery ?? inBody ?? null })
    },
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
