/** Routes for groups, slots, chassis, units, performers and assignments. */

import type { FastifyPluginCallback } from 'fastify'
import {
  addAssignment,
  addGroup,
  addPerformer,
  changeAssignment,
  changeChannel,
  changeGroup,
  changePerformer,
  moveToSlots,
  removeAssignment,
  removeGroup,
  removePerformer,
} from '../../actions/equipment/edit-hardware.ts'
import { channelOperations } from '../../contract/channels.ts'
import { groupOperations } from '../../contract/groups.ts'
import { hardwareOperations, type SiteUnitBody, type UnitBody, type UnitQuery } from '../../contract/hardware.ts'
import {
  type AssignmentBody,
  type AssignmentQuery,
  type Performer,
  performerOperations,
  type SiteAssignmentBody,
} from '../../contract/performers.ts'
import type { Body } from '../../contract/schema.ts'
import type { UpstreamStatus } from '../../contract/values.ts'
import {
  type Assignment,
  listSiteUnits,
  toChassisBody,
  toUnitBody,
  type Unit,
} from '../../domain/equipment/hardware.ts'
import { withMount, withoutMount } from '../../domain/equipment/picture.ts'
import { toSingleChannelBody } from '../../domain/equipment/receiver-body.ts'
import { localSite } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import type { Service } from '../../service.ts'
import { listAssignments, listPerformers } from '../../storage/hardware.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginate, paginateLocal, setUndoId, withUndoId } from '../server/response.ts'
import { pictureRoutes } from './pictures.ts'

export function hardwareRoutes(app: ContractServer, service: Service): void {
  const routes: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    // Writes for an unknown manufacturer are rejected; reads return empty lists.
    scope.addHook('preHandler', async ({ method, query }) => {
      const { manufacturer } = query as { readonly manufacturer?: string }
      if (method === 'GET' || manufacturer === undefined || service.hasManufacturer(manufacturer)) return
      throw new RequestError('not_found', { subject: `manufacturer ${manufacturer}` })
    })
    groupRoutes(scope, service)
    channelRoutes(scope, service)
    deviceRoutes(scope, service)
    performerRoutes(scope, service)
    pictureRoutes(scope, service)
    assignmentRoutes(scope, service)
    done()
  }
  void app.register(routes)
}

function groupRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...groupOperations.listGroups,
    handler: (request) => paginateLocal(request, service.lists.groupsOf(request.query.manufacturer)),
  })

  app.route({
    ...groupOperations.changeGroup,
    handler: async (request, reply) => {
      const { actor, params, query } = request
      const { id, version: _, ...change } = request.body
      requireSameId(params.id, id)
      const edited = await changeGroup(service, actor, params.id, change, ifMatch(request), query.manufacturer)
      return withUndoId(reply, edited)
    },
  })

  app.route({
    ...groupOperations.removeGroup,
    handler: async (request, reply) => {
      const { actor, params, query } = request
      withUndoId(reply, await removeGroup(service, actor, params.id, ifMatch(request), query.manufacturer))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...groupOperations.saveGroup,
    handler: async (request, reply) => {
      const { actor, query } = request
      const { manufacturer } = query
      const { id, title, version: _, ...fields } = request.body
      if (id === undefined) {
        if (title === undefined) throw new RequestError('bad_request', { details: 'title: missing' })
        const group = { title, ...(manufacturer !== undefined && { manufacturer }), ...fields }
        reply.code(201)
        return withUndoId(reply, await addGroup(service, actor, group))
      }
      if (!service.lists.groupsOf(manufacturer).some((group) => group.id === id)) {
        throw new RequestError('bad_request', { details: `id: there is no group ${id}` })
      }
      const change = { ...(title !== undefined && { title }), ...fields }
      return withUndoId(reply, await changeGroup(service, actor, id, change, ifMatch(request), manufacturer))
    },
  })
}

function channelRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...channelOperations.changeChannel,
    handler: async ({ actor, params: { id }, query, body }, reply) => {
      const { receiverId, undoId } = await changeChannel(service, actor, id, body, query.manufacturer)
      setUndoId(reply, undoId)
      const channel = service.receiverStore.get(receiverId)?.channels.find((candidate) => candidate.id === id)
      if (channel === undefined) throw new RequestError('not_found', { subject: `channel ${id}` })
      return toSingleChannelBody(channel)
    },
  })

  app.route({
    ...channelOperations.moveToSlots,
    handler: async ({ actor, body: { moves } }, reply) => {
      setUndoId(reply, await moveToSlots(service, actor, moves))
      return { moves }
    },
  })
}

function deviceRoutes(app: ContractServer, service: Service): void {
  const { receiverStore, unitStore, lists } = service
  const upstreams = () => {
    const statuses = new Map(service.health().manufacturers.map(({ code, status }) => [code, status]))
    return (manufacturer: string): UpstreamStatus => statuses.get(manufacturer) ?? 'unconfigured'
  }

  app.route({
    ...hardwareOperations.listChassis,
    handler: (request) => {
      const { status, manufacturer, site } = request.query
      const statusOf = upstreams()
      const allLocations = lists.current.locations
      const chassis = receiverStore
        .listAll({ manufacturer, site })
        .map((receiver) => toChassisBody(receiver, statusOf(receiver.manufacturer), allLocations))
      return paginate(
        request,
        chassis.filter((body) => status === undefined || body.status === status),
      )
    },
  })

  app.route({
    ...hardwareOperations.listUnits,
    handler: (request) => {
      const { manufacturer, site = localSite } = request.query
      const statusOf = upstreams()
      if (site !== localSite) {
        const units = receiverStore
          .listAll({ manufacturer, site })
          .flatMap((receiver) => listSiteUnits(receiver, statusOf(receiver.manufacturer)))
        return paginate(
          request,
          units.filter((unit) => isSelected(unit, request.query)),
        )
      }
      // A unit that belongs to a receiver is only listed while that receiver exists.
      const isListed = ({ receiver_id }: Unit) => receiver_id === null || receiverStore.get(receiver_id) !== undefined
      const bodies = unitStore
        .list()
        .filter((unit) => (manufacturer === undefined || unit.manufacturer === manufacturer) && isListed(unit))
        .map((unit) => toUnitBody(unit, receiverStore.get(unit.receiver_id ?? 0), statusOf(unit.manufacturer)))
        .filter((unit) => isSelected(unit, request.query))
      return paginate(request, bodies)
    },
  })
}

function isSelected(unit: UnitBody | SiteUnitBody, query: Body<typeof UnitQuery>): boolean {
  const { device_type, status, base_chassis, battery_percentage: battery } = query
  const { battery_percentage__gte: minBattery, battery_percentage__lte: maxBattery } = query
  if (device_type !== undefined && unit.device_type !== device_type) return false
  if (status !== undefined && unit.status !== status) return false
  if (base_chassis !== undefined && unit.base_chassis !== base_chassis) return false
  if (battery === undefined && minBattery === undefined && maxBattery === undefined) return true
  // An unknown battery level matches no battery filter.
  const percent = unit.battery_percentage
  if (percent === null || (battery !== undefined && percent !== battery)) return false
  return percent >= (minBattery ?? 0) && percent <= (maxBattery ?? 100)
}

