/** Administration routes for locations and receivers, and the hardware layout. */

import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { addLocation, changeLocation, deleteLocation, type EditLocationDeps } from '../../actions/edit-locations.ts'
import { addReceiver, changeReceiver, deleteReceiver, type EditReceiverDeps } from '../../actions/edit-receivers.ts'
import { locationFields, name } from '../../actions/fields.ts'
import type { Location } from '../../contract/admin.ts'
import type { Settings } from '../../contract/live.ts'
import { toReceiverDetail } from '../../domain/api.ts'
import { toLayout } from '../../domain/equipment/location.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import type { UnitStore } from '../../state/unit-store.ts'
import { type Query, readId, readPage, readParameter, toPage } from '../server/response.ts'
import { body, id, nullable, text } from '../server/schemas.ts'

export interface LocationRoutesDeps {
  readonly editDeps: EditLocationDeps & EditReceiverDeps
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  locations(): readonly Location[]
  settings(manufacturer: string | undefined): Settings
}

const locationId = nullable(id, 'the id of a location')
const LocationBody = body({ name, parent: Type.Optional(locationId), ...locationFields })
const LocationChange = body({ name: Type.Optional(name), parent: Type.Optional(locationId), ...locationFields })

const nullableText = (max: number) => Type.Optional(nullable(text(1, max), `text of at most ${max} characters`))
const ReceiverBody = body({
  manufacturer: text(1, 64),
  name,
  device_type: Type.Optional(text(1, 64)),
  model: nullableText(255),
  serial_number: nullableText(255),
  mac_address: nullableText(32),
  ip: nullableText(15),
  description: nullableText(1024),
  location: Type.Optional(locationId),
})
const ReceiverChange = body({
  name: nullableText(255),
  ip: Type.Optional(text(1, 15)),
  location: Type.Optional(locationId),
  reason: Type.Optional(text(0, 1024)),
})

interface WithId {
  readonly id: string
}

export function locationRoutes(app: FastifyInstance, deps: LocationRoutesDeps): void {
  const { editDeps } = deps
  const inspect = { config: { needs: 'inspect' } } as const
  const review = { config: { needs: 'review' } } as const

  app.get('/api/admin/locations', inspect, (request) => {
    const page = readPage(request.query as Query)
    return page === null ? deps.locations() : toPage(deps.locations(), page, request.url)
  })
  app.post<{ Body: Type.Static<typeof LocationBody> }>(
    '/api/admin/locations',
    { ...review, schema: { body: LocationBody } },
    async (request, reply) => reply.code(201).send(await addLocation(editDeps, request.actor, request.body)),
  )
  app.patch<{ Params: WithId; Body: Type.Static<typeof LocationChange> }>(
    '/api/admin/locations/:id',
    { ...review, schema: { body: LocationChange } },
    (request) => changeLocation(editDeps, request.actor, readId(request.params.id), request.body),
  )
  app.delete<{ Params: WithId }>('/api/admin/locations/:id', review, async (request, reply) => {
    await deleteLocation(editDeps, request.actor, readId(request.params.id))
    return reply.code(204).send()
  })

  const toBody = (receiver: Receiver) =>
    toReceiverDetail(receiver, deps.settings(receiver.manufacturer).alert_battery_threshold, deps.locations())

  app.get('/api/admin/receivers', inspect, (request) => {
    const query = request.query as Query
    const page = readPage(query)
    const receivers = deps.receiverStore.list(readParameter(query, 'manufacturer'))
    if (page === null) return receivers.map(toBody)
    const body = toPage(receivers, page, request.url)
    return { ...body, results: body.results.map(toBody) }
  })
  app.post<{ Body: Type.Static<typeof ReceiverBody> }>(
    '/api/admin/receivers',
    { ...review, schema: { body: ReceiverBody } },
    async (request, reply) => reply.code(201).send(toBody(await addReceiver(editDeps, request.actor, request.body))),
  )
  app.patch<{ Params: WithId; Body: Type.Static<typeof ReceiverChange> }>(
    '/api/admin/receivers/:id',
    { ...review, schema: { body: ReceiverChange } },
    async (request) => toBody(await changeReceiver(editDeps, request.actor, readId(request.params.id), request.body)),
  )
  app.delete<{ Params: WithId }>('/api/admin/receivers/:id', review, async (request, reply) => {
    await deleteReceiver(editDeps, request.actor, readId(request.params.id))
    return reply.code(204).send()
  })

  app.get('/api/admin/hardware-layout', inspect, (request) => {
    const manufacturer = readParameter(request.query as Query, 'manufacturer')
    return toLayout(deps.locations(), deps.receiverStore.list(manufacturer), (id) => deps.unitStore.reportedBy(id))
  })
}
