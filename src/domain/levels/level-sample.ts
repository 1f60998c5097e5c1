/**
 * Levels: the momentary audio and RF of a channel. They change many times a second, and only they bypass reconciliation
 * and the database. A `LevelDelivery` determines how long they are valid.
 */

import {
  type Channel,
  type ChannelDetails,
  type ChannelReading,
  type DeviceReport,
  hardwareFields,
  isSameField,
  mergeReceiverDetails,
  type Receiver,
  reportedField,
  type Transmitter,
} from '../equipment/receiver.ts'

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

export function hasOnlyLevels(receiver: Receiver, report: DeviceReport): boolean {
  if (report.id !== receiver.api_device_id || !receiver.is_active || report.online === false) return false
  if (report.units !== undefined || report.battery !== undefined || report.rf_level !== undefined) return false
  if (mergeReceiverDetails(receiver.details, report.details) !== receiver.details) return false
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

/** The antennas in use: letters in reports and records, a bit mask with A as bit 0 in levels. */
const letters = 'ABCD'
const firstCode = letters.charCodeAt(0)

export function toAntennaMask(antennas: string): number {
  let mask = 0
  for (let index = 0; index < antennas.length; index += 1) {
    const bit = antennas.charCodeAt(index) - firstCode
    if (bit >= 0 && bit < letters.length) mask |= 1 << bit
  }
  return mask
}

export function toAntennaLetters(mask: number): string {
  return [...letters].filter((_, bit) => (mask & (1 << bit)) !== 0).join('')
}

/** Levels of one kind arrive together. */
export const levelKinds = ['rf', 'audio'] as const
export type LevelKind = (typeof levelKinds)[number]

export type LevelDelivery =
  /** At a fixed rate. `isOptional`: not every device of this type sends them. */
  | { readonly kind: 'sampled'; readonly intervalMs: number; readonly isOptional?: boolean }
  /** When they change, and in response to queries every `queryLevelsEveryMs`. */
  | { readonly kind: 'changes' }
  /** In response to queries. The default interval is the polling interval of the source. */
  | { readonly kind: 'polled'; readonly intervalMs?: number }

/** Null for levels that the device never reports. */
export interface DeviceLevels extends Readonly<Record<LevelKind, LevelDelivery | null>> {
  /** True if the device sends the levels of a channel only while it receives a transmitter. */
  readonly needsTransmitter?: boolean
}

/** The default. */
export const polledLevels: DeviceLevels = { rf: { kind: 'polled' }, audio: { kind: 'polled' } }

/** A device that reports only changes is queried this often. */
export const queryLevelsEveryMs = 10_000

const minSampledMs = 5_000
const minPolledMs = 30_000

/** `intervalMs` is the polling interval of the source. */
export function levelLifetimeMs(delivery: LevelDelivery, intervalMs: number): number {
  switch (delivery.kind) {
    case 'sampled':
      return Math.max(3 * delivery.intervalMs, minSampledMs)
    case 'changes':
      return minPolledMs
    case 'polled':
      return Math.max(3 * (delivery.intervalMs ?? intervalMs), minPolledMs)
    default:
      return delivery satisfies never
  }
}

export function isOptional(delivery: LevelDelivery): boolean {
  return delivery.kind === 'sampled' && delivery.isOptional === true
}

/** True if such levels should arrive, even before the first one has. */
export function isExpected(delivery: LevelDelivery | null): boolean {
  return delivery?.kind === 'sampled' && !isOptional(delivery)
}
