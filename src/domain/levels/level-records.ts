/**
 * Compact level updates: the WebSocket subprotocol `micwatch.levels.v1`. The first update of a receiver is a complete JSON
 * `device_update`. While only its levels change, records in binary frames replace the JSON updates:
 *
 *   uint32   receiver_id, big-endian
 *   uint16   number of bytes that follow, big-endian
 *   int8     one per level in the complete update, channel by channel in the order of `levelNames`; -128 is null, and the
 *            antennas in use are a bit mask: A 1, B 2, C 4, D 8
 */

import type { ChannelBody } from '../../contract/live.ts'
import type { DeviceUpdate } from '../messages.ts'

export const levelsProtocol = 'micwatch.levels.v1'

/** The levels of a channel, then of its details, then of its transmitter. */
export const levelNames = {
  channel: ['audio_level', 'rf_level'],
  details: ['rf_a', 'rf_b', 'rf_c', 'rf_d', 'rf_percent', 'antennas', 'audio_peak', 'audio_rms', 'quality'],
  transmitter: ['battery', 'audio_level', 'rf_level'],
} as const

const headerBytes = 6
const nullByte = -128

type Fields = Readonly<Record<string, unknown>>

/** Whether both lists have the same channels and the same set of levels, and only level values differ. */
export function differOnlyInLevels(a: readonly ChannelBody[], b: readonly ChannelBody[]): boolean {
  return (
    a.length === b.length && a.every((channel, index) => isSameChannelExceptLevels(channel, b[index] as ChannelBody))
  )
}

function isSameChannelExceptLevels(a: ChannelBody, b: ChannelBody): boolean {
  const { details: detailsA, transmitter: transmitterA, ...fieldsA } = a
  const { details: detailsB, transmitter: transmitterB, ...fieldsB } = b
  return (
    areEqualExcept(levelNames.channel, fieldsA, fieldsB) &&
    areEqualExcept(levelNames.details, detailsA, detailsB) &&
    isSameTransmitterExceptLevels(transmitterA, transmitterB)
  )
}

function isSameTransmitterExceptLevels(a: ChannelBody['transmitter'], b: ChannelBody['transmitter']): boolean {
  if (a === null || b === null) return a === b
  const { details: detailsA, ...fieldsA } = a
  const { details: detailsB, ...fieldsB } = b
  return areEqualExcept(levelNames.transmitter, fieldsA, fieldsB) && areEqualExcept([], detailsA, detailsB)
}

/** Compares plain values; objects are only equal if identical. For `levels`, only their presence is compared. */
function areEqualExcept(levels: readonly string[], a: object = {}, b: object = {}): boolean {
  const [fieldsA, fieldsB] = [a as Fields, b as Fields]
  for (const name in { ...a, ...b }) {
    const isSame = levels.includes(name)
      ? (fieldsA[name] === undefined) === (fieldsB[name] === undefined)
      : fieldsA[name] === fieldsB[name]
    if (!isSame) return false
  }
  return true
}

/** Whether the update contains only levels that a record can represent. */
export function isEncodable({ receiver_id, data }: DeviceUpdate): boolean {
  const { channels, ...rest } = data
  if (Object.keys(rest).length > 0 || receiver_id < 0 || receiver_id >= 2 ** 32) return false
  const bytes = channels.flatMap(toBytes)
  return bytes.length < 2 ** 16 && !bytes.includes(undefined)
}

/** Encodes updates for which `isEncodable` is true as one binary frame. */
export function encodeRecords(updates: readonly DeviceUpdate[]): Uint8Array {
  const records = updates.map(({ receiver_id, data }) => ({ receiver_id, levels: data.channels.flatMap(toBytes) }))
  const bytes = new Uint8Array(records.reduce((sum, { levels }) => sum + headerBytes + levels.length, 0))
  const view = new DataView(bytes.buffer)
  let offset = 0
  for (const { receiver_id, levels } of records) {
    view.setUint32(offset, receiver_id)
    view.setUint16(offset + 4, levels.length)
    offset += headerBytes
    for (const level of levels) view.setInt8(offset++, level ?? nullByte)
  }
  return bytes
}

/** Returns one byte per level; undefined for a level that does not fit into a byte. */
function toBytes({ details, transmitter, ...fields }: ChannelBody): (number | undefined)[] {
  return [
    ...levelsOf(levelNames.channel, fields),
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
    return antennas.reduce((mask, letter, bit) => (level.includes(letter) ? mask + 2 ** bit : mask), 0)
  }
  return Number.isInteger(level) && Math.abs(level as number) < 128 ? (level as number) : undefined
}

const antennas = ['A', 'B', 'C', 'D']

/** Decodes the frames of one connection. */
export interface RecordReader {
  /** Stores a complete update, to which later records refer. */
  remember(update: DeviceUpdate): void
  /** Decodes a frame. Records without a matching complete update are skipped. */
  read(frame: ArrayBuffer): DeviceUpdate[]
}

export function createRecordReader(): RecordReader {
  const completeUpdates = new Map<number, DeviceUpdate>()
  return {
    remember(update) {
      completeUpdates.set(update.receiver_id, update)
    },
    read(frame) {
      const view = new DataView(frame)
      const updates: DeviceUpdate[] = []
      for (let offset = 0; offset + headerBytes <= view.byteLength; ) {
        const complete = completeUpdates.get(view.getUint32(offset))
        const size = view.getUint16(offset + 4)
        const start = offset + headerBytes
        offset = start + size
        if (complete === undefined || offset > view.byteLength) continue
        const channels = readChannels(new Int8Array(frame, start, size), complete.data.channels)
        if (channels !== null) updates.push({ ...complete, data: { channels } })
      }
      return updates
    },
  }
}

/** Reads the levels of all channels; returns null if the record has more or fewer levels than the known channels. */
function readChannels(bytes: Int8Array, known: readonly ChannelBody[]): ChannelBody[] | null {
  let index = 0
  const read = <Part extends object>(names: readonly string[], part: Part): Part => {
    const levels: Record<string, unknown> = {}
    for (const name of names) if ((part as Fields)[name] !== undefined) levels[name] = toLevel(name, bytes[index++])
    return { ...part, ...levels }
  }
  const channels = known.map((channel) => {
    const fields = read(levelNames.channel, channel)
    const details = channel.details && read(levelNames.details, channel.details)
    const transmitter = channel.transmitter && read(levelNames.transmitter, channel.transmitter)
    return { ...fields, ...(details && { details }), transmitter }
  })
  return index === bytes.length ? channels : null
}

function toLevel(name: string, byte = nullByte): number | string | null {
  if (byte === nullByte) return null
  return name === 'antennas' ? antennas.filter((_, bit) => byte & (2 ** bit)).join('') : byte
}
