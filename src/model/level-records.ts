/**
 * Levels in few bytes: the WebSocket subprotocol `micwatch.levels.v1`. A receiver is first told whole, as a JSON
 * `device_update`; as long as nothing but its levels changes, a record in a binary frame says the same:
 *
 *   uint32   receiver_id, the highest byte first
 *   uint16   how many bytes follow
 *   int8     for each level that it was told whole with, channel by channel in the order of `levelNames`; -128 is null,
 *            and the antennas in use are a sum: A 1, B 2, C 4, D 8
 */

import type { ChannelBody } from './api.ts'
import type { DeviceUpdate } from './messages.ts'

export const levelsProtocol = 'micwatch.levels.v1'

/** Of a channel, then of its details, then of its transmitter. */
export const levelNames = {
  channel: ['audio_level', 'rf_level'],
  details: ['rf_a', 'rf_b', 'rf_c', 'rf_d', 'rf_percent', 'antennas', 'audio_peak', 'audio_rms', 'quality'],
  transmitter: ['battery', 'audio_level', 'rf_level'],
} as const

const headerBytes = 6
const nullByte = -128

type Fields = Readonly<Record<string, unknown>>

/** Nothing but levels tells one from the other, and both have the same ones. */
export function differOnlyInLevels(one: readonly ChannelBody[], other: readonly ChannelBody[]): boolean {
  return (
    one.length === other.length &&
    one.every((channel, at) => isSameChannelExceptLevels(channel, other[at] as ChannelBody))
  )
}

function isSameChannelExceptLevels(one: ChannelBody, other: ChannelBody): boolean {
  const { details, transmitter, ...own } = one
  const { details: otherDetails, transmitter: otherTransmitter, ...others } = other
  return (
    areEqualExcept(levelNames.channel, own, others) &&
    areEqualExcept(levelNames.details, details, otherDetails) &&
    isSameTransmitterExceptLevels(transmitter, otherTransmitter)
  )
}

function isSameTransmitterExceptLevels(one: ChannelBody['transmitter'], other: ChannelBody['transmitter']): boolean {
  if (one === null || other === null) return one === other
  const { details, ...own } = one
  const { details: otherDetails, ...others } = other
  return areEqualExcept(levelNames.transmitter, own, others) && areEqualExcept([], details, otherDetails)
}

/** What is no plain value counts as another one, unless it is the very same. */
function areEqualExcept(levels: readonly string[], one: object = {}, other: object = {}): boolean {
  const [own, others] = [one as Fields, other as Fields]
  for (const name in { ...one, ...other }) {
    const isSame = levels.includes(name)
      ? (own[name] === undefined) === (others[name] === undefined)
      : own[name] === others[name]
    if (!isSame) return false
  }
  return true
}

/** A record can say it, to whoever was told of these channels before. */
export function isEncodable({ receiver_id, data }: DeviceUpdate): boolean {
  const { channels, ...rest } = data
  if (Object.keys(rest).length > 0 || receiver_id < 0 || receiver_id >= 2 ** 32) return false
  const bytes = channels.flatMap(toBytes)
  return bytes.length < 2 ** 16 && !bytes.includes(undefined)
}

/** Updates that fit a record, in a frame. */
export function encodeRecords(updates: readonly DeviceUpdate[]): Uint8Array {
  const records = updates.map(({ receiver_id, data }) => ({ receiver_id, levels: data.channels.flatMap(toBytes) }))
  const bytes = new Uint8Array(records.reduce((sum, { levels }) => sum + headerBytes + levels.length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const { receiver_id, levels } of records) {
    view.setUint32(at, receiver_id)
    view.setUint16(at + 4, levels.length)
    at += headerBytes
    for (const level of levels) view.setInt8(at++, level ?? nullByte)
  }
  return bytes
}

/** Undefined for a level that no byte holds. */
function toBytes({ details, transmitter, ...own }: ChannelBody): (number | undefined)[] {
  return [
    ...levelsOf(levelNames.channel, own),
    ...levelsOf(levelNames.details, details),
    ...levelsOf(levelNames.transmitter, transmitter),
  ].map(toByte)
}

function levelsOf(names: readonly string[], part: object | null = {}): unknown[] {
  return names.map((name) => (part as Fields | null)?.[name]).filter((level) => level !== undefined)
}

function toByte(level: unknown): number | undefined {
  if (level === null) return nullByte
  if (typeof level === 'string' && /^A?B?C?D?$/.test(level)) {
    return antennas.reduce((sum, letter, at) => (level.includes(letter) ? sum + 2 ** at : sum), 0)
  }
  return Number.isInteger(level) && Math.abs(level as number) < 128 ? (level as number) : undefined
}

const antennas = ['A', 'B', 'C', 'D']

/** What one connection has heard. */
export interface RecordReader {
  /** It was told whole. */
  remember(update: DeviceUpdate): void
  /** What the records of a frame say; nothing of receivers that were not told whole, or not so. */
  read(frame: ArrayBuffer): DeviceUpdate[]
}

export function createRecordReader(): RecordReader {
  const told = new Map<number, DeviceUpdate>()
  return {
    remember(update) {
      told.set(update.receiver_id, update)
    },
    read(frame) {
      const view = new DataView(frame)
      const updates: DeviceUpdate[] = []
      for (let at = 0; at + headerBytes <= view.byteLength; ) {
        const whole = told.get(view.getUint32(at))
        const size = view.getUint16(at + 4)
        const start = at + headerBytes
        at = start + size
        if (whole === undefined || at > view.byteLength) continue
        const channels = readChannels(new Int8Array(frame, start, size), whole.data.channels)
        if (channels !== null) updates.push({ ...whole, data: { channels } })
      }
      return updates
    },
  }
}

/** Null where there are more levels or fewer than these channels have. */
function readChannels(bytes: Int8Array, told: readonly ChannelBody[]): ChannelBody[] | null {
  let at = 0
  const read = <Part extends object>(names: readonly string[], part: Part): Part => {
    const levels: Record<string, unknown> = {}
    for (const name of names) if ((part as Fields)[name] !== undefined) levels[name] = toLevel(name, bytes[at++])
    return { ...part, ...levels }
  }
  const channels = told.map((channel) => {
    const own = read(levelNames.channel, channel)
    const details = channel.details && read(levelNames.details, channel.details)
    const transmitter = channel.transmitter && read(levelNames.transmitter, channel.transmitter)
    return { ...own, ...(details && { details }), transmitter }
  })
  return at === bytes.length ? channels : null
}

function toLevel(name: string, byte = nullByte): number | string | null {
  if (byte === nullByte) return null
  return name === 'antennas' ? antennas.filter((_, at) => byte & (2 ** at)).join('') : byte
}
