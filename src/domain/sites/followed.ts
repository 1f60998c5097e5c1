/** Converts the receivers, alerts and events of another installation to local records. */

import type { AlertData } from '../../contract/alert-data.ts'
import { type AlertKind, alertKinds } from '../../contract/alert-kinds.ts'
import type {
  FollowedAlert,
  FollowedChannelFields,
  FollowedEvent,
  FollowedMessage,
  FollowedReceiverBody,
  FollowedReceiverFields,
} from '../../contract/followed-messages.ts'
import type { SiteReference } from '../../contract/schema.ts'
import { type EventKind, eventKinds } from '../../contract/values.ts'
import type { AlertCopy, AlertFirst, SnoozeEnd } from '../alerts/alert.ts'
import type { Condition, LastTransmitter } from '../conditions/condition.ts'
import {
  type Channel,
  emptyChannel,
  type NotNow,
  type Receiver,
  type Transmitter,
  unknownHardware,
} from '../equipment/receiver.ts'
import type { Title } from '../equipment/slot-record.ts'
import type { EventDraft } from '../events/event.ts'
import type { LevelSample } from '../levels/level-sample.ts'
import { entryLevels } from '../live/lists.ts'
import { withChangedDetails } from '../live/receiver-changes.ts'

export type { FollowedMessage }

export interface SiteName {
  readonly code: string
  readonly name: string
}

/** The record that follows another installation. */
export interface FollowedRecord extends SiteName {
  /** The id of the other installation. */
  readonly installation: string
}

/**
 * Converts a receiver that is announced with all its fields. `known` is its local record; without one, the ids and
 * slots are 0 until it is stored.
 */
export function toFollowedReceiver(
  body: FollowedReceiverBody,
  known: Receiver | undefined,
  { record, now }: { readonly record: FollowedRecord; readonly now: number },
): Receiver {
  const base: Receiver = known ?? {
    ...unreported,
    id: 0,
    manufacturer: body.manufacturer,
    api_device_id: followedId(record, body.id),
    last_seen: now,
    channels: [],
  }
  const channels = body.channels
    .filter(({ channel }, index) => body.channels.findIndex((other) => other.channel === channel) === index)
    .map((channel) => {
      const before = base.channels.find(({ channel: number }) => number === channel.channel)
      return withChannelFields(before ?? emptyChannel(0, channel.channel, 0), { ...unannounced, ...channel })
    })
    .sort((a, b) => a.channel - b.channel)
  return { ...withReceiverFields({ ...base, last_seen: now }, body, record), channels }
}

/** Identifies a receiver of another installation among all devices of the record. */
export function followedId({ installation }: Pick<FollowedRecord, 'installation'>, receiverId: number): string {
  return `${installation}:${receiverId}`
}

export function withReceiverFields(
  receiver: Receiver,
  fields: FollowedReceiverFields,
  record: FollowedRecord,
): Receiver {
  const { id = receiver.origin?.id ?? 0, site, name, device_type, model, ip, is_active, manufacturer } = fields
  const isSiteKnown = site === undefined && receiver.origin !== undefined
  return {
    ...receiver,
    ...(name !== undefined && { name }),
    ...(device_type !== undefined && { device_type }),
    ...(model !== undefined && { model }),
    ...(ip !== undefined && { ip }),
    ...(is_active !== undefined && { is_active }),
    ...(manufacturer !== undefined && { manufacturer }),
    origin: {
      record: record.code,
      site: isSiteKnown && receiver.origin !== undefined ? receiver.origin.site : siteHere(record, site ?? null),
      id,
    },
  }
}

/** Returns the site with its local code. `there` is the site in the followed installation. */
export function siteHere({ code, name }: SiteName, there: SiteReference | null): SiteReference {
  return there === null ? { code, name } : { code: `${code}/${there.code}`, name: there.name }
}

export function withChannelFields(channel: Channel, fields: FollowedChannelFields): Channel {
  const { id, slot, transmitter, condition, last_transmitter, details, not_now } = fields
  const { name = channel.name, frequency = channel.frequency } = fields
  const { rf_level = channel.rf_level, audio_level = channel.audio_level } = fields
  const { details: knownDetails, not_now: knownNotNow, ...kept } = channel
  const newNotNow = not_now === undefined ? knownNotNow : not_now && toNotNow(not_now)
  const newDetails = withChangedDetails(knownDetails, details)
  const received = transmitter === undefined ? channel.transmitter : transmitter && toTransmitter(transmitter)
  return {
    ...kept,
    ...{ name, frequency, rf_level, audio_level, transmitter: received },
    ...(newDetails && { details: newDetails }),
    ...(newNotNow && { not_now: newNotNow }),
    ...(transmitter !== undefined && { forecast: transmitter?.forecast ?? null }),
    condition: condition ? toCondition(condition) : channel.condition,
    last_transmitter:
      last_transmitter === undefined
        ? channel.last_transmitter
        : last_transmitter && toLastTransmitter(last_transmitter),
    origin: { ...channel.origin, id: id ?? channel.origin?.id ?? 0, slot: slot ?? channel.origin?.slot ?? 0 },
  }
}

