/**
 * Schemas of the messages of the live interface, version 2. The types, the AsyncAPI document and docs/websocket.md are
 * derived from them.
 */

import Type, { type TNull, type TOptional, type TProperties, type TUnion } from 'typebox'
import { Alert, Silence } from './alerts.ts'
import { Channel, ChannelDetails, LastTransmitter } from './channels.ts'
import { Check } from './checks.ts'
import { Configuration } from './configuration.ts'
import { Data } from './data.ts'
import { FrequencyProfile } from './frequency-profiles.ts'
import { Group } from './groups.ts'
import { silent_since } from './health.ts'
import { Event } from './history.ts'
import { AudioListener } from './listening.ts'
import * as messages from './messages.ts'
import { ChannelAssignment, Performer } from './performers.ts'
import { ReceiverInData } from './receivers.ts'
import { Scan } from './scans.ts'
import { type Body, idOf, listOf, named, orNull, query, text, textOrNull, time, whole, wholeOrNull } from './schema.ts'
import { AnnouncedShow, Show } from './shows.ts'
import { AnnouncedSite } from './sites.ts'
import { SlotRecord } from './slots.ts'
import { levels, sourceNames } from './sweeps.ts'

const seq = whole('Number of the message; increases by one with every message that the process creates.')
const at = time('When the message was created.')
const manufacturerOrNull = textOrNull('Code of the manufacturer; null: global.')
const receiverId = whole('Id of the receiver.')

/** Creates a schema of a message that has a sequence number. */
function numbered<Name extends string, Fields extends TProperties>(type: Name, description: string, fields: Fields) {
  return Type.Object({ type: Type.Literal(type), seq, ...fields }, { title: type, description })
}

/** Creates a schema of a message without a sequence number. */
function unnumbered<Name extends string, Fields extends TProperties>(
  type: Name,
  description: string,
  fields: Fields,
  options: object = {},
) {
  return Type.Object({ type: Type.Literal(type), ...fields }, { title: type, description, ...options })
}

const partial = <Fields extends TProperties>(fields: Fields) => Type.Partial(Type.Object(fields)).properties

/** Lets each field be absent or null. */
function nullable<Fields extends TProperties>(fields: Fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, Type.Optional(Type.Union([field, Type.Null()]))]),
  ) as { [Name in keyof Fields]: TOptional<TUnion<[Fields[Name], TNull]>> }
}

const { channels: _channels, id: _receiverId, ...receiverFields } = ReceiverInData.properties
const { id: channelId, slot, details, last_transmitter, ...channelFields } = Channel.properties

export const Source = named('Source', 'A monitored system or device.', {
  code: text('Code of the manufacturer.'),
  address: text('Address of the system or device.'),
  status: textOrNull('`healthy`, `unknown`, `degraded` or `unhealthy`; null: the source was removed.'),
  error: textOrNull('What is wrong; null while there is no error.'),
  silent_since,
})

const Queue = { pending: whole('Number of devices that are waiting for review.') }
const _anyList = (description: string) => Type.Array(Type.Unknown(), { description })

const SnapshotData = Type.Object(
  {
    ...Data.properties,
    alerts: listOf(Alert, 'Alerts that are not cleared.'),
    shows: listOf(Show, 'Running shows.'),
    sources: listOf(Source, 'All monitored systems and devices.'),
    sites: listOf(AnnouncedSite, 'The installations that this one follows, with their running shows.'),
    performers: listOf(Performer, 'All performers.'),
    silences: listOf(Silence, 'Silences in effect.'),
    queue: Type.Object(Queue),
    listeners: orNull(listOf(AudioListener, 'Who listens.'), 'Who listens; null if listening is off.'),
  },
  { description: 'The body of `GET /api/data.json` with the same filters, and the other data that pages show.' },
)

const Snapshot = numbered(
  'snapshot',
  'The complete state as of `seq`. Sent as the first message unless the connection is resumed, and again whenever messages were dropped.',
  {
    epoch: text('Identifies the process and the filters; to resume, send it together with `since`.'),
    installation: text('Id of this installation.'),
    via: listOf(Type.String(), 'Ids of all installations that this one follows, directly or through others.'),
    data: SnapshotData,
  },
)

const ReceiverMessage = numbered('receiver', 'Fields of a receiver changed; only those are present.', {
  id: receiverId,
  ...partial(receiverFields),
})

const ReceiverAdded = numbered('receiver_added', 'A receiver was added.', { receiver: ReceiverInData })

const ReceiverRemoved = numbered('receiver_removed', 'A receiver was removed.', { id: receiverId })

const ChannelMessage = numbered(
  'channel',
  'Fields of a channel changed; only those are present. A nested object is always sent whole, or as null if it was removed; `details` contain only changed values, and null for removed ones. A message about a channel that the client does not know adds that channel and contains all its fields. A change of levels alone is sent as `levels`.',
  {
    id: channelId,
    receiver_id: receiverId,
    ...partial({ slot, ...channelFields }),
    details: Type.Optional(
      Type.Union([
        Type.Object(nullable(ChannelDetails.properties), { description: 'The values that changed.' }),
        Type.Null(),
      ]),
    ),
    last_transmitter: Type.Optional(Type.Union([LastTransmitter, Type.Null()])),
  },
)

