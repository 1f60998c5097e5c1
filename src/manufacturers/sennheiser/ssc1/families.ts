/**
 * Product families with SSC 1, and for EW-DX and Digital 6000 the addresses to subscribe to and their conversion to the
 * common format. Addresses and units: Sennheiser's SSC developer's guides for EW-DX (firmware 3.0) and Digital 6000
 * (TI 1109 v2.2).
 */

import type { Fault, TransmissionMode } from '../../../domain/equipment/receiver.ts'
import type { DeviceLevels } from '../../../domain/levels/level-sample.ts'
import { type ReadFault, readWarningFaults } from '../../../upstream/faults.ts'
import { readBattery, withoutUndefined } from '../../../upstream/fields.ts'
import { listIncludes, readEncryption, readLifetime, readWarning, toMhz } from '../values.ts'
import { chg70n, chgN, l6000 } from './chargers.ts'
import type { Family, SscValues, Topic } from './family.ts'
import { digital6000 as d6000, ewdx as fields } from './fields.ts'
import { slMcr, slRack } from './speechline.ts'

/** Requested before anything else. */
export const identityTopic: Topic = {
  addresses: ['/device/identity/product', '/device/identity/version', '/device/identity/serial', '/device/name'],
  everyMs: null,
  channel: null,
  isPolled: true,
}
export const macTopic: Topic = {
  addresses: ['/device/network/ether/macs'],
  everyMs: null,
  channel: null,
  isPolled: true,
}

/** Returns null for a device that has neither radio channels nor packs. */
export function familyOfProduct(product: string): Family | null {
  return families.find(([pattern]) => pattern.test(product))?.[1] ?? null
}

export function levelsOfType(deviceType: string): DeviceLevels {
  const byType: Readonly<Record<string, Family>> = { ewdx, d6000: digital6000, slmcr: slMcr, slrack: slRack }
  return byType[deviceType]?.levels ?? { rf: null, audio: null }
}

/** A receiver has a name for each of its channels. */
const nameAddress = (channel: number) => `/rx${channel}/name`

const batteryProperties = ['battery/gauge', 'battery/lifetime', 'battery/type']
const transmitterProperties = ['type', 'name', 'mute', 'trim', 'warnings', ...batteryProperties]

/** The requested interval of the meters of EW-DX. */
const meterMs = 200
/** The requested interval of the meters of Digital 6000. */
const mmMs = 480

function sampledEvery(intervalMs: number): DeviceLevels {
  return { rf: { kind: 'sampled', intervalMs }, audio: { kind: 'sampled', intervalMs } }
}

const ewdx: Family = {
  fields,
  levels: sampledEvery(meterMs),
  levelAddress: /^\/m\/rx\d+\//,
  topics: [
    { channel: null, everyMs: null, addresses: ['/device/encryption'] },
    // Requested separately, so that firmware without one of these rejects nothing else.
    { channel: null, everyMs: null, addresses: ['/device/frequency_code', '/device/link_density_mode'] },
    ...[1, 2, 3, 4].flatMap((n) => [
      {
        channel: n,
        everyMs: null,
        addresses: ['name', 'frequency', 'mute', 'gain', 'warnings'].map((name) => `/rx${n}/${name}`),
      },
      {
        channel: n,
        everyMs: null,
        addresses: transmitterProperties.map((name) => `/mates/tx${n}/${name}`),
      },
      // Requested separately, because some transmitters have no capsule or no low cut.
      { channel: n, everyMs: null, addresses: ['capsule', 'lowcut'].map((name) => `/mates/tx${n}/${name}`) },
      {
        channel: n,
        everyMs: meterMs,
        addresses: ['rssi', 'rsqi', 'af', 'divi'].map((name) => `/m/rx${n}/${name}`),
      },
    ]),
  ],
  channelAddress: nameAddress,
  readChannel(values, n) {
    const rx = (name: string) => values.get(`/rx${n}/${name}`)
    const tx = (name: string) => values.get(`/mates/tx${n}/${name}`)
    const warnings = fields.warnings.read(rx('warnings'))
    const isAbsent = listIncludes(warnings, 'NoLink') || isTransmitterRejected(values, n)
    const transmitterWarnings = isAbsent ? undefined : fields.transmitterWarnings.read(tx('warnings'))
    const battery_type = fields.batteryType.read(tx('battery/type'))
    return withoutUndefined({
      channel: n,
      name: fields.name.read(rx('name')),
      frequency: toMhz(fields.frequency.read(rx('frequency'))),
      rf_level: fields.rf.read(values.get(`/m/rx${n}/rssi`)),
      audio_level: fields.level.read(values.get(`/m/rx${n}/af`)),
      transmitter: isAbsent
        ? null
        : withoutUndefined({
            name: fields.transmitterName.read(tx('name')),
            upstream_slot: n,
            battery: fields.gauge.read(tx('battery/gauge')),
            details: withoutUndefined({
              model: fields.transmitterType.read(tx('type')),
              capsule: fields.capsule.read(tx('capsule')),
              muted: fields.transmitterMute.read(tx('mute')),
              gain_db: fields.trim.read(tx('trim')),
              low_cut_hz: fields.lowCut.read(tx('lowcut')),
              battery_minutes: readLifetime(fields.lifetime.read(tx('battery/lifetime')), battery_type),
              battery_type,
              battery_low: readWarning('LowBattery', transmitterWarnings),
            }),
          }),
      details: withoutUndefined({
        antennas: fields.antenna.read(values.get(`/m/rx${n}/divi`)),
        quality: fields.quality.read(values.get(`/m/rx${n}/rsqi`)),
        rf_low: readWarning('LowSignal', warnings),
        rf_overload: readWarning('RfPeak', warnings),
        overload: readWarning('AfPeak', warnings, transmitterWarnings),
        // The guide does not specify peak or RMS.
        audio_peak: fields.level.read(values.get(`/m/rx${n}/af`)),
        muted: fields.mute.read(rx('mute')),
        gain_db: fields.gain.read(rx('gain')),
        band: fields.band.read(values.get('/device/frequency_code')),
        transmission_mode: toMode(fields.density.read(values.get('/device/link_density_mode'))),
        encryption: readEncryption(fields.encryption.read(values.get('/device/encryption')), warnings),
      }),
    })
  },
}

