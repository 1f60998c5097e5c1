/** Where the hardware stands: locations, receivers as administrators see them, the layout of both. */

import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { addLocation, changeLocation, deleteLocation, type EditLocationDeps } from '../actions/edit-locations.ts'
import { addReceiver, changeReceiver, deleteReceiver, type EditReceiverDeps } from '../actions/edit-receivers.ts'
import { locationFields, name } from '../actions/fields.ts'
import type { ReceiverStore } from '../live/receiver-store.ts'
import type { UnitStore } from '../live/unit-store.ts'
import { toReceiverDetail } from '../model/api.ts'
import { type Location, toLayout } from '../model/location.ts'
import type { Receiver } from '../model/receiver.ts'
import type { Settings } from '../model/settings.ts'
import { type Query, readId, readPage, readParameter, toPage } from './response.ts'
import { body, id, nullable, text } from './schemas.ts'

export interface LocationRoutesDeps {
  readonly placeDeps: EditLocationDeps & EditReceiverDeps
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  locations(): readonly Location[]
  settings(manufacturer: string | undefined): Settings
}

const place = nullable(id, 'the id of a location')
const LocationBody = body({ name, parent: Type.Optional(place), ...locationFields })
const LocationChange = body({ name: Type.Optional(name), parent: Type.Optional(place), ...locationFields })

const words = (max: number) => Type.Optional(nullable(text(1, max), `text of at most ${max} characters`))
const ReceiverBody = body({
  manufacturer: text(1, 64),
  name,
  device_type: Type.Optional(text(1, 64)),
  model: words(255),
  serial_number: words(255),
  mac_address: words(32),
  ip: words(15),
  description: words(1024),
  location: Type.Optional(place),
})
const ReceiverChange = body({
  name: words(255),
  ip: Type.Optional(text(1, 15)),
  location: Type.Optional(place),
  reason: Type.Optional(text(0, 1024)),
})

interface WithId {
  readonly id: string
}

export function locationRoutes(app: FastifyInstance, deps: LocationRoutesDeps): void {
  const { placeDeps } = deps
  const look = { config: { needs: 'inspect' } } as const
  const decide = { config: { needs: 'review' } } as const

  app.get('/api/admin/locations', look, (request) => {
    const page = readPage(request.query as Query)
    return page === null ? deps.locations() : toPage(deps.locations(), page, request.url)
  })
  app.post<{ Body: Type.Static<typeof LocationBody> }>(
    '/api/admin/locations',
    { ...decide, schema: { body: LocationBody } },
    async (request, reply) => reply.code(201).send(await addLocation(placeDeps, request.actor, request.body)),
  )
  app.patch<{ Params: WithId; Body: Type.Static<typeof LocationChange> }>(
    '/api/admin/locations/:id',
    { ...decide, schema: { body: LocationChange } },
    (request) => changeLocation(placeDeps, request.actor, readId(request.params.id), request.body),
  )
  app.delete<{ Params: WithId }>('/api/admin/locations/:id', decide, async (request, reply) => {
    await deleteLocation(placeDeps, request.actor, readId(request.params.id))
    return reply.code(204).send()
  })

  const toBody = (receiver: Receiver) =>
    toReceiverDetail(receiver, deps.settings(receiver.manufacturer).alert_battery_threshold, deps.locations())

  app.get('/api/admin/receivers', look, (request) => {
    const query = request.query as Query
    const page = readPage(query)
    const receivers = deps.receiverStore.list(readParameter(query, 'manufacturer'))
    if (page === null) return receivers.map(toBody)
    const shown = toPage(receivers, page, request.url)
    return { ...shown, results: shown.results.map(toBody) }
  })
  app.post<{ Body: Type.Static<typeof ReceiverBody> }>(
    '/api/admin/receivers',
    { ...decide, schema: { body: ReceiverBody } },
    async (request, reply) => reply.code(201).send(toBody(await addReceiver(placeDeps, request.actor, request.body))),
  )
  app.patch<{ Params: WithId; Body: Type.Static<typeof ReceiverChange> }>(
    '/api/admin/receivers/:id',
    { ...decide, schema: { body: ReceiverChange } },
    async (request) => toBody(await changeReceiver(placeDeps, request.actor, readId(request.params.id), request.body)),
  )
  app.delete<{ Params: WithId }>('/api/admin/receivers/:id', decide, async (request, reply) => {
    await deleteReceiver(placeDeps, request.actor, readId(request.params.id))
    return reply.code(204).send()
  })

  app.get('/api/admin/hardware-layout', look, (request) => {
    const manufacturer = readParameter(request.query as Query, 'manufacturer')
    return toLayout(deps.locations(), deps.receiverStore.list(manufacturer), (id) => deps.unitStore.reportedBy(id))
  })
}
