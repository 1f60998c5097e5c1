/** Compares two states of a receiver. Returns the messages of version 2 that describe the difference. */

import type { ChannelBody } from '../../contract/channels.ts'
import type { LiveChange } from '../../contract/live-messages.ts'
import type { Channel, Receiver } from '../equipment/receiver.ts'
import { toReceiverWithoutChannels } from '../equipment/receiver-body.ts'
import { isSameJson } from '../json.ts'
import { detailLevels } from './lists.ts'

export interface ReceiverChanges {
  readonly changes: readonly LiveChange[]
  /** The ids of channels whose levels changed. */
  readonly levels: readonly number[]
  /** Pairs of channel id and slot. The caller announces all moves of a commit in one message. */
  readonly slots: readonly (readonly [number, number])[]
}

/** Converts a channel to its body with its current levels. */
export type ToChannelBody = (channel: Channel) => ChannelBody

type Fields = Readonly<Record<string, unknown>>

const none: ReceiverChanges = { changes: [], levels: [], slots: [] }

export function compareReceivers(
  before: Receiver | undefined,
  after: Receiver | undefined,
  toBody: ToChannelBody,
): ReceiverChanges {
  if (before === after) return none
  if (after === undefined) {
    return before === undefined ? none : { ...none, changes: [{ type: 'receiver_removed', id: before.id }] }
  }
  if (before === undefined) {
    const receiver = { ...toReceiverWithoutChannels(after), channels: after.channels.map(toBody) }
    return { ...none, changes: [{ type: 'receiver_added', receiver }] }
  }
  const fields = differingFields(toReceiverWithoutChannels(before), toReceiverWithoutChannels(after))
  const ofChannels = compareChannels(after.id, before.channels, after.channels, toBody)
  if (Object.keys(fields).length === 0) return ofChannels
  return { ...ofChannels, changes: [{ type: 'receiver', id: after.id, ...fields }, ...ofChannels.changes] }
}

function compareChannels(
  receiver_id: number,
  before: readonly Channel[],
  after: readonly Channel[],
  toBody: ToChannelBody,
): ReceiverChanges {
  if (before === after) return none
  const changes: LiveChange[] = []
  const levels: number[] = []
  const slots: (readonly [number, number])[] = []
  for (const { id } of before) {
    if (!after.some((channel) => channel.id === id)) changes.push({ type: 'channel_removed', id, receiver_id })
  }
  for (const channel of after) {
    const known = before.find(({ id }) => id === channel.id)
    if (known === channel) continue
    const { id, ...fields } = toBody(channel)
    if (known === undefined) {
      changes.push({ type: 'channel', id, receiver_id, ...fields })
      continue
    }
    const earlier = toBody(known)
    const changed = changedChannelFields(earlier, { id, ...fields })
    if (Object.keys(changed).length > 0) changes.push({ type: 'channel', id, receiver_id, ...changed })
    if (known.slot !== channel.slot) slots.push([id, channel.slot])
    if (hasOtherLevels(earlier, { id, ...fields })) levels.push(id)
  }
  return { changes, levels, slots }
}

/**
 * Returns the changed fields of a channel, except its slot and its levels. When the transmitter disappears, the
 * channel's own levels are included, because the levels announced until then were the transmitter's.
 */
function changedChannelFields(before: ChannelBody, after: ChannelBody): Fields {
  const changed: Record<string, unknown> = differingFields(withoutLevels(before), withoutLevels(after))
  if ('transmitter' in changed) changed.transmitter = after.transmitter
  if ('details' in changed) changed.details = changedDetails(before, after)
  if (before.transmitter !== null && after.transmitter === null) {
    changed.rf_level = after.rf_level
    changed.audio_level = after.audio_level
  }
  return changed
}

/** Contains only the changed fields; a removed one is null. Null if the channel no longer has details. */
function changedDetails(before: ChannelBody, after: ChannelBody): Fields | null {
  if (after.details === undefined) return null
  return before.details === undefined ? after.details : differingFields(before.details, after.details)
}

function withoutLevels({ id: _, slot, rf_level, audio_level, transmitter, details, ...fields }: ChannelBody): Fields {
  return {
    ...fields,
    transmitter: transmitter && { ...transmitter, rf_level: null, audio_level: null },
    details: details && Object.fromEntries(Object.entries(details).filter(([name]) => !isDetailLevel(name))),
  }
}

/** Applies the `details` of a `channel` message; undefined if none remain. */
export function withChangedDetails<Details extends object>(
  before: Details | undefined,
  change: { readonly [Name in keyof Details]?: Details[Name] | null } | null | undefined,
): Details | undefined {
  if (change === undefined) return before
  if (change === null) return undefined
  const isGone = (name: string) => (change as Fields)[name] === null
  return Object.fromEntries(Object.entries({ ...before, ...change }).filter(([name]) => !isGone(name))) as Details
}

function isDetailLevel(name: string): boolean {
  return (detailLevels as readonly string[]).includes(name)
}

function hasOtherLevels(before: ChannelBody, after: ChannelBody): boolean {
  const [earlier, later] = [before.transmitter ?? before, after.transmitter ?? after]
  if (earlier.rf_level !== later.rf_level || earlier.audio_level !== later.audio_level) return true
  return detailLevels.some((name) => (before.details?.[name] ?? null) !== (after.details?.[name] ?? null))
}

/** Returns the fields of `after` that differ from those of `before`; a field that `after` lacks is null. */
export function differingFields(before: object, after: object): Record<string, unknown> {
  const [earlier, later] = [before as Fields, after as Fields]
  const changed: Record<string, unknown> = {}
  for (const name of Object.keys({ ...before, ...after })) {
    if (!isSameJson(earlier[name], later[name])) changed[name] = later[name] ?? null
  }
  return changed
}