function performerRoutes(app: ContractServer, service: Service): void {
  const { mount } = service
  const toBody = (performer: Performer) => withMount(performer, mount)
  /** Performers do not belong to a manufacturer, but the list is empty if the requested manufacturer is unknown. */
  app.route({
    ...performerOperations.listPerformers,
    handler: async (request) => {
      const { manufacturer } = request.query
      const isKnown = manufacturer === undefined || service.hasManufacturer(manufacturer)
      const performers = isKnown ? await listPerformers(service.db.read) : []
      return paginateLocal(request, performers.map(toBody))
    },
  })

  app.route({
    ...performerOperations.createPerformer,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return toBody(withUndoId(reply, await addPerformer(service, actor, withoutMount(body, mount))))
    },
  })

  app.route({
    ...performerOperations.changePerformer,
    handler: async (request, reply) => {
      const { actor, params } = request
      const { id, version: _, ...change } = request.body
      requireSameId(params.id, id)
      const requireVersion = ifMatch(request, toBody)
      const edited = await changePerformer(service, actor, params.id, withoutMount(change, mount), requireVersion)
      return toBody(withUndoId(reply, edited))
    },
  })

  app.route({
    ...performerOperations.removePerformer,
    handler: async (request, reply) => {
      withUndoId(reply, await removePerformer(service, request.actor, request.params.id, ifMatch(request, toBody)))
      return reply.code(204).send(null)
    },
  })
}

function assignmentRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...performerOperations.listAssignments,
    handler: async (request) => {
      const { is_active, performer, wireless_unit, manufacturer, names, site = localSite } = request.query
      if (site !== localSite) return paginate(request, listSiteAssignments(service, { ...request.query, site }))
      const filter = { is_active, performer, wireless_unit, manufacturer }
      const bodies = (await listAssignments(service.db.read, filter)).map(toAssignmentBody)
      if (names !== true) return paginate(request, bodies)
      const performers = new Map((await listPerformers(service.db.read)).map((performer) => [performer.id, performer]))
      return paginate(
        request,
        bodies.map((body) => {
          const { name = '', picture = null } = performers.get(body.performer) ?? {}
          return { ...body, performer_name: name, performer_picture_tag: picture }
        }),
      )
    },
  })

  app.route({
    ...performerOperations.createAssignment,
    handler: async ({ actor, body }, reply) => {
      const { assignment, undoId } = await addAssignment(service, actor, body)
      setUndoId(reply.code(201), undoId)
      return toAssignmentBody(assignment)
    },
  })

  app.route({
    ...performerOperations.changeAssignment,
    handler: async ({ actor, params, body }, reply) => {
      const { id, started_at: _started, ended_at: _ended, ...change } = body
      requireSameId(params.id, id)
      const { assignment, undoId } = await changeAssignment(service, actor, params.id, change)
      setUndoId(reply, undoId)
      return toAssignmentBody(assignment)
    },
  })

  app.route({
    ...performerOperations.removeAssignment,
    handler: async ({ actor, params }, reply) => {
      setUndoId(reply, await removeAssignment(service, actor, params.id))
      return reply.code(204).send(null)
    },
  })
}

/** Only assignments of this installation can have ended, or can be selected by ids. */
function listSiteAssignments(
  { live, receiverStore }: Service,
  { is_active, performer, wireless_unit, manufacturer, site }: Body<typeof AssignmentQuery>,
): SiteAssignmentBody[] {
  if (is_active === false || performer !== undefined || wireless_unit !== undefined) return []
  const receivers = receiverStore.listAll({ manufacturer, site })
  const channelIds = new Set(receivers.flatMap(({ channels }) => channels.map(({ id }) => id)))
  return live.lists.assignments().flatMap(({ channel_id, performer: { name }, site }) =>
    channel_id === null || site === undefined || !channelIds.has(channel_id)
      ? []
      : {
          ...{ id: null, performer: null, wireless_unit: null, role: null, is_active: true },
          ...{ started_at: null, ended_at: null, performer_name: name, channel_id, site },
        },
  )
}

function toAssignmentBody({ started_at, ended_at, ...assignment }: Assignment): AssignmentBody {
  return {
    ...assignment,
    started_at: toTimestamp(started_at),
    ended_at: ended_at === null ? null : toTimestamp(ended_at),
  }
}

/** The body may repeat the id in the path, but must not contain another id. */
function requireSameId(id: number, idInBody: number | undefined): void {
  if (idInBody !== undefined && idInBody !== id)
    throw new RequestError('bad_request', { details: `id: expected ${id}` })
}
