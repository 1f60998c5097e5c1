/** Product families with SSC 2, and the resources of EW-DX with their conversion to the common format. */

import type { ChannelReading, TransmitterReading } from '../../../domain/equipment/receiver.ts'
import { isRecord } from '../../../domain/json.ts'
import type { DeviceLevels } from '../../../domain/levels/level-sample.ts'
import { readFault, toFaultDetails } from '../../../upstream/faults.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import { listIncludes, readEncryption, readLifetime, readWarning, toMhz } from '../values.ts'
import type { Family } from './family.ts'
import { ewdx as fields } from './fields.ts'
import { property, type Resources, statePath } from './resources.ts'
import { isSpectera } from './sign-in.ts'
import { spectera } from './spectera.ts'

/** Returns null for a device without radio and for an unknown product. */
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
    fields,
    paths: ['/api/rf', '/api/rf/transmission', '/api/rf/encryption', statePath, ...indices.flatMap(listEwdxPaths)],
    readDetails: (resources) => toFaultDetails([readFault(fields.state, property(resources, statePath, 'state'))]),
    levels: { rf: { kind: 'changes' }, audio: { kind: 'changes' }, needsTransmitter: true },
    levelQueries: ['signalStrengthIndicator', 'level'].flatMap((name) =>
      indices.map((index) => `/api/channel/${index}/${name}`),
    ),
    findLevels(path) {
      const [, index, name] = /^\/api\/channel\/(\d+)\/(signal\w+|level)$/.exec(path) ?? []
      return name === undefined ? [] : [{ channel: Number(index) + 1, kind: name === 'level' ? 'audio' : 'rf' }]
    },
    readChannels: (resources) => indices.map((index) => readEwdxChannel(resources, index)),
  }
}

export function levelsOfType(deviceType: string): DeviceLevels {
  return deviceType === 'ewdx' ? ewdx('', 0).levels : spectera('').levels
}

/** Names and settings come first, levels last. */
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

/** The number of a channel is only in the path, where it starts at 0. */
function readEwdxChannel(resources: Resources, index: number): ChannelReading {
  const channel = `/api/channel/${index}`
  const getProperty = (name: string) => property(resources, channel, name)
  const getValue = (name: string) => property(resources, `${channel}/${name}`, 'value')
  const warnings = fields.channelWarnings.read(resources.get(`${channel}/warnings`))
  const transmitter = listIncludes(warnings, 'NoLink') ? null : readEwdxTransmitter(resources, index)
  const transmitterWarnings = transmitter
    ? fields.transmitterWarnings.read(resources.get(`/api/transmitters/${index}/warnings`))
    : undefined
  return withoutUndefined({
    channel: index + 1,
    name: fields.name.read(getProperty('name')),
    frequency: toMhz(fields.frequency.read(property(resources, `/api/rf/channels/${index}`, 'frequency'))),
    rf_level: fields.rf.read(getValue('signalStrengthIndicator')),
    audio_level: fields.level.read(getValue('level')),
    transmitter,
    details: withoutUndefined({
      antennas: fields.antenna.read(getValue('diversityIndicator')),
      quality: fields.quality.read(getValue('signalQualityIndicator')),
      rf_low: readWarning('LowSignal', warnings),
      rf_overload: readWarning('RfPeak', warnings),
      overload: readWarning('AfPeak', warnings, transmitterWarnings),
      // The documentation does not specify peak or RMS.
      audio_peak: fields.level.read(getValue('level')),
      muted: fields.mute.read(getProperty('mute')),
      gain_db: fields.gain.read(getProperty('gain')),
      band: fields.code.read(property(resources, '/api/rf', 'code')),
      transmission_mode: fields.mode.read(property(resources, '/api/rf/transmission', 'mode')),
      encryption: readEncryption(
        fields.encryption.read(property(resources, '/api/rf/encryption', 'enabled')),
        warnings,
      ),
    }),
  })
}

/** Returns null without a linked transmitter. Primary cells have no gauge, so their battery level is unknown. */
function readEwdxTransmitter(resources: Resources, index: number): TransmitterReading | null | undefined {
  const path = `/api/transmitters/${index}`
  if (!resources.has(path)) return undefined
  if (!isRecord(resources.get(path))) return null
  const getProperty = (name: string) => property(resources, path, name)
  const getBattery = (name: string) => property(resources, `${path}/battery`, name)
  const battery_type = fields.batteryType.read(getBattery('type'))
  return withoutUndefined({
    name: fields.transmitterName.read(getProperty('name')),
    upstream_slot: index + 1,
    battery: fields.gauge.read(getBattery('gauge')),
    details: withoutUndefined({
      model: fields.transmitterType.read(getProperty('type')),
      capsule: fields.capsule.read(getProperty('capsule')),
      muted: fields.transmitterMute.read(getProperty('mute')),
      gain_db: fields.trim.read(getProperty('trim')),
      low_cut_hz: fields.lowCut.read(getProperty('lowcut')),
      battery_minutes: readLifetime(fields.lifetime.read(getBattery('lifetime')), battery_type),
      battery_type,
      battery_low: readWarning('LowBattery', fields.transmitterWarnings.read(resources.get(`${path}/warnings`))),
    }),
  })
}
