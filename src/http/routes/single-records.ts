/** Routes that read one record, and the list of channels. */

import { channelOperations, type ListedChannel } from '../../contract/channels.ts'
import { groupOperations } from '../../contract/groups.ts'
import { hardwareOperations } from '../../contract/hardware.ts'
import { performerOperations } from '../../contract/performers.ts'
import { toChassisBody, toUnitBody } from '../../domain/equipment/hardware.ts'
import { withMount } from '../../domain/equipment/picture.ts'
import { findReceiverOf } from '../../domain/equipment/receiver.ts'
import { siteOf, toSingleChannelBody } from '../../domain/equipment/receiver-body.ts'
import type { EquipmentFilter } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import { findPerformer } from '../../storage/hardware.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

interface ChannelOwner {
  readonly channelId: number
  readonly receiverId: number
}

export function singleRecordRoutes(app: ContractServer, service: Service): void {
  const { db, receiverStore, unitStore, lists, mount } = service
  const statusOf = (manufacturer: string) =>
    service.health().manufacturers.find(({ code }) => code === manufacturer)?.status ?? 'unconfigured'

  /** Finds the channels without reading their levels, which would take long for all of them. */
  const channelOwners = (query: EquipmentFilter): ChannelOwner[] =>
    receiverStore
      .listAllFacts(query)
      .flatMap(({ id: receiverId, channels }) => channels.map(({ id }) => ({ channelId: id, receiverId })))
  const readChannel = ({ channelId, receiverId }: ChannelOwner): ListedChannel => {
    const receiver = receiverStore.get(receiverId)
    const channel = receiver?.channels.find(({ id }) => id === channelId)
    if (receiver === undefined || channel === undefined) throw notFound('channel', channelId)
    return {
      ...toSingleChannelBody(channel),
      receiver_id: receiverId,
      manufacturer: receiver.manufacturer,
      site: siteOf(receiver),
    }
  }

  app.route({
    ...channelOperations.listChannels,
    handler: (request) => {
      const owners = channelOwners(request.query).sort((a, b) => a.channelId - b.channelId)
      const list = paginate(request, owners)
      return 'results' in list ? { ...list, results: list.results.map(readChannel) } : list.map(readChannel)
    },
  })

  app.route({
    ...channelOperations.getChannel,
    handler: ({ params: { id }, query }) => {
      const owner = findReceiverOf(receiverStore.listAllFacts(query), id)
      if (owner === undefined) throw notFound('channel', id)
      return readChannel({ channelId: id, receiverId: owner.id })
    },
  })

  app.route({
    ...groupOperations.getGroup,
    handler: ({ params: { id }, query }) => {
      const group = lists.groupsOf(query.manufacturer).find((candidate) => candidate.id === id)
      if (group === undefined) throw notFound('group', id)
      return group
    },
  })

  app.route({
    ...performerOperations.getPerformer,
    handler: async ({ params: { id } }) => {
      const performer = await findPerformer(db.read, id)
      if (performer === undefined) throw notFound('performer', id)
      return withMount(performer, mount)
    },
  })

  app.route({
    ...hardwareOperations.getUnit,
    handler: ({ params: { id }, query }) => {
      const unit = unitStore.get(id)
      const receiver = receiverStore.get(unit?.receiver_id ?? 0)
      // A unit that belongs to a receiver exists only while that receiver does.
      const isOrphaned = unit !== undefined && unit.receiver_id !== null && receiver === undefined
      if (unit === undefined || isOrphaned || !isIncluded(query, unit)) throw notFound('unit', id)
      return toUnitBody(unit, receiver, statusOf(unit.manufacturer))
    },
  })

  app.route({
    ...hardwareOperations.getChassis,
    handler: ({ params: { id }, query }) => {
      const receiver = receiverStore.get(id)
      if (receiver === undefined || !isIncluded(query, receiver)) throw notFound('chassis', id)
      return toChassisBody(receiver, statusOf(receiver.manufacturer), lists.current.locations)
    },
  })
}

function isIncluded(query: { readonly manufacturer?: string }, { manufacturer }: { readonly manufacturer: string }) {
  return query.manufacturer === undefined || query.manufacturer === manufacturer
}

function notFound(kind: string, id: number): RequestError {
  return new RequestError('not_found', { subject: `${kind} ${id}` })
}
