/**
 * System 20 PRO: queries, and the conversion of their answers. RF and audio levels are not read, because the receiver
 * sends them only in multicast notifications that must be enabled at the receiver. Pure.
 */

import type { TransmitterReading } from '../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../upstream/fields.ts'
import { createReader, type Family, macOf, queriesFor, type Replies, readPresence } from './family.ts'
import { system20 as fields } from './fields.ts'

const channels = [1, 2, 3, 4] as const
const transmitterCommands = ['gtxdeviceid', 'gtxmodel', 'gtxmicgain', 'gtxbattery', 'gtxmute']

export const system20: Family = {
  deviceType: 'system20',
  fields,
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
  idOf: (replies, address) => `system20:${createReader(replies)(fields.id) ?? macOf(replies) ?? address}`,
  toDetails: (replies) => withoutUndefined({ firmware_version: createReader(replies)(fields.firmware) ?? undefined }),
  toChannel(replies, channel) {
    const read = createReader(replies, channel)
    const linked = isLinked(replies, channel)
    return withoutUndefined({
      channel,
      details: withoutUndefined({
        muted: read(fields.isMuted),
        gain_db: read(fields.volume),
      }),
      transmitter: linked === undefined ? undefined : linked ? toTransmitter(replies, channel) : null,
    })
  },
}

function linkedChannels(replies: Replies): readonly number[] {
  return channels.filter((channel) => isLinked(replies, channel))
}

function isLinked(replies: Replies, channel: number): boolean | undefined {
  return readPresence(replies, channel, fields.isLinked)
}

/** Without a link, the values of the transmitter are obsolete. */
function toTransmitter(replies: Replies, channel: number): TransmitterReading {
  const read = createReader(replies, channel)
  const battery = read(fields.charge)
  return withoutUndefined({
    // Two characters; the receiver has no other name for a channel or a transmitter.
    name: read(fields.transmitterName),
    battery,
    details: withoutUndefined({
      model: read(fields.transmitterModel),
      muted: read(fields.isTransmitterMuted),
      gain_db: read(fields.transmitterGain),
      battery_type: read(fields.batteryType),
      battery_is_estimate: battery === undefined ? undefined : battery !== null,
    }),
  })
}
