/** The requests to an N-DR1, and the conversion of what it reports to the common format. Pure. Sources: see `codec.ts`. */

import type { ChannelReading, DeviceReport, TransmitterReading } from '../../domain/equipment/receiver.ts'
import type { DeviceLevels, LevelKind } from '../../domain/levels/level-delivery.ts'
import type { LevelSample } from '../../domain/levels/level-sample.ts'
import type { ReceivedMessage } from '../../domain/osc/packet.ts'
import {
  maxNameChars,
  readAudioLevel,
  readBattery,
  readRfLevel,
  readText,
  readWhole,
  withoutUndefined,
} from '../../upstream/fields.ts'
import { encodeQuery, encodeSubscription } from './codec.ts'

/** The latest arguments of every address. */
export type Values = ReadonlyMap<string, ReceivedMessage['args']>

export interface Endpoint {
  readonly host: string
  readonly ip: string | null
  /** The name in the configuration. */
  readonly name: string | null
}

const channels = [1, 2] as const

/** The device answers with all its settings; it is not known to send changes of them without a request. */
export const settingsRequest = encodeQuery('/settings/retrieve')

const identityAddresses = ['/model', '/serial', '/advanced/lan/name']
const levelIntervalMs = 100
const sampled = { kind: 'sampled', intervalMs: levelIntervalMs } as const
export const deviceLevels: DeviceLevels = { rf: sampled, audio: sampled }
const statusIntervalMs = 500
const batteryIntervalMs = 5_000

export const identityRequests: readonly Uint8Array[] = identityAddresses.map(encodeQuery)

export const subscriptions: readonly Uint8Array[] = channels.flatMap((channel) => [
  encodeSubscription(`/ch/${channel}/audiolevel`, levelIntervalMs),
  encodeSubscription(`/advanced/${channel}/antenna/rfstrength`, levelIntervalMs),
  encodeSubscription(`/ch/${channel}/tx/active`, statusIntervalMs),
  encodeSubscription(`/ch/${channel}/tx/name`, statusIntervalMs),
  encodeSubscription(`/ch/${channel}/tx/batterystatus`, batteryIntervalMs),
])

const levelAddress = /^\/(?:ch\/([12])\/audiolevel|advanced\/([12])\/antenna\/rfstrength)$/

/** Returns whose level a message contains, and of which kind; null if it is another message. */
export function parseLevelAddress(address: string): { readonly channel: number; readonly kind: LevelKind } | null {
  const [, audio, rf] = levelAddress.exec(address) ?? []
  const channel = audio ?? rf
  return channel === undefined ? null : { channel: Number(channel), kind: audio === undefined ? 'rf' : 'audio' }
}

/** Whether the identity, and everything that a channel has without a transmitter, has been reported. */
export function isComplete(values: Values): boolean {
  const ofChannels = channels.flatMap((channel) =>
    ['name', 'rx/mute', 'tx/active'].map((name) => `/ch/${channel}/${name}`),
  )
  return [...identityAddresses, ...ofChannels].every((address) => values.has(address))
}

/** Returns the channels that receive a transmitter, as a text. */
export function activeChannels(values: Values): string {
  return channels.filter((channel) => readSwitch(values, `/ch/${channel}/tx/active`) === true).join()
}

export function idOf(values: Values, host: string): string {
  return `dpa:${readText(textOf(values, '/serial')) ?? host}`
}

export function toDeviceReport(values: Values, { host, ip, name }: Endpoint): DeviceReport {
  const model = readText(textOf(values, '/model')) ?? 'N-DR1'
  return withoutUndefined({
    id: idOf(values, host),
    kind: 'receiver' as const,
    name: readText(textOf(values, '/advanced/lan/name'), maxNameChars) ?? name ?? model,
    model_name: model,
    device_type: 'ndr1',
    serial_number: readText(textOf(values, '/serial')) ?? undefined,
    online: true,
    ip: ip ?? undefined,
    channels: channels.map((channel) => toChannel(values, channel)),
  })
}

function toChannel(values: Values, channel: number): ChannelReading {
  const { details: levels, ...sample } = toLevels(values, channel)
  return withoutUndefined({
    ...sample,
    name: readText(textOf(values, `/ch/${channel}/name`), maxNameChars),
    transmitter: toTransmitter(values, channel),
    details: withoutUndefined({
      ...levels,
      muted: readSwitch(values, `/ch/${channel}/rx/mute`),
      interference: readSwitch(values, `/warning/${channel}/interference`),
      rf_low: readSwitch(values, `/warning/${channel}/txdropout`),
    }),
  })
}

/** Converts only the levels of a channel: tenths of dBFS and dBm. */
export function toLevels(values: Values, channel: number): LevelSample {
  const [, a, b] = values.get(`/advanced/${channel}/antenna/rfstrength`) ?? []
  const [audio] = values.get(`/ch/${channel}/audiolevel`) ?? []
  const [rf_a, rf_b] = [readRfLevel(fromTenths(a)), readRfLevel(fromTenths(b))]
  const known = [rf_a, rf_b].filter((level) => typeof level === 'number')
  return withoutUndefined<LevelSample>({
    channel,
    audio_level: readAudioLevel(fromTenths(audio)),
    rf_level: rf_a === undefined ? undefined : known.length === 0 ? null : Math.max(...known),
    details: withoutUndefined({ rf_a, rf_b }),
  })
}

function toTransmitter(values: Values, channel: number): TransmitterReading | null | undefined {
  const isActive = readSwitch(values, `/ch/${channel}/tx/active`)
  if (isActive !== true) return isActive === false ? null : undefined
  const [percent, minutes] = values.get(`/ch/${channel}/tx/batterystatus`) ?? []
  return withoutUndefined({
    name: readText(textOf(values, `/ch/${channel}/tx/name`), maxNameChars),
    battery: readBattery(percent),
    details: withoutUndefined({
      // 65535 means that the runtime is unknown.
      battery_minutes: readWhole(minutes, 0, 65_534),
      battery_low: readSwitch(values, `/warning/${channel}/lowbattery`),
    }),
  })
}

function fromTenths(value: ReceivedMessage['args'][number] | undefined): unknown {
  return typeof value === 'number' ? value / 10 : value
}

function textOf(values: Values, address: string): ReceivedMessage['args'][number] | undefined {
  return values.get(address)?.[0]
}

/** Reads 0 or 1. */
function readSwitch(values: Values, address: string): boolean | null | undefined {
  const args = values.get(address)
  if (args === undefined) return undefined
  const [value] = args
  return typeof value === 'number' ? value !== 0 : typeof value === 'boolean' ? value : null
}
