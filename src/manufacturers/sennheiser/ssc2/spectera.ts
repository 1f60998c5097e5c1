/**
 * The Spectera base station. Each pack with a microphone is reported as a channel, although many packs share one
 * wideband RF channel. Other packs are in-ear receivers or unused. The audio level of a pack is the meter of the output
 * to which its audio link is routed. Sources: Spectera's OpenAPI description 18.1; for the meters and for API 17,
 * public clients of the API.
 */

import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import { isRecord, type Json } from '../../../domain/json.ts'
import { readAudioLevel, withoutUndefined } from '../../../upstream/fields.ts'
import { toMhz } from '../values.ts'
import { baseStationPaths, readBaseStation } from './base-station.ts'
import type { Family } from './family.ts'
import { spectera as fields } from './fields.ts'
import { listBodies, meteringPath, outputPrefix, packPrefix, property, type Resources } from './resources.ts'

/** Not all firmware reports them. */
export const meters = { kind: 'sampled', intervalMs: 100, isOptional: true } as const

export function spectera(product: string): Family {
  return {
    device_type: 'spectera',
    model: product,
    fields,
    // The meters come last, because they are sent most often.
    paths: [
      ...baseStationPaths,
      ...['/api/rf/channels', '/api/rf/antennas', '/api/mts/paired/all', '/api/audio/outputs', meteringPath],
    ],
    readDetails: readBaseStation,
    levels: { rf: { kind: 'changes' }, audio: meters },
    levelQueries: ['/api/mts/paired/all'],
    findLevels(path, body, resources) {
      if (path === meteringPath) return [{ channel: null, kind: 'audio' }]
      if (!path.startsWith(packPrefix)) return []
      return (Array.isArray(body) ? body : [body]).flatMap((pack) => {
        if (!isRecord(pack) || !('rssi' in pack)) return []
        const id = pack.mtUid ?? path.slice(packPrefix.length)
        const link = readLinkId(property(resources, `${packPrefix}${id}`, 'micAudiolinkId'))
        return link === null ? [] : [{ channel: link + 1, kind: 'rf' }]
      })
    },
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

/** Reads the id of the audio link between a pack and an input or output of the base station. */
function readLinkId(id: unknown): number | null {
  return fields.micLink.read(id) ?? null
}

function readMicrophone(resources: Resources, pack: Json, link: number): ChannelReading {
  const { name, type, state, rfChannelId, batteryFillLevel, batteryRuntime, rssi, micLqi, dominantAntenna } = pack
  const linkState = fields.linkState.read(micLqi)
  const channel = link + 1
  const isConnected = fields.connection.read(state) === true
  const audio = isConnected ? readAudio(resources, link) : { peak: null, rms: null }
  return withoutUndefined({
    channel,
    name: fields.name.read(name),
    frequency: toMhz(fields.frequency.read(property(resources, `/api/rf/channels/${rfChannelId}`, 'frequency'))),
    rf_level: isConnected ? fields.rf.read(rssi) : null,
    audio_level: audio?.rms,
    transmitter: isConnected
      ? withoutUndefined({
          name: fields.name.read(name),
          upstream_slot: channel,
          battery: fields.charge.read(batteryFillLevel),
          details: withoutUndefined({
            model: fields.type.read(type),
            muted: linkState?.isMuted ?? null,
            gain_db: fields.gain.read(pack.micPreampGain),
            battery_minutes: fields.runtime.read(batteryRuntime),
            battery_low: fields.batteryLow.read(pack.batteryLow),
            ...readPackStates(pack),
          }),
        })
      : null,
    details: withoutUndefined({
      antennas: fields.antenna.read(dominantAntenna) ?? null,
      quality: linkState?.quality ?? null,
      rf_concealed: isConnected ? (linkState?.isConcealed ?? null) : null,
      audio_peak: audio?.peak,
      audio_rms: audio?.rms,
      interference: fields.interference.read(pack.interference),
    }),
  })
}

/** Converts a pack without a microphone. A known serial number identifies it at every base station. */
function readOtherPack(pack: Json, device: string): DeviceReport {
  const { mtUid, name, type, state, batteryFillLevel, batteryRuntime } = pack
  const model = fields.type.read(type) ?? null
  const serial = fields.packSerial.read(pack.serial)
  const hasSerial = typeof serial === 'string' && !/^0+$/.test(serial)
  const hasMonitorMix = readLinkId(pack.iemAudiolinkId) !== null
  return withoutUndefined<DeviceReport>({
    id: hasSerial ? `sscv2:pack:${serial}` : `${device}/pack${mtUid}`,
    kind: 'transmitter',
    name: fields.name.read(name) ?? `${model ?? 'pack'} ${mtUid}`,
    device_type: hasMonitorMix ? 'spectera-iem' : 'spectera',
    model_name: model,
    online: fields.connection.read(state) === true,
    serial_number: hasSerial ? serial : null,
    battery: fields.charge.read(batteryFillLevel),
    details: withoutUndefined({
      battery_minutes: fields.runtime.read(batteryRuntime),
      battery_low: fields.batteryLow.read(pack.batteryLow),
      ...readPackStates(pack),
    }),
  })
}

function readPackStates({ micTestToneEnabled, versionMismatch, commandState }: Json) {
  return {
    test_tone: fields.testTone.read(micTestToneEnabled),
    version_mismatch: fields.versionMismatch.read(versionMismatch),
    talk_switch: fields.talkKey.read(commandState),
  }
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
