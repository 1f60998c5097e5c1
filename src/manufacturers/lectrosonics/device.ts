/** The queries to a DSQD, and the conversion of its answers to the common format. Pure. */

import type { ChannelReading, DeviceReport, Encryption, TransmitterReading } from '../../domain/equipment/receiver.ts'
import { type ReadFault, readFault, toFaultDetails } from '../../upstream/faults.ts'
import type { Field } from '../../upstream/field-table.ts'
import { readFrequency, readIp, readMac, withoutUndefined } from '../../upstream/fields.ts'
import type { Answer } from './client.ts'
import type { Address } from './codec.ts'
import { fields } from './fields.ts'

export interface Query {
  readonly name: string
  readonly address?: Address
}

/** Keyed by `keyOf(query)`. */
export type Answers = ReadonlyMap<string, Answer>

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

/** Queries for values that change continuously, and for `isLinked`, which shows the presence of a transmitter. */
export const levelQueries: readonly Query[] = channels.map((address) => ({ name: 'chstat', address }))

/**
 * Returns the queries for settings: numbers for all channels at once, names for each channel, and transmitter names
 * only for linked channels.
 */
export function settingQueries(answers: Answers): readonly Query[] {
  const numbers = ['rxfreq', 'rxmode', 'rxalevel', 'txbatt', 'txgain', 'txkeygood', 'txrfon']
  const names = channels.flatMap((address) => {
    const read = createReader(answers, address)
    if (read(fields.isPresent) !== true) return []
    return read(fields.isLinked) === true
      ? [channelQuery('rxname', address), channelQuery('txname', address)]
      : [channelQuery('rxname', address)]
  })
  return [...numbers.map((name): Query => ({ name, address: '*' })), ...names]
}

function channelQuery(name: string, address: Address): Query {
  return { name, address }
}

/** Returns the channels with a linked transmitter. */
export function linkedChannels(answers: Answers): readonly number[] {
  return channels.filter((channel) => createReader(answers, channel)(fields.isLinked) === true)
}

export function keyOf({ name, address }: Query): string {
  return address === undefined ? name : `${name}(${address})`
}

/** Other devices may use the same port. */
export function isDsqd(answers: Answers): boolean {
  return createReader(answers)(fields.id) === 'DSQD'
}

/** Identifies the device by its serial number, which does not change with its address. */
export function toIdentity(answers: Answers, address: string): DeviceReport {
  const read = createReader(answers)
  const serial = read(fields.serial)
  const mac = readMac(read(fields.mac))
  return {
    id: `dsqd:${serial ?? mac ?? address}`,
    kind: 'receiver',
    // `desc` is the only name that differs between devices.
    name: read(fields.description) ?? `DSQD ${serial ?? address}`,
    model_name: 'DSQD',
    device_type: 'dsqd',
    online: true,
    ...withoutUndefined({
      serial_number: serial ?? undefined,
      mac_address: mac ?? undefined,
      ip: readIp(read(fields.ip)) ?? readIp(address) ?? undefined,
      subnet_mask: readIp(read(fields.netmask)) ?? undefined,
      gateway: readIp(read(fields.gateway)) ?? undefined,
      network_mode: read(fields.network) ?? undefined,
      firmware_version: read(fields.firmware) ?? undefined,
      details: toFaultDetails([readHardwareFault(answers)]),
    }),
  }
}

function readHardwareFault(answers: Answers): ReadFault {
  const answer = answers.get('hwstat')
  return typeof answer === 'object' ? readFault(fields.hardware, answer[0], null, 'hwstat') : undefined
}

/** A slot without a receiver module is not a channel. */
export function toChannels(answers: Answers): readonly ChannelReading[] {
  return channels.flatMap((channel) => {
    const read = createReader(answers, channel)
    return read(fields.isPresent) === true ? [toChannel(channel, read)] : []
  })
}

function toChannel(channel: number, read: Reader): ChannelReading {
  const kHz = read(fields.frequency)
  const isPowered = read(fields.isPowered) !== false
  const isLinked = read(fields.isLinked)
  const whileLinked = <Value>(field: Field<Value>) => (isLinked === true ? read(field) : null)
  return withoutUndefined({
    channel,
    name: read(fields.name),
    frequency: typeof kHz === 'number' ? readFrequency(kHz / 1000) : kHz,
    audio_level: isPowered ? read(fields.audio) : null,
    rf_level: isPowered ? read(fields.rf) : null,
    details: withoutUndefined({
      antennas: whileLinked(fields.antenna),
      overload: whileLinked(fields.isClipping),
      muted: read(fields.isMuted),
      encryption: isLinked === true ? encryptionOf(read(fields.isEncrypted), read(fields.isKeyGood)) : null,
      gain_db: read(fields.gain),
    }),
    transmitter: typeof isLinked !== 'boolean' ? undefined : isLinked ? toTransmitter(read) : null,
  })
}

/** Without a link, the values of the transmitter are meaningless. The battery timer counts up and is not used. */
function toTransmitter(read: Reader): TransmitterReading {
  const isTransmitting = read(fields.isTransmitting)
  const battery = read(fields.charge)
  const isLow = read(fields.batteryWarning)
  return withoutUndefined({
    name: read(fields.transmitterName),
    // Without a warning, at least 25% are left.
    battery: battery === 0 && isLow === false ? null : battery,
    details: withoutUndefined({
      muted: typeof isTransmitting === 'boolean' ? !isTransmitting : isTransmitting,
      gain_db: read(fields.transmitterGain),
      battery_type: read(fields.batteryType),
      battery_low: isLow,
    }),
  })
}

/** Only the native digital mode is encrypted; the hybrid modes never are. */
function encryptionOf(
  isEncrypted: boolean | null | undefined,
  isKeyGood: boolean | null | undefined,
): Encryption | null | undefined {
  if (isEncrypted !== true) return isEncrypted === false ? 'off' : isEncrypted
  if (typeof isKeyGood !== 'boolean') return null
  return isKeyGood ? 'on' : 'error'
}

type Reader = ReturnType<typeof createReader>

/** Reads fields from the answers for the device, for one channel, and for all channels at once. */
function createReader(answers: Answers, channel = 0) {
  return <Value>({ address, read }: Field<Value>): Value | null | undefined => {
    const [query = '', number = 1] = address.split(' ')
    const own = answers.get(query.replace('*', String(channel)))
    const [answer, index] = own === undefined ? [answers.get(query), channel - 1] : [own, Number(number) - 1]
    if (answer === undefined || answer === 'refused') return undefined
    return read(answer === 'malformed' ? null : answer[index])
  }
}

/** Differs from the form of every field. */
const malformed = {}

/** Returns every answer by the address of its field. An answer for all channels is split by channel. */
export function listFields(answers: Answers): readonly (readonly [address: string, raw: unknown])[] {
  return [...answers].flatMap(([query, values]): (readonly [string, unknown])[] => {
    if (typeof values === 'string') return values === 'malformed' ? [[query, malformed]] : []
    if (query.endsWith('(*)'))
      return [[query, null], ...values.map((value, index) => [query.replace('*', String(index + 1)), value] as const)]
    return [[query, query.startsWith('chstat') ? values : values[0]]]
  })
}

/** Returns the refused queries. Those for names of transmitters count only while the transmitters are linked. */
export function listRefused(answers: Answers): ReadonlyMap<string, string> {
  const wanted = [...identityQueries, ...levelQueries, ...settingQueries(answers)].map(keyOf)
  const refused = wanted.filter((query) => answers.get(query) === 'refused')
  return new Map(refused.map((query) => [query.replace(/\d/, '*'), 'ERROR']))
}
