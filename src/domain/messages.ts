/** The WebSocket messages in both directions, and the response to client messages. */

import type { ConnectionStatus, Severity, UpstreamStatus } from '../contract/values.ts'
import type { ReceiverChange } from './api.ts'
import { isDeeper, maxJsonDepth } from './json.ts'

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

/** A connection status text that is sent to one client. */
export interface StatusMessage {
  readonly type: 'status'
  readonly message: string
}

/** A state change of a manufacturer's upstream or real-time subscription. */
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

/** Messages that are sent to all clients. */
export type BroadcastMessage = DeviceUpdate | AlertMessage | StatusUpdate

export interface ClientMessage {
  readonly type: 'ping'
  readonly id?: unknown
}

/** Returns the response to a client message. The only supported message is a ping. */
export function respondToClient(text: string, now: Date): Pong | SocketError {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return { type: 'error', error: 'Not JSON.' }
  }
  if (isDeeper(message, maxJsonDepth)) return { type: 'error', error: `Nested deeper than ${maxJsonDepth} levels.` }
  if (typeof message !== 'object' || message === null || !('type' in message) || message.type !== 'ping') {
    return { type: 'error', error: 'Unknown message type; this service supports {"type":"ping"}.' }
  }
  const pong: Pong = { type: 'pong', timestamp: now.toISOString() }
  return 'id' in message ? { ...pong, id: message.id } : pong
}
