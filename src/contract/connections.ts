import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  body,
  localList,
  manufacturer,
  manufacturerFilter,
  named,
  oneOf,
  pagedOf,
  query,
  Review,
  sameValue,
  textOrNull,
  timeOrNull,
  whole,
  wholeOrNull,
} from './schema.ts'
import { connectionStatuses, transports } from './values.ts'

export const RealtimeConnection = named(
  'RealtimeConnection',
  'State of the real-time subscription of a receiver or a site.',
  {
    id: whole(
      "Id of the connection: the receiver's id, because each receiver has exactly one connection; negative for a site, which has one for all its receivers.",
    ),
    receiver: wholeOrNull('Id of the receiver; null for a site.'),
    receiver_name: textOrNull('Name of the receiver; null for a site.'),
    manufacturer,
    status: oneOf(connectionStatuses, 'State of the subscription.'),
    transport: oneOf(transports, 'Transport of the subscription.'),
    connected_at: timeOrNull('When it was last connected.'),
    disconnected_at: timeOrNull('When it was last disconnected.'),
    last_message_at: timeOrNull('When the last message arrived.'),
    error_message: textOrNull('Last error.'),
    error_count: whole('Number of errors.'),
    reconnect_attempts: whole('Attempts since the connection was lost.'),
    duration_seconds: wholeOrNull('Duration of the current or last connection in seconds.'),
  },
)
export type ConnectionBody = Body<typeof RealtimeConnection>

const connectionId = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number',
})

const ConnectionIds = body({
  ids: Type.Array(connectionId, { minItems: 1, maxItems: 10_000, description: 'a list of ids, at least one' }),
})

const ConnectionQuery = query({
  status: oneOf(connectionStatuses, sameValue),
  manufacturer: manufacturerFilter,
  ...localList,
})

export const connectionOperations = operationsOf({
  listRealtimeConnections: endpoint('GET', '/api/admin/realtime-connections/', {
    ...about('Review', 'The real-time subscriptions of receivers, and the connections to sites.'),
    querystring: ConnectionQuery,
    response: { 200: pagedOf(RealtimeConnection) },
  }),

  stopRealtimeConnections: endpoint('POST', '/api/admin/realtime-connections/stop', {
    ...about('Review', 'Stops subscriptions until a user starts them again.'),
    body: ConnectionIds,
    response: { 200: Review, 409: ErrorResponse },
  }),

  startRealtimeConnections: endpoint('POST', '/api/admin/realtime-connections/start', {
    ...about('Review', 'Starts subscriptions that were stopped.'),
    body: ConnectionIds,
    response: { 200: Review, 409: ErrorResponse },
  }),
})
