/**
 * Levels: the momentary audio and RF of a channel. They change many times a second, and only they bypass reconciliation
 * and the database.
 */

import type { ChannelDetails } from '../equipment/details.ts'
import {
  type Channel,
  type ChannelReading,
  type DeviceReport,
  hardwareFields,
  isSameField,
  type Receiver,
  reportedField,
  type Transmitter,
} from '../equipment/receiver.ts'
import { type LevelKind, levelKinds } from './level-delivery.ts'

/** The levels of a channel itself and of its transmitter: RF in whole dBm, audio in whole dBFS. */
export const levelFields = ['rf_level', 'audio_level'] as const
/**
 * The levels among the details of a channel. `antennas` contains letters; all others are whole numbers. A change of
 * this list changes the format of `ingest/level-frame.ts`.
 */
export const levelDetails = [
  'rf_a',
  'rf_b',
  'rf_c',
  'rf_d',
  'rf_percent',
  'antennas',
  'audio_peak',
  'audio_rms',
  'quality',
] as const

export type LevelField = (typeof levelFields)[number]
export type LevelDetail = (typeof levelDetails)[number]

/** Levels of one channel in one message. Absent fields keep their values. */
export interface LevelSample extends Pick<Partial<Channel>, LevelField> {
  readonly channel: number
  /** Ignored if no transmitter is known on the channel. */
  readonly transmitter?: Pick<Partial<Transmitter>, LevelField> | null
  readonly details?: Pick<ChannelDetails, LevelDetail>
}

const audioDetails = ['audio_peak', 'audio_rms'] as const satisfies readonly LevelDetail[]
const rfDetails = levelDetails.filter((name) => name !== 'audio_peak' && name !== 'audio_rms')
/** The antennas in use do not show that a level has arrived, because some equipment reports them as a property. */
const receivedRf = rfDetails.filter((name) => name !== 'antennas')

const arrivals: Readonly<Record<LevelKind, readonly string[]>> = {
  rf: ['rf_level', ...receivedRf],
  audio: ['audio_level', ...audioDetails],
}

export const detailsOfKind: Readonly<Record<LevelKind, readonly LevelDetail[]>> = { rf: rfDetails, audio: audioDetails }

const kindSets: Readonly<Record<string, readonly LevelKind[]>> = {
  '': [],
  rf: ['rf'],
  audio: ['audio'],
  both: ['rf', 'audio'],
}

/** Returns the kinds of levels in a sample, including those that it reports as unknown. */
export function kindsOfSample({ rf_level, audio_level, transmitter, details }: LevelSample): readonly LevelKind[] {
  const has = (names: readonly LevelDetail[]) =>
    details !== undefined && names.some((name) => details[name] !== undefined)
  const hasRf = rf_level !== undefined || transmitter?.rf_level !== undefined || has(receivedRf)
  const hasAudio = audio_level !== undefined || transmitter?.audio_level !== undefined || has(audioDetails)
  return kindSets[hasRf ? (hasAudio ? 'both' : 'rf') : hasAudio ? 'audio' : ''] ?? []
}

/** Returns the reading without levels of these kinds, which were not received again. */
export function withoutLevels(reading: ChannelReading, kinds: readonly LevelKind[] = levelKinds): ChannelReading {
  const { rf_level, audio_level, transmitter, details, ...facts } = reading
  const isOld = new Set<string>(kinds.flatMap((kind) => arrivals[kind]))
  const keep = <Fields extends object>(fields: Fields) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !isOld.has(name))) as Fields
  return {
    ...facts,
    ...(rf_level !== undefined && keep({ rf_level })),
    ...(audio_level !== undefined && keep({ audio_level })),
    ...(transmitter !== undefined && { transmitter: transmitter && keep(transmitter) }),
    ...(details !== undefined && { details: keep(details) }),
  }
}

/** Returns the report with newer levels of its channels. */
export function withLevels(report: DeviceReport, samples: readonly LevelSample[]): DeviceReport {
  const channels = report.channels?.map((reading) => {
    const sample = samples.find(({ channel }) => channel === reading.channel)
    if (sample === undefined) return reading
    const transmitter = reading.transmitter && { ...reading.transmitter, ...sample.transmitter }
    return { ...reading, ...sample, ...(transmitter !== undefined && { transmitter }) }
  })
  return { ...report, channels }
}

const levelFieldNames: ReadonlySet<string> = new Set(levelFields)
const levelDetailNames: ReadonlySet<string> = new Set(levelDetails)

/** True if the report contains only levels. */
export function hasOnlyLevels(receiver: Receiver, report: DeviceReport): boolean {
  if (report.id !== receiver.api_device_id || !receiver.is_active || report.online === false) return false
  if (report.units !== undefined || report.battery !== undefined || report.rf_level !== undefined) return false
  const fault = report.details?.fault
  if (fault !== undefined && fault !== (receiver.fault ?? null)) return false
  for (const field of hardwareFields) {
    const value = reportedField(report, field)
    if (value === undefined || value === null || value === receiver[field]) continue
    if (field !== 'name' || !receiver.is_named_by_hand) return false
  }
  for (const reading of report.channels ?? []) {
    const channel = receiver.channels.find((known) => known.channel === reading.channel)
    if (channel === undefined || !hasSameFacts(channel, reading)) return false
  }
  return true
}

/** True if the same channels of a receiver differ only in levels. */
export function haveSameFacts(before: readonly Channel[], after: readonly Channel[]): boolean {
  return after.every((channel, index) => {
    const known = before[index]
    return channel === known || (known !== undefined && hasSameFacts(known, channel))
  })
}

/** True if the reading differs from the known channel only in levels. */
function hasSameFacts(channel: Channel, reading: ChannelReading): boolean {
  for (const field in reading) {
    const value = reading[field as keyof ChannelReading]
    if (value === undefined || levelFieldNames.has(field)) continue
    if (field === 'transmitter') {
      if (!isSameTransmitter(channel.transmitter, reading.transmitter)) return false
    } else if (field === 'details') {
      if (!areEqual(channel.details, reading.details, levelDetailNames)) return false
    } else if (value !== channel[field as keyof Channel]) return false
  }
  return true
}

function isSameTransmitter(known: Transmitter | null, reported: ChannelReading['transmitter']): boolean {
  if (known === null || reported === null || reported === undefined) return known === reported
  for (const field in reported) {
    if (field === 'details') {
      if (!areEqual(known.details, reported.details, noNames)) return false
    } else {
      const value = reported[field as keyof Transmitter]
      const isSame = value === undefined || levelFieldNames.has(field) || value === known[field as keyof Transmitter]
      if (!isSame) return false
    }
  }
  return true
}

const noNames: ReadonlySet<string> = new Set()

/** True if every reported field except those in `except` has the known value. */
function areEqual<T extends object>(known: T | undefined, reported: T | undefined, except: ReadonlySet<string>) {
  for (const field in reported) {
    const value = reported[field]
    if (value !== undefined && !except.has(field) && !isSameField(value, known?.[field])) return false
  }
  return true
}
