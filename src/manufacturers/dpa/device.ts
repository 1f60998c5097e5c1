/** The requests to an N-DR1, and the conversion of its reports to the common format. Pure. Sources: see `codec.ts`. */

import type { ChannelReading, DeviceReport, Fault, TransmitterReading } from '../../domain/equipment/receiver.ts'
import type { DeviceLevels, LevelKind, LevelSample } from '../../domain/levels/level-sample.ts'
import type { ReceivedMessage } from '../../domain/osc/packet.ts'
import { type ReadFault, toFaultDetails } from '../../upstream/faults.ts'
import type { Field } from '../../upstream/field-table.ts'
import { withoutUndefined } from '../../upstream/fields.ts'
import { encodeQuery, encodeSubscription } from './codec.ts'
import { fields } from './fields.ts'

/** The latest arguments by address. */
export type Values = ReadonlyMap<string, ReceivedMessage['args']>

export interface Endpoint {
  readonly host: string
  readonly ip: string | null
  /** The name in the configuration. */
  readonly name: string | null
}

const channels = [1, 2] as const

/** The device responds with all its settings. It probably does not push changes. */
export const settingsRequest = encodeQuery('/settings/retrieve')

const identityAddresses = ['/model', '/serial', '/advanced/lan/name']
const levelIntervalMs = 100
export const levelDelivery = { kind: 'sampled', intervalMs: levelIntervalMs } as const
export const deviceLevels: DeviceLevels = { rf: levelDelivery, audio: levelDelivery }
const statusIntervalMs = 500
const batteryIntervalMs = 5_000

export const identityRequests: readonly Uint8Array[] = identityAddresses.map(encodeQuery)

const levelAddresses = (channel: number) => [`/ch/${channel}/audiolevel`, `/advanced/${channel}/antenna/rfstrength`]

export const subscriptions: readonly Uint8Array[] = channels.flatMap((channel) => [
  ...levelAddresses(channel).map((address) => encodeSubscription(address, levelIntervalMs)),
  encodeSubscription(`/ch/${channel}/tx/active`, statusIntervalMs),
  encodeSubscription(`/ch/${channel}/tx/name`, statusIntervalMs),
  encodeSubscription(`/ch/${channel}/tx/batterystatus`, batteryIntervalMs),
])

const levelAddress = /^\/(?:ch\/([12])\/audiolevel|advanced\/([12])\/antenna\/rfstrength)$/

/** Returns the channel and kind of a level; null for any other message. */
export function parseLevelAddress(address: string): { readonly channel: number; readonly kind: LevelKind } | null {
  const [, audio, rf] = levelAddress.exec(address) ?? []
  const channel = audio ?? rf
  return channel === undefined ? null : { channel: Number(channel), kind: audio === undefined ? 'rf' : 'audio' }
}

const settingNames = ['name', 'rx/mute']

/** True if the identity, and everything that a channel has without a transmitter, has been reported. */
export function isComplete(values: Values): boolean {
  const ofChannels = channels.flatMap((channel) =>
    [...settingNames, 'tx/active'].map((name) => `/ch/${channel}/${name}`),
  )
  return [...identityAddresses, ...ofChannels].every((address) => values.has(address))
}

/** Returns the requested addresses that the device has not reported. */
export function listMissing(values: Values): readonly string[] {
  const requested = channels.flatMap((channel) => {
    const isActive = createReader(values, channel)(fields.isActive) === true
    const names = [...settingNames, 'tx/active', ...(isActive ? ['tx/name', 'tx/batterystatus'] : [])]
    return [...names.map((name) => `/ch/${channel}/${name}`), ...levelAddresses(channel)]
  })
  return [...identityAddresses, ...requested].filter((address) => !values.has(address))
}

const byAddress = new Map<string, Field>(Object.values(fields).map((entry) => [entry.address, entry]))

/** Only these addresses are stored, so that a device cannot exhaust the memory. */
export function isKnownAddress(address: string): boolean {
  return findField(address) !== undefined
}

