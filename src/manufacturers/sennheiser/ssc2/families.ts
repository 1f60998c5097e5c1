/** What to ask of a device that speaks SSC 2, by its family, and what its resources mean in the common format. */

import type { ChannelReading, TransmitterReading } from '../../../model/receiver.ts'
import {
  isRecord,
  maxNameChars,
  readAudioLevel,
  readBattery,
  readRfLevel,
  readText,
  readWhole,
  told,
} from '../../../upstream/fields.ts'
import { hasWord, readBatteryType, readDiversity, readEncryption, readFlag, readKhz } from '../values.ts'
import { property, type Resources } from './resources.ts'

export interface Family {
  readonly device_type: string
  readonly model: string
  /** What is subscribed, or read one by one, beside the identity. */
  readonly paths: readonly string[]
  readChannels(known: Resources): readonly ChannelReading[]
}

/** Null: a device without radio, or one we know nothing of. */
export function familyOfProduct(product: string): Family | null {
  return families.get(product) ?? (/spectera/i.test(product) ? spectera(product) : null)
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
    paths: ['/api/rf/encryption', ...indices.flatMap(pathsOfEwdx)],
    readChannels: (known) => indices.map((index) => readChannelOfEwdx(known, index)),
  }
}

/** Names and what may change of them first, levels last. */
function pathsOfEwdx(index: number): readonly string[] {
  const channel = `/api/channel/${index}`
  const transmitter = `/api/transmitters/${index}`
  return [
    ...[channel, `${channel}/warnings`, `/api/rf/channels/${index}`],
    ...[transmitter, `${transmitter}/battery`],
    ...['signalStrengthIndicator', 'signalQualityIndicator', 'diversityIndicator', 'level'].map(
      (name) => `${channel}/${name}`,
    ),
  ]
}

/** A channel's body carries no number: its path does, from 0. */
function readChannelOfEwdx(known: Resources, index: number): ChannelReading {
  const channel = `/api/channel/${index}`
  const of = (name: string) => property(known, channel, name)
  const value = (name: string) => property(known, `${channel}/${name}`, 'value')
  const warnings = known.get(`${channel}/warnings`)
  return told({
    channel: index + 1,
    name: readText(of('name'), maxNameChars),
    frequency: readKhz(property(known, `/api/rf/channels/${index}`, 'frequency')),
    rf_level: readRfLevel(value('signalStrengthIndicator')),
    audio_level: readAudioLevel(value('level')),
    transmitter: hasWord(warnings, 'NoLink') ? null : readTransmitterOfEwdx(known, index),
    details: told({
      antennas: readDiversity(value('diversityIndicator')),
      quality: readWhole(value('signalQualityIndicator'), 0, 100),
      // Whether it is peak or RMS is not said.
      audio_peak: readAudioLevel(value('level')),
      muted: readFlag(of('mute')),
      gain_db: readWhole(of('gain'), -120, 120),
      encryption: readEncryption(property(known, '/api/rf/encryption', 'enabled'), warnings),
    }),
  })
}

/** Null where none is linked; cells without a gauge have no charge to tell. */
function readTransmitterOfEwdx(known: Resources, index: number): TransmitterReading | null | undefined {
  const path = `/api/transmitters/${index}`
  if (!known.has(path)) return undefined
  if (!isRecord(known.get(path))) return null
  const of = (name: string) => property(known, path, name)
  const battery = (name: string) => property(known, `${path}/battery`, name)
  return told({
    name: readText(of('name'), maxNameChars),
    upstream_slot: index + 1,
    battery: readBattery(battery('gauge')),
    details: told({
      model: readText(of('type')),
      muted: readFlag(of('mute')),
      gain_db: readWhole(of('trim'), -120, 120),
      battery_minutes: readWhole(battery('lifetime'), 0, 65_535),
      battery_type: readBatteryType(battery('type')),
    }),
  })
}

/** A base station: each pack with a microphone is a channel, in the wide band that it shares with many. */
function spectera(product: string): Family {
  return {
    device_type: 'spectera',
    model: product,
    paths: ['/api/device/state', '/api/rf/channels', '/api/mts/paired/all'],
    readChannels(known) {
      const packs = [...known].flatMap(([path, pack]) => (path.startsWith(packPrefix) && isRecord(pack) ? [pack] : []))
      const channels = new Map<number, ChannelReading>()
      for (const pack of packs) {
        const link = readWhole(pack.micAudiolinkId, 0, 1023)
        if (typeof link !== 'number') continue
        const reading = readPack(known, pack, link + 1)
        // Of two packs on one link the one that is there is meant.
        if (reading.transmitter !== null || !channels.has(reading.channel)) channels.set(reading.channel, reading)
      }
      return [...channels.values()].sort((a, b) => a.channel - b.channel)
    },
  }
}

const packPrefix = '/api/mts/paired/'

function readPack(known: Resources, pack: Readonly<Record<string, unknown>>, channel: number): ChannelReading {
  const { name, type, state, rfChannelId, batteryFillLevel, batteryRuntime, rssi, micLqi, dominantAntenna } = pack
  const isThere = state === 'Connected'
  const port = readText(dominantAntenna)?.toUpperCase() ?? null
  return told({
    channel,
    name: readText(name, maxNameChars),
    frequency: readKhz(property(known, `/api/rf/channels/${rfChannelId}`, 'frequency')),
    rf_level: isThere ? readRfLevel(rssi) : null,
    transmitter: isThere
      ? told({
          name: readText(name, maxNameChars),
          upstream_slot: channel,
          // -1 is not known, which is out of bounds.
          battery: readBattery(batteryFillLevel),
          details: told({
            model: readText(type),
            muted: readWhole(micLqi, 0, 4) === 1,
            gain_db: readWhole(pack.micPreampGain, -120, 120),
            battery_minutes: readWhole(batteryRuntime, 0, 65_535),
          }),
        })
      : null,
    details: told({ antennas: port !== null && /^[A-D]$/.test(port) ? port : null, quality: readLinkQuality(micLqi) }),
  })
}

/** 0 nothing to tell, 1 muted, 2 to 4 from concealment to good: (lqi - 1) / 3 of the whole. */
function readLinkQuality(lqi: unknown): number | null {
  const known = readWhole(lqi, 1, 4)
  return typeof known === 'number' ? Math.round(((known - 1) / 3) * 100) : null
}
