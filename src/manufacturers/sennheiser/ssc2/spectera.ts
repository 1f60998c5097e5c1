/**
 * A Spectera base station. Each pack with a microphone is a channel, in the wide band that it shares with many; the others
 * are packs that only listen, or wait for somebody to need them. Source: Spectera's OpenAPI description 18.1, and how those
 * who use it find a pack's audio: through its link to an output, and that output's place in the meters.
 */

import type { ChannelReading, DeviceReport } from '../../../model/receiver.ts'
import {
  isRecord,
  type Json,
  maxNameChars,
  readAudioLevel,
  readBattery,
  readRfLevel,
  readText,
  readWhole,
  withoutUndefined,
} from '../../../upstream/fields.ts'
import { readKhz } from '../values.ts'
import type { Family } from './family.ts'
import { meteringPath, outputPrefix, packPrefix, property, type Resources } from './resources.ts'

export function spectera(product: string): Family {
  return {
    device_type: 'spectera',
    model: product,
    paths: ['/api/device/state', '/api/rf/channels', '/api/mts/paired/all', '/api/audio/outputs', meteringPath],
    readChannels(known) {
      const channels = new Map<number, ChannelReading>()
      for (const pack of bodiesUnder(known, packPrefix)) {
        const link = readLinkId(pack.micAudiolinkId)
        if (link === null) continue
        const reading = readMicrophone(known, pack, link)
        // Of two packs on one link the one that is there is meant.
        if (reading.transmitter !== null || !channels.has(reading.channel)) channels.set(reading.channel, reading)
      }
      return [...channels.values()].sort((a, b) => a.channel - b.channel)
    },
    readUnits(known, device) {
      if (![...known.keys()].some((path) => path.startsWith(packPrefix))) return undefined
      const others = bodiesUnder(known, packPrefix).filter(({ micAudiolinkId }) => readLinkId(micAudiolinkId) === null)
      return others.map((pack) => readOtherPack(pack, device))
    },
  }
}

/** A link between a pack and an input or output of the base station; -1 is none. */
function readLinkId(id: unknown): number | null {
  return readWhole(id, 0, 1023) ?? null
}

function readMicrophone(known: Resources, pack: Json, link: number): ChannelReading {
  const { name, type, state, rfChannelId, batteryFillLevel, batteryRuntime, rssi, micLqi, dominantAntenna } = pack
  const channel = link + 1
  const isConnected = state === 'Connected'
  const port = readText(dominantAntenna)?.toUpperCase() ?? null
  const audio = isConnected ? readAudio(known, link) : { peak: null, rms: null }
  return withoutUndefined({
    channel,
    name: readText(name, maxNameChars),
    frequency: readKhz(property(known, `/api/rf/channels/${rfChannelId}`, 'frequency')),
    rf_level: isConnected ? readRfLevel(rssi) : null,
    audio_level: audio?.rms,
    transmitter: isConnected
      ? withoutUndefined({
          name: readText(name, maxNameChars),
          upstream_slot: channel,
          // -1 is not known, which is out of bounds.
          battery: readBattery(batteryFillLevel),
          details: withoutUndefined({
            model: readText(type),
            muted: readWhole(micLqi, 0, 4) === 1,
            gain_db: readWhole(pack.micPreampGain, -120, 120),
            battery_minutes: readWhole(batteryRuntime, 0, 65_535),
          }),
        })
      : null,
    details: withoutUndefined({
      antennas: port !== null && /^[A-D]$/.test(port) ? port : null,
      quality: readLinkQuality(micLqi),
      audio_peak: audio?.peak,
      audio_rms: audio?.rms,
      interference: readInterference(pack.interference),
    }),
  })
}

/** A pack that has a serial number is the same one at any base station. */
function readOtherPack(pack: Json, device: string): DeviceReport {
  const { mtUid, name, type, state, batteryFillLevel, batteryRuntime } = pack
  const model = readText(type) ?? null
  const serial = readText(pack.serial)
  const hasSerial = typeof serial === 'string' && !/^0+$/.test(serial)
  const hasMonitorMix = readLinkId(pack.iemAudiolinkId) !== null
  return withoutUndefined<DeviceReport>({
    id: hasSerial ? `sscv2:pack:${serial}` : `${device}/pack${mtUid}`,
    kind: 'transmitter',
    name: readText(name, maxNameChars) ?? `${model ?? 'pack'} ${mtUid}`,
    device_type: hasMonitorMix ? 'spectera-iem' : 'spectera',
    model_name: model,
    online: state === 'Connected',
    serial_number: hasSerial ? serial : null,
    battery: readBattery(batteryFillLevel),
    details: withoutUndefined({ battery_minutes: readWhole(batteryRuntime, 0, 65_535) }),
  })
}

/**
 * The meters are lists, one of each interface, with a figure for each of its outputs: what comes from this link is on the
 * outputs that are fed by it, and on the interfaces that are switched off there is silence. Undefined: nobody told.
 */
function readAudio(known: Resources, link: number) {
  const metering = known.get(meteringPath)
  if (!isRecord(metering)) return undefined
  const outputs = bodiesUnder(known, outputPrefix).filter(({ micAudiolinkId }) => readLinkId(micAudiolinkId) === link)
  const interfaces = Object.entries(metering).flatMap(([name, lists]) =>
    name.endsWith('Out') && isRecord(lists) ? [lists] : [],
  )
  const highest = (kind: 'peak' | 'rms') => {
    const levels = outputs.flatMap(({ outputId }) => interfaces.map((lists) => levelAt(lists[kind], outputId)))
    return levels.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null)
  }
  return { peak: highest('peak'), rms: highest('rms') }
}

function levelAt(list: unknown, output: unknown): number | null {
  return Array.isArray(list) ? (readAudioLevel(list[Number(output)]) ?? null) : null
}

/** 0 nothing to tell, 1 muted, 2 to 4 from concealment to good: (lqi - 1) / 3 of the whole. */
function readLinkQuality(lqi: unknown): number | null {
  const known = readWhole(lqi, 1, 4)
  return typeof known === 'number' ? Math.round(((known - 1) / 3) * 100) : null
}

/** `{"severity": "None"}`, and from Low to High. */
function readInterference(value: unknown): boolean | undefined {
  const severity = isRecord(value) ? value.severity : undefined
  return typeof severity === 'string' ? severity !== 'None' : undefined
}

function bodiesUnder(known: Resources, prefix: string): Json[] {
  return [...known].flatMap(([path, body]) => (path.startsWith(prefix) && isRecord(body) ? [body] : []))
}
