/** Engineered Sound Wireless (ESW): queries, and the conversion of their answers. Pure. */

import type { TransmitterReading } from '../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../upstream/fields.ts'
import { createReader, type Family, macOf, queriesFor, type Replies, readPresence } from './family.ts'
import { esw as fields } from './fields.ts'

const channels = [1, 2, 3, 4, 5, 6, 7, 8] as const
const transmitterCommands = ['gtxname', 'gtxkind', 'gtxmicgain', 'glevelbatttx', 'gstsmute']

export const esw: Family = {
  deviceType: 'esw',
  fields,
  isModel: (model) => /^ESW-R/i.test(model),
  positions: channels,
  identityQueries: [
    { command: 'gipnet' },
    { command: 'gmyname' },
    { command: 'gmyversion' },
    { command: 'glocationname' },
  ],
  levelCommands: { rf: 'glevelrf', audio: 'glevelafrx' },
  levelQueries: (replies) => [
    ...queriesFor(['glevelrf'], channels),
    ...queriesFor(['glevelafrx', 'gstsmute'], linkedChannels(replies)),
  ],
  settingQueries: (replies) => [
    ...queriesFor(['gchname', 'gchmute', 'gchvolume'], channels),
    ...queriesFor(
      transmitterCommands.filter((command) => command !== 'gstsmute'),
      linkedChannels(replies),
    ),
  ],
  transmitterCommands,
  isLinked,
  idOf: (replies, address) => `esw:${macOf(replies) ?? address}`,
  toDetails(replies) {
    const read = createReader(replies)
    return withoutUndefined({
      firmware_version: read(fields.firmware) ?? undefined,
      description: read(fields.location) ?? undefined,
    })
  },
  toChannel(replies, channel) {
    const read = createReader(replies, channel)
    const linked = isLinked(replies, channel)
    return withoutUndefined({
      channel,
      name: read(fields.channelName),
      rf_level: linked === false ? null : read(fields.rf),
      audio_level: linked === false ? null : read(fields.audio),
      details: withoutUndefined({
        muted: (linked ? read(fields.isMuted) : undefined) ?? read(fields.isChannelMuted),
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
  const isObsolete = read(fields.isBatteryCurrent) === false
  return withoutUndefined({
    name: read(fields.transmitterName),
    battery: isObsolete ? null : read(fields.charge),
    details: withoutUndefined({
      model: read(fields.transmitterModel),
      muted: read(fields.isTransmitterMuted),
      gain_db: read(fields.transmitterGain),
      battery_minutes: isObsolete ? null : read(fields.minutes),
    }),
  })
}
