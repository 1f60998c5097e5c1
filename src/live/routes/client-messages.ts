/** Parses the queries of connections and the messages of clients. */

import type { FastifyRequest } from 'fastify'
import { type LevelsRequest, LiveQuery, SocketQuery, type SweepsRequest } from '../../contract/live-messages.ts'
import type { Pong, SocketError } from '../../contract/messages.ts'
import { isSourceName, sourceNames } from '../../contract/sweeps.ts'
import type { EquipmentFilter } from '../../domain/equipment/sites.ts'
import { isRecord } from '../../domain/json.ts'
import { respondToClient } from '../../domain/messages.ts'
import { createQueryReader } from '../../http/server/validation.ts'
import type { LiveData } from '../live-data.ts'
import type { LiveOptions } from '../live-session.ts'

export const liveProtocol = 'micwatch.v2'

const readQuery = createQueryReader(SocketQuery)
const readLiveQuery = createQueryReader(LiveQuery)

/** `live` is null for version 1. */
export interface SocketOptions {
  readonly filter: EquipmentFilter
  readonly live: LiveOptions | null
}

/** A client requests version 2 with the subprotocol or with `protocol=2`. Throws if a parameter is invalid. */
export function readSocketOptions({ query, headers }: FastifyRequest, liveData: LiveData): SocketOptions {
  const { protocol, manufacturer, site } = readQuery(query)
  const offered = String(headers['sec-websocket-protocol'] ?? '').split(',')
  const isLive = protocol === '2' || offered.some((name) => name.trim() === liveProtocol)
  return { filter: { manufacturer, site }, live: isLive ? readLiveOptions(query, liveData) : null }
}

function readLiveOptions(query: unknown, liveData: LiveData): LiveOptions {
  const { manufacturer, site, group, levels = 'true', ack, since, epoch } = readLiveQuery(query)
  liveData.requireGroup(group)
  return {
    filter: { manufacturer, site, group },
    levels,
    acks: ack === '1',
    since: since === undefined || epoch === undefined ? null : { seq: since, epoch },
  }
}

/** A response, or a request without one. */
export type LiveRequest =
  | Pong
  | SocketError
  | { readonly type: 'ack'; readonly seq: number | null }
  | LevelsRequest
  | SweepsRequest

export function readLiveMessage(text: string, now: Date): LiveRequest {
  const response = respondToClient(text, now)
  if (response.type !== 'error') return response
  const message = parse(text)
  switch (message?.type) {
    case 'ack':
      if (typeof message.seq === 'number' && Number.isSafeInteger(message.seq)) return { type: 'ack', seq: message.seq }
      if (typeof message.at === 'string') return { type: 'ack', seq: null }
      return { type: 'error', error: 'seq: expected a whole number.' }
    case 'select_levels':
      return readLevelsRequest(message)
    case 'select_sweeps':
      return readSweepsRequest(message)
    default:
      return response
  }
}

interface ClientMessage {
  readonly type?: unknown
  readonly at?: unknown
  readonly seq?: unknown
  readonly levels?: unknown
  readonly sites?: unknown
  readonly source?: unknown
}

function parse(text: string): ClientMessage | null {
  try {
    const message: unknown = JSON.parse(text)
    return isRecord(message) ? message : null
  } catch {
    return null
  }
}

function readLevelsRequest({ levels: wanted, sites }: ClientMessage): LevelsRequest | SocketError {
  const levels = (['false', 'true', 'full'] as const).find((choice) => choice === wanted)
  if (levels === undefined) return { type: 'error', error: 'levels: expected false, true or full.' }
  if (sites === undefined) return { type: 'select_levels', levels }
  if (!Array.isArray(sites) || !sites.every((site) => typeof site === 'string'))
    return { type: 'error', error: 'sites: expected a list of codes.' }
  return { type: 'select_levels', levels, sites }
}

function readSweepsRequest({ source }: ClientMessage): SweepsRequest | SocketError {
  if (source === null || (typeof source === 'string' && isSourceName(source))) return { type: 'select_sweeps', source }
  return { type: 'error', error: `source: expected null, or ${sourceNames.description}.` }
}
