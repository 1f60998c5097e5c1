/** The families of devices, and functions that read answers of all of them. Pure. */

import type { ChannelReading, DeviceReport } from '../../domain/equipment/receiver.ts'
import type { LevelKind } from '../../domain/levels/level-sample.ts'
import type { Field, FieldTable, ReportedField } from '../../upstream/field-table.ts'
import { readIp, readMac, withoutUndefined } from '../../upstream/fields.ts'
import { describeErrorCode, type Query, type Reply } from './codec.ts'
import { device } from './fields.ts'

/** Keyed by `keyOf(query)`. */
export type Replies = ReadonlyMap<string, Reply>

interface Named {
  readonly id: string
  readonly name: string
}

export interface Family {
  readonly deviceType: string
  readonly fields: FieldTable['fields']
  readonly isModel: (model: string) => boolean
  /** The numbers of the channels, or of the ports of a charger. */
  readonly positions: readonly number[]
  /** Queries for the identity of the device, except its model. */
  readonly identityQueries: readonly Query[]
  /** The queries of every round: levels, links and mutes. */
  levelQueries(replies: Replies): readonly Query[]
  /** The queries that are sent in turn. */
  settingQueries(replies: Replies): readonly Query[]
  /** Queries about the transmitter at a position. Their answers are obsolete when the transmitter changes. */
  readonly transmitterCommands: readonly string[]
  /** Returns undefined if the device has not reported the link at this position. */
  isLinked(replies: Replies, position: number): boolean | undefined
  idOf(replies: Replies, address: string): string
  toDetails(replies: Replies): Partial<DeviceReport>
  /** The commands that query levels. Default: none. */
  readonly levelCommands?: Readonly<Record<LevelKind, string>>
  toChannel?(replies: Replies, channel: number): ChannelReading
  /** Returns the packs in a charger; undefined if they are not completely known. */
  toUnits?(replies: Replies, charger: Named): readonly DeviceReport[] | undefined
}

export function keyOf({ command, channel }: Query): string {
  return channel === undefined ? command : `${command} ${channel}`
}

/** Returns one query per command and channel. */
export function queriesFor(commands: readonly string[], channels: readonly number[]): readonly Query[] {
  return channels.flatMap((channel) => commands.map((command) => ({ command, channel })))
}

const nothingThere = [11, 61, 62]
const invalidParameter = 4

/**
 * True if the device rejects the query because the position does not exist or is empty. "Invalid parameter" means that
 * the position does not exist if the same command is answered for another position.
 */
export function isAbsent(replies: Replies, query: Query): boolean {
  const reply = replies.get(keyOf(query))
  if (reply === undefined || !('errorCode' in reply)) return false
  if (reply.errorCode !== invalidParameter) return nothingThere.includes(reply.errorCode)
  return [...replies.values()].some(
    (other) => other.command === query.command && !('errorCode' in other && other.errorCode === invalidParameter),
  )
}

/** Differs from the form of every field. */
const malformed = {}

/** Returns the value of a field, or all values of a list, without the channel number. */
function rawOf({ address, unit }: Field, values: readonly string[] | null): unknown {
  if (values === null) return malformed
  const [, number = 1] = address.split(' ')
  return unit.startsWith('list') ? values : (values[Number(number) - 1] ?? malformed)
}

function commandOf({ address }: Field): string {
  return address.split(' ')[0] ?? ''
}

/** Reads fields of the device, or of one position. A field is undefined if its command was not answered. */
export function createReader(replies: Replies, channel?: number) {
  return <Value>(wanted: Field<Value>): Value | null | undefined => {
    const command = commandOf(wanted)
    const reply = replies.get(keyOf(channel === undefined ? { command } : { command, channel }))
    if (reply === undefined || 'errorCode' in reply) return undefined
    return wanted.read(rawOf(wanted, channel === undefined ? reply.values : (reply.values?.slice(1) ?? null)))
  }
}

/**
 * Reads whether there is a transmitter, pack or battery at a position, which may reject the query if it is empty.
 * Undefined if the device has not reported it.
 */
export function readPresence(replies: Replies, position: number, field: Field<boolean>): boolean | undefined {
  if (isAbsent(replies, { command: commandOf(field), channel: position })) return false
  return createReader(replies, position)(field) ?? undefined
}

/** Returns every reported field of the device and of each position. */
export function listFields({ fields }: Family, replies: Replies): readonly ReportedField[] {
  return [...replies].flatMap(([key, reply]): readonly ReportedField[] => {
    if ('errorCode' in reply) return []
    const { command, values } = reply
    const own = key === command ? values : (values?.slice(1) ?? null)
    const ofCommand = Object.values(fields).filter((candidate) => commandOf(candidate) === command)
    return ofCommand.map((known) => [known.address, rawOf(known, own), `${key}: ${known.address}`])
  })
}

/** Returns the commands that the device rejects although it has the queried property. */
export function listRefused(family: Family, replies: Replies): ReadonlyMap<string, string> {
  const wanted = [...family.identityQueries, ...family.levelQueries(replies), ...family.settingQueries(replies)]
  return new Map(
    wanted.flatMap((query): [string, string][] => {
      const reply = replies.get(keyOf(query))
      if (reply === undefined || !('errorCode' in reply) || isAbsent(replies, query)) return []
      return [[query.command, describeErrorCode(reply.errorCode)]]
    }),
  )
}

export function macOf(replies: Replies): string | null {
  return readMac(createReader(replies)(device.mac)) ?? null
}

export function toIdentity(family: Family, replies: Replies, address: string): DeviceReport & Named {
  const read = createReader(replies)
  // These fields are the same in all families.
  const model = read(device.model)
  return {
    id: family.idOf(replies, address),
    kind: 'receiver',
    name: read(device.name) ?? `${model} ${address}`,
    model_name: model ?? null,
    device_type: family.deviceType,
    online: true,
    ...withoutUndefined({
      mac_address: macOf(replies) ?? undefined,
      ip: readIp(read(device.ip)) ?? readIp(address) ?? undefined,
      subnet_mask: readIp(read(device.netmask)) ?? undefined,
      gateway: readIp(read(device.gateway)) ?? undefined,
      network_mode: read(device.network),
    }),
    ...family.toDetails(replies),
  }
}
