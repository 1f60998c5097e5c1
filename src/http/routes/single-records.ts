/** Routes that read one record, and the list of channels. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Group, toChannelBody } from '../../domain/api.ts'
import { toChassisBody, toUnitBody } from '../../domain/equipment/hardware.ts'
import type { ServiceHealth } from '../../domain/equipment/health.ts'
import type { Location } from '../../domain/equipment/location.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import type { UnitStore } from '../../state/unit-store.ts'
import type { Database } from '../../storage/database.ts'
import { findPerformer } from '../../storage/hardware.ts'
import { type Query, readId, readPage, readParameter, toPage } from '../server/response.ts'

export interface SingleRecordDeps {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  groups(manufacturer: string | undefined): readonly Group[]
  health(manufacturer: string | undefined): ServiceHealth
  locations(): readonly Location[]
}

export function singleRecordRoutes(app: FastifyInstance, deps: SingleRecordDeps): void {
  const { db, receiverStore, unitStore, groups, health, locations } = deps
  const statusOf = (manufacturer: string) =>
    health(undefined).manufacturers.find(({ code }) => code === manufacturer)?.status ?? 'unconfigured'

  app.get('/api/channels', (request) => {
    const page = readPage(request.query as Query)
    const channels = receiverStore
      .list(manufacturerOf(request))
      .flatMap((receiver) => receiver.channels.map((channel) => toListedChannel(receiver, channel)))
      .sort((a, b) => a.id - b.id)
    return page === null ? channels : toPage(channels, page, request.url)
  })

  app.get('/api/channels/:id', (request) => {
    const id = idOf(request)
    for (const receiver of receiverStore.list(manufacturerOf(request))) {
      const channel = receiver.channels.find((candidate) => candidate.id === id)
      if (channel !== undefined) return toListedChannel(receiver, channel)
    }
    throw notFound('channel', id)
  })

  app.get('/api/groups/:id', (request) => {
    const id = idOf(request)
    const group = groups(manufacturerOf(request)).find((candidate) => candidate.id === id)
    if (group === undefined) throw notFound('group', id)
    return group
  })

  app.get('/api/performers/:id', async (request) => {
    const id = idOf(request)
    const performer = await findPerformer(db.read, id)
    if (performer === undefined) throw notFound('performer', id)
    return performer
  })

  app.get('/api/units/:id', (request) => {
    const id = idOf(request)
    const unit = unitStore.get(id)
    const receiver = receiverStore.get(unit?.receiver_id ?? 0)
    // A unit that belongs to a receiver exists only while that receiver does.
    const isOrphaned = unit !== undefined && unit.receiver_id !== null && receiver === undefined
    if (unit === undefined || isOrphaned || !isIncluded(request, unit.manufacturer)) throw notFound('unit', id)
    return toUnitBody(unit, receiver, statusOf(unit.manufacturer))
  })

  app.get('/api/chassis/:id', (request) => {
    const id = idOf(request)
    const receiver = receiverStore.get(id)
    if (receiver === undefined || !isIncluded(request, receiver.manufacturer)) throw notFound('chassis', id)
    return toChassisBody(receiver, statusOf(receiver.manufacturer), locations())
  })
}

function toListedChannel({ id, manufacturer }: Receiver, channel: Receiver['channels'][number]) {
  return { ...toChannelBody(channel), receiver_id: id, manufacturer }
}

function idOf({ params }: FastifyRequest): number {
  return readId((params as { readonly id: string }).id)
}

function manufacturerOf({ query }: FastifyRequest): string | undefined {
  return readParameter(query as Query, 'manufacturer')
}

function isIncluded(request: FastifyRequest, manufacturer: string): boolean {
  return [undefined, manufacturer].includes(manufacturerOf(request))
}

function notFound(kind: string, id: number): RequestError {
  return new RequestError('not_found', { subject: `${kind} ${id}` })
}
