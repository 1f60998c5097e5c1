/**
 * Levels in few bytes: the WebSocket subprotocol `micwatch.levels.v1`. A receiver is first told whole, as a JSON
 * `device_update`; as long as nothing but its levels changes, a record in a binary frame says the same:
 *
 *   uint32   receiver_id, the highest byte first
 *   uint8    how many channels it was told whole with
 *   5 × int8 for each of them: audio_level and rf_level of the channel, battery, audio_level and rf_level of its
 *            transmitter; -128 stands for null
 */

import type { ChannelBody, TransmitterBody } from './api.ts'
import type { DeviceUpdate } from './messages.ts'

export const levelsProtocol = 'micwatch.levels.v1'

const headBytes = 5
const channelBytes = 5
const nothing = -128

/** Nothing but levels tells one from the other. */
export function isSameButLevels(one: readonly ChannelBody[], other: readonly ChannelBody[]): boolean {
  return one.length === other.length && one.every((channel, at) => isSameChannel(channel, other[at] as ChannelBody))
}

const channelLevels: ReadonlySet<string> = new Set([
  'audio_level',
  'rf_level',
  'transmitter',
] satisfies (keyof ChannelBody)[])
const transmitterLevels: ReadonlySet<string> = new Set([
  'battery',
  'audio_level',
  'rf_level',
] satisfies (keyof TransmitterBody)[])

function isSameChannel(one: ChannelBody, other: ChannelBody): boolean {
  if (!isSameBut(channelLevels, one, other)) return false
  if (one.transmitter === null || other.transmitter === null) return one.transmitter === other.transmitter
  return isSameBut(transmitterLevels, one.transmitter, other.transmitter)
}

/** What is no plain value counts as another one, unless it is the very same. */
function isSameBut(ignored: ReadonlySet<string>, one: object, other: object): boolean {
  const [fields, others] = [Object.entries(one), other as Readonly<Record<string, unknown>>]
  if (fields.length !== Object.keys(other).length) return false
  return fields.every(([field, value]) => (ignored.has(field) ? field in other : others[field] === value))
}

/** A record can say it, to whoever was told of these channels before. */
export function fitsRecord({ receiver_id, data }: DeviceUpdate): boolean {
  const { channels, ...rest } = data
  if (Object.keys(rest).length > 0) return false
  return receiver_id >= 0 && receiver_id < 2 ** 32 && channels.length < 2 ** 8 && channels.every(fitsChannel)
}

function fitsChannel({ audio_level, rf_level, transmitter }: ChannelBody): boolean {
  const fits = fitsByte(audio_level) && fitsByte(rf_level)
  if (transmitter === null) return fits
  return fits && fitsByte(transmitter.battery) && fitsByte(transmitter.audio_level) && fitsByte(transmitter.rf_level)
}

function fitsByte(level: number | null): boolean {
  return level === null || (Number.isInteger(level) && level > nothing && level < 128)
}

/** Updates that fit a record, in a frame. */
export function writeRecords(updates: readonly DeviceUpdate[]): Uint8Array {
  const sizes = updates.map(({ data }) => recordSize(data.channels.length))
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const { receiver_id, data } of updates) {
    view.setUint32(at, receiver_id)
    view.setUint8(at + 4, data.channels.length)
    at += headBytes
    for (const { audio_level, rf_level, transmitter } of data.channels) {
      const { battery = null, audio_level: ownAudio = null, rf_level: ownRf = null } = transmitter ?? {}
      for (const level of [audio_level, rf_level, battery, ownAudio, ownRf]) view.setInt8(at++, level ?? nothing)
    }
  }
  return bytes
}

function recordSize(channels: number): number {
  return headBytes + channels * channelBytes
}

/** What one connection has heard. */
export interface RecordReader {
  /** It was told whole. */
  hear(update: DeviceUpdate): void
  /** What the records of a frame say; nothing of receivers that were not told whole, or not so. */
  read(frame: ArrayBuffer): DeviceUpdate[]
}

export function createRecordReader(): RecordReader {
  const told = new Map<number, DeviceUpdate>()
  return {
    hear(update) {
      told.set(update.receiver_id, update)
    },
    read(frame) {
      const view = new DataView(frame)
      const updates: DeviceUpdate[] = []
      for (let at = 0; at + headBytes <= view.byteLength; ) {
        const whole = told.get(view.getUint32(at))
        const channels = view.getUint8(at + 4)
        const start = at + headBytes
        at += recordSize(channels)
        if (at > view.byteLength || whole?.data.channels.length !== channels) continue
        updates.push({ ...whole, data: { channels: readChannels(view, start, whole.data.channels) } })
      }
      return updates
    },
  }
}

function readChannels(view: DataView, start: number, told: readonly ChannelBody[]): ChannelBody[] {
  return told.map((channel, nth) => {
    const at = start + nth * channelBytes
    const level = (offset: number) => {
      const value = view.getInt8(at + offset)
      return value === nothing ? null : value
    }
    const transmitter = channel.transmitter && {
      ...channel.transmitter,
      battery: level(2),
      audio_level: level(3),
      rf_level: level(4),
    }
    return { ...channel, audio_level: level(0), rf_level: level(1), transmitter }
  })
}
