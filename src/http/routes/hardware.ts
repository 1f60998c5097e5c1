/** Routes for groups, slots, chassis, units, performers and assignments. */

import type { FastifyInstance, FastifyPluginCallback, FastifyRequest } from 'fastify'
import Type from 'typebox'
import {
  addAssignment,
  addGroup,
  addPerformer,
  changeAssignment,
  changeGroup,
  changePerformer,
  type HardwareDeps,
  moveToSlot,
  removeAssignment,
  removeGroup,
  removePerformer,
} from '../../actions/edit-hardware.ts'
import { groupFields, name, performerFields, slot } from '../../actions/fields.ts'
import type { Location } from '../../contract/admin.ts'
import type { AssignmentBody, Group } from '../../contract/live.ts'
import { onlineStates, type UpstreamStatus, unitTypes } from '../../contract/values.ts'
import { toChannelBody, toTimestamp } from '../../domain/api.ts'
import { type Assignment, toChassisBody, toUnitBody, type Unit } from '../../domain/equipment/hardware.ts'
import type { ServiceHealth } from '../../domain/equipment/health.ts'
import { RequestError } from '../../domain/errors.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import type { UnitStore } from '../../state/unit-store.ts'
import { listAssignments, listPerformerNames, listPerformers } from '../../storage/hardware.ts'
import { type Query, readId, readIdParameter, readPage, readParameter, toPage } from '../server/response.ts'
import { body, flag, id, nullable, text } from '../server/schemas.ts'

export interface HardwareRoutesDeps {
  readonly hardwareDeps: HardwareDeps
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  groups(manufacturer: string | undefined): readonly Group[]
  health(manufacturer: string | undefined): ServiceHealth
  locations(): readonly Location[]
}

const GroupBody = body({ id: Type.Optional(id), title: Type.Optional(name), ...groupFields })
const SlotBody = body({ slot })

const PerformerBody = body({ name, ...performerFields })
const ChangePerformerBody = body({ id: Type.Optional(id), name: Type.Optional(name), ...performerFields })
const NewAssignment = body({ performer: id, wireless_unit: id, is_active: Type.Optional(flag) })
const time = text(1, 64)
const ChangeAssignmentBody = body({
  id: Type.Optional(id),
  performer: Type.Optional(id),
  wireless_unit: Type.Optional(id),
  is_active: Type.Optional(flag),
  // These fields are read-only. They are accepted and ignored, so that a client can send back a record that it has
  // read.
  started_at: Type.Optional(time),
  ended_at: Type.Optional(nullable(time, 'text of 1 to 64 characters')),
})

type Params = { readonly id: string }

export function hardwareRoutes(app: FastifyInstance, deps: HardwareRoutesDeps): void {
  const routes: FastifyPluginCallback = (scope, _options, done) => {
    // Writes for an unknown manufacturer are rejected; reads return empty lists.
    scope.addHook('preHandler', async (request) => {
      const code = manufacturerOf(request)
      if (request.method === 'GET' || code === undefined || deps.hardwareDeps.hasManufacturer(code)) return
      throw new RequestError('not_found', { subject: `manufacturer ${code}` })
    })
    groupRoutes(scope, deps)
    channelRoutes(scope, deps)
    deviceRoutes(scope, deps)
    performerRoutes(scope, deps)
    assignmentRoutes(scope, deps)
    done()
  }
  void app.register(routes)
}

function groupRoutes(app: FastifyInstance, deps: HardwareRoutesDeps): void {
  const { hardwareDeps } = deps

  app.get('/api/groups', (request) => listOf(request, deps.groups(manufacturerOf(request))))

  app.put<{ Body: Type.Static<typeof GroupBody>; Params: Params }>(
    '/api/groups/:id',
    { schema: { body: GroupBody } },
    (request) => {
      const { id, ...change } = request.body
      return changeGroup(hardwareDeps, request.actor, readMatchingId(request, id), change, manufacturerOf(request))
    },
  )

  app.delete<{ Params: Params }>('/api/groups/:id', async (request, reply) => {
    await removeGroup(hardwareDeps, request.actor, readId(request.params.id), manufacturerOf(request))
    return reply.code(204).send()
  })

  /** Changes the group with the id in the body; creates a group if there is no id. */
  app.post<{ Body: Type.Static<typeof GroupBody> }>(
    '/api/group',
    { schema: { body: GroupBody } },
    async (request, reply) => {
      const { id, title, ...fields } = request.body
      const scope = manufacturerOf(request)
      if (id === undefined) {
        if (title === undefined) throw new RequestError('bad_request', { details: 'title: missing' })
        const group = { title, ...(scope !== undefined && { manufacturer: scope }), ...fields }
        return reply.code(201).send(await addGroup(hardwareDeps, request.actor, group))
      }
      if (!deps.groups(scope).some((group) => group.id === id)) {
        throw new RequestError('bad_request', { details: `id: there is no group ${id}` })
      }
      return changeGroup(hardwareDeps, request.actor, id, { ...(title !== undefined && { title }), ...fields }, scope)
    },
  )
}

