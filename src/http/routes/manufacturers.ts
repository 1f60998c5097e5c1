/** Administration routes for manufacturers: configuration with masked secrets, health and connection tests. */

import { detectEquipment } from '../../actions/equipment/detect-equipment.ts'
import {
  addManufacturer,
  changeManufacturer,
  listAll,
  removeManufacturer,
} from '../../actions/sources/change-manufacturers.ts'
import { listPlugins, testManufacturer, tryManufacturer } from '../../actions/sources/test-manufacturer.ts'
import { type ManufacturerBody, manufacturerOperations } from '../../contract/manufacturers.ts'
import { maskSecrets } from '../../domain/access/secrets.ts'
import { noSources } from '../../domain/equipment/health.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginate } from '../server/response.ts'

const inspect = { config: { needs: 'inspect' } } as const
const administer = { config: { needs: 'administer' } } as const

export function manufacturerRoutes(app: ContractServer, service: Service): void {
  function toBody(record: Awaited<ReturnType<typeof listAll>>[number]): ManufacturerBody {
    const { config, secretsUnreadable, ...rest } = record
    const known = service.health(record.code).manufacturers.find(({ code }) => code === record.code)
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

  app.route({
    ...manufacturerOperations.listManufacturers,
    ...inspect,
    handler: async (request) => {
      const { manufacturer } = request.query
      const records = await listAll(service)
      return paginate(
        request,
        records.filter(({ code }) => manufacturer === undefined || code === manufacturer).map(toBody),
      )
    },
  })

  app.route({
    ...manufacturerOperations.createManufacturer,
    ...administer,
    handler: async ({ actor, body }, reply) => {
      const record = await addManufacturer(service, actor, body)
      reply.code(201)
      return toBody(record)
    },
  })

  app.route({
    ...manufacturerOperations.changeManufacturer,
    ...administer,
    handler: async (request) => {
      const { actor, params, body } = request
      return toBody(await changeManufacturer(service, actor, params.code, body, ifMatch(request, toBody)))
    },
  })

  app.route({
    ...manufacturerOperations.removeManufacturer,
    ...administer,
    handler: async (request, reply) => {
      await removeManufacturer(service, request.actor, request.params.code, ifMatch(request, toBody))
      return reply.code(204).send(null)
    },
  })

  testRoutes(app, service)
}

function testRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...manufacturerOperations.testConfiguration,
    ...administer,
    handler: ({ actor, body: trial }) => tryManufacturer(service, actor, trial),
  })

  app.route({
    ...manufacturerOperations.detectEquipment,
    ...administer,
    handler: ({ actor, body }) => detectEquipment(service, actor, body),
  })

  app.route({
    ...manufacturerOperations.testManufacturer,
    ...administer,
    handler: ({ actor, params }) => testManufacturer(service, actor, params.code),
  })

  app.route({
    ...manufacturerOperations.listPlugins,
    ...inspect,
    handler: (request) => paginate(request, listPlugins()),
  })
}