function findField(address: string): Field | undefined {
  return address.includes('*') ? undefined : byAddress.get(address.replace(/\/[12]\//, '/*/'))
}

/** Returns the only argument of a message, or all of them. */
export function rawOf(address: string, args: ReceivedMessage['args']): unknown {
  return findField(address)?.unit.startsWith('list') ? args : args[0]
}

/** Returns a text for comparison. */
export function activeChannels(values: Values): string {
  return channels.filter((channel) => createReader(values, channel)(fields.isActive) === true).join()
}

export function idOf(values: Values, host: string): string {
  return `dpa:${createReader(values)(fields.serial) ?? host}`
}

export function toDeviceReport(values: Values, { host, ip, name }: Endpoint): DeviceReport {
  const read = createReader(values)
  const model = read(fields.model) ?? 'N-DR1'
  return withoutUndefined({
    id: idOf(values, host),
    kind: 'receiver' as const,
    name: read(fields.deviceName) ?? name ?? model,
    model_name: model,
    device_type: 'ndr1',
    serial_number: read(fields.serial) ?? undefined,
    online: true,
    ip: ip ?? undefined,
    channels: channels.map((channel) => toChannel(values, channel)),
    details: readFaults(values),
  })
}

function readFaults(values: Values) {
  const read = (fault: Fault, warning: Field<boolean>, channel = 0): ReadFault => {
    const isFaulty = createReader(values, channel)(warning)
    if (isFaulty !== true) return isFaulty === false ? null : undefined
    const part = channel === 0 ? null : `channel ${channel}`
    return { fault, part, word: warning.address.split('/').at(-1) ?? fault }
  }
  return toFaultDetails([
    read('device_too_hot', fields.isCriticallyHot),
    read('fan_failed', fields.hasFanFailed),
    read('device_too_hot', fields.isHot),
    ...channels.map((channel) => read('antenna_short', fields.isAntennaShorted, channel)),
  ])
}

function toChannel(values: Values, channel: number): ChannelReading {
  const { details: levels, ...sample } = toLevels(values, channel)
  const read = createReader(values, channel)
  return withoutUndefined({
    ...sample,
    name: read(fields.name),
    transmitter: toTransmitter(read),
    details: withoutUndefined({
      ...levels,
      muted: read(fields.isMuted),
      interference: read(fields.hasInterference),
      overload: read(fields.hasAudioOverload),
      rf_low: read(fields.hasDropout),
      rf_overload: read(fields.hasRfOverload),
    }),
  })
}

export function toLevels(values: Values, channel: number): LevelSample {
  const read = createReader(values, channel)
  // One program reads the levels of both antennas after a status, the other without it. A shorter list is ambiguous.
  const isComplete = read(fields.strength) !== null
  const [rf_a, rf_b] = isComplete ? [read(fields.rfA), read(fields.rfB)] : [null, null]
  const known = [rf_a, rf_b].filter((level) => typeof level === 'number')
  return withoutUndefined<LevelSample>({
    channel,
    audio_level: read(fields.audio),
    rf_level: rf_a === undefined ? undefined : known.length === 0 ? null : Math.max(...known),
    details: withoutUndefined({ rf_a, rf_b }),
  })
}

function toTransmitter(read: Reader): TransmitterReading | null | undefined {
  const isActive = read(fields.isActive)
  if (isActive !== true) return isActive === false ? null : undefined
  const [charge, minutes, health] = [read(fields.charge), read(fields.minutes), read(fields.health)]
  // The receiver reports the same without a transmitter.
  const isUnknown = charge === 0 && minutes === null && health === 0
  return withoutUndefined({
    name: read(fields.transmitterName),
    battery: isUnknown ? null : charge,
    details: withoutUndefined({
      battery_minutes: minutes,
      battery_health: isUnknown ? null : health,
      battery_low: read(fields.isBatteryLow),
    }),
  })
}

type Reader = ReturnType<typeof createReader>

/** Reads the latest value of a field of the device or of one channel. */
function createReader(values: Values, channel = 0) {
  return <Value>({ address, read }: Field<Value>): Value | null | undefined => {
    const [path = '', number] = address.split(' ')
    const name = path.replace('*', String(channel))
    const args = values.get(name)
    if (args === undefined) return undefined
    return read((number === undefined ? rawOf(name, args) : args[Number(number) - 1]) ?? null)
  }
}
