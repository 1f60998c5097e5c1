/** Routes for the mapping of channels to audio streams, "Not now", and the list of listeners. */

import { findChannelAudio, mapChannel } from '../../actions/audio/map-channel.ts'
import { setNotNow } from '../../actions/audio/set-not-now.ts'
import { channelOperations } from '../../contract/channels.ts'
import { listeningOperations } from '../../contract/listening.ts'
import { proposeMappings, toChannelAudioBody } from '../../domain/audio/mapping.ts'
import { toSingleChannelBody } from '../../domain/equipment/receiver-body.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'

export function listeningRoutes(app: ContractServer, service: Service): void {
  const { audioStreams, lists, listening, receiverStore, slotRecords } = service

  app.route({
    ...listeningOperations.getChannelAudio,
    handler: async ({ params }, reply) => reply.send(await findChannelAudio(service, params.id)),
  })

  app.route({
    ...listeningOperations.setChannelAudio,
    config: { needs: 'administer' },
    handler: async ({ actor, params: { id }, body }, reply) => {
      await mapChannel(service, actor, id, body)
      return reply.send(await findChannelAudio(service, id))
    },
  })

  app.route({
    ...listeningOperations.listAudioMappings,
    handler: async () => {
      await audioStreams.whenReceiving()
      return lists.current.audioMappings.map((mapping) => ({
        channel_id: mapping.channel_id,
        ...toChannelAudioBody(mapping, audioStreams.find(mapping.stream_id)),
      }))
    },
  })

  app.route({
    ...listeningOperations.listAudioProposals,
    handler: async () => {
      await audioStreams.whenReceiving()
      return proposeMappings({
        receivers: receiverStore.listFacts(),
        streams: audioStreams.list(),
        mappings: lists.current.audioMappings,
        titleOf: (receiver, channel) => slotRecords.titleOf(receiver, channel).title,
      })
    },
  })

  app.route({
    ...listeningOperations.listAudioListeners,
    handler: async () => {
      listening.requireEnabled()
      return listening.list()
    },
  })

  app.route({
    ...channelOperations.setNotNow,
    config: { needs: 'operate' },
    handler: async ({ actor, params: { id }, body }) => {
      const receiver = receiverStore.get(await setNotNow(service, actor, id, body))
      const channel = receiver?.channels.find((candidate) => candidate.id === id)
      if (channel === undefined) throw new RequestError('not_found', { subject: `channel ${id}` })
      return toSingleChannelBody(channel)
    },
  })
}