/** Returns undefined if nothing is known about the channel there. */
export function toFollowedTitle({ title, title_from }: Title): Title | undefined {
  return title ? { title, title_from } : undefined
}

/** Sets or removes the title of the channel that has this id at the site. */
export function withTitle(receiver: Receiver, idThere: number, title: Title | undefined): Receiver {
  const channels = receiver.channels.map((channel) => {
    const { origin } = channel
    if (origin?.id !== idThere) return channel
    const { title: _, ...ids } = origin
    return { ...channel, origin: { ...ids, ...(title && { title }) } }
  })
  return { ...receiver, channels }
}

function toNotNow({ by, since, until }: NonNullable<FollowedChannelFields['not_now']>): NotNow {
  return { by, since: Date.parse(since), until: until === null ? null : Date.parse(until) }
}

function toTransmitter(body: NonNullable<FollowedChannelFields['transmitter']>): Transmitter {
  const { upstream_slot, name, battery, audio_level, rf_level, frequency, details } = body
  return { upstream_slot, name, battery, audio_level, rf_level, frequency, ...(details && { details }) }
}

function toCondition(body: NonNullable<FollowedChannelFields['condition']>): Condition {
  const { since, since_known = true, values_at, ...condition } = body
  const values = values_at === undefined ? {} : { values_at: Date.parse(values_at) }
  return { ...condition, since: Date.parse(since), since_known, ...values }
}

function toLastTransmitter({
  last_seen,
  ...transmitter
}: NonNullable<FollowedChannelFields['last_transmitter']>): LastTransmitter {
  return { ...transmitter, last_seen: Date.parse(last_seen) }
}

/** Converts an entry of a `levels` message to a sample of this channel. */
export function toFollowedSample(channel: Channel, entry: readonly (number | string | null)[]): LevelSample {
  const [, ...values] = entry
  const [rf_level, audio_level, ...others] = entryLevels.map((_, index) => values[index] ?? null)
  const levels = { rf_level: toNumber(rf_level), audio_level: toNumber(audio_level) }
  const details: Record<string, number | string | null> = {}
  for (const [index, name] of entryLevels.slice(2).entries()) {
    const value = others[index] ?? null
    // A level that the equipment has never reported is still absent.
    if (value !== null || channel.details?.[name as keyof typeof channel.details] !== undefined) details[name] = value
  }
  // While there is a transmitter, its levels are announced instead of the channel's own.
  const ofTransmitter = channel.transmitter !== null && { transmitter: levels }
  return { channel: channel.channel, ...levels, ...ofTransmitter, details }
}

function toNumber(value: number | string | null | undefined): number | null {
  return typeof value === 'number' ? value : null
}

/** Returns the receiver while the other installation is unreachable: all its channels are stale since `since`. */
export function asStale(receiver: Receiver, since: number): Receiver {
  const channels = receiver.channels.map((channel) =>
    channel.condition.state === 'stale' ? channel : { ...channel, condition: staleCondition(channel.condition, since) },
  )
  return { ...receiver, channels }
}

/** Values that were old at the site keep their age. */
function staleCondition({ values_at }: Condition, since: number): Condition {
  const times = { since, since_known: true, values_at: Math.min(values_at ?? since, since) }
  return { state: 'stale', severity: 'warning', attention: true, ...times, flags: [] }
}

/** A complete channel lacks these fields if they have no value. */
const unannounced = { details: null, last_transmitter: null }

const unreported = {
  name: '',
  device_type: '',
  ...unknownHardware,
  is_active: false,
  location: null,
  is_named_by_hand: false,
} as const

/** The subject of the alert, with local ids. */
export interface FollowedSubject {
  readonly receiver: Pick<Receiver, 'id'> | undefined
  readonly channel: Pick<Channel, 'id' | 'slot'> | undefined
  readonly slotOf: SlotOf
}

/** Converts a slot at the site to the one here; undefined if its channel is not known here. */
export type SlotOf = (slotThere: number) => number | undefined

