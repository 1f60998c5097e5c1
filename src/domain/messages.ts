/** The WebSocket messages to all clients, and the response to client messages. */

import type {
  AlertMessage,
  DeviceUpdate,
  EventChanged,
  EventDeleted,
  EventMessage,
  Pong,
  ShowUpdate,
  SocketError,
  StatusUpdate,
} from '../contract/messages.ts'

export type BroadcastMessage =
  | DeviceUpdate
  | AlertMessage
  | StatusUpdate
  | ShowUpdate
  | EventMessage
  | EventChanged
  | EventDeleted

/** Returns null for a message about all manufacturers. */
export function manufacturerOf(message: BroadcastMessage): string | null {
  switch (message.type) {
    case 'show_update':
    case 'event_deleted':
      return null
    case 'event':
    case 'event_changed':
      return message.event.manufacturer
    default:
      return message.manufacturer
  }
}

/** The only supported message is a ping, including the form that micboard's clients send. */
export function respondToClient(text: string, now: Date): Pong | SocketError {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return { type: 'error', error: 'Not JSON.' }
  }
  if (!isPing(message)) {
    return { type: 'error', error: 'Unknown message type; this service supports {"type":"ping"}.' }
  }
  const pong: Pong = { type: 'pong', timestamp: now.toISOString() }
  return 'id' in message ? { ...pong, id: message.id } : pong
}

function isPing(message: unknown): message is object {
  if (typeof message !== 'object' || message === null) return false
  return 'type' in message ? message.type === 'ping' : 'command' in message && message.command === 'ping'
}
