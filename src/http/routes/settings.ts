/** Administration routes for settings: the values of every scope with their sources. */

import type { FastifyInstance } from 'fastify'
import { forgetSetting, type SettingsDeps } from '../../actions/change-settings.ts'
import type { RefreshDeps } from '../../actions/refresh.ts'
import type { SettingsBody } from '../../contract/admin.ts'
import type { ExplainedSettings } from '../../domain/settings.ts'
import { type Query, readPage, readParameter, toPage } from '../server/response.ts'

export interface SettingRoutesDeps extends Pick<RefreshDeps, 'manufacturers'> {
  readonly settingsDeps: SettingsDeps
  explainSettings(manufacturer: string | null): ExplainedSettings
}

export function settingRoutes(app: FastifyInstance, deps: SettingRoutesDeps): void {
  app.get('/api/admin/settings', { config: { needs: 'inspect' } }, (request) => {
    const query = request.query as Query
    const selected = readParameter(query, 'manufacturer')
    const page = readPage(query)
    const scopes = [null, ...deps.manufacturers().map(({ code }) => code)]
    const bodies = scopes
      .filter((code) => selected === undefined || code === selected)
      .map((manufacturer): SettingsBody => ({ manufacturer, settings: deps.explainSettings(manufacturer) }))
    return page === null ? bodies : toPage(bodies, page, request.url)
  })

  app.delete<{ Params: { key: string } }>(
    '/api/admin/settings/:key',
    { config: { needs: 'administer' } },
    async ({ actor, params, query }, reply) => {
      const manufacturer = readParameter(query as Query, 'manufacturer') ?? null
      await forgetSetting(deps.settingsDeps, actor, { key: params.key, manufacturer })
      return reply.code(204).send()
    },
  )
}
