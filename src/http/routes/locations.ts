/** Administration routes for locations and receivers, and the hardware layout. */

import type { FastifyRequest } from 'fastify'
import { addLocation, changeLocation, deleteLocation } from '../../actions/equipment/edit-locations.ts'
import {
  addReceiver,
  changeReceiver,
  deleteReceiver,
  type ReceiverRecord,
} from '../../actions/equipment/edit-receivers.ts'
import { locationOperations } from '../../contract/locations.ts'
import { receiverOperations } from '../../contract/receivers.ts'
import { toLayout } from '../../domain/equipment/location.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { toReceiverDetail } from '../../domain/equipment/receiver-body.ts'
import { includesSite } from '../../domain/equipment/sites.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginateLocal, readPage, toPage } from '../server/response.ts'

const inspect = { config: { needs: 'inspect' } } as const
const review = { config: { needs: 'review' } } as const

export function locationRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...locationOperations.listLocations,
    ...inspect,
    handler: (request) => paginateLocal(request, service.lists.current.locations),
  })

  app.route({
    ...locationOperations.createLocation,
    ...review,
    handler: ({ actor, body }, reply) => {
      reply.code(201)
      return addLocation(service, actor, body)
    },
  })

  app.route({
    ...locationOperations.changeLocation,
    ...review,
    handler: (request) => {
      const { actor, params, body } = request
      return changeLocation(service, actor, params.id, body, ifMatch(request))
    },
  })

  app.route({
    ...locationOperations.removeLocation,
    ...review,
    handler: async (request, reply) => {
      await deleteLocation(service, request.actor, request.params.id, ifMatch(request))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...locationOperations.getHardwareLayout,
    ...inspect,
    handler: ({ query }) =>
      toLayout(service.lists.current.locations, service.receiverStore.list(query.manufacturer), (id) =>
        service.unitStore.reportedBy(id),
      ),
  })

  receiverAdminRoutes(app, service)
}

function receiverAdminRoutes(app: ContractServer, service: Service): void {
  const toBody = (receiver: Receiver) => toReceiverDetail(receiver, service.conditions, service.lists.current.locations)
  const ifMatchReceiver = (request: FastifyRequest) => ifMatch<ReceiverRecord>(request, toBody)

  app.route({
    ...receiverOperations.listReceiverDetails,
    ...inspect,
    handler: ({ query, url }) => {
      const page = readPage(query)
      const receivers = includesSite(query, null) ? service.receiverStore.list(query.manufacturer) : []
      if (page === null) return receivers.map(toBody)
      const body = toPage(receivers, page, url)
      return { ...body, results: body.results.map(toBody) }
    },
  })

  app.route({
    ...receiverOperations.createReceiver,
    ...review,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return toBody(await addReceiver(service, actor, body))
    },
  })

  app.route({
    ...receiverOperations.changeReceiver,
    ...review,
    handler: async (request) => {
      const { actor, params, body } = request
      return toBody(await changeReceiver(service, actor, params.id, body, ifMatchReceiver(request)))
    },
  })

  app.route({
    ...receiverOperations.removeReceiver,
    ...review,
    handler: async (request, reply) => {
      await deleteReceiver(service, request.actor, request.params.id, ifMatchReceiver(request))
      return reply.code(204).send(null)
    },
  })
}