function channelRoutes(app: FastifyInstance, { hardwareDeps, receiverStore }: HardwareRoutesDeps): void {
  app.patch<{ Body: Type.Static<typeof SlotBody>; Params: Params }>(
    '/api/channels/:id',
    { schema: { body: SlotBody } },
    async (request) => {
      const id = readId(request.params.id)
      const scope = manufacturerOf(request)
      const receiverId = await moveToSlot(hardwareDeps, request.actor, id, request.body.slot, scope)
      const channel = receiverStore.get(receiverId)?.channels.find((candidate) => candidate.id === id)
      if (channel === undefined) throw new RequestError('not_found', { subject: `channel ${id}` })
      return toChannelBody(channel)
    },
  )
}

function deviceRoutes(app: FastifyInstance, { receiverStore, unitStore, health, locations }: HardwareRoutesDeps): void {
  const upstreams = () => {
    const statuses = new Map(health(undefined).manufacturers.map(({ code, status }) => [code, status]))
    return (manufacturer: string): UpstreamStatus => statuses.get(manufacturer) ?? 'unconfigured'
  }

  app.get('/api/chassis', (request) => {
    const status = readEnum(request.query as Query, 'status', onlineStates)
    const statusOf = upstreams()
    const allLocations = locations()
    const chassis = receiverStore
      .list(manufacturerOf(request))
      .map((receiver) => toChassisBody(receiver, statusOf(receiver.manufacturer), allLocations))
    return listOf(
      request,
      chassis.filter((body) => status === undefined || body.status === status),
    )
  })

  app.get('/api/units', (request) => {
    const query = request.query as Query
    const manufacturer = manufacturerOf(request)
    const deviceType = readEnum(query, 'device_type', unitTypes)
    const status = readEnum(query, 'status', onlineStates)
    const chassis = readIdParameter(query, 'base_chassis')
    const battery = readPercent(query, 'battery_percentage')
    const minBattery = readPercent(query, 'battery_percentage__gte')
    const maxBattery = readPercent(query, 'battery_percentage__lte')
    const statusOf = upstreams()
    /** Whether to list a unit. A unit that belongs to a receiver is only listed while that receiver exists. */
    const isListed = ({ receiver_id }: Unit) => receiver_id === null || receiverStore.get(receiver_id) !== undefined
    const bodies = unitStore
      .list()
      .filter((unit) => (manufacturer === undefined || unit.manufacturer === manufacturer) && isListed(unit))
      .map((unit) => toUnitBody(unit, receiverStore.get(unit.receiver_id ?? 0), statusOf(unit.manufacturer)))
      .filter(({ battery_percentage: percent, ...unit }) => {
        if (deviceType !== undefined && unit.device_type !== deviceType) return false
        if (status !== undefined && unit.status !== status) return false
        if (chassis !== undefined && unit.base_chassis !== chassis) return false
        if (battery === undefined && minBattery === undefined && maxBattery === undefined) return true
        // An unknown battery level matches no battery filter.
        if (percent === null || (battery !== undefined && percent !== battery)) return false
        return percent >= (minBattery ?? 0) && percent <= (maxBattery ?? 100)
      })
    return listOf(request, bodies)
  })
}

