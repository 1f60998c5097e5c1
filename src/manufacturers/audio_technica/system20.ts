/**
 * System 20 PRO: queries, and the conversion of their answers. The receiver reports RF and audio levels only in
 * multicast notifications that have to be switched on at the receiver, so they are not read. Pure.
 */

import type { TransmitterReading } from '../../domain/equipment/receiver.ts'
import { readText, readWhole, withoutUndefined } from '../../upstream/fields.ts'
import {
  createReader,
  type Family,
  isRejected,
  macOf,
  queriesFor,
  type Replies,
  readGain,
  readIndexed,
  valuesOf,
} from './family.ts'

const channels = [1, 2, 3, 4] as const
const transmitterCommands = ['gtxdeviceid', 'gtxmodel', 'gtxmicgain', 'gtxbattery', 'gtxmute']
/** The values of `gtxbattery`. */
const batteryTypes = ['alkaline', 'NiMH', 'lithium']

export const system20: Family = {
  deviceType: 'system20',
  isModel: (model) => /^ATW-R14/i.test(model),
  positions: channels,
  identityQueries: [{ command: 'gmyid' }, { command: 'gipnet' }, { command: 'gmyname' }, { command: 'gsys20version' }],
  levelQueries: (replies) => [
    ...queriesFor(['glevelbatttx'], channels),
    ...queriesFor(['gtxmute'], linkedChannels(replies)),
  ],
  settingQueries: (replies) => [
    ...queriesFor(['gchmute', 'gchvolume'], channels),
    ...queriesFor(
      transmitterCommands.filter((command) => command !== 'gtxmute'),
      linkedChannels(replies),
    ),
  ],
  transmitterCommands,
  isLinked,
  idOf: (replies, address) => `system20:${system20IdOf(replies) ?? macOf(replies) ?? address}`,
  toDetails: (replies) =>
    withoutUndefined({ firmware_version: readText(valuesOf(replies, 'gsys20version')[0]) ?? undefined }),
  toChannel(replies, channel) {
    const read = createReader(replies, channel)
    const linked = isLinked(replies, channel)
    return withoutUndefined({
      channel,
      details: withoutUndefined({
        muted: read.flag('gchmute'),
        gain_db: readGain(read.integer('gchvolume'), { first: 0, last: 40, firstDb: -20, stepDb: 1 }),
      }),
      transmitter: linked === undefined ? undefined : linked ? toTransmitter(replies, channel) : null,
    })
  },
}

/** Returns the System20 ID, eight hexadecimal digits. */
function system20IdOf(replies: Replies): string | null {
  const [id = ''] = valuesOf(replies, 'gmyid')
  return /^[0-9a-f]{8}$/i.test(id) ? id.toUpperCase() : null
}

function linkedChannels(replies: Replies): readonly number[] {
  return channels.filter((channel) => isLinked(replies, channel))
}

function isLinked(replies: Replies, channel: number): boolean | undefined {
  if (isRejected(replies, { command: 'glevelbatttx', channel })) return false
  return createReader(replies, channel).flag('glevelbatttx') ?? undefined
}

/** Converts the values of a linked transmitter; without a link they are obsolete. */
function toTransmitter(replies: Replies, channel: number): TransmitterReading {
  const read = createReader(replies, channel)
  const quarters = readWhole(read.integer('glevelbatttx', 1), 0, 4)
  return withoutUndefined({
    // Two characters; the receiver has no other name for a channel or a transmitter.
    name: read.name('gtxdeviceid'),
    battery: typeof quarters === 'number' ? quarters * 25 : quarters,
    details: withoutUndefined({
      model: readText(read.value('gtxmodel')),
      muted: read.flag('gtxmute'),
      gain_db: readGain(read.integer('gtxmicgain'), { first: 0, last: 15, firstDb: -10, stepDb: 2 }),
      battery_type: readIndexed(read.integer('gtxbattery'), batteryTypes),
      battery_is_estimate: quarters === undefined ? undefined : quarters !== null,
    }),
  })
}
