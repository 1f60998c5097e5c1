/** Schemas of all WebSocket messages, each with an example, for docs/websocket.md and the tests. */

import Type, { type TSchema } from 'typebox'
import type * as messages from '../domain/messages.ts'
import { oneOf, schemaOf, text, textOrNull, time, whole, wholeOrNull } from './described.ts'
import { detailFields } from './live.ts'
import { severities } from './values.ts'

const { id: _, channels, ...changeable } = detailFields
const messageType = <Name extends string>(type: Name) => Type.Literal(type, { description: 'Type of the message.' })
const pingId = Type.Optional(Type.Unknown({ description: 'Any value; the response contains the same one.' }))

/** Annotations of a message, with an example that the compiler checks. */
function message<Message>(title: string, description: string, example: Message) {
  return { title, description, examples: [example] }
}

const DeviceUpdate = schemaOf<messages.DeviceUpdate>()(
  Type.Object(
    {
      type: messageType('device_update'),
      manufacturer: text('Code of the manufacturer.'),
      receiver_id: whole('Id of the receiver.'),
      data: Type.Object(
        { channels, ...Type.Partial(Type.Object(changeable)).properties },
        { description: 'All channels of the receiver, and those of its other fields that changed.' },
      ),
    },
    message<messages.DeviceUpdate>(
      'device_update',
      'The data of a receiver changed. Sent at most ten times a second per receiver; the latest state is always sent.',
      {
        type: 'device_update',
        manufacturer: 'shure',
        receiver_id: 9,
        data: {
          channels: [
            {
              id: 33,
              channel: 1,
              slot: 33,
              name: 'H01 Aurelio',
              frequency: '470.300',
              audio_level: -9,
              rf_level: -55,
              transmitter: {
                slot: 33,
                upstream_slot: 1,
                name: 'H01 Aurelio',
                battery: 69,
                audio_level: -9,
                rf_level: -55,
                frequency: '470.300',
              },
            },
          ],
          firmware_version: '2.7.6',
        },
      },
    ),
  ),
)

const AlertMessage = schemaOf<messages.AlertMessage>()(
  Type.Object(
    {
      type: messageType('alert'),
      manufacturer: textOrNull('Code of the manufacturer.'),
      id: whole(
        'Id of the alert; it stays the same when the alert gets worse or is cleared. 0: the alert could not be stored.',
      ),
      kind: text(
        '`battery_low`, `receiver_offline`, `upstream_failing`, `link_lost`, `charger_fault`, `store_damaged` …',
      ),
      state: oneOf(['raised', 'cleared'], 'Whether the alert is raised or cleared.'),
      severity: oneOf(severities, 'Severity.'),
      message: text('Message for users.'),
      channel_id: wholeOrNull('Id of the affected channel.'),
    },
    message<messages.AlertMessage>('alert', 'An alert was raised, got worse or was cleared.', {
      type: 'alert',
      manufacturer: 'shure',
      id: 4,
      kind: 'battery_low',
      state: 'raised',
      severity: 'warning',
      message: 'H01 Aurelio: battery at 19%',
      channel_id: 33,
    }),
  ),
)

const StatusUpdate = schemaOf<messages.StatusUpdate>()(
  Type.Object(
    {
      type: messageType('status_update'),
      about: oneOf(['upstream', 'link'], '`upstream`: the system itself; `link`: the real-time subscription to it.'),
      manufacturer: textOrNull('Code of the manufacturer.'),
      message: text('Message for users.'),
      status: oneOf(
        [
          'healthy',
          'unknown',
          'degraded',
          'unhealthy',
          'disabled',
          'unconfigured',
          'connected',
          'disconnected',
          'error',
          'stopped',
        ],
        'The first six values apply to `upstream`, the others to `link`. Reconnection attempts are not reported.',
      ),
    },
    message<messages.StatusUpdate>(
      'status_update',
      'The state of an upstream or of its real-time subscription changed.',
      {
        type: 'status_update',
        about: 'upstream',
        manufacturer: 'shure',
        message: 'shure is unhealthy: 192.168.1.20:10000 responded with status 500',
        status: 'unhealthy',
      },
    ),
  ),
)

const StatusMessage = schemaOf<messages.StatusMessage>()(
  Type.Object(
    { type: messageType('status'), message: text('Message for users.') },
    message<messages.StatusMessage>(
      'status',
      'Sent to this client only: as the first frame, and shortly before the session or token expires.',
      {
        type: 'status',
        message: 'Connected',
      },
    ),
  ),
)

const Pong = schemaOf<messages.Pong>()(
  Type.Object(
    { type: messageType('pong'), timestamp: time('When the ping was answered.'), id: pingId },
    message<messages.Pong>('pong', 'The response to a `ping`.', {
      type: 'pong',
      timestamp: '2026-05-01T18:00:00.000Z',
      id: 7,
    }),
  ),
)

const SocketError = schemaOf<messages.SocketError>()(
  Type.Object(
    { type: messageType('error'), error: text('What is wrong.') },
    message<messages.SocketError>('error', 'A client message was invalid. The connection stays open.', {
      type: 'error',
      error: 'Not JSON.',
    }),
  ),
)

const Ping = schemaOf<messages.ClientMessage>()(
  Type.Object(
    { type: messageType('ping'), id: pingId },
    message<messages.ClientMessage>('ping', 'Requests a `pong`.', { type: 'ping', id: 7 }),
  ),
)

/** A schema with its title and examples, which TypeBox keeps but does not declare in its types. */
export interface DescribedMessage extends TSchema {
  readonly title: string
  readonly examples: readonly unknown[]
}

const fromServer = [DeviceUpdate, AlertMessage, StatusUpdate, StatusMessage, Pong, SocketError] as const
export const ServerMessage = schemaOf<messages.ServerMessage>()(Type.Union([...fromServer]))

const fromClient = [Ping] as const
export const ClientMessage = schemaOf<messages.ClientMessage>()(Type.Union([...fromClient]))

export const serverMessages = fromServer as unknown as readonly DescribedMessage[]
export const clientMessages = fromClient as unknown as readonly DescribedMessage[]
