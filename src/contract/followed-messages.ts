/**
 * The messages and responses of a followed site, as far as this installation uses them, with the limits of device
 * reports. Everything else is ignored, and so is what newer versions add.
 */

import Type, { type TProperties, type TSchema } from 'typebox'
import { AlertData } from './alert-data.ts'
import { Alert, AlertFirst } from './alerts.ts'
import { Condition } from './channels.ts'
import { Event } from './history.ts'
import {
  channelDetails,
  dbfs,
  dbm,
  faultWords,
  line,
  minutes,
  percent,
  readings,
  transmitterDetails,
} from './ingest.ts'
import { ReceiverInData } from './receivers.ts'
import { type Body, codePattern, nullable, oneOf, time, boundedWhole as whole } from './schema.ts'
import { AnnouncedShow } from './shows.ts'
import { AnnouncedSite, siteLimits } from './sites.ts'
import { checkResults, forecastSources, gapReasons, titleSources } from './values.ts'

const orNull = <Schema extends TSchema>(schema: Schema) => nullable(schema, 'a value')
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema)
const partial = <Fields extends TProperties>(fields: Fields) => Type.Partial(Type.Object(fields)).properties
const required = <Fields extends TProperties>(fields: Fields) => Type.Required(Type.Object(fields)).properties
const upTo = <Item extends TSchema>(maxItems: number, item: Item) =>
  Type.Array(item, { maxItems, description: `a list of at most ${maxItems}` })

const id = whole(0, Number.MAX_SAFE_INTEGER)
/** Identifies an installation or a process. Stored or sent back unchanged. */
const identity = Type.String({ pattern: '^[\\w.:-]{1,128}$', description: 'an id' })
const text = (maxLength: number) => Type.String({ maxLength, description: 'text' })
const name = text(255)
/** Further along a chain of sites, the codes of all records. */
const siteCode = Type.String({ pattern: `^${codePattern}(/${codePattern}){0,8}$`, description: 'the code of a site' })
const site = orNull(Type.Object({ code: siteCode, name }, { description: 'a site' }))

// --- Receivers -------------------------------------------------------------------------------------------------------

const forecast = Type.Object(
  {
    minutes_left: whole(0, 65_535),
    source: oneOf(forecastSources, `one of ${forecastSources.join(', ')}`),
    low: whole(0, 65_535),
    high: whole(0, 65_535),
  },
  { description: 'a forecast' },
)

const transmitter = Type.Object(
  {
    ...required(readings),
    upstream_slot: orNull(whole(0, 65_535)),
    battery: orNull(whole(0, 100)),
    forecast: orNull(forecast),
    details: optional(Type.Object(transmitterDetails, { description: 'details' })),
  },
  { description: 'a transmitter' },
)

const lastTransmitter = Type.Object(
  {
    ...required({ name: readings.name, battery: percent, minutes_left: minutes }),
    last_seen: Condition.properties.since,
  },
  { description: 'a transmitter' },
)

const notNow = Type.Object(
  { by: text(255), since: Condition.properties.since, until: orNull(Condition.properties.since) },
  { description: 'what an operator asked for' },
)

/** Earlier versions do not send `since_known`. */
const condition = Type.Object(
  { ...Condition.properties, since_known: optional(Condition.properties.since_known) },
  { description: 'a condition' },
)

/** Those of a channel, of which only some may be announced. */
const channelFields = {
  ...readings,
  channel: optional(whole(1, 1000)),
  slot: optional(whole(0, 65_535)),
  transmitter: optional(orNull(transmitter)),
  details: optional(orNull(Type.Object(channelDetails, { description: 'details' }))),
  // A condition that this version does not know is left out, and the channel is shown without one.
  condition: optional(condition),
  not_now: optional(orNull(notNow)),
  last_transmitter: optional(orNull(lastTransmitter)),
}

const channel = Type.Object(
  { ...channelFields, id, channel: whole(1, 1000), slot: whole(0, 65_535) },
  { description: 'a channel' },
)

const receiverFields = {
  name,
  device_type: text(64),
  model: orNull(name),
  ip: orNull(text(64)),
  is_active: ReceiverInData.properties.is_active,
  manufacturer: line(64),
  site,
}

/** A receiver with all its fields, as in `GET /api/data.json`. It is shown without a name that does not match. */
export const FollowedReceiver = Type.Object(
  {
    ...{ id, ...receiverFields },
    name: Type.String({ ...name, default: '' }),
    device_type: Type.String({ ...receiverFields.device_type, default: '' }),
    channels: upTo(siteLimits.channelsPerReceiver, channel),
  },
  { description: 'a receiver' },
)

const levels = Type.Tuple([
  id,
  ...[dbm, dbfs, percent, dbm, dbm, dbm, dbm, channelDetails.antennas, dbfs].map((level) => level as TSchema),
])

// --- Alerts, shows and events ----------------------------------------------------------------------------------------

const slotName = Type.Object({ slot: id, title: name }, { description: 'a slot and its title' })

const alertData = {
  ...AlertData.properties,
  name: orNull(name),
  receiver: orNull(name),
  title: optional(orNull(name)),
  pack: optional(orNull(name)),
  channel_name: optional(orNull(name)),
  people: optional(upTo(siteLimits.channelsPerReceiver, slotName)),
  conflicts_with: optional(upTo(100, slotName)),
  address: optional(text(1024)),
  error: optional(orNull(text(1024))),
  generators: optional(upTo(100, name)),
  faults: optional(faultWords),
}
const dataOfAlert = Type.Object(alertData, { description: 'the data of an alert' })

