/** Detects pushed messages of the common device API that contain nothing but levels. */

import { isRecord, type Json } from '../domain/json.ts'
import type { LevelSample } from '../domain/levels/level-sample.ts'
import { readAudioLevel, readRfLevel, readWhole } from './fields.ts'

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
