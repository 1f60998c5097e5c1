/** Administration routes for settings: the values of every scope with their sources. */

import { forgetSetting, type SettingsDeps } from '../../actions/change-settings.ts'
import type { RefreshDeps } from '../../actions/refresh.ts'
import * as operations from '../../contract/operations/administration.ts'
import type { ExplainedSettings } from '../../domain/settings.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export interface SettingRoutesDeps extends Pick<RefreshDeps, 'manufacturers'> {
  readonly settingsDeps: SettingsDeps
  explainSettings(manufacturer: string | null): ExplainedSettings
}

export function settingRoutes(app: ContractServer, deps: SettingRoutesDeps): void {
  app.route({
    ...operations.listSettings,
    config: { needs: 'inspect' },
    handler: (request) => {
      const { manufacturer: selected } = request.query
      const scopes = [null, ...deps.manufacturers().map(({ code }) => code)]
      const bodies = scopes
        .filter((code) => selected === undefined || code === selected)
        .map((manufacturer) => ({ manufacturer, settings: deps.explainSettings(manufacturer) }))
      return paginate(request, bodies)
    },
  })

  app.route({
    ...operations.removeSetting,
    config: { needs: 'administer' },
    handler: async ({ actor, params, query }, reply) => {
      await forgetSetting(deps.settingsDeps, actor, { key: params.key, manufacturer: query.manufacturer ?? null })
      return reply.code(204).send(null)
    },
  })
}
