/** The queries to a DSQD, and the conversion of its answers to the common format. Pure. */

import type { Encryption } from '../../domain/equipment/details.ts'
import type { ChannelReading, DeviceReport, TransmitterReading } from '../../domain/equipment/receiver.ts'
import { maxNameChars, readFrequency, readIp, readMac, readText, withoutUndefined } from '../../upstream/fields.ts'
import { type Address, type ChannelStatus, toChannelStatus, type Value } from './codec.ts'
import { fields } from './fields.ts'

export interface Query {
  readonly name: string
  readonly address?: Address
}

/** Keyed by `keyOf(query)`. Queries that the device rejected are missing. */
export type Answers = ReadonlyMap<string, readonly Value[]>

const channels = [1, 2, 3, 4] as const

/** Queries for the identity of the device. */
export const identityQueries: readonly Query[] = [
  'id',
  'serial',
  'macaddr',
  'version',
  'desc',
  'ipaddr',
  'netmask',
  'defgate',
  'dhcpen',
  'hwstat',
].map((name) => ({ name }))

/** Queries for values that change continuously, and for `isLinked`, which shows whether a transmitter is present. */
export const levelQueries: readonly Query[] = channels.map((address) => ({ name: 'chstat', address }))

/**
 * Returns the queries for settings: numbers for all channels at once, names for each channel, and transmitter names
 * only for linked channels.
 */
export function settingQueries(answers: Answers): readonly Query[] {
  const numbers = ['rxfreq', 'rxmode', 'rxalevel', 'txbatt', 'txgain', 'txkeygood', 'txrfon']
  const names = channels.flatMap((address) => {
    const status = statusOf(answers, address)
    if (!status?.isPresent) return []
    return status.isLinked
      ? [channelQuery('rxname', address), channelQuery('txname', address)]
      : [channelQuery('rxname', address)]
  })
  return [...numbers.map((name): Query => ({ name, address: '*' })), ...names]
}

function channelQuery(name: string, address: Address): Query {
  return { name, address }
}

/** Returns the channels to which a transmitter is linked. */
export function linkedChannels(answers: Answers): readonly number[] {
  return channels.filter((channel) => statusOf(answers, channel)?.isLinked)
}

export function keyOf({ name, address }: Query): string {
  return address === undefined ? name : `${name}(${address})`
}

/** Whether the device is a DSQD; other devices may use the same port. */
export function isDsqd(answers: Answers): boolean {
  return answers.get('id')?.[0] === 'DSQD'
}

/** Identifies the device by its serial number, which does not change with its address. */
export function toIdentity(answers: Answers, address: string): DeviceReport {
  const text = (name: string) => readText(answers.get(name)?.[0])
  const serial = text('serial')
  const mac = readMac(answers.get('macaddr')?.[0])
  const dhcp = answers.get('dhcpen')?.[0]
  const fault = fields.hardware.read(answers.get('hwstat')?.[0])
  return {
    id: `dsqd:${serial ?? mac ?? address}`,
    kind: 'receiver',
    // `desc` is the only name that differs between devices.
    name: readText(answers.get('desc')?.[0], maxNameChars) ?? `DSQD ${serial ?? address}`,
    model_name: 'DSQD',
    device_type: 'dsqd',
    online: true,
    ...withoutUndefined({
      serial_number: serial ?? undefined,
      mac_address: mac ?? undefined,
      ip: readIp(answers.get('ipaddr')?.[0]) ?? readIp(address) ?? undefined,
      subnet_mask: readIp(answers.get('netmask')?.[0]) ?? undefined,
      gateway: readIp(answers.get('defgate')?.[0]) ?? undefined,
      network_mode: dhcp === undefined ? undefined : dhcp === 1 ? 'dhcp' : 'manual',
      firmware_version: text('version') ?? undefined,
      details: fault === undefined ? undefined : { fault },
    }),
  }
}

/** Converts the channels. A slot without a receiver module is not a channel. */
export function toChannels(answers: Answers): readonly ChannelReading[] {
  return channels.flatMap((channel) => {
    const status = statusOf(answers, channel)
    return status?.isPresent ? [toChannel(answers, channel, status)] : []
  })
}

function toChannel(answers: Answers, channel: number, status: ChannelStatus): ChannelReading {
  const read = createReader(answers, channel)
  const kHz = read.number('rxfreq')
  return withoutUndefined({
    channel,
    name: readText(read.name('rxname'), maxNameChars),
    frequency: readFrequency(kHz === undefined ? undefined : kHz / 1000),
    audio_level: status.isPowered ? fields.audio.read(status.audioMeter) : null,
    rf_level: status.isPowered ? fields.rf.read(status.rfMeter) : null,
    details: withoutUndefined({
      antennas: status.isLinked ? fields.antenna.read(status.antenna) : null,
      overload: status.isLinked ? fields.isClipping.read(status.isClipping) : null,
      muted: fields.isMuted.read(status.isMuted),
      encryption: status.isLinked ? encryptionOf(read.number('rxmode'), read.number('txkeygood')) : null,
      gain_db: read.number('rxalevel'),
    }),
    transmitter: status.isLinked ? toTransmitter(read, status) : null,
  })
}

/**
 * Converts the values of a linked transmitter; without a link they are meaningless. The battery timer counts up and is
 * not used.
 */
function toTransmitter(read: ReturnType<typeof createReader>, status: ChannelStatus): TransmitterReading {
  const battery = read.number('txbatt')
  const isTransmitting = read.number('txrfon')
  return withoutUndefined({
    name: readText(read.name('txname'), maxNameChars),
    battery: fields.charge.read(status.batteryPercent),
    details: withoutUndefined({
      muted: isTransmitting === undefined ? undefined : isTransmitting === 0,
      gain_db: read.number('txgain'),
      battery_type: fields.batteryType.read(battery),
      battery_low: fields.batteryWarning.read(status.batteryWarning),
    }),
  })
}

/** Only the native digital mode (0) is encrypted; the hybrid modes never are. */
function encryptionOf(mode: number | undefined, isKeyGood: number | undefined): Encryption | null | undefined {
  if (mode === undefined) return undefined
  if (mode !== 0) return 'off'
  if (isKeyGood === undefined) return null
  return isKeyGood === 1 ? 'on' : 'error'
}

/** Reads the answers for one channel. */
function createReader(answers: Answers, channel: number) {
  return {
    name: (name: string) => answers.get(keyOf(channelQuery(name, channel)))?.[0],
    number(name: string): number | undefined {
      const value = answers.get(keyOf(channelQuery(name, '*')))?.[channel - 1]
      return typeof value === 'number' ? value : undefined
    },
  }
}

function statusOf(answers: Answers, channel: number): ChannelStatus | null {
  return toChannelStatus(answers.get(keyOf(channelQuery('chstat', channel))) ?? [])
}
