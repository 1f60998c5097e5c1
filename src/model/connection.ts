/** Real-time connection states and the events that move them. */

export const connectionStatuses = ['connecting', 'connected', 'disconnected', 'error', 'stopped'] as const
export type ConnectionStatus = (typeof connectionStatuses)[number]

export type Transport = 'websocket' | 'sse'

/** One a receiver: how its real-time subscription fares. */
export interface Connection {
  readonly receiver: number
  readonly manufacturer: string
  readonly status: ConnectionStatus
  readonly transport: Transport
  readonly connected_at: number | null
  readonly disconnected_at: number | null
  readonly last_message_at: number | null
  readonly error_message: string | null
  readonly error_count: number
  readonly reconnect_attempts: number
}

export type LinkEvent =
  | { readonly type: 'trying'; readonly at: number }
  | { readonly type: 'opened'; readonly at: number }
  | { readonly type: 'lost'; readonly at: number; readonly reason: string }
  | { readonly type: 'failed'; readonly at: number; readonly reason: string }
  | { readonly type: 'stopped'; readonly at: number }
  | { readonly type: 'started'; readonly at: number }

export function newConnection(receiver: number, manufacturer: string, transport: Transport): Connection {
  return {
    receiver,
    manufacturer,
    status: 'disconnected',
    transport,
    connected_at: null,
    disconnected_at: null,
    last_message_at: null,
    error_message: null,
    error_count: 0,
    reconnect_attempts: 0,
  }
}

/** What an event makes of a connection. A stopped one hears nothing but `started`. */
export function applyLinkEvent(connection: Connection, event: LinkEvent): Connection {
  if (connection.status === 'stopped' && event.type !== 'started') return connection
  switch (event.type) {
    case 'trying':
      return { ...connection, status: 'connecting' }
    case 'opened':
      return {
        ...connection,
        status: 'connected',
        connected_at: event.at,
        disconnected_at: null,
        last_message_at: event.at,
        error_message: null,
        reconnect_attempts: 0,
      }
    case 'lost':
      return {
        ...connection,
        status: 'disconnected',
        disconnected_at: event.at,
        error_message: event.reason,
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
    case 'stopped':
      return { ...connection, status: 'stopped', disconnected_at: event.at, error_message: null }
    case 'started':
      return { ...connection, status: 'disconnected', reconnect_attempts: 0 }
    default:
      return event satisfies never
  }
}
