/** Everything said over the WebSocket, as schemas with an example each: for docs/websocket.md and the tests. */

import Type, { type TSchema } from 'typebox'
import type * as messages from '../model/messages.ts'
import { severities } from '../model/messages.ts'
import { oneOf, schemaOf, text, textOrNull, time, whole, wholeOrNull } from './described.ts'
import { detailFields } from './live-schemas.ts'

const { id: _, channels, ...changeable } = detailFields
const said = <Name extends string>(type: Name) => Type.Literal(type, { description: 'Which message this is.' })
const pingId = Type.Optional(Type.Unknown({ description: 'Anything; it is given back with the answer.' }))

/** With an example, which the compiler checks as well. */
function message<Message>(title: string, description: string, example: Message) {
  return { title, description, examples: [example] }
}

const DeviceUpdate = schemaOf<messages.DeviceUpdate>()(
  Type.Object(
    {
      type: said('device_update'),
      manufacturer: text('Code of the manufacturer.'),
      receiver_id: whole('Id of the receiver.'),
      data: Type.Object(
        { channels, ...Type.Partial(Type.Object(changeable)).properties },
        { description: 'All its channels, and whatever else changed of it.' },
      ),
    },
    message<messages.DeviceUpdate>(
      'device_update',
      'Something that a person can see of a receiver has changed. At most ten times a second for each receiver; the last state always arrives.',
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
      type: said('alert'),
      manufacturer: textOrNull('Code of the manufacturer.'),
      id: whole('Of the alert; the same when it gets worse or is cleared. 0: it could not be stored.'),
      kind: text(
        '`battery_low`, `receiver_offline`, `upstream_failing`, `link_lost`, `charger_fault`, `store_damaged` …',
      ),
      state: oneOf(['raised', 'cleared'], 'Whether it begins or ends.'),
      severity: oneOf(severities, 'How bad it is.'),
      message: text('A sentence.'),
      channel_id: wholeOrNull('Id of the channel it is about.'),
    },
    message<messages.AlertMessage>('alert', 'An alert was raised, got worse or was cleared.', {
      type: 'alert',
      manufacturer: 'shure',
      id: 4,
      kind: 'battery_low',
      state: 'raised',
      severity: 'warning',
      message: 'H01 Aurelio: battery at 19 %.',
      channel_id: 33,
    }),
  ),
)

const StatusUpdate = schemaOf<messages.StatusUpdate>()(
  Type.Object(
    {
      type: said('status_update'),
      about: oneOf(['upstream', 'link'], 'Its system, or the real-time link to it.'),
      manufacturer: textOrNull('Code of the manufacturer.'),
      message: text('A sentence.'),
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
        'The first six of an upstream, the others of a link; each try to bring it up again is not told.',
      ),
    },
    message<messages.StatusUpdate>(
      'status_update',
      "A manufacturer's upstream, or its real-time link, changed state.",
      {
        type: 'status_update',
        about: 'upstream',
        manufacturer: 'shure',
        message: 'shure does not answer.',
        status: 'unhealthy',
      },
    ),
  ),
)

const StatusMessage = schemaOf<messages.StatusMessage>()(
  Type.Object(
    { type: said('status'), message: text('A sentence.') },
    message<messages.StatusMessage>('status', 'For this client alone: the first frame, and a sign-in that soon ends.', {
      type: 'status',
      message: 'Connected',
    }),
  ),
)

const Pong = schemaOf<messages.Pong>()(
  Type.Object(
    { type: said('pong'), timestamp: time('When it was answered.'), id: pingId },
    message<messages.Pong>('pong', 'The answer to a `ping`.', {
      type: 'pong',
      timestamp: '2026-05-01T18:00:00.000Z',
      id: 7,
    }),
  ),
)

const SocketError = schemaOf<messages.SocketError>()(
  Type.Object(
    { type: said('error'), error: text('A sentence.') },
    message<messages.SocketError>('error', 'What was said could not be understood. The connection stays.', {
      type: 'error',
      error: 'Not JSON.',
    }),
  ),
)

const Ping = schemaOf<messages.ClientMessage>()(
  Type.Object(
    { type: said('ping'), id: pingId },
    message<messages.ClientMessage>('ping', 'Asks for a `pong`.', { type: 'ping', id: 7 }),
  ),
)

/** With its title and examples, which TypeBox keeps and does not tell of. */
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
