/** Administration routes for manufacturers: configuration with masked secrets, health and connection tests. */

import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import {
  addManufacturer,
  changeManufacturer,
  listAll,
  type ManufacturerChange,
  type ManufacturerDeps,
  removeManufacturer,
} from '../../actions/change-manufacturers.ts'
import { code, manufacturerFields } from '../../actions/fields.ts'
import {
  listPlugins,
  type ManufacturerTrial,
  testManufacturer,
  tryManufacturer,
} from '../../actions/test-manufacturer.ts'
import type { ManufacturerBody } from '../../contract/admin.ts'
import { maskSecrets } from '../../domain/access/secrets.ts'
import { noSources, type ServiceHealth } from '../../domain/equipment/health.ts'
import { type Query, readPage, readParameter, toPage } from '../server/response.ts'
import { body } from '../server/schemas.ts'

export interface ManufacturerRoutesDeps {
  readonly manufacturerDeps: ManufacturerDeps
  health(manufacturer: string | undefined): ServiceHealth
}

const ChangeBody = body(manufacturerFields)
const NewBody = body({ code, ...manufacturerFields })
const { plugin, config } = manufacturerFields
const TrialBody = body({ code: Type.Optional(code), plugin, config })

export function manufacturerRoutes(app: FastifyInstance, deps: ManufacturerRoutesDeps): void {
  const { manufacturerDeps } = deps
  const inspect = { config: { needs: 'inspect' } } as const
  const administer = { config: { needs: 'administer' } } as const

  function toBody(record: Awaited<ReturnType<typeof listAll>>[number]): ManufacturerBody {
    const { config, secretsUnreadable, ...rest } = record
    const known = deps.health(record.code).manufacturers.find(({ code }) => code === record.code)
    const { status, error, sources, device_errors, more } = known ?? { ...noSources, status: 'unconfigured' }
    return {
      ...rest,
      config: maskSecrets(config) as ManufacturerBody['config'],
      secrets_unreadable: secretsUnreadable,
      status,
      error,
      sources,
      device_errors,
      more,
    }
  }

  app.get('/api/admin/manufacturers', inspect, async (request) => {
    const query = request.query as Query
    const manufacturer = readParameter(query, 'manufacturer')
    const page = readPage(query)
    const records = await listAll(manufacturerDeps)
    const bodies = records.filter(({ code }) => manufacturer === undefined || code === manufacturer).map(toBody)
    return page === null ? bodies : toPage(bodies, page, request.url)
  })

  app.post<{ Body: ManufacturerChange & { code: string } }>(
    '/api/admin/manufacturers',
    { ...administer, schema: { body: NewBody } },
    async (request, reply) => {
      const record = await addManufacturer(manufacturerDeps, request.actor, request.body)
      return reply.code(201).send(toBody(record))
    },
  )

  app.patch<{ Body: ManufacturerChange; Params: { code: string } }>(
    '/api/admin/manufacturers/:code',
    { ...administer, schema: { body: ChangeBody } },
    async ({ actor, params, body: change }) =>
      toBody(await changeManufacturer(manufacturerDeps, actor, params.code, change)),
  )

  app.delete<{ Params: { code: string } }>(
    '/api/admin/manufacturers/:code',
    administer,
    async ({ actor, params }, reply) => {
      await removeManufacturer(manufacturerDeps, actor, params.code)
      return reply.code(204).send()
    },
  )

  app.post<{ Body: ManufacturerTrial }>(
    '/api/admin/manufacturers/test',
    { ...administer, schema: { body: TrialBody } },
    ({ actor, body: trial }) => tryManufacturer(manufacturerDeps, actor, trial),
  )

  app.get('/api/admin/plugins', inspect, (request) => {
    const page = readPage(request.query as Query)
    return page === null ? listPlugins() : toPage(listPlugins(), page, request.url)
  })

  app.post<{ Params: { code: string } }>('/api/admin/manufacturers/:code/test', administer, ({ actor, params }) =>
    testManufacturer(manufacturerDeps, actor, params.code),
  )
}