const digital6000: Family = {
  fields: d6000,
  levels: sampledEvery(mmMs),
  levelAddress: /^\/mm$/,
  topics: [
    ...[1, 2].flatMap((n) => [
      {
        channel: n,
        everyMs: null,
        addresses: ['name', 'carrier', 'audio_mute', 'encryption', 'active_warnings'].map((name) => `/rx${n}/${name}`),
      },
      {
        channel: n,
        everyMs: null,
        addresses: ['battery', 'name', 'type', 'gain'].map((name) => `/rx${n}/skx/${name}`),
      },
    ]),
    // Requested separately, so that firmware without it rejects nothing else.
    ...[1, 2].map((n) => ({ channel: n, everyMs: null, addresses: [`/rx${n}/active_status`] })),
    // Polled, because no public client subscribes to these.
    ...[1, 2].map((n) => ({
      channel: n,
      everyMs: null,
      addresses: [`/rx${n}/active_bank_channel`],
      isPolled: true,
    })),
    { channel: null, everyMs: null, addresses: ['/sys/booster'], isPolled: true },
    { channel: null, everyMs: mmMs, addresses: ['/mm'] },
  ],
  channelAddress: nameAddress,
  readFaults: readClockAndAntennaFaults,
  readChannel(values, n) {
    const rx = (name: string) => values.get(`/rx${n}/${name}`)
    const meters = readMeters(values.get('/mm'), n)
    const battery = d6000.battery.read(rx('skx/battery'))
    const warnings = d6000.warnings.read(rx('active_warnings'))
    const isAbsent = listIncludes(warnings, 'NoLink') || (Array.isArray(battery) && battery.length === 0)
    return withoutUndefined({
      channel: n,
      name: d6000.name.read(rx('name')),
      frequency: toMhz(d6000.frequency.read(rx('carrier'))),
      rf_level: meters && higher(meters.rf_a, meters.rf_b),
      audio_level: meters?.audio,
      transmitter: isAbsent
        ? null
        : withoutUndefined({
            name: d6000.transmitterName.read(rx('skx/name')),
            upstream_slot: n,
            battery: battery === undefined ? undefined : readBatteryState(battery),
            details: withoutUndefined({
              model: d6000.transmitterType.read(rx('skx/type')),
              gain_db: d6000.gain.read(rx('skx/gain')),
              battery_minutes: battery === undefined ? undefined : readRuntime(battery),
              battery_low: readWarning('LowBattery', warnings),
            }),
          }),
      details: withoutUndefined({
        rf_a: meters?.rf_a,
        rf_b: meters?.rf_b,
        antennas: meters?.antennas,
        quality: meters?.quality,
        rf_low: readWarning('LowSignal', warnings),
        rf_overload: readWarning('RFPeak', warnings),
        overload: readWarning('AFPeak', warnings),
        group_channel: d6000.bankChannel.read(rx('active_bank_channel')),
        // Another status than that of a sync says nothing about the last one.
        sync_result: d6000.syncResult.read(rx('active_status')) ?? undefined,
        booster_feed: d6000.booster.read(values.get('/sys/booster')),
        muted: d6000.mute.read(rx('audio_mute')),
        encryption: readEncryption(d6000.encryption.read(rx('encryption')), warnings),
      }),
    })
  },
}