function performerRoutes(app: FastifyInstance, { hardwareDeps }: HardwareRoutesDeps): void {
  /** Performers do not belong to a manufacturer, but the list is empty if the requested manufacturer is unknown. */
  app.get('/api/performers', async (request) => {
    const code = manufacturerOf(request)
    const isKnown = code === undefined || hardwareDeps.hasManufacturer(code)
    return listOf(request, isKnown ? await listPerformers(hardwareDeps.db.read) : [])
  })

  app.post<{ Body: Type.Static<typeof PerformerBody> }>(
    '/api/performers',
    { schema: { body: PerformerBody } },
    async ({ actor, body }, reply) => reply.code(201).send(await addPerformer(hardwareDeps, actor, body)),
  )

  app.put<{ Body: Type.Static<typeof ChangePerformerBody>; Params: Params }>(
    '/api/performers/:id',
    { schema: { body: ChangePerformerBody } },
    (request) => {
      const { id, ...change } = request.body
      return changePerformer(hardwareDeps, request.actor, readMatchingId(request, id), change)
    },
  )

  app.delete<{ Params: Params }>('/api/performers/:id', async ({ actor, params }, reply) => {
    await removePerformer(hardwareDeps, actor, readId(params.id))
    return reply.code(204).send()
  })
}

function assignmentRoutes(app: FastifyInstance, { hardwareDeps }: HardwareRoutesDeps): void {
  app.get('/api/assignments', async (request) => {
    const query = request.query as Query
    const found = await listAssignments(hardwareDeps.db.read, {
      is_active: readFlag(query, 'is_active'),
      performer: readIdParameter(query, 'performer'),
      wireless_unit: readIdParameter(query, 'wireless_unit'),
      manufacturer: manufacturerOf(request),
    })
    const bodies = found.map(toAssignmentBody)
    if (readFlag(query, 'names') !== true) return listOf(request, bodies)
    const performers = new Map(
      (await listPerformerNames(hardwareDeps.db.read)).map((performer) => [performer.id, performer]),
    )
    return listOf(
      request,
      bodies.map((body) => {
        const { name = '', picture_tag = null } = performers.get(body.performer) ?? {}
        return { ...body, performer_name: name, performer_picture_tag: picture_tag }
      }),
    )
  })

  app.post<{ Body: Type.Static<typeof NewAssignment> }>(
    '/api/assignments',
    { schema: { body: NewAssignment } },
    async ({ actor, body }, reply) =>
      reply.code(201).send(toAssignmentBody(await addAssignment(hardwareDeps, actor, body))),
  )

  app.put<{ Body: Type.Static<typeof ChangeAssignmentBody>; Params: Params }>(
    '/api/assignments/:id',
    { schema: { body: ChangeAssignmentBody } },
    async (request) => {
      const { id, started_at: _started, ended_at: _ended, ...change } = request.body
      return toAssignmentBody(await changeAssignment(hardwareDeps, request.actor, readMatchingId(request, id), change))
    },
  )

  app.delete<{ Params: Params }>('/api/assignments/:id', async ({ actor, params }, reply) => {
    await removeAssignment(hardwareDeps, actor, readId(params.id))
    return reply.code(204).send()
  })
}

function toAssignmentBody({ started_at, ended_at, ...assignment }: Assignment): AssignmentBody {
  return {
    ...assignment,
    started_at: toTimestamp(started_at),
    ended_at: ended_at === null ? null : toTimestamp(ended_at),
  }
}

/** Reads the id in the path. The body may repeat it, but must not contain another id. */
function readMatchingId({ params }: { readonly params: Params }, idInBody: number | undefined): number {
  const id = readId(params.id)
  if (idInBody === undefined || idInBody === id) return id
  throw new RequestError('bad_request', { details: `id: expected ${id}` })
}

function listOf<Item>(request: FastifyRequest, items: readonly Item[]) {
  const page = readPage(request.query as Query)
  return page === null ? items : toPage(items, page, request.url)
}

function manufacturerOf(request: FastifyRequest): string | undefined {
  return readParameter(request.query as Query, 'manufacturer')
}

function readEnum<T extends string>(query: Query, name: string, values: readonly T[]): T | undefined {
  const value = readParameter(query, name)
  const found = values.find((candidate) => candidate === value)
  if (value === undefined || found !== undefined) return found
  throw expected(name, `one of ${values.join(', ')}`)
}

function readFlag(query: Query, name: string): boolean | undefined {
  const value = readEnum(query, name, ['true', 'false', '1', '0'])
  return value === undefined ? undefined : value === 'true' || value === '1'
}

function readPercent(query: Query, name: string): number | undefined {
  const value = readParameter(query, name)
  if (value === undefined) return undefined
  if (!/^\d{1,3}$/.test(value) || Number(value) > 100) throw expected(name, 'a whole number from 0 to 100')
  return Number(value)
}

function expected(name: string, what: string): RequestError {
  return new RequestError('bad_request', { details: `${name}: expected ${what}` })
}
