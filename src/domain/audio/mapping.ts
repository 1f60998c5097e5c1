/** The mapping of channels to channels of audio streams. */

import type { AudioProposalBody, ChannelAudioBody } from '../../contract/listening.ts'
import { type Channel, isChannelMuted, type Receiver } from '../equipment/receiver.ts'
import { nameKey } from '../text.ts'
import type { AudioStream } from './audio-stream.ts'

export interface AudioMapping {
  readonly channel_id: number
  readonly stream_id: number
  /** Starts at 1. */
  readonly channel: number
  /** The label of the stream channel when the mapping was confirmed; null if it had none. */
  readonly label: string | null
}

/** Identifies a channel of a stream. */
export function soundOf({ stream_id, channel }: Pick<AudioMapping, 'stream_id' | 'channel'>): string {
  return `${stream_id} ${channel}`
}

/** True if any of these receivers has a mapped channel. */
export function haveMappedChannel(receivers: readonly (Receiver | undefined)[], mappings: readonly AudioMapping[]) {
  return receivers.some((receiver) =>
    receiver?.channels.some(({ id }) => mappings.some(({ channel_id }) => channel_id === id)),
  )
}

export function labelOf(stream: AudioStream | undefined, channel: number): string | null {
  return stream?.labels[channel - 1] || null
}

/** `stream` is undefined if it no longer exists. */
export function toChannelAudioBody(mapping: AudioMapping, stream: AudioStream | undefined): ChannelAudioBody {
  const { stream_id, channel, label } = mapping
  const label_now = labelOf(stream, channel)
  return { stream_id, channel, label, label_now, label_changed: label !== label_now }
}

interface Known {
  readonly receivers: readonly Receiver[]
  readonly streams: readonly AudioStream[]
  readonly mappings: readonly AudioMapping[]
  /** Returns the title of the slot of a channel. */
  titleOf(receiver: Receiver, channel: Receiver['channels'][number]): string | null
}

/**
 * Proposes mappings for channels that have none. The first choice is the stream channel whose label is the name of the
 * channel, if both are unique. Otherwise it is channel n of the only stream of a device with the name of the receiver,
 * or with its address.
 */
export function proposeMappings({ receivers, streams, mappings, titleOf }: Known): AudioProposalBody[] {
  const mapped = new Set(mappings.map(({ channel_id }) => channel_id))
  const taken = new Set(mappings.map(soundOf))
  const available = streams.filter(({ enabled }) => enabled)
  const labelled = uniqueByKey(
    available.flatMap((stream) =>
      stream.labels.map((label, index) => ({ keys: [label], value: { stream_id: stream.id, channel: index + 1 } })),
    ),
  )
  const named = uniqueByKey(
    receivers.flatMap((receiver) =>
      receiver.channels.map((channel) => ({
        keys: [channel.name, titleOf(receiver, channel)].filter((name) => name !== null),
        value: channel.id,
      })),
    ),
  )
  const byLabel = new Map([...named].map(([key, id]) => [id, labelled.get(key)]))
  const ofDevice = uniqueByKey(available.map((stream) => ({ keys: [stream.device ?? ''], value: stream })))
  const ofAddress = uniqueByKey(available.map((stream) => ({ keys: [stream.origin ?? ''], value: stream })))
  const nameCounts = countBy(receivers.map(({ name }) => nameKey(name)))
  return receivers.flatMap((receiver) => {
    const key = nameKey(receiver.name)
    const device = nameCounts.get(key) === 1 ? ofDevice.get(key) : undefined
    const address = receiver.ip === null ? undefined : ofAddress.get(nameKey(receiver.ip))
    return receiver.channels.flatMap(({ id: channel_id, channel: number }): AudioProposalBody[] => {
      if (mapped.has(channel_id)) return []
      const free = (target: { readonly stream_id: number; readonly channel: number } | undefined) =>
        target !== undefined && !taken.has(soundOf(target)) ? target : undefined
      const channelIn = (stream: AudioStream | undefined) =>
        stream !== undefined && number <= stream.channels ? free({ stream_id: stream.id, channel: number }) : undefined
      const label = free(byLabel.get(channel_id))
      if (label !== undefined) return [{ channel_id, ...label, by: 'label' }]
      const named = channelIn(device)
      if (named !== undefined) return [{ channel_id, ...named, by: 'device' }]
      const addressed = channelIn(address)
      return addressed === undefined ? [] : [{ channel_id, ...addressed, by: 'address' }]
    })
  })
}

/** Leaves out keys that several values have, and empty ones. */
function uniqueByKey<Value>(
  entries: readonly { readonly keys: readonly string[]; readonly value: Value }[],
): Map<string, Value> {
  const values = new Map<string, Value[]>()
  for (const { keys, value } of entries) {
    for (const key of new Set(keys.map(nameKey))) {
      if (key !== '') values.set(key, [...(values.get(key) ?? []), value])
    }
  }
  const unique = new Map<string, Value>()
  for (const [key, [first, ...others]] of values) if (first !== undefined && others.length === 0) unique.set(key, first)
  return unique
}

function countBy(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Why a channel must be neither played nor kept. */
export type WithheldReason = 'not_now' | 'muted'

/** Null if its sound may be played and kept. */
export function findWithheldReason(channel: Channel): WithheldReason | null {
  if (channel.not_now !== undefined) return 'not_now'
  return isChannelMuted(channel) ? 'muted' : null
}
