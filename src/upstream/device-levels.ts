/** Detects entries of a device list that differ from earlier ones only in levels, and reads those levels. */

import { isRecord, type Json } from '../domain/json.ts'
import type { LevelField, LevelSample } from '../domain/levels/level-sample.ts'
import { type ApiDevice, channelItems, channelNumber, transmitterChannel, transmitterItems } from './device-fields.ts'
import { readAudioLevel, readRfLevel, readWhole } from './fields.ts'

/** True if the second list entry was parsed from the first, because only levels differ. */
export function hasSameFacts(listed: ApiDevice, before: ApiDevice): boolean {
  return listed.listed === before.listed && listed.hasNoChannels === false
}

type Levels = Pick<LevelSample, LevelField>

export function readLevels({ raw: { listed } }: ApiDevice): readonly LevelSample[] {
  const { channels, transmitters, transmitter } = listed
  const samples: { channel: number; transmitter?: Levels }[] = []
  for (const item of channelItems(channels)) {
    const channel = channelNumber(item)
    if (channel === null) continue
    const own = isRecord(item.transmitter) ? { transmitter: levelsOf(item.transmitter) } : undefined
    samples.push({ channel, ...levelsOf(item), ...own })
  }
  for (const item of transmitterItems(transmitters ?? transmitter)) {
    const channel = transmitterChannel(item)
    const sample = samples.find((candidate) => candidate.channel === channel)
    if (sample !== undefined) sample.transmitter = levelsOf(item)
    else if (typeof channel === 'number') samples.push({ channel, transmitter: levelsOf(item) })
  }
  // Copied without the spare capacity of a growing array, because it is kept until the next list.
  return samples.slice()
}

function levelsOf({ audio_level, rf_level }: Json): Levels {
  const levels: { -readonly [Field in keyof Levels]: Levels[Field] } = {}
  if (audio_level !== undefined) levels.audio_level = readAudioLevel(audio_level) ?? null
  if (rf_level !== undefined) levels.rf_level = readRfLevel(rf_level) ?? null
  return levels
}

export function differsOnlyInLevels(item: unknown, before: unknown): item is Json {
  if (!isRecord(item) || !isRecord(before)) return false
  return areEqual(item, before, isSummaryLevel)
}

/** Copies the levels of an item to the earlier one, which is otherwise equal. */
export function copyLevels(item: Json, before: Record<string, unknown>): void {
  for (const key in item) {
    const [value, known] = [item[key], before[key]]
    if (value === known) continue
    if (isLevel(key) || typeof value !== 'object') before[key] = value
    else if (isRecord(value) && isRecord(known)) copyLevels(value, known)
    else if (Array.isArray(value) && Array.isArray(known)) {
      for (const [index, entry] of value.entries()) if (isRecord(entry)) copyLevels(entry, known[index])
    }
  }
}

type IsIgnored = (key: string, value: unknown, known: unknown) => boolean

/**
 * Ignores the device's own level, which is unused if the device has channels. An invalid level is not ignored, because
 * it is reported as a problem.
 */
const isSummaryLevel: IsIgnored = (key, ...values) =>
  key === 'rf_level' && values.every((value) => typeof readRfLevel(value) === 'number')
const isLevel = (key: string) => key === 'rf_level' || key === 'audio_level'

/** Ignores fields for which `isIgnored` returns true. */
function areEqual(item: Json, before: Json, isIgnored: IsIgnored): boolean {
  let count = 0
  for (const key in item) {
    const [value, known] = [item[key], before[key]]
    count += 1
    if (value === known) continue
    if (known === undefined || !(isIgnored(key, value, known) || areSame(value, known))) return false
  }
  for (const _ in before) count -= 1
  return count === 0
}

function areSame(value: unknown, known: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(known)) {
    return (
      value.length === known.length &&
      value.every((entry, index) => entry === known[index] || areSame(entry, known[index]))
    )
  }
  return isRecord(value) && isRecord(known) && areEqual(value, known, isLevel)
}

/** Fields of a message that are not values of the device. */
const envelopeFields: ReadonlySet<string> = new Set(['type', 'device_id'])

/**
 * Returns null for a message with other values. The levels of a channel and of its transmitter are separate samples.
 */
export function parsePushedLevels(fields: Json): readonly LevelSample[] | null {
  const samples: LevelSample[] = []
  for (const name in fields) {
    if (envelopeFields.has(name)) continue
    const isTransmitter = name === 'transmitters'
    if (!isTransmitter && name !== 'channels') return null
    const entries = fields[name]
    if (!Array.isArray(entries)) return null
    for (const entry of entries) {
      const sample = parseEntry(entry, isTransmitter)
      if (sample === null) return null
      samples.push(sample)
    }
  }
  return samples.length === 0 ? null : samples
}

function parseEntry(entry: unknown, isTransmitter: boolean): LevelSample | null {
  if (!isRecord(entry)) return null
  for (const name in entry) if (name !== 'channel' && name !== 'rf_level' && name !== 'audio_level') return null
  const channel = readWhole(entry.channel, 1, 65_535)
  if (typeof channel !== 'number') return null
  const rf_level = readRfLevel(entry.rf_level)
  const audio_level = readAudioLevel(entry.audio_level)
  return isTransmitter ? { channel, transmitter: { rf_level, audio_level } } : { channel, rf_level, audio_level }
}
