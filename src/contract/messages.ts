/** Schemas of all WebSocket messages of version 1, each with an example, for docs/websocket.md and the tests. */

import Type, { type TProperties, type TSchema } from 'typebox'
import { alertKindList } from './alerts.ts'
import { Channel } from './channels.ts'
import { Event } from './history.ts'
import { detailFields } from './receivers.ts'
import { type Body, listOf, oneOf, text, textOrNull, time, whole, wholeOrNull } from './schema.ts'
import { AnnouncedShow } from './shows.ts'
import { alertStates, severities } from './values.ts'

const { id: _, channels: __, ...changeable } = detailFields
/** Version 1 does not change, so it has no later fields. */
const { not_now: ___, ...channelFields } = Channel.properties
const channels = listOf(
  Type.Object(channelFields, {
    title: 'Version1Channel',
    description: 'A channel of a receiver; unknown values are null.',
  }),
  'Channels.',
)
const pingId = Type.Optional(Type.Unknown({ description: 'Any value; the response contains the same one.' }))

/** Creates the schema of a message. `example` is complete except for the type. */
function message<Name extends string, Fields extends TProperties>(
  type: Name,
  description: string,
  fields: Fields,
  example: NoInfer<Body<Type.TObject<Fields>>>,
) {
  const name = Type.Literal(type, { description: 'Type of the message.' })
  return Type.Object({ type: name, ...fields }, { title: type, description, examples: [{ type, ...example }] })
}

const DeviceUpdate = message(
  'device_update',
  'The data of a receiver changed. Sent at most ten times a second per receiver; the latest state is always sent.',
  {
    manufacturer: text('Code of the manufacturer.'),
    receiver_id: whole('Id of the receiver.'),
    data: Type.Object(
      { channels, ...Type.Partial(Type.Object(changeable)).properties },
      { description: 'All channels of the receiver, and those of its other fields that changed.' },
    ),
  },
  {
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
            battery: 19,
            forecast: { minutes_left: 95, source: 'history', low: 80, high: 110 },
            audio_level: -9,
            rf_level: -55,
            frequency: '470.300',
          },
          condition: {
            state: 'battery_low',
            severity: 'warning',
            attention: true,
            since: '2026-05-01T18:00:00.000Z',
            since_known: true,
            flags: ['battery_replace_soon'],
          },
        },
      ],
      firmware_version: '2.7.6',
    },
  },
)
export type DeviceUpdate = Body<typeof DeviceUpdate>

const AlertMessage = message(
  'alert',
  'An alert was raised, changed, snoozed, acknowledged or cleared.',
  {
    manufacturer: textOrNull('Code of the manufacturer.'),
    id: whole(
      'Id of the alert; it stays the same when the alert gets worse or is cleared. 0: the alert could not be stored.',
    ),
    kind: text(`${alertKindList} …`),
    state: oneOf(alertStates, 'Whether the alert is raised, snoozed, acknowledged or cleared.'),
    severity: oneOf(severities, 'Severity.'),
    message: text('Message for users.'),
    channel_id: wholeOrNull('Id of the affected channel.'),
  },
  {
    manufacturer: 'shure',
    id: 4,
    kind: 'battery_low',
    state: 'raised',
    severity: 'warning',
    message: '33 Aurelio: battery at 19% (pack H01)',
    channel_id: 33,
  },
)
export type AlertMessage = Body<typeof AlertMessage>

export const StatusUpdate = message(
  'status_update',
  'The state of an upstream or of its real-time subscription changed.',
  {
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
      '`connected`, `disconnected`, `error` and `stopped` apply to `link`, the other values to `upstream`. Reconnection attempts are not reported.',
    ),
  },
  {
    about: 'upstream',
    manufacturer: 'shure',
    message: 'shure is unhealthy: 192.168.1.20:10000 responded with status 500',
    status: 'unhealthy',
  },
)
export type StatusUpdate = Body<typeof StatusUpdate>

const ShowUpdate = message(
  'show_update',
  'A show was planned, changed, started, ended or deleted. Sent to clients of all manufacturers.',
  { show: AnnouncedShow },
  {
    show: {
      id: 2,
      title: 'Evening show',
      starts_at: '2026-05-01T18:00:00.000Z',
      ends_at: '2026-05-01T20:30:00.000Z',
      state: 'running',
      group_ids: [1],
      notes: '',
      started_at: '2026-05-01T18:02:11.000Z',
      ended_at: null,
      version: 12,
    },
  },
)
export type ShowUpdate = Body<typeof ShowUpdate>

const exampleEvent: Body<typeof Event> = {
  id: 51,
  time: '2026-05-01T18:14:07.400Z',
  until: '2026-05-01T18:14:07.700Z',
  kind: 'rf_dropout',
  severity: 'warning',
  channel_id: 33,
  receiver_id: 9,
  manufacturer: 'shure',
  text: '7 Aurelio: RF dropout of 0.3 s, lowest level -97 dBm',
  data: { seconds: 0.3, lowest_dbm: -97 },
  by: null,
  site: null,
}

const EventMessage = message(
  'event',
  'Something happened, or a marker was added.',
  { event: Event },
  { event: exampleEvent },
)
export type EventMessage = Body<typeof EventMessage>

const EventChanged = message(
  'event_changed',
  'An event ended or changed, or a marker was changed.',
  { event: Event },
  { event: exampleEvent },
)
export type EventChanged = Body<typeof EventChanged>

const EventDeleted = message('event_deleted', 'A marker was deleted.', { id: whole('Id of the event.') }, { id: 51 })
export type EventDeleted = Body<typeof EventDeleted>

const StatusMessage = message(
  'status',
  'Sent to this client only: as the first frame, and shortly before the session or token expires.',
  { message: text('Message for users.') },
  { message: 'Connected' },
)
export type StatusMessage = Body<typeof StatusMessage>

const Pong = message(
  'pong',
  'The response to a `ping`.',
  { timestamp: time('When the ping was answered.'), id: pingId },
  { timestamp: '2026-05-01T18:00:00.000Z', id: 7 },
)
export type Pong = Body<typeof Pong>

const SocketError = message(
  'error',
  'A client message was invalid. The connection stays open.',
  { error: text('What is wrong.') },
  { error: 'Not JSON.' },
)
export type SocketError = Body<typeof SocketError>

const Ping = message('ping', 'Requests a `pong`.', { id: pingId }, { id: 7 })

/** A schema with its title and examples, which TypeBox keeps but does not declare in its types. */
export interface DescribedMessage extends TSchema {
  readonly title: string
  readonly examples: readonly unknown[]
}

const fromServer = [
  DeviceUpdate,
  AlertMessage,
  StatusUpdate,
  ShowUpdate,
  EventMessage,
  EventChanged,
  EventDeleted,
  StatusMessage,
  Pong,
  SocketError,
] as const
export const ServerMessage = Type.Union([...fromServer])
export type ServerMessage = Body<typeof ServerMessage>

const fromClient = [Ping] as const
export const ClientMessage = Type.Union([...fromClient])
export type ClientMessage = Body<typeof ClientMessage>

export const serverMessages = fromServer as unknown as readonly DescribedMessage[]
export const clientMessages = fromClient as unknown as readonly DescribedMessage[]
