import type { ConnectionBody } from '../../contract/connections.ts'
import type { ConnectionStatus, Transport } from '../../contract/values.ts'
import { toTimestamp } from '../timestamp.ts'

export type { ConnectionStatus, Transport } from '../../contract/values.ts'

/**
 * The state of a real-time subscription. Every receiver has a record. A followed installation has one record for all
 * its receivers.
 */
export interface Connection {
  /** The id of the receiver, or a negative number for a followed installation. */
  readonly id: number
  /** Null for a followed installation. */
  readonly receiver: number | null
  readonly manufacturer: string
  /** Null if no system currently lists the receiver. */
  readonly source: string | null
  readonly status: ConnectionStatus
  readonly transport: Transport
  readonly connected_at: number | null
  readonly disconnected_at: number | null
  readonly last_message_at: number | null
  readonly error_message: string | null
  readonly error_count: number
  readonly reconnect_attempts: number
}

export type ConnectionEvent =
  | { readonly type: 'trying'; readonly at: number }
  | { readonly type: 'opened'; readonly at: number }
  /** A flapping subscription has been connected long enough to no longer count as lost. */
  | { readonly type: 'stable'; readonly at: number }
  | { readonly type: 'lost'; readonly at: number; readonly reason: string }
  | { readonly type: 'failed'; readonly at: number; readonly reason: string }
  /** The process that held the subscription has ended, or the system no longer lists the receiver. */
  | { readonly type: 'ended'; readonly at: number; readonly reason: string }
  | { readonly type: 'stopped'; readonly at: number }
  | { readonly type: 'started'; readonly at: number }

export function newConnection(
  receiver: number,
  manufacturer: string,
  source: string | null,
  transport: Transport,
): Connection {
  return { id: receiver, receiver, manufacturer, source, ...neverConnected(transport) }
}

export function neverConnected(transport: Transport) {
  return {
    status: 'disconnected',
    transport,
    connected_at: null,
    disconnected_at: null,
    last_message_at: null,
    error_message: null,
    error_count: 0,
    reconnect_attempts: 0,
  } as const
}

/** An open subscription that flaps has the status `error`. */
export function isOpen({ connected_at, disconnected_at }: Connection): boolean {
  return connected_at !== null && disconnected_at === null
}

/**
 * A stopped connection ignores all events except `started`; any other ignores `started`. The status is `error` while
 * the subscription flaps.
 */
export function applyConnectionEvent(connection: Connection, event: ConnectionEvent, isFlapping = false): Connection {
  if ((connection.status === 'stopped') !== (event.type === 'started')) return connection
  switch (event.type) {
    case 'trying':
      return {
        ...connection,
        status: isFlapping ? 'error' : 'connecting',
        // If the process was killed, its record is still open.
        disconnected_at: isOpen(connection) ? event.at : connection.disconnected_at,
      }
    case 'opened':
      return {
        ...connection,
        status: isFlapping ? 'error' : 'connected',
        connected_at: event.at,
        disconnected_at: null,
        last_message_at: event.at,
        error_message: isFlapping ? connection.error_message : null,
        reconnect_attempts: 0,
      }
    case 'stable':
      return isOpen(connection) ? { ...connection, status: 'connected', error_message: null } : connection
    case 'lost':
      return {
        ...connection,
        status: isFlapping ? 'error' : 'disconnected',
        disconnected_at: event.at,
        error_message: isFlapping ? `lost three times within two minutes: ${event.reason}` : event.reason,
        error_count: connection.error_count + (isFlapping ? 1 : 0),
        reconnect_attempts: connection.reconnect_attempts + 1,
      }
    case 'failed':
      return {
        ...connection,
        status: 'error',
        disconnected_at: connection.disconnected_at ?? event.at,
        error_message: event.reason,
        error_count: connection.error_count + 1,
        reconnect_attempts: connection.reconnect_attempts + 1,
      }
    case 'ended':
      return {
        ...connection,
        status: 'disconnected',
        disconnected_at: connection.disconnected_at ?? event.at,
        error_message: event.reason,
        reconnect_attempts: 0,
      }
    case 'stopped':
      return {
        ...connection,
        status: 'stopped',
        disconnected_at: connection.disconnected_at ?? event.at,
        error_message: null,
        reconnect_attempts: 0,
      }
    case 'started':
      return { ...connection, status: 'disconnected', reconnect_attempts: 0 }
    default:
      return event satisfies never
  }
}

/** Derives the state of a source's subscription from its receivers' connections; null without connections. */
export function subscriptionStatus(connections: Iterable<Connection>): ConnectionStatus | null {
  const statuses = new Set<ConnectionStatus>()
  for (const { status } of connections) statuses.add(status)
  const order = ['connected', 'connecting', 'error', 'disconnected', 'stopped'] as const
  return order.find((status) => statuses.has(status)) ?? null
}

export function toConnectionBody(connection: Connection, receiverName: string | null, now: number): ConnectionBody {
  const { source: _, connected_at, disconnected_at, last_message_at, ...rest } = connection
  const end = isOpen(connection) ? now : disconnected_at
  const time = (at: number | null) => (at === null ? null : toTimestamp(Math.min(at, now)))
  return {
    ...rest,
    receiver_name: receiverName,
    connected_at: time(connected_at),
    disconnected_at: time(disconnected_at),
    last_message_at: time(last_message_at),
    duration_seconds:
      connected_at === null || end === null ? null : Math.max(0, Math.round((end - connected_at) / 1000)),
  }
}
