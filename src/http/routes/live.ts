/** Reads the requests and messages of clients of the live interface, version 2. */

import type { FastifyRequest } from 'fastify'
import { RequestError } from '../../domain/errors.ts'
import { type Pong, respondToClient, type SocketError } from '../../domain/messages.ts'
import type { LiveData } from '../server/live-data.ts'
import type { LiveOptions } from '../server/live-session.ts'
import { type Query, readChoice, readParameter } from '../server/response.ts'
import { readLiveFilter } from './receivers.ts'

export const liveProtocol = 'micwatch.v2'

/** Whether the client asks for version 2, by the subprotocol or by `protocol=2`. Throws for any other `protocol`. */
export function isLiveRequest({ query, headers }: Pick<FastifyRequest, 'query' | 'headers'>): boolean {
  const isChosen = readChoice(query as Query, 'protocol', ['2']) !== undefined
  const offered = String(headers['sec-websocket-protocol'] ?? '').split(',')
  return isChosen || offered.some((protocol) => protocol.trim() === liveProtocol)
}

/** Reads the options of a connection. Throws a RequestError that names an invalid parameter. */
export function readLiveOptions(query: Query, liveData: Pick<LiveData, 'hasGroup'>): LiveOptions {
  const since = readSince(query)
  const epoch = readParameter(query, 'epoch')
  return {
    filter: readLiveFilter(query, liveData),
    levels: readChoice(query, 'levels', ['false', 'true', 'full']) ?? 'true',
    acks: readChoice(query, 'ack', ['0', '1']) === '1',
    since: since === undefined || epoch === undefined ? null : { seq: since, epoch },
  }
}

function readSince(query: Query): number | undefined {
  const text = readParameter(query, 'since')
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new RequestError('bad_request', { details: 'since: expected a whole number of 0 or more' })
}

/** Returns the response to a message; `ack` for an acknowledgement. */
export function respondToLiveClient(text: string, now: Date): Pong | SocketError | 'ack' {
  const response = respondToClient(text, now)
  if (response.type !== 'error') return response
  const message = readAck(text)
  if (message === null) return response
  return typeof message.at === 'string' ? 'ack' : { type: 'error', error: 'at: expected text.' }
}

function readAck(text: string): { readonly at: unknown } | null {
  // Only short messages can be acknowledgements, so that others are not parsed twice.
  if (text.length > 200) return null
  try {
    const message: unknown = JSON.parse(text)
    const isAck = typeof message === 'object' && message !== null && 'type' in message && message.type === 'ack'
    return isAck ? { at: 'at' in message ? message.at : undefined } : null
  } catch {
    return null
  }
}