const ChannelRemoved = numbered('channel_removed', 'A channel was removed.', { id: channelId, receiver_id: receiverId })

const Slots = numbered('slots', 'Channels were moved; one message for each commit.', {
  values: Type.Array(Type.Array(Type.Integer()), { description: 'Pairs of channel id and slot.' }),
})

const Levels = numbered(
  'levels',
  'The levels of channels that changed, at most ten times a second. An entry is [channel_id, rf_level, audio_level, quality]. With `levels=full`, it continues with rf_a, rf_b, rf_c, rf_d, antennas, audio_peak. Nulls at the end are left out. An entry sets the levels of the transmitter, or of the channel while it has no transmitter. `quality` and the six additional values update the `details` of the channel.',
  {
    at,
    values: Type.Array(Type.Array(Type.Union([Type.Integer(), Type.String(), Type.Null()])), {
      description: 'One entry per channel.',
    }),
  },
)

const Groups = numbered('groups', 'A group changed.', { groups: listOf(Group, 'All groups.') })
const Placeholders = numbered('placeholders', 'A placeholder changed.', {
  placeholders: Data.properties.placeholders,
})
const SlotRecords = numbered('slot_records', 'What people entered about slots, or the equipment in them, changed.', {
  slots: listOf(SlotRecord, 'The records that changed.'),
  removed: listOf(Type.Integer(), 'Slots that no longer hold anything.'),
})
const Performers = numbered('performers', 'A performer changed.', {
  performers: listOf(Performer, 'All performers.'),
})
const Assignments = numbered('assignments', 'An assignment changed.', {
  assignments: listOf(ChannelAssignment, 'All active assignments.'),
})
const Discovered = numbered('discovered', 'The discovered devices changed.', {
  discovered: Data.properties.discovered,
})

const SettingsMessage = numbered(
  'settings',
  'Settings changed. If `manufacturer` and `group` are both null, the global settings changed.',
  {
    manufacturer: manufacturerOrNull,
    group: wholeOrNull('Id of the group.'),
    config: Type.Object(partial(Configuration.properties), { description: 'The settings that changed.' }),
  },
)

const AlertMessage = numbered(
  'alert',
  'An alert was raised, changed, snoozed, acknowledged, silenced or cleared.',
  Alert.properties,
)
const Silences = numbered('silences', 'A silence began or ended.', {
  silences: listOf(Silence, 'All silences in effect.'),
})
const Scans = numbered('scans', 'A spectrum scan was uploaded or deleted.', {
  scans: listOf(Scan, 'All spectrum scans, without their levels.'),
})
const FrequencyProfiles = numbered('frequency_profiles', 'A frequency profile was added, changed or removed.', {
  profiles: listOf(FrequencyProfile, 'All frequency profiles.'),
})
const FrequencyPlans = numbered(
  'frequency_plans',
  'Frequency plans changed, or another one is in force. `GET /api/frequency-plans/` returns them.',
  {},
)
const Frequencies = numbered(
  'frequencies',
  'Carriers changed, and perhaps their conflicts, which `GET /api/frequencies/` returns. Sent at most once a second, and not for levels.',
  {},
)
const ShowMessage = numbered(
  'show',
  'A show was planned, changed, started, ended or deleted. Any state but `running` removes it from the running shows.',
  { show: AnnouncedShow },
)
const CheckMessage = numbered('check', 'The line check of a channel began, or its result was entered.', {
  check: Check,
})
const EventMessage = numbered('event', 'Something happened, or a marker was added.', { event: Event })
const EventChanged = numbered('event_changed', 'An event ended or changed, or a marker was changed.', { event: Event })
const EventDeleted = numbered('event_deleted', 'A marker was deleted.', { id: whole('Id of the event.') })
const Notifications = numbered(
  'notifications',
  'A notification channel, a rule or a delivery changed. Clients with permission reload them.',
  {},
)
const SourceMessage = numbered('source', 'The status of a source changed.', Source.properties)
const SiteMessage = numbered(
  'site',
  'A site was added, its name or address changed, or a show began or ended there.',
  AnnouncedSite.properties,
)
const SiteRemoved = numbered('site_removed', 'A site is no longer followed.', { code: text('Code of the site.') })
const { type: _type, ...statusFields } = messages.StatusUpdate.properties
const StatusUpdate = numbered(
  'status_update',
  'The state of a real-time subscription changed. A failed attempt to reconnect is announced each time.',
  statusFields,
)
const QueueMessage = numbered('queue', 'The number of devices that are waiting for review changed.', Queue)

const Listeners = numbered('listeners', 'Someone has begun or stopped listening to a channel.', {
  listeners: listOf(AudioListener, 'All who listen at the moment.'),
})
const AudioMappings = numbered(
  'audio_mappings',
  'Channels were mapped to other channels of audio streams. `GET /api/audio/mappings/` returns them.',
  {},
)

