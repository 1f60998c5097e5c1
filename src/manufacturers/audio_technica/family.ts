/** The families of devices, and functions to read the answers of all of them. Pure. */

import type { ChannelReading, DeviceReport } from '../../domain/equipment/receiver.ts'
import type { LevelKind } from '../../domain/levels/level-delivery.ts'
import { maxNameChars, readIp, readMac, readText, readWhole, withoutUndefined } from '../../upstream/fields.ts'
import { parseInteger, type Query, type Reply } from './codec.ts'

/** Keyed by `keyOf(query)`. */
export type Replies = ReadonlyMap<string, Reply>

interface Named {
  readonly id: string
  readonly name: string
}

export interface Family {
  readonly deviceType: string
  readonly isModel: (model: string) => boolean
  /** The numbers of the channels, or of the ports of a charger. */
  readonly positions: readonly number[]
  /** Queries for the identity of the device, except for its model. */
  readonly identityQueries: readonly Query[]
  /** Returns the queries for levels, links and mutes, which are sent in every round. */
  levelQueries(replies: Replies): readonly Query[]
  /** Returns the queries for all other values, which are sent in turn. */
  settingQueries(replies: Replies): readonly Query[]
  /** The commands that query the transmitter at a position; their answers are obsolete when there is another one. */
  readonly transmitterCommands: readonly string[]
  /**
   * Whether there is a transmitter at the position: undefined if it is unknown, false if the query is rejected.
   */
  isLinked(replies: Replies, position: number): boolean | undefined
  idOf(replies: Replies, address: string): string
  toDetails(replies: Replies): Partial<DeviceReport>
  /** The queries whose answers are levels, by their kind. Default: the device answers none. */
  readonly levelCommands?: Readonly<Record<LevelKind, string>>
  /** Only receivers have it. */
  toChannel?(replies: Replies, channel: number): ChannelReading
  /** Returns the packs in a charger; undefined if they are not completely known. Only chargers have it. */
  toUnits?(replies: Replies, charger: Named): readonly DeviceReport[] | undefined
}

export function keyOf({ command, channel }: Query): string {
  return channel === undefined ? command : `${command} ${channel}`
}

/** Returns one query for each command and channel. */
export function queriesFor(commands: readonly string[], channels: readonly number[]): readonly Query[] {
  return channels.flatMap((channel) => commands.map((command) => ({ command, channel })))
}

/** Returns the parameters of an answer, without the channel number; empty if the query was not answered. */
export function valuesOf(replies: Replies, command: string, channel?: number): readonly string[] {
  const reply = replies.get(keyOf(channel === undefined ? { command } : { command, channel }))
  if (reply === undefined || 'errorCode' in reply) return []
  return channel === undefined ? reply.values : reply.values.slice(1)
}

/** Whether the device rejected the query. */
export function isRejected(replies: Replies, query: Query): boolean {
  const reply = replies.get(keyOf(query))
  return reply !== undefined && 'errorCode' in reply
}

/** Reads answers; every function returns undefined if the query was not answered. */
export function createReader(replies: Replies, channel?: number) {
  const value = (command: string, index = 0) => valuesOf(replies, command, channel)[index]
  const integer = (command: string, index = 0) => {
    const text = value(command, index)
    return text === undefined ? undefined : parseInteger(text)
  }
  return {
    value,
    integer,
    /** Asterisks at the beginning or end of a name are not part of it. */
    name: (command: string) => readText(value(command)?.replace(/^\*+|\*+$/g, ''), maxNameChars),
    flag(command: string, index = 0): boolean | null | undefined {
      const number = readWhole(integer(command, index), 0, 1)
      return typeof number === 'number' ? number === 1 : number
    },
  }
}

/** Converts an index to a value; null if there is no such index. */
export function readIndexed<T>(index: number | undefined, values: readonly T[]): T | null | undefined {
  return index === undefined ? undefined : (values[index] ?? null)
}

/** Converts a gain, given as a number of steps, to dB. */
export function readGain(
  steps: number | undefined,
  { first, last, firstDb, stepDb }: { first: number; last: number; firstDb: number; stepDb: number },
): number | null | undefined {
  const valid = readWhole(steps, first, last)
  return typeof valid === 'number' ? firstDb + (valid - first) * stepDb : valid
}

/** Returns the MAC address, the sixth value of `gipnet`. */
export function macOf(replies: Replies): string | null {
  return readMac(valuesOf(replies, 'gipnet')[5]) ?? null
}

/** Converts the identity of a device. */
export function toIdentity(family: Family, replies: Replies, address: string): DeviceReport & Named {
  const [model] = valuesOf(replies, 'gmymodel')
  const [mode, ip, mask, gateway] = valuesOf(replies, 'gipnet')
  return {
    id: family.idOf(replies, address),
    kind: 'receiver',
    name: createReader(replies).name('gmyname') ?? `${model} ${address}`,
    model_name: readText(model) ?? null,
    device_type: family.deviceType,
    online: true,
    ...withoutUndefined({
      mac_address: macOf(replies) ?? undefined,
      ip: readIp(ip) ?? readIp(address) ?? undefined,
      subnet_mask: readIp(mask) ?? undefined,
      gateway: readIp(gateway) ?? undefined,
      network_mode: mode === undefined ? undefined : readIndexed(parseInteger(mode), ['auto', 'static'] as const),
    }),
    ...family.toDetails(replies),
  }
}
