/**
 * The Spectera base station. Each pack with a microphone is reported as a channel, although many packs share one
 * wideband RF channel; other packs are in-ear receivers or unused. The audio level of a pack is the meter of the output
 * to which its audio link is routed. Sources: Spectera's OpenAPI description 18.1; for the meters, public clients of
 * the API.
 */

import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import { isRecord, type Json } from '../../../domain/json.ts'
import {
  maxNameChars,
  readAudioLevel,
  readBattery,
  readRfLevel,
  readText,
  readWhole,
  withoutUndefined,
} from '../../../upstream/fields.ts'
import { readFlag, readKhz, readMinutes } from '../values.ts'
import type { Family } from './family.ts'
import { meteringPath, outputPrefix, packPrefix, property, type Resources } from './resources.ts'

export function spectera(product: string): Family {
  return {
    device_type: 'spectera',
    model: product,
    paths: ['/api/device/state', '/api/rf/channels', '/api/mts/paired/all', '/api/audio/outputs', meteringPath],
    readChannels(resources) {
      const channels = new Map<number, ChannelReading>()
      for (const pack of listBodies(resources, packPrefix)) {
        const link = readLinkId(pack.micAudiolinkId)
        if (link === null) continue
        const reading = readMicrophone(resources, pack, link)
        // If two packs share an audio link, the connected one takes precedence.
        if (reading.transmitter !== null || !channels.has(reading.channel)) channels.set(reading.channel, reading)
      }
      return [...channels.values()].sort((a, b) => a.channel - b.channel)
    },
    readUnits(resources, device) {
      if (![...resources.keys()].some((path) => path.startsWith(packPrefix))) return undefined
      const packsWithoutMicrophone = listBodies(resources, packPrefix).filter(
        ({ micAudiolinkId }) => readLinkId(micAudiolinkId) === null,
      )
      return packsWithoutMicrophone.map((pack) => readOtherPack(pack, device))
    },
  }
}

/** Reads the id of the audio link between a pack and an input or output of the base station; -1 means no link. */
function readLinkId(id: unknown): number | null {
  return readWhole(id, 0, 1023) ?? null
}

/**
 * The values of `micLqi`, of which only 3 and 4 are steps of a scale: not available, muted, errors are concealed, some bad
 * bits, good.
 */
const linkStates: readonly ({ isMuted: boolean; isConcealed: boolean; quality: number | null } | undefined)[] = [
  undefined,
  { isMuted: true, isConcealed: false, quality: null },
  { isMuted: false, isConcealed: true, quality: null },
  { isMuted: false, isConcealed: false, quality: 50 },
  { isMuted: false, isConcealed: false, quality: 100 },
]

function readMicrophone(resources: Resources, pack: Json, link: number): ChannelReading {
  const { name, type, state, rfChannelId, batteryFillLevel, batteryRuntime, rssi, micLqi, dominantAntenna } = pack
  const linkState = typeof micLqi === 'number' ? linkStates[micLqi] : undefined
  const channel = link + 1
  const isConnected = state === 'Connected'
  const port = readText(dominantAntenna)?.toUpperCase() ?? null
  const audio = isConnected ? readAudio(resources, link) : { peak: null, rms: null }
  return withoutUndefined({
    channel,
    name: readText(name, maxNameChars),
    frequency: readKhz(property(resources, `/api/rf/channels/${rfChannelId}`, 'frequency')),
    rf_level: isConnected ? readRfLevel(rssi) : null,
    audio_level: audio?.rms,
    transmitter: isConnected
      ? withoutUndefined({
          name: readText(name, maxNameChars),
          upstream_slot: channel,
          // -1 means unknown; `readBattery` rejects it.
          battery: readBattery(batteryFillLevel),
          details: withoutUndefined({
            model: readText(type),
            muted: linkState?.isMuted ?? null,
            gain_db: readWhole(pack.micPreampGain, -120, 120),
            battery_minutes: readMinutes(batteryRuntime),
            battery_low: readFlag(pack.batteryLow),
          }),
        })
      : null,
    details: withoutUndefined({
      antennas: port !== null && /^[A-D]$/.test(port) ? port : null,
      quality: linkState?.quality ?? null,
      rf_concealed: isConnected ? (linkState?.isConcealed ?? null) : null,
      audio_peak: audio?.peak,
      audio_rms: audio?.rms,
      interference: readInterference(pack.interference),
    }),
  })
}

/** Converts a pack without a microphone. Its serial number, if known, identifies it at every base station. */
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
    details: withoutUndefined({
      battery_minutes: readMinutes(batteryRuntime),
      battery_low: readFlag(pack.batteryLow),
    }),
  })
}

/**
 * Returns the highest level of the outputs to which the audio link is routed. The meters contain one list per
 * interface, with one value per output; a disabled interface reports silence. Returns undefined if no meters were
 * reported.
 */
function readAudio(resources: Resources, link: number) {
  const metering = resources.get(meteringPath)
  if (!isRecord(metering)) return undefined
  const outputs = listBodies(resources, outputPrefix).filter(
    ({ micAudiolinkId }) => readLinkId(micAudiolinkId) === link,
  )
  const interfaces = Object.entries(metering).flatMap(([name, lists]) =>
    name.endsWith('Out') && isRecord(lists) ? [lists] : [],
  )
  const highest = (kind: 'peak' | 'rms') => {
    const levels = outputs.flatMap(({ outputId }) => interfaces.map((lists) => readLevel(lists[kind], outputId)))
    return levels.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null)
  }
  return { peak: highest('peak'), rms: highest('rms') }
}

function readLevel(list: unknown, output: unknown): number | null {
  return Array.isArray(list) ? (readAudioLevel(list[Number(output)]) ?? null) : null
}

/** Returns whether `{"severity": …}` reports interference. The severity is `None`, or ranges from `Low` to `High`. */
function readInterference(value: unknown): boolean | undefined {
  const severity = isRecord(value) ? value.severity : undefined
  return typeof severity === 'string' ? severity !== 'None' : undefined
}

function listBodies(resources: Resources, prefix: string): Json[] {
  return [...resources].flatMap(([path, body]) => (path.startsWith(prefix) && isRecord(body) ? [body] : []))
}