const Resumed = unnumbered('resumed', 'The first message of a resumed connection; missed messages follow.', {
  seq: whole('The `since` of the request.'),
  epoch: text('As in the snapshot.'),
})
const Tick = unnumbered('tick', 'Nothing else was sent for a second.', { at })
const Status = unnumbered('status', 'The session or token of this connection expires soon.', {
  message: text('Message for users.'),
})
const Pong = unnumbered('pong', 'The response to `ping`.', {
  timestamp: at,
  id: Type.Optional(Type.Unknown({ description: 'The `id` of the ping.' })),
})
const ErrorMessage = unnumbered('error', 'A client message was invalid. The connection stays open.', {
  error: text('What is wrong.'),
})

const SweepMessage = unnumbered(
  'sweep',
  'An analyser has pushed a sweep to the source that the client has selected. At most four a second; a client that reads slowly misses some.',
  {
    source: text('Name of the source.'),
    at: time('When the sweep began.'),
    from_mhz: Type.Number({ description: 'Lowest frequency in MHz.' }),
    step_mhz: Type.Number({ description: 'Distance of neighbouring frequencies in MHz.' }),
    dbm: levels('The levels in ascending order of frequency.'),
  },
)

const Ping = unnumbered('ping', 'Requests a `pong`.', {
  id: Type.Optional(Type.Unknown({ description: 'Any value; the response contains the same one.' })),
})
const Ack = unnumbered(
  'ack',
  'On a connection with `ack=1`, acknowledges received messages. Sent after each `levels`, because the next one waits for it, and at least once a second.',
  {
    seq: Type.Optional(whole('The `seq` of the last message that has arrived.')),
    at: Type.Optional(text('Instead of `seq`: the `at` of the `levels` message.')),
  },
  { anyOf: [{ required: ['seq'] }, { required: ['at'] }] },
)
export const LevelsRequest = unnumbered(
  'select_levels',
  'Selects the levels that this connection is sent. The connection must have `ack=1`. The current levels follow within 200 ms. A connection that is resumed begins with the levels of its address.',
  {
    levels: Type.Union([Type.Literal('false'), Type.Literal('true'), Type.Literal('full')], {
      description: 'As the parameter `levels`.',
    }),
    sites: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Codes of sites, `local` for this installation: only the levels of their channels. All if absent.',
      }),
    ),
  },
)

export const SweepsRequest = unnumbered(
  'select_sweeps',
  'Selects the source whose sweeps this connection is sent, as `sweep`. A new connection is sent none.',
  {
    source: Type.Union([Type.String(sourceNames), Type.Null()], {
      description: 'Name of the source, which may push its first sweep later. Null: no more sweeps.',
    }),
  },
)

const changes = [
  ReceiverMessage,
  ReceiverAdded,
  ReceiverRemoved,
  ChannelMessage,
  ChannelRemoved,
  Slots,
  Groups,
  Placeholders,
  SlotRecords,
  Performers,
  Assignments,
  Discovered,
  SettingsMessage,
  AlertMessage,
  Silences,
  Scans,
  FrequencyProfiles,
  FrequencyPlans,
  Frequencies,
  ShowMessage,
  CheckMessage,
  EventMessage,
  EventChanged,
  EventDeleted,
  Notifications,
  SourceMessage,
  SiteMessage,
  SiteRemoved,
  StatusUpdate,
  QueueMessage,
  Listeners,
  AudioMappings,
] as const
const Change = Type.Union([...changes])

export const serverMessages = [
  Snapshot,
  Resumed,
  ...changes,
  Levels,
  SweepMessage,
  Tick,
  Status,
  Pong,
  ErrorMessage,
] as const
export const clientMessages = [Ping, Ack, LevelsRequest, SweepsRequest] as const
export const LiveServerMessage = Type.Union([...serverMessages])

type WithoutSeq<Message> = Message extends unknown ? Omit<Message, 'seq'> : never

/** A message to a client. */
export type LiveMessage = Body<typeof LiveServerMessage>
export type LevelsRequest = Body<typeof LevelsRequest>
export type SweepsRequest = Body<typeof SweepsRequest>
/** A message about a change, before it has a sequence number. */
export type LiveChange = WithoutSeq<Body<typeof Change>>
export type SourceBody = Body<typeof Source>

/** The query of the WebSocket, version 1. `protocol` selects version 2, whose query is `LiveQuery`. */
export const SocketQuery = query({
  protocol: Type.Enum(['2'], { description: 'Asks for version 2.' }),
  manufacturer: Type.String({ description: 'Code of a manufacturer, to receive only its messages.' }),
  site: Type.String({ description: 'Code of a site, to receive only what it monitors; `local`: this installation.' }),
})

export const LiveQuery = query({
  ...SocketQuery.properties,
  group: idOf('Id of a group, to receive only its channels.'),
  levels: Type.Enum(['true', 'false', 'full'], { description: 'Which levels to send.' }),
  since: Type.Integer({ minimum: 0, description: 'Number of the last message received, to resume.' }),
  epoch: Type.String({ description: 'The epoch of that message.' }),
  ack: Type.Enum(['0', '1'], { description: '1: the client acknowledges `levels` messages.' }),
})
