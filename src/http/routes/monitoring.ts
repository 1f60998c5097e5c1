/** Routes for health, refresh and settings. */

import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { changeSetting, type SettingsDeps } from '../../actions/change-settings.ts'
import type { RefreshDeps } from '../../actions/refresh.ts'
import { refresh } from '../../actions/refresh.ts'
import type { HealthBody, Settings } from '../../contract/live.ts'
import type { ServiceHealth } from '../../domain/equipment/health.ts'
import { RequestError, retryAfterSeconds } from '../../domain/errors.ts'
import { type Query, readParameter } from '../server/response.ts'
import { body, nullable, text } from '../server/schemas.ts'

export interface MonitoringDeps extends RefreshDeps {
  readonly version: string
  health(manufacturer: string | undefined): ServiceHealth
  settings(manufacturer: string | undefined): Settings
  readonly settingsDeps: SettingsDeps
}

const SettingBody = body({
  key: text(1, 255),
  value: text(0, 4096),
  manufacturer: Type.Optional(nullable(text(1, 64), "a manufacturer's code")),
})

export function monitoringRoutes(app: FastifyInstance, deps: MonitoringDeps): void {
  app.get('/api/health', (request, reply) => {
    const health = deps.health(readParameter(request.query as Query, 'manufacturer'))
    const body: HealthBody = {
      ...health,
      timestamp: new Date(deps.now()).toISOString(),
      version: deps.version,
    }
    return sendReadiness(reply, health, body)
  })

  app.post('/api/refresh', (request) => refresh(deps, readParameter(request.query as Query, 'manufacturer')))

  app.get('/api/config', (request) => deps.settings(readParameter(request.query as Query, 'manufacturer')))

  const change = { config: { needs: 'configure' }, schema: { body: SettingBody } } as const
  app.post<{ Body: Type.Static<typeof SettingBody> }>('/api/config', change, (request) => {
    const { key, value, manufacturer: inBody } = request.body
    const inQuery = readParameter(request.query as Query, 'manufacturer')
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
    const manufacturer = inQuery ?? inBody ?? null
    return changeSetting(deps.settingsDeps, request.actor, { key, value, manufacturer })
  })
}

/** Probes for supervisors and load balancers; always available at the root, even with a mount prefix. */
export function livenessRoutes(app: FastifyInstance, deps: Pick<MonitoringDeps, 'health'>): void {
  app.get('/healthz', { config: { needs: 'nothing' } }, () => ({ status: 'ok' }))
  app.get('/readyz', (_request, reply) => {
    const health = deps.health(undefined)
    return sendReadiness(reply, health, { status: health.status === 'unhealthy' ? 'unavailable' : 'ok' })
  })
}

function sendReadiness(reply: FastifyReply, { status }: ServiceHealth, body: object): FastifyReply {
  if (status === 'unhealthy') reply.code(503).header('retry-after', retryAfterSeconds)
  return reply.send(body)
}
