/** Administration routes for locations and receivers, and the hardware layout. */

import {
  addLocation,
  changeLocation,
  deleteLocation,
  type EditLocationDeps,
} from '../../actions/equipment/edit-locations.ts'
import {
  addReceiver,
  changeReceiver,
  deleteReceiver,
  type EditReceiverDeps,
} from '../../actions/equipment/edit-receivers.ts'
import { type Location, locationOperations } from '../../contract/locations.ts'
import { receiverOperations } from '../../contract/receivers.ts'
import { toLayout } from '../../domain/equipment/location.ts'
import type { Channel, Receiver } from '../../domain/equipment/receiver.ts'
import { toReceiverDetail } from '../../domain/equipment/receiver-body.ts'
import { includesSite } from '../../domain/equipment/sites.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { UnitStore } from '../../ingest/unit-store.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginateLocal, readPage, toPage } from '../server/response.ts'

export interface LocationRoutesDeps {
  readonly editDeps: EditLocationDeps & EditReceiverDeps
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  locations(): readonly Location[]
  /** Returns the `alert_battery_threshold` in force for a channel. */
  batteryThreshold(receiver: Receiver, channel: Channel): number
}

const inspect = { config: { needs: 'inspect' } } as const
const review = { config: { needs: 'review' } } as const

export function locationRoutes(app: ContractServer, deps: LocationRoutesDeps): void {
  const { editDeps } = deps

  app.route({
    ...locationOperations.listLocations,
    ...inspect,
    handler: (request) => paginateLocal(request, deps.locations()),
  })

  app.route({
    ...locationOperations.createLocation,
    ...review,
    handler: ({ actor, body }, reply) => {
      reply.code(201)
      return addLocation(editDeps, actor, body)
    },
  })

  app.route({
    ...locationOperations.changeLocation,
    ...review,
    handler: ({ actor, params, body }) => changeLocation(editDeps, actor, params.id, body),
  })

  app.route({
    ...locationOperations.removeLocation,
    ...review,
    handler: async ({ actor, params }, reply) => {
      await deleteLocation(editDeps, actor, params.id)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...locationOperations.getHardwareLayout,
    ...inspect,
    handler: ({ query }) =>
      toLayout(deps.locations(), deps.receiverStore.list(query.manufacturer), (id) => deps.unitStore.reportedBy(id)),
  })

  receiverAdminRoutes(app, deps)
}

function receiverAdminRoutes(app: ContractServer, deps: LocationRoutesDeps): void {
  const { editDeps } = deps
  const toBody = (receiver: Receiver) => toReceiverDetail(receiver, deps.batteryThreshold, deps.locations())

  app.route({
    ...receiverOperations.listReceiverDetails,
    ...inspect,
    handler: ({ query, url }) => {
      const page = readPage(query)
      const receivers = includesSite(query, null) ? deps.receiverStore.list(query.manufacturer) : []
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
      return toBody(await addReceiver(editDeps, actor, body))
    },
  })

  app.route({
    ...receiverOperations.changeReceiver,
    ...review,
    handler: async ({ actor, params, body }) => toBody(await changeReceiver(editDeps, actor, params.id, body)),
  })

  app.route({
    ...receiverOperations.removeReceiver,
    ...review,
    handler: async ({ actor, params }, reply) => {
      await deleteReceiver(editDeps, actor, params.id)
      return reply.code(204).send(null)
    },
  })
}
