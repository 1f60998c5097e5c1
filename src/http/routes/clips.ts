/** Routes for clips. All of them need the permission `listen`, as live sound does. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { findClip, playClip, readWaveform, removeClip, removeClips } from '../../actions/audio/clips.ts'
import { clipOperations } from '../../contract/clips.ts'
import { toClipBody } from '../../domain/audio/clip.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { isTls } from '../server/guard.ts'
import { paginate, toTime } from '../server/response.ts'

export function clipRoutes(app: ContractServer, service: Service): void {
  const { clips, evidence, listening, settings } = service
  const days = () => settings.get(null).AUDIO_EVIDENCE_DAYS
  /** Clips of an earlier time can be deleted while nothing is kept any longer. */
  const requireAllowed = (request: FastifyRequest, isDeletion = false) => {
    if (!isDeletion && !evidence.isEnabled) throw new RequestError('evidence_off')
    listening.requireGranted({ granted: request.credential?.permissions ?? [], isTls: isTls(request) })
  }

  app.route({
    ...clipOperations.listClips,
    handler: async (request) => {
      requireAllowed(request)
      const { channel, from, to } = request.query
      const found = await clips.list({ channel, from: toTime(from), to: toTime(to) })
      return paginate(
        request,
        found.map((clip) => toClipBody(clip, days())),
      )
    },
  })

  app.route({
    ...clipOperations.getClip,
    handler: async (request) => {
      requireAllowed(request)
      return toClipBody(await findClip(service, request.params.id), days())
    },
  })

  app.route({
    ...clipOperations.getClipSound,
    handler: async (request, reply) => {
      requireAllowed(request)
      const bytes = await playClip(service, request.actor, request.params.id)
      return sendSound(request, reply, bytes)
    },
  })

  app.route({
    ...clipOperations.getClipWaveform,
    handler: async (request) => {
      requireAllowed(request)
      return readWaveform(service, request.params.id)
    },
  })

  app.route({
    ...clipOperations.removeClip,
    config: { needs: 'operate' },
    handler: async (request, reply) => {
      requireAllowed(request, true)
      await removeClip(service, request.actor, request.params.id)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...clipOperations.removeClips,
    config: { needs: 'operate' },
    handler: async (request, reply) => {
      requireAllowed(request, true)
      await removeClips(service, request.actor)
      return reply.code(204).send(null)
    },
  })
}

/** Players ask for ranges to seek. Other ranges than one in the file are answered with all of it, as RFC 9110 permits. */
function sendSound(request: FastifyRequest, reply: FastifyReply, bytes: Buffer): FastifyReply {
  reply.type('audio/wav').header('accept-ranges', 'bytes').header('cache-control', 'no-store')
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '')
  const [first = '', last = ''] = range?.slice(1) ?? []
  if (first === '' && last === '') return reply.send(bytes)
  const start = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes.length - 1 : Math.min(Number(last), bytes.length - 1)
  if (start > end) return reply.send(bytes)
  reply.code(206).header('content-range', `bytes ${start}-${end}/${bytes.length}`)
  return reply.send(bytes.subarray(start, end + 1))
}
