/** Reads the requests and messages of clients of the live interface, version 2. */

import type { FastifyRequest } from 'fastify'
import type { Pong, SocketError } from '../../contract/messages.ts'
import { LiveQuery, SocketQuery } from '../../contract/queries.ts'
import { respondToClient } from '../../domain/messages.ts'
import type { LiveData } from '../server/live-data.ts'
import type { LiveOptions } from '../server/live-session.ts'
import { createQueryReader } from '../server/validation.ts'

export const liveProtocol = 'micwatch.v2'

const readQuery = createQueryReader(SocketQuery)
const readLiveQuery = createQueryReader(LiveQuery)

/** The parameters of a connection. `live` is null for version 1 of the WebSocket protocol. */
export interface SocketOptions {
  readonly manufacturer: string | undefined
  readonly live: LiveOptions | null
}

/**
 * Reads the parameters of a connection. A client requests version 2 with the subprotocol or with `protocol=2`.
 * Throws a RequestError that names an invalid parameter.
 */
export function readSocketOptions(
  { query, headers }: Pick<FastifyRequest, 'query' | 'headers'>,
  liveData: Pick<LiveData, 'requireGroup'>,
): SocketOptions {
  const { protocol, manufacturer } = readQuery(query)
  const offered = String(headers['sec-websocket-protocol'] ?? '').split(',')
  const isLive = protocol === '2' || offered.some((name) => name.trim() === liveProtocol)
  return { manufacturer, live: isLive ? readLiveOptions(query, liveData) : null }
}

function readLiveOptions(query: unknown, liveData: Pick<LiveData, 'requireGroup'>): LiveOptions {
  const { manufacturer, site, group, levels = 'true', ack, since, epoch } = readLiveQuery(query)
  liveData.requireGroup(group)
  return {
    filter: { manufacturer, site, group },
    levels,
    acks: ack === '1',
    since: since === undefined || epoch === undefined ? null : { seq: since, epoch },
  }
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
  // An acknowledgement must be short, so that long messages are not parsed twice.
  if (text.length > 200) return null
  try {
    const message: unknown = JSON.parse(text)
    const isAck = typeof message === 'object' && message !== null && 'type' in message && message.type === 'ack'
    return isAck ? { at: 'at' in message ? message.at : undefined } : null
  } catch {
    return null
  }
}
