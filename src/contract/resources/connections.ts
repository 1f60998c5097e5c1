/** Real-time connections. */

import { type Body, named, oneOf, textOrNull, timeOrNull, whole, wholeOrNull } from '../described.ts'
import { connectionStatuses, transports } from '../values.ts'
import { manufacturer } from './common.ts'

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
