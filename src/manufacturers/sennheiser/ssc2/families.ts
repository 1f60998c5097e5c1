/** Product families with SSC 2, and the resources of EW-DX with their conversion to the common format. */

import type { TransmissionMode } from '../../../domain/equipment/details.ts'
import type { ChannelReading, TransmitterReading } from '../../../domain/equipment/receiver.ts'
import { isRecord } from '../../../domain/json.ts'
import {
  maxNameChars,
  readAudioLevel,
  readBattery,
  readRfLevel,
  readText,
  readWhole,
  withoutUndefined,
} from '../../../upstream/fields.ts'
import {
  listIncludes,
  readBatteryType,
  readCapsule,
  readDensity,
  readDiversity,
  readEncryption,
  readFlag,
  readKhz,
  readLifetime,
  readLowCut,
  readWarning,
} from '../values.ts'
import type { Family } from './family.ts'
import { property, type Resources } from './resources.ts'
import { isSpectera } from './sign-in.ts'
import { spectera } from './spectera.ts'

/** Returns the family of a product; null for a device without radio and for an unknown product. */
export function familyOfProduct(product: string): Family | null {
  return families.get(product) ?? (isSpectera(product) ? spectera(product) : null)
}

const families = new Map([
  ['EWDX2CHS', ewdx('EW-DX EM 2', 2)],
  ['EWDX2CHDS', ewdx('EW-DX EM 2 Dante', 2)],
  ['EWDX4CHDS', ewdx('EW-DX EM 4 Dante', 4)],
])

function ewdx(model: string, count: number): Family {
  const indices = Array.from({ length: count }, (_, index) => index)
  return {
    device_type: 'ewdx',
    model,
    paths: ['/api/rf', '/api/rf/transmission', '/api/rf/encryption', ...indices.flatMap(listEwdxPaths)],
    readChannels: (resources) => indices.map((index) => readEwdxChannel(resources, index)),
  }
}

/** Returns the paths of a channel: names and settings first, levels last. */
function listEwdxPaths(index: number): readonly string[] {
  const channel = `/api/channel/${index}`
  const transmitter = `/api/transmitters/${index}`
  return [
    ...[channel, `${channel}/warnings`, `/api/rf/channels/${index}`],
    ...[transmitter, `${transmitter}/battery`, `${transmitter}/warnings`],
    ...['signalStrengthIndicator', 'signalQualityIndicator', 'diversityIndicator', 'level'].map(
      (name) => `${channel}/${name}`,
    ),
  ]
}

/** Reads a channel. Its number is only in the path, where it starts at 0. */
function readEwdxChannel(resources: Resources, index: number): ChannelReading {
  const channel = `/api/channel/${index}`
  const getProperty = (name: string) => property(resources, channel, name)
  const getValue = (name: string) => property(resources, `${channel}/${name}`, 'value')
  const warnings = resources.get(`${channel}/warnings`)
  const transmitter = listIncludes(warnings, 'NoLink') ? null : readEwdxTransmitter(resources, index)
  const transmitterWarnings = transmitter ? resources.get(`/api/transmitters/${index}/warnings`) : undefined
  return withoutUndefined({
    channel: index + 1,
    name: readText(getProperty('name'), maxNameChars),
    frequency: readKhz(property(resources, `/api/rf/channels/${index}`, 'frequency')),
    rf_level: readRfLevel(getValue('signalStrengthIndicator')),
    audio_level: readAudioLevel(getValue('level')),
    transmitter,
    details: withoutUndefined({
      antennas: readDiversity(getValue('diversityIndicator')),
      quality: readWhole(getValue('signalQualityIndicator'), 0, 100),
      rf_low: readWarning('LowSignal', warnings),
      rf_overload: readWarning('RfPeak', warnings),
      overload: readWarning('AfPeak', warnings, transmitterWarnings),
      // The documentation does not specify whether this is peak or RMS.
      audio_peak: readAudioLevel(getValue('level')),
      muted: readFlag(getProperty('mute')),
      gain_db: readWhole(getProperty('gain'), -120, 120),
      band: readText(property(resources, '/api/rf', 'code')),
      transmission_mode: readTransmissionMode(property(resources, '/api/rf/transmission', 'mode')),
      encryption: readEncryption(property(resources, '/api/rf/encryption', 'enabled'), warnings),
    }),
  })
}

function readTransmissionMode(value: unknown): TransmissionMode | null | undefined {
  if (value === 'LinkDensity') return readDensity(true)
  return value === 'Standard' ? readDensity(false) : value === undefined ? undefined : null
}

/** Reads a transmitter; null if none is linked. Primary cells have no gauge, so their battery level is unknown. */
function readEwdxTransmitter(resources: Resources, index: number): TransmitterReading | null | undefined {
  const path = `/api/transmitters/${index}`
  if (!resources.has(path)) return undefined
  if (!isRecord(resources.get(path))) return null
  const getProperty = (name: string) => property(resources, path, name)
  const getBattery = (name: string) => property(resources, `${path}/battery`, name)
  return withoutUndefined({
    name: readText(getProperty('name'), maxNameChars),
    upstream_slot: index + 1,
    battery: readBattery(getBattery('gauge')),
    details: withoutUndefined({
      model: readText(getProperty('type')),
      capsule: readCapsule(getProperty('capsule')),
      muted: readFlag(getProperty('mute')),
      gain_db: readWhole(getProperty('trim'), -120, 120),
      low_cut_hz: readLowCut(getProperty('lowcut')),
      battery_minutes: readLifetime(getBattery('lifetime'), getBattery('type')),
      battery_type: readBatteryType(getBattery('type')),
      battery_low: readWarning('LowBattery', resources.get(`${path}/warnings`)),
    }),
  })
}
