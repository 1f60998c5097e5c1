/** Health, refresh, settings as they stand. */

import type { FastifyInstance } from 'fastify'
import type { RefreshDeps } from '../actions/refresh.ts'
import { refresh } from '../actions/refresh.ts'
import type { HealthBody } from '../model/api.ts'
import type { ServiceHealth } from '../model/health.ts'
import type { Settings } from '../model/settings.ts'
import { type Query, readParameter } from './answer.ts'

export interface MonitoringDeps extends RefreshDeps {
  readonly version: string
  health(manufacturer: string | undefined): ServiceHealth
  settings(manufacturer: string | undefined): Settings
}

export function monitoringRoutes(app: FastifyInstance, deps: MonitoringDeps): void {
  app.get('/api/health', (request, reply) => {
    const health = deps.health(readParameter(request.query as Query, 'manufacturer'))
    const body: HealthBody & { version: string } = {
      ...health,
      timestamp: new Date(deps.now()).toISOString(),
      version: deps.version,
    }
    return reply.code(health.status === 'unhealthy' ? 503 : 200).send(body)
  })

  app.post('/api/refresh', (request) => refresh(deps, readParameter(request.query as Query, 'manufacturer')))

  app.get('/api/config', (request) => deps.settings(readParameter(request.query as Query, 'manufacturer')))
}

/** For supervisors and load balancers; answered at the root whatever the mount. */
export function livenessRoutes(app: FastifyInstance, deps: Pick<MonitoringDeps, 'health'>): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', (_request, reply) => {
    const isReady = deps.health(undefined).status !== 'unhealthy'
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'unavailable' })
  })
}
