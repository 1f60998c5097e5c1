/**
 * Engineered Sound Wireless (ESW): queries, and the conversion of their answers. The order of the values is that of the
 * public Companion module. Pure.
 */

import type { TransmitterReading } from '../../domain/equipment/receiver.ts'
import { readBattery, readText, readWhole, withoutUndefined } from '../../upstream/fields.ts'
import { audioStepToDbfs, parseInteger, parseMinutes, rfStepToDbm } from './codec.ts'
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

const channels = [1, 2, 3, 4, 5, 6, 7, 8] as const
const transmitterCommands = ['gtxname', 'gtxkind', 'gtxmicgain', 'glevelbatttx', 'gstsmute']
/** The models by the values of `gtxkind`: handheld, bodypack, boundary microphone, desk stand. */
const transmitterModels = ['ESW-T4102', 'ESW-T4101', 'ESW-T4106', 'ESW-T4107']

export const esw: Family = {
  deviceType: 'esw',
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
  toDetails: (replies) =>
    withoutUndefined({
      firmware_version: readText(valuesOf(replies, 'gmyversion')[0]) ?? undefined,
      description: createReader(replies).name('glocationname') ?? undefined,
    }),
  toChannel(replies, channel) {
    const read = createReader(replies, channel)
    const linked = isLinked(replies, channel)
    return withoutUndefined({
      channel,
      name: read.name('gchname'),
      rf_level: linked === false ? null : toLevel(stepOf(replies, 'glevelrf', channel), rfStepToDbm),
      audio_level: linked === false ? null : toLevel(stepOf(replies, 'glevelafrx', channel), audioStepToDbfs),
      details: withoutUndefined({
        muted: (linked ? read.flag('gstsmute') : undefined) ?? read.flag('gchmute'),
        gain_db: readGain(read.integer('gchvolume'), { first: 0, last: 40, firstDb: -30, stepDb: 1 }),
      }),
      transmitter: linked === undefined ? undefined : linked ? toTransmitter(replies, channel) : null,
    })
  },
}

function linkedChannels(replies: Replies): readonly number[] {
  return channels.filter((channel) => isLinked(replies, channel))
}

/**
 * Public sources disagree whether a level is preceded by the status of the link. If it is, that status decides;
 * otherwise step 0 of the RF level means that there is no link.
 */
function isLinked(replies: Replies, channel: number): boolean | undefined {
  if (isRejected(replies, { command: 'glevelrf', channel })) return false
  const [first] = valuesOf(replies, 'glevelrf', channel)
  return first === undefined ? undefined : parseInteger(first) > 0
}

/** Returns the level step, the last value of the answer; undefined if there is no answer. */
function stepOf(replies: Replies, command: string, channel: number): number | undefined {
  const step = valuesOf(replies, command, channel).at(-1)
  return step === undefined ? undefined : parseInteger(step)
}

function toLevel(step: number | undefined, convert: (step: number) => number | null): number | null | undefined {
  return step === undefined ? undefined : convert(step)
}

/** Converts the values of a linked transmitter; without a link they are obsolete. */
function toTransmitter(replies: Replies, channel: number): TransmitterReading {
  const read = createReader(replies, channel)
  const remaining = read.value('glevelbatttx', 2)
  return withoutUndefined({
    name: read.name('gtxname'),
    battery: readBattery(read.integer('glevelbatttx', 1)),
    details: withoutUndefined({
      model: readIndexed(read.integer('gtxkind'), transmitterModels),
      muted: read.flag('gstsmute', 1),
      gain_db: readGain(read.integer('gtxmicgain'), { first: 1, last: 11, firstDb: -9, stepDb: 3 }),
      battery_minutes: remaining === undefined ? undefined : readWhole(parseMinutes(remaining), 0, 6000),
    }),
  })
}
