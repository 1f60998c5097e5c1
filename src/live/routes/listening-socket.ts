/** The WebSocket route `/api/audio/listen`: one JSON message, then frames of 20 ms. docs/listening.md describes it. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { WebSocket } from 'ws'
import type { AudioFrame } from '../../audio/audio-streams.ts'
import type { Listener, ListeningTarget } from '../../audio/listening.ts'
import type { ListeningRate } from '../../audio/worker-messages.ts'
import { query } from '../../contract/schema.ts'
import { RequestError } from '../../domain/errors.ts'
import { isTls } from '../../http/server/guard.ts'
import { createQueryReader } from '../../http/server/validation.ts'
import type { Service } from '../../service.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The listener that `/api/audio/listen` has opened for a WebSocket. */
    listener: Listener | null
  }
}

const number = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'A whole number of 1 or more.',
})
const ListenQuery = query({
  channel: number,
  stream: number,
  ch: number,
  rate: Type.Union([Type.Literal('48000'), Type.Literal('24000')], { description: '48000 or 24000' }),
})
const readQuery = createQueryReader(ListenQuery)

const frameMs = 20
/** A client that is further behind misses frames. */
const maxBacklogMs = 200
const pingEveryMs = 200
/** So is one whose response to a ping takes longer, because buffers of the system hold seconds of sound. */
const maxPongMs = 1000
const headerBytes = 12
const closeCodes = { ended: 1000, signedOut: 4401 } as const

export function listeningSocketRoute(app: FastifyInstance, { listening }: Service): void {
  app.decorateRequest('listener', null)
  app.route({
    method: 'GET',
    url: '/api/audio/listen',
    config: { isSocket: true },
    handler: () => {
      throw new RequestError('upgrade_required', { details: 'Connect with ws:// or wss://.' })
    },
    preHandler: async (request) => {
      const client = { actor: request.actor, granted: request.credential?.permissions ?? [], isTls: isTls(request) }
      listening.requireAllowed(client)
      const target = readTarget(request)
      if (!request.ws) {
        await listening.check(client, target)
        return
      }
      const listener = await listening.open(client, target)
      request.listener = listener
      if (request.raw.socket.destroyed) listener.stop()
      else request.raw.socket.once('close', () => listener.stop())
    },
    wsHandler: (socket, request) => {
      const { listener, credential } = request
      if (listener !== null) play(socket, listener, readRate(request), credential)
    },
  })
}

function play(
  socket: WebSocket,
  listener: Listener,
  rate: ListeningRate,
  credential: FastifyRequest['credential'],
): void {
  const { channelId, streamId: stream_id, ch } = listener
  socket.on('close', () => listener.stop())
  socket.on('error', () => socket.terminate())
  // Nothing is expected from the client.
  socket.on('message', () => socket.close(1003, 'No messages are expected'))
  let closeCode: number = closeCodes.ended
  const release = credential?.hold({
    warn() {},
    permissionsChanged(permissions) {
      if (!permissions.includes('listen')) listener.end('permission')
    },
    end() {
      closeCode = closeCodes.signedOut
      listener.end('signed_out')
    },
  })
  if (release !== undefined) socket.on('close', release)
  const heading = { rate, format: 'pcm_s16le', frame_ms: frameMs, latency_ms: frameMs }
  const played = channelId === null ? { stream_id, ch } : { channel_id: channelId }
  socket.send(JSON.stringify({ type: 'audio', ...heading, ...played }))
  const maxBacklogBytes = (maxBacklogMs / frameMs) * (headerBytes + (rate * frameMs * 2) / 1000)
  const isBehind = watchPongs(socket)
  listener.start(rate, {
    frame(frame) {
      if (isBehind() || socket.bufferedAmount > maxBacklogBytes) return
      socket.send(encodeFrame(frame), { binary: true })
    },
    ended(reason) {
      socket.send(JSON.stringify({ type: 'ended', reason }))
      socket.close(closeCode, 'Ended')
    },
  })
  // It may have been withdrawn while the connection was being opened.
  if (credential?.permissions.includes('listen') !== true) listener.end('permission')
}

/** Returns a function that is called with each frame. It returns true while a ping is without a response for too long. */
function watchPongs(socket: WebSocket): () => boolean {
  let pingedAt = Number.NEGATIVE_INFINITY
  let isWaiting = false
  // The heartbeat of all connections has pings of its own.
  const payload = Buffer.from('sound')
  socket.on('pong', (data) => {
    if (payload.equals(data)) isWaiting = false
  })
  return () => {
    const now = performance.now()
    if (isWaiting) return now - pingedAt > maxPongMs
    if (now - pingedAt < pingEveryMs) return false
    pingedAt = now
    isWaiting = true
    socket.ping(payload)
    return false
  }
}

/** Little-endian: uint32 sequence, float64 time of the first sample in Unix milliseconds, then the samples. */
function encodeFrame({ sequence, at, samples }: AudioFrame): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + samples.length * 2)
  bytes.writeUInt32LE(sequence >>> 0, 0)
  bytes.writeDoubleLE(at, 4)
  for (let index = 0; index < samples.length; index += 1) {
    bytes.writeInt16LE(samples[index] ?? 0, headerBytes + index * 2)
  }
  return bytes
}

function readTarget({ query: values }: FastifyRequest): ListeningTarget {
  const { channel, stream, ch } = readQuery(values)
  const invalid = (details: string) => new RequestError('bad_request', { details })
  if (channel !== undefined) {
    if (stream !== undefined || ch !== undefined) throw invalid('channel: expected either this, or stream and ch')
    return { channel }
  }
  if (stream === undefined) throw invalid('channel: missing; or send stream and ch')
  if (ch === undefined) throw invalid('ch: missing')
  return { stream, ch }
}

function readRate({ query: values }: FastifyRequest): ListeningRate {
  return readQuery(values).rate === '24000' ? 24_000 : 48_000
}