const alert = {
  ...Alert.properties,
  id,
  manufacturer: orNull(line(64)),
  kind: line(64),
  message: text(1024),
  acknowledged_by: orNull(name),
  note: orNull(text(4096)),
  snoozed_by: orNull(name),
  snoozed_until: Type.Union([Type.Enum(['cleared', 'show_end']), time('a time'), Type.Null()]),
  site,
  title_now: optional(name),
  data: dataOfAlert,
  first: optional(
    Type.Object(
      { ...AlertFirst.properties, kind: line(64), message: text(1024), data: dataOfAlert },
      { description: 'what an alert was first' },
    ),
  ),
}

const eventData = {
  ...partial(alertData),
  seconds: optional(Type.Number({ description: 'a number' })),
  lowest_dbm: optional(whole(-200, 50)),
  from: optional(Type.Union([name, Type.Number(), Type.Null()])),
  to: optional(Type.Union([name, Type.Number(), Type.Null()])),
  performer: optional(Type.Object({ id, name }, { description: 'a performer' })),
  wireless_unit: optional(id),
  alert_id: optional(id),
  kind: optional(text(64)),
  show_id: optional(id),
  reason: optional(Type.Enum([...gapReasons])),
  result: optional(Type.Enum([...checkResults])),
  note: optional(orNull(text(4096))),
  open: optional(Type.Boolean()),
}

const event = Type.Object(
  {
    ...Event.properties,
    id,
    kind: line(64),
    channel_id: orNull(id),
    receiver_id: orNull(id),
    manufacturer: orNull(line(64)),
    text: text(4096),
    by: orNull(name),
    site,
    data: Type.Object(eventData, { description: 'the data of an event' }),
  },
  { description: 'an event' },
)

const show = Type.Object({ id, title: name }, { description: 'a show' })
const announcedShow = Type.Object({ id, title: name, state: AnnouncedShow.properties.state }, { description: 'a show' })

const announcedSite = {
  code: siteCode,
  name,
  url: AnnouncedSite.properties.url,
  shows: orNull(upTo(siteLimits.shows, name)),
}

const assignments = upTo(
  siteLimits.assignments,
  Type.Object(
    {
      channel_id: orNull(id),
      wireless_unit: orNull(id),
      performer: Type.Object({ id: orNull(id), name }),
      site: optional(site),
    },
    { description: 'an assignment' },
  ),
)

/** Only the titles of channels are used. */
const slotRecords = upTo(
  siteLimits.levels,
  Type.Object(
    { channel_id: orNull(id), title: orNull(name), title_from: orNull(Type.Enum([...titleSources])) },
    { description: 'a slot' },
  ),
)

// --- Messages --------------------------------------------------------------------------------------------------------

function message<Name extends string, Fields extends TProperties>(type: Name, fields: Fields) {
  return Type.Object({ type: Type.Literal(type), ...fields }, { title: type, description: 'a message' })
}

const numbered = <Name extends string, Fields extends TProperties>(type: Name, fields: Fields) =>
  message(type, { seq: id, ...fields })

const snapshotData = Type.Object(
  {
    receivers: upTo(siteLimits.receivers, FollowedReceiver),
    // Older versions lack some of these.
    alerts: optional(upTo(siteLimits.alerts, Type.Object(alert, { description: 'an alert' }))),
    shows: optional(upTo(siteLimits.shows, show)),
    sites: optional(upTo(siteLimits.sites, Type.Object(announcedSite, { description: 'a site' }))),
    assignments: optional(assignments),
    slot_records: optional(slotRecords),
  },
  { description: 'an object' },
)

const receiverId = { receiver_id: id }

export const followedMessages = [
  numbered('snapshot', { epoch: identity, installation: identity, via: upTo(1000, identity), data: snapshotData }),
  message('resumed', { seq: id, epoch: identity }),
  numbered('receiver', { id, ...partial(receiverFields) }),
  numbered('receiver_added', { receiver: FollowedReceiver }),
  numbered('receiver_removed', { id }),
  numbered('channel', { id, ...receiverId, ...channelFields }),
  numbered('channel_removed', { id, ...receiverId }),
  numbered('slots', { values: upTo(siteLimits.levels, Type.Tuple([id, whole(0, 65_535)])) }),
  numbered('levels', {
    at: time('a time'),
    values: upTo(siteLimits.levels, Type.Unsafe<(number | string | null)[]>(levels)),
  }),
  numbered('alert', alert),
  numbered('show', { show: announcedShow }),
  numbered('assignments', { assignments }),
  numbered('slot_records', { slots: slotRecords }),
  numbered('site', announcedSite),
  numbered('site_removed', { code: siteCode }),
  numbered('event', { event }),
  numbered('event_changed', { event }),
  numbered('event_deleted', { id }),
  message('tick', {}),
  message('pong', { id: optional(id) }),
  message('error', {}),
] as const

/** A message of a followed site. */
export type FollowedMessage = Body<(typeof followedMessages)[number]>
export type FollowedSnapshot = Extract<FollowedMessage, { type: 'snapshot' }>

/** The response of `GET /api/events/`. */
export const FollowedEvents = Type.Object({
  results: upTo(siteLimits.events, event),
  next: orNull(text(1024)),
})
export type FollowedEvents = Body<typeof FollowedEvents>

export type FollowedReceiverBody = Body<typeof FollowedReceiver>
export type FollowedReceiverFields = Partial<Omit<FollowedReceiverBody, 'channels'>>
export type FollowedChannelFields = Partial<Body<typeof channel>>
export type FollowedAlert = Body<Type.TObject<typeof alert>>
export type FollowedEvent = Body<typeof event>
export type FollowedSiteBody = Body<Type.TObject<typeof announcedSite>>
export type FollowedSlotRecord = Body<typeof slotRecords>[number]
export type FollowedAssignment = Body<typeof assignments>[number]