const families: readonly (readonly [RegExp, Family])[] = [
  [/EW-?DX/i, ewdx],
  [/EM ?6000/i, digital6000],
  [/CHG ?70N/i, chg70n],
  [/^L ?6000/i, l6000],
  [/^SL ?(DW ?\dCH|MCR)/i, slMcr],
  [/^SL ?(DW|Rack)/i, slRack],
  [/CHG ?[24]N/i, chgN],
]

/** A channel's row of `/mm`. Invalid numbers are unknown. */
interface Meters {
  readonly rf_a: number | null
  readonly rf_b: number | null
  readonly antennas: string | null
  /** 0 to 100. */
  readonly quality: number | null
  readonly audio: number | null
}

/** Returns undefined if the channel has no row. */
export function readMeters(mm: unknown, channel: number): Meters | undefined {
  const row = d6000.meters.read(mm)?.[channel - 1]
  if (!Array.isArray(row)) return undefined
  const [rf1, , rf2, , div1, div2, lqi, af]: readonly unknown[] = row
  const [isAInUse, isBInUse] = [d6000.inUse.read(div1) ?? null, d6000.inUse.read(div2) ?? null]
  const quality = d6000.quality.read(lqi) ?? null
  return {
    rf_a: d6000.rf.read(rf1) ?? null,
    rf_b: d6000.rf.read(rf2) ?? null,
    antennas: isAInUse === null || isBInUse === null ? null : `${isAInUse ? 'A' : ''}${isBInUse ? 'B' : ''}`,
    quality: quality === null ? null : Math.round((quality / 255) * 100),
    audio: d6000.level.read(af) ?? null,
  }
}

function higher(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}

const clockFaults: Readonly<Record<string, Fault>> = { NoClock: 'no_clock', BadClock: 'bad_clock' }

/**
 * Reads the faults of a Digital 6000 from the warnings of its channels. The guide names the warnings of the antenna
 * inputs `AnTxYBNCShorted`, with a number and a letter for the input.
 */
function readClockAndAntennaFaults(values: SscValues): readonly ReadFault[] {
  const lists = [1, 2].map((n) => d6000.warnings.read(values.get(`/rx${n}/active_warnings`)))
  if (lists.every((list) => !list)) return lists.map((list) => list && null)
  const warnings = [...new Set(lists.flatMap((list) => list ?? []).map(String))]
  const shorted = warnings.filter((warning) => /BNCShorted$/.test(warning))
  return [
    ...readWarningFaults(clockFaults, warnings),
    ...shorted.map((word) => ({ fault: 'antenna_short', part: null, word }) as const),
  ]
}

/** Reads the charge from `["70%", "5:12"]`. The guide gives no number for the state `low`; 10% is an assumption. */
function readBatteryState(battery: unknown): number | null {
  const state: unknown = Array.isArray(battery) ? battery[0] : undefined
  if (state === 'low') return 10
  const [, percent] = /^(\d{1,3})%$/.exec(String(state)) ?? []
  return percent === undefined ? null : (readBattery(Number(percent)) ?? null)
}

/** Reads the runtime in minutes from `["70%", "5:12"]`; `-:--` means unknown. */
function readRuntime(battery: unknown): number | null {
  const [, hours, minutes] = /^(\d{1,3}):(\d\d)$/.exec(String(Array.isArray(battery) ? battery[1] : '')) ?? []
  return hours === undefined ? null : Number(hours) * 60 + Number(minutes)
}

function toMode(isDense: boolean | null | undefined): TransmissionMode | null | undefined {
  return typeof isDense === 'boolean' ? (isDense ? 'link_density' : 'standard') : isDense
}

/** True if the device has rejected every known address of a transmitter. */
function isTransmitterRejected(values: SscValues, n: number): boolean {
  const known = transmitterProperties
    .map((name) => values.get(`/mates/tx${n}/${name}`))
    .filter((value) => value !== undefined)
  return known.length > 0 && known.every((value) => value === null)
}