/** Returns null for an alert of a kind that this version does not know. */
export function toAlertCopy(
  body: FollowedAlert,
  record: FollowedRecord,
  { receiver, channel, slotOf }: FollowedSubject,
): AlertCopy | null {
  const kind = alertKinds.find((known) => known === body.kind)
  if (kind === undefined) return null
  const { severity, manufacturer, acknowledged_by, note, snoozed_by } = body
  const here = (data: AlertData, message: string) => withSlotsHere(data, message, channel?.slot ?? null, slotOf)
  const { data, text: message } = here(body.data, body.message)
  return {
    subject: `site:${record.code}:${record.installation}:${body.id}`,
    ...{ kind, severity, message, manufacturer, data, acknowledged_by, note, snoozed_by },
    receiver_id: receiver?.id ?? null,
    channel_id: channel?.id ?? null,
    raised_at: Date.parse(body.raised_at),
    first: toFirst(body, kind, here),
    cleared_at: parseTime(body.cleared_at),
    acknowledged_at: parseTime(body.acknowledged_at),
    acknowledgements: (body.acknowledgements ?? []).map(({ at, ...entry }) => ({ at: Date.parse(at), ...entry })),
    snoozed_at: parseTime(body.snoozed_at),
    snoozed_until: parseSnooze(body.snoozed_until),
    site: siteHere(record, body.site),
  }
}

/** Version 1.0.0 does not send the first state of an alert. */
function toFirst(
  body: FollowedAlert,
  kind: AlertKind,
  here: (data: AlertData, message: string) => Renumbered<AlertData>,
): AlertFirst {
  const { at, severity, message, data, ...first } = body.first ?? { ...body, at: body.raised_at }
  const firstKind = alertKinds.find((known) => known === first.kind) ?? kind
  const { data: dataHere, text } = here(data, message)
  return { at: Date.parse(at), kind: firstKind, severity, message: text, data: dataHere }
}

type SlotName = NonNullable<AlertData['people']>[number]

interface Renumbered<Data> {
  readonly data: Data
  readonly text: string
}

/**
 * Replaces the slots of the site, in the data and where the text names a channel. `slot` is that of the subject here.
 * A channel that is not known here is named without a slot.
 */
function withSlotsHere<Data extends Partial<AlertData>>(
  data: Data,
  text: string,
  slot: number | null,
  slotOf: SlotOf,
): Renumbered<Data> {
  const { people, conflicts_with: others } = data
  const renumber = (names: readonly SlotName[]) =>
    names.flatMap(({ slot: there, title }) => {
      const here = slotOf(there)
      return here === undefined ? [] : { slot: here, title }
    })
  const names = new Map<string, string>()
  const replace = (there: number, here: number | undefined, title: string | null | undefined) => {
    if (title) names.set(`${there} ${title}`, here === undefined ? title : `${here} ${title}`)
  }
  for (const { slot: there, title } of [...(people ?? []), ...(others ?? [])]) replace(there, slotOf(there), title)
  if (data.slot != null) replace(data.slot, slot ?? undefined, data.title ?? data.name ?? data.receiver)
  return {
    data: {
      ...data,
      ...((slot !== null || data.slot != null) && { slot }),
      ...(people && { people: renumber(people) }),
      ...(others && { conflicts_with: renumber(others) }),
    },
    text: replaceNames(text, names),
  }
}

function replaceNames(text: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return text
  const longestFirst = [...names.keys()].sort((a, b) => b.length - a.length)
  const pattern = longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  return text.replace(new RegExp(`(?<!\\d)(?:${pattern})`, 'g'), (name) => names.get(name) ?? name)
}

function parseTime(time: string | null): number | null {
  return time === null ? null : Date.parse(time)
}

function parseSnooze(until: string | null): SnoozeEnd | null {
  return until === 'cleared' || until === 'show_end' ? until : parseTime(until)
}

/** A page of events, newest first, and the address of the next one. */
export type { FollowedEvents } from '../../contract/followed-messages.ts'

/** Converts ids of the subject of an event to local ids. */
export interface FollowedIds {
  /** Undefined if the receiver is not known here. */
  receiverOf(idThere: number): number | undefined
  channelOf(idThere: number): Pick<Channel, 'id' | 'slot'> | undefined
  readonly slotOf: SlotOf
}

/** Identifies an event of another installation among all events of the record. */
export function eventSubject({ code, installation }: FollowedRecord, idThere: number): string {
  return `site:${code}:${installation}:${idThere}`
}

/** Returns null for an event of a kind that this version does not know, or about unknown equipment. */
export function toFollowedEvent(body: FollowedEvent, record: FollowedRecord, ids: FollowedIds): EventDraft | null {
  const kind = eventKinds.find((known): known is EventKind => known === body.kind)
  const receiver_id = body.receiver_id === null ? null : ids.receiverOf(body.receiver_id)
  const channel = body.channel_id === null ? null : ids.channelOf(body.channel_id)
  if (kind === undefined || receiver_id === undefined || channel === undefined) return null
  const { severity, manufacturer, by } = body
  const { open, ...dataThere } = body.data
  const { data, text } = withSlotsHere(dataThere, body.text, channel?.slot ?? null, ids.slotOf)
  return {
    ...{ kind, severity, receiver_id, channel_id: channel?.id ?? null, manufacturer, text, data, by },
    time: Date.parse(body.time),
    until: body.until === null ? null : Date.parse(body.until),
    is_open: open === true,
    subject: eventSubject(record, body.id),
    site: siteHere(record, body.site),
  }
}
