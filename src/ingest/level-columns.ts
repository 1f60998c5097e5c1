/** The columns of a row of the LevelStore, and their conversion to the levels of a record. */

import type { Channel, ChannelDetails } from '../domain/equipment/receiver.ts'
import type { LevelKind } from '../domain/levels/level-sample.ts'
import {
  detailsOfKind,
  type LevelDetail,
  levelDetails,
  levelFields,
  toAntennaLetters,
  toAntennaMask,
} from '../domain/levels/level-sample.ts'

/** The columns of a row: the channel's own levels, the transmitter's levels, and the channel's details. */
export const transmitterColumn = levelFields.length
export const detailColumn = 2 * levelFields.length
export const columns = detailColumn + levelDetails.length

/** Stands for a value that was never reported, so that the field is absent. */
export const absent = -32_768
/** Stands for null: reported as unknown. */
export const unknown = -32_767

export function columnOf(name: LevelDetail): number {
  return detailColumn + levelDetails.indexOf(name)
}

export const columnsOfKind: Readonly<Record<LevelKind, readonly number[]>> = {
  rf: [0, transmitterColumn, ...detailsOfKind.rf.map(columnOf)],
  audio: [1, transmitterColumn + 1, ...detailsOfKind.audio.map(columnOf)],
}

/** Returns the channel with the levels in the row that begins at `start`; the channel itself if they are the same. */
export function toChannel(values: Int16Array, start: number, channel: Channel): Channel {
  const rf_level = toLevel(values[start])
  const audio_level = toLevel(values[start + 1])
  const transmitter = toTransmitter(values, start + transmitterColumn, channel.transmitter)
  const details = toDetails(values, start + detailColumn, channel.details)
  const isSame =
    rf_level === channel.rf_level &&
    audio_level === channel.audio_level &&
    transmitter === channel.transmitter &&
    details === channel.details
  return isSame ? channel : { ...channel, rf_level, audio_level, transmitter, ...(details && { details }) }
}

function toTransmitter(values: Int16Array, start: number, transmitter: Channel['transmitter']): Channel['transmitter'] {
  if (transmitter === null) return null
  const rf_level = toLevel(values[start])
  const audio_level = toLevel(values[start + 1])
  const isSame = rf_level === transmitter.rf_level && audio_level === transmitter.audio_level
  return isSame ? transmitter : { ...transmitter, rf_level, audio_level }
}

function toDetails(values: Int16Array, start: number, details: ChannelDetails | undefined): ChannelDetails | undefined {
  let changed: Record<string, unknown> | undefined
  for (const [index, name] of levelDetails.entries()) {
    const value = values[start + index] ?? absent
    if (value === encode(details?.[name])) continue
    changed ??= { ...details }
    changed[name] = value === unknown ? null : name === 'antennas' ? toAntennaLetters(value) : value
  }
  return changed ?? details
}

function toLevel(value = unknown): number | null {
  return value === unknown ? null : value
}

/** Encodes a level: antennas as a bit mask, all others as they are. */
export function encode(value: number | string | null | undefined): number {
  if (value === undefined) return absent
  if (value === null) return unknown
  return typeof value === 'number' ? value : toAntennaMask(value)
}
