/** Routes for settings: the values in force, and the values of every scope with their sources. */

import type { FastifyRequest } from 'fastify'
import { changeSetting, forgetSetting, requireKey } from '../../actions/change-settings.ts'
import { configurationOperations } from '../../contract/configuration.ts'
import { isSettingKey, type SettingKey, settingKinds } from '../../contract/settings.ts'
import { isAllowed, permissions } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { globalScope, type SettingScope } from '../../domain/settings.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginate } from '../server/response.ts'

/** The parameters that select a scope. */
interface ScopeQuery {
  readonly manufacturer?: string | undefined
  readonly group?: number | undefined
}

export function settingRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...configurationOperations.getConfig,
    handler: ({ query }) => service.settings.toBody(findScope(service, query)),
  })

  app.route({
    ...configurationOperations.changeConfig,
    config: { needs: 'configure' },
    handler: (request) => {
      const { actor, query } = request
      const { key, value, manufacturer: inBody } = request.body
      requirePermission(request, key)
      if (typeof inBody === 'string' && !hasManufacturer(service, inBody)) {
        throw new RequestError('bad_request', { details: `manufacturer: there is no manufacturer ${inBody}` })
      }
      if (query.manufacturer !== undefined && inBody !== undefined && inBody !== query.manufacturer) {
        throw new RequestError('bad_request', { details: 'manufacturer: expected the same value as in the query' })
      }
      const scope = findScope(service, { manufacturer: inBody ?? undefined, ...query })
      return changeSetting(service, actor, { key, value, ...scope }, ifMatch(request))
    },
  })

  app.route({
    ...configurationOperations.removeConfig,
    config: { needs: 'configure' },
    handler: async (request, reply) => {
      const { actor } = request
      const { key, ...query } = request.query
      if (key === undefined) throw new RequestError('bad_request', { details: 'key: missing' })
      requireKey(key)
      requirePermission(request, key)
      await forgetSetting(service, actor, { key, ...findScope(service, query) }, ifMatch(request))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...configurationOperations.listSettings,
    config: { needs: 'inspect' },
    handler: (request) => {
      const { manufacturer, group } = request.query
      const isSelected = (scope: SettingScope) =>
        (manufacturer === undefined || scope.manufacturer === manufacturer) &&
        (group === undefined || scope.group === group)
      const bodies = listScopes(service)
        .filter(isSelected)
        .map((scope) => ({
          ...scope,
          settings: service.settings.explain(scope),
          version: service.lists.settingsVersion(scope),
        }))
      return paginate(request, bodies)
    },
  })

  app.route({
    ...configurationOperations.removeSetting,
    config: { needs: 'administer' },
    handler: async (request, reply) => {
      const { actor, params } = request
      const { manufacturer = null, group = null } = request.query
      await forgetSetting(service, actor, { key: params.key, manufacturer, group }, ifMatch(request))
      return reply.code(204).send(null)
    },
  })
}

/** Settings of the history, of the lights of receivers and of listening require an administrator even on a local listener. */
function requirePermission({ actor, credential }: FastifyRequest, key: string): void {
  if (!isSettingKey(key) || !isForAdministrators(key) || isAllowed(actor.role, 'administer')) return
  if (credential === null) throw new RequestError('sign_in_needed')
  throw new RequestError('not_allowed', { subject: permissions.administer })
}

function listScopes(service: Service): SettingScope[] {
  return [
    globalScope,
    ...service.sourceRegistry.manufacturers().map(({ code }) => ({ manufacturer: code, group: null })),
    ...service.lists.groupsOf(undefined).map(({ id }) => ({ manufacturer: null, group: id })),
  ]
}

/** Throws a RequestError if the manufacturer or the group does not exist, or if both are given. */
function findScope(service: Service, { manufacturer, group }: ScopeQuery): SettingScope {
  if (manufacturer !== undefined && group !== undefined) {
    throw new RequestError('bad_request', { details: 'group: expected either a manufacturer or a group, not both' })
  }
  if (manufacturer !== undefined && !hasManufacturer(service, manufacturer)) {
    throw new RequestError('not_found', { subject: `manufacturer ${manufacturer}` })
  }
  if (group !== undefined && !service.lists.groupsOf(undefined).some(({ id }) => id === group)) {
    throw new RequestError('not_found', { subject: `group ${group}` })
  }
  return { manufacturer: manufacturer ?? null, group: group ?? null }
}

function hasManufacturer(service: Service, code: string): boolean {
  return service.sourceRegistry.manufacturers().some((manufacturer) => manufacturer.code === code)
}

function isForAdministrators(key: SettingKey): boolean {
  const { subject } = settingKinds[key]
  return subject === 'history' || subject === 'identify' || subject === 'listening'
}
