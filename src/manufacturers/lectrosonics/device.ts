/** What a DSQD was asked, and what its answers mean in the common format. Pure. */

import type { Encryption } from '../../model/details.ts'
import type { ChannelReading, DeviceReport, TransmitterReading } from '../../model/receiver.ts'
import {
  maxNameChars,
  readAudioLevel,
  readBattery,
  readFrequency,
  readIp,
  readMac,
  readRfLevel,
  readText,
  withoutUndefined,
} from '../../upstream/fields.ts'
import { type Address, type ChannelStatus, toChannelStatus, toDbfs, toDbm, type Value } from './codec.ts'

export interface Question {
  readonly name: string
  readonly address?: Address
}

/** By `keyOf` its question; what was refused is missing. */
export type Answers = ReadonlyMap<string, readonly Value[]>

const channels = [1, 2, 3, 4] as const

/** Who the device is. */
export const identityQuestions: readonly Question[] = [
  'id',
  'serial',
  'macaddr',
  'version',
  'desc',
  'ipaddr',
  'netmask',
  'defgate',
  'dhcpen',
].map((name) => ({ name }))

/** What changes all the time; one number of it says whether a transmitter is there. */
export const levelQuestions: readonly Question[] = channels.map((address) => ({ name: 'chstat', address }))

/** What changes seldom: numbers of all channels at once, names one by one, and a transmitter's only while it is heard. */
export function settingQuestions(answers: Answers): readonly Question[] {
  const numbers = ['rxfreq', 'rxmode', 'rxalevel', 'txbatt', 'txgain', 'txkeygood', 'txrfon']
  const names = channels.flatMap((address) => {
    const status = statusOf(answers, address)
    if (!status?.isPresent) return []
    return status.isLinked
      ? [ofChannel('rxname', address), ofChannel('txname', address)]
      : [ofChannel('rxname', address)]
  })
  return [...numbers.map((name): Question => ({ name, address: '*' })), ...names]
}

function ofChannel(name: string, address: Address): Question {
  return { name, address }
}

/** Channels on which a transmitter is heard. */
export function heardChannels(answers: Answers): readonly number[] {
  return channels.filter((channel) => statusOf(answers, channel)?.isLinked)
}

export function keyOf({ name, address }: Question): string {
  return address === undefined ? name : `${name}(${address})`
}

/** Other Lectrosonics gear, and other people's, may listen at the same port. */
export function isDsqd(answers: Answers): boolean {
  return answers.get('id')?.[0] === 'DSQD'
}

/** Who it is; the manufacturer's own id is its serial number, which does not change with its address. */
export function toIdentity(answers: Answers, address: string): DeviceReport {
  const text = (name: string) => readText(answers.get(name)?.[0])
  const serial = text('serial')
  const mac = readMac(answers.get('macaddr')?.[0])
  const dhcp = answers.get('dhcpen')?.[0]
  return {
    id: `dsqd:${serial ?? mac ?? address}`,
    kind: 'receiver',
    // Every name but the one people gave it is the same on all of them.
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
    }),
  }
}

/** What its channels hear; one without a receiver module is no channel. */
export function toChannels(answers: Answers): readonly ChannelReading[] {
  return channels.flatMap((channel) => {
    const status = statusOf(answers, channel)
    return status?.isPresent ? [toChannel(answers, channel, status)] : []
  })
}

function toChannel(answers: Answers, channel: number, status: ChannelStatus): ChannelReading {
  const read = reader(answers, channel)
  const kHz = read.number('rxfreq')
  return withoutUndefined({
    channel,
    name: readText(read.name('rxname'), maxNameChars),
    frequency: readFrequency(kHz === undefined ? undefined : kHz / 1000),
    audio_level: status.isPowered ? readAudioLevel(toDbfs(status.audioMeter)) : null,
    rf_level: status.isPowered ? readRfLevel(toDbm(status.rfMeter)) : null,
    details: withoutUndefined({
      antennas: status.isLinked ? (['A', 'B'][status.antenna - 1] ?? null) : null,
      muted: status.isMuted === 1,
      encryption: status.isLinked ? encryptionOf(read.number('rxmode'), read.number('txkeygood')) : null,
      gain_db: read.number('rxalevel'),
    }),
    transmitter: status.isLinked ? toTransmitter(read, status) : null,
  })
}

/** What it tells of the transmitter means something only while one is heard; its timer counts up, not down. */
function toTransmitter(read: ReturnType<typeof reader>, status: ChannelStatus): TransmitterReading {
  const battery = read.number('txbatt')
  const isSending = read.number('txrfon')
  return withoutUndefined({
    name: readText(read.name('txname'), maxNameChars),
    battery: readBattery(status.batteryPercent),
    details: withoutUndefined({
      muted: isSending === undefined ? undefined : isSending === 0,
      gain_db: read.number('txgain'),
      battery_type: battery === undefined ? undefined : (batteryTypes[battery] ?? null),
    }),
  })
}

const batteryTypes = ['alkaline', 'lithium', '9 V alkaline', '9 V lithium', 'LB-50 rechargeable']

/** Only the digital mode of its own (0) is encrypted; the hybrid ones never are. */
function encryptionOf(mode: number | undefined, isKeyGood: number | undefined): Encryption | null | undefined {
  if (mode === undefined) return undefined
  if (mode !== 0) return 'off'
  if (isKeyGood === undefined) return null
  return isKeyGood === 1 ? 'on' : 'error'
}

/** What was answered about one channel. */
function reader(answers: Answers, channel: number) {
  return {
    name: (name: string) => answers.get(keyOf(ofChannel(name, channel)))?.[0],
    number(name: string): number | undefined {
      const value = answers.get(keyOf(ofChannel(name, '*')))?.[channel - 1]
      return typeof value === 'number' ? value : undefined
    },
  }
}

function statusOf(answers: Answers, channel: number): ChannelStatus | null {
  return toChannelStatus(answers.get(keyOf(ofChannel('chstat', channel))) ?? [])
}
