/** Everything said over the WebSocket, both ways, as two unions. */

import type { ReceiverChange } from './api.ts'
import type { ConnectionStatus } from './connection.ts'
import type { UpstreamStatus } from './health.ts'
import { isDeeper, maxJsonDepth } from './json.ts'

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

export interface DeviceUpdate {
  readonly type: 'device_update'
  readonly manufacturer: string
  readonly receiver_id: number
  readonly data: ReceiverChange
}

export interface AlertMessage {
  readonly type: 'alert'
  readonly manufacturer: string | null
  readonly id: number
  readonly kind: string
  readonly state: 'raised' | 'cleared'
  readonly severity: Severity
  readonly message: string
  readonly channel_id: number | null
}

/** Connection status text, for this client alone. */
export interface StatusMessage {
  readonly type: 'status'
  readonly message: string
}

/** A manufacturer's upstream, or its real-time link, changed state. */
export interface StatusUpdate {
  readonly type: 'status_update'
  readonly about: 'upstream' | 'link'
  readonly manufacturer: string | null
  readonly message: string
  readonly status: UpstreamStatus | Exclude<ConnectionStatus, 'connecting'>
}

export interface Pong {
  readonly type: 'pong'
  readonly timestamp: string
  readonly id?: unknown
}

export interface SocketError {
  readonly type: 'error'
  readonly error: string
}

export type ServerMessage = DeviceUpdate | AlertMessage | StatusMessage | StatusUpdate | Pong | SocketError

/** What all listeners may hear, as against what is said to one client. */
export type BroadcastMessage = DeviceUpdate | AlertMessage | StatusUpdate

export interface ClientMessage {
  readonly type: 'ping'
  readonly id?: unknown
}

/** The answer to what a client said; a ping is all it can say. */
export function respondToClient(text: string, now: Date): Pong | SocketError {
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return { type: 'error', error: 'Not JSON.' }
  }
  if (isDeeper(said, maxJsonDepth)) return { type: 'error', error: `Nested deeper than ${maxJsonDepth} levels.` }
  if (typeof said !== 'object' || said === null || !('type' in said) || said.type !== 'ping') {
    return { type: 'error', error: 'Unknown message type; this service understands {"type":"ping"}.' }
  }
  const pong: Pong = { type: 'pong', timestamp: now.toISOString() }
  return 'id' in said ? { ...pong, id: said.id } : pong
}
