/** Routes for audio streams. */

import { addAudioStream, changeAudioStream, deleteAudioStream } from '../../actions/audio/edit-streams.ts'
import { type AudioStreamBody, audioStreamOperations } from '../../contract/audio-streams.ts'
import type { AudioStream } from '../../domain/audio/audio-stream.ts'
import { RequestError } from '../../domain/errors.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginateLocal } from '../server/response.ts'

const administer = { config: { needs: 'administer' } } as const

export function audioStreamRoutes(app: ContractServer, service: Service): void {
  const { audioStreams } = service

  const find = (id: number): AudioStream => {
    const stream = audioStreams.find(id)
    if (stream === undefined) throw new RequestError('not_found', { subject: `audio stream ${id}` })
    return stream
  }

  app.route({
    ...audioStreamOperations.getAudioSearch,
    handler: async () => {
      await audioStreams.whenReceiving()
      const { problems, ...search } = audioStreams.search()
      return {
        listening: service.listening.isEnabled,
        ...search,
        problems: problems.map(({ at, ...problem }) => ({ ...problem, at: toTimestamp(at) })),
      }
    },
  })

  app.route({
    ...audioStreamOperations.listAudioStreams,
    handler: async (request) => {
      await audioStreams.whenReceiving()
      return paginateLocal(request, audioStreams.list().map(toBody))
    },
  })

  app.route({
    ...audioStreamOperations.addAudioStream,
    ...administer,
    handler: async ({ actor, body }, reply) => {
      const id = await addAudioStream(service, actor, body)
      reply.code(201)
      return toBody(find(id))
    },
  })

  app.route({
    ...audioStreamOperations.getAudioStream,
    handler: async ({ params: { id } }) => {
      await audioStreams.whenReceiving()
      const stream = find(id)
      audioStreams.meter(id)
      return toBody(stream)
    },
  })

  app.route({
    ...audioStreamOperations.changeAudioStream,
    ...administer,
    handler: async (request) => {
      const { actor, params, body } = request
      await changeAudioStream(service, actor, params.id, body, ifMatch(request))
      return toBody(find(params.id))
    },
  })

  app.route({
    ...audioStreamOperations.removeAudioStream,
    ...administer,
    handler: async (request, reply) => {
      await deleteAudioStream(service, request.actor, request.params.id, ifMatch(request))
      return reply.code(204).send(null)
    },
  })
}

function toBody(stream: AudioStream): AudioStreamBody {
  const { id, name, source, address, port, encoding, sample_rate, channels, enabled, announced, version } = stream
  const { labels, levels } = { labels: [...stream.labels], levels: stream.status.levels }
  return {
    ...{ id, name, source, address, port, interface: stream.interface, encoding, sample_rate, channels, labels },
    ...{ enabled, announced, status: { ...stream.status, levels: levels && [...levels] }, version },
  }
}
