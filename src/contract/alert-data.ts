/** The values of alerts. Separate from the alerts, because the table of kinds needs their type. */

import Type from 'typebox'
import { faults } from './faults.ts'
import { type Body, listOf, named, oneOf, orNull, text, textOrNull, time, whole, wholeOrNull } from './schema.ts'
import { conflictKinds, crossedValues, dropoutEvidence, titleSources } from './values.ts'

const SlotName = Type.Object({
  slot: whole('Slot.'),
  title: textOrNull('Title; null in messages without names.'),
})

export const FaultWord = named('FaultWord', 'A fault in the words of the device.', {
  part: textOrNull('The part that has the fault, such as `FAN_1`; null for the whole device.'),
  word: text('The word, number or code of the device.'),
})
export type FaultWord = Body<typeof FaultWord>

/** Of a receiver or pack. */
export const faultWords = orNull(
  listOf(FaultWord, 'All faults, the most severe first.'),
  'All faults, the most severe first; null without a fault.',
)

export const AlertData = named(
  'AlertData',
  'The subject of the alert, with current values while it is open. Names are from the time it was raised.',
  {
    name: textOrNull('Name of the transmitter, else of the channel; of the receiver, pack or manufacturer.'),
    slot: wholeOrNull('Slot of the channel.'),
    title: Type.Optional(
      textOrNull('Title of the channel: its performer, else its label, its name, its transmitter, its receiver.'),
    ),
    title_from: Type.Optional(orNull(Type.Enum([...titleSources]), 'Which of these names the title is.')),
    pack: Type.Optional(textOrNull('Name of the transmitter, also of the last one.')),
    channel_name: Type.Optional(textOrNull('Name of the channel on the equipment.')),
    people: Type.Optional(listOf(SlotName, 'The channels of the receiver that have a title of their own, by slot.')),
    battery: wholeOrNull('Battery level in percent.'),
    minutes_left: wholeOrNull('Remaining battery time in minutes.'),
    threshold: wholeOrNull('Limit that applies: percent, minutes or dBm, depending on the kind and on `crossed`.'),
    crossed: Type.Optional(
      oneOf(
        crossedValues,
        'Which value of the battery is at or under its limit, or that the transmitter warns itself.',
      ),
    ),
    rf_level: Type.Optional(whole('RF level in dBm with which it began.')),
    died_at: Type.Optional(time('When the last value was received from a transmitter whose battery died.')),
    lost_at: Type.Optional(time('When the last value was received from the receiver.')),
    receiver: textOrNull('Name of the receiver.'),
    channels: Type.Optional(listOf(Type.Integer(), 'Ids of the channels without levels.')),
    fault: Type.Optional(oneOf(faults, 'The most severe fault.')),
    faults: Type.Optional(listOf(FaultWord, 'All faults, the most severe first.')),
    address: Type.Optional(text('Address of the source.')),
    failures: Type.Optional(whole('Number of polling cycles in a row that failed.')),
    error: Type.Optional(textOrNull('Why it failed.')),
    conflict: Type.Optional(oneOf(conflictKinds, 'Kind of the frequency conflict.')),
    generators: Type.Optional(listOf(Type.String(), 'Titles of the carriers that cause the frequency conflict.')),
    conflicts_with: Type.Optional(listOf(SlotName, 'The slots of these carriers.')),
    tuned: Type.Optional(text('Frequency of the channel in MHz.')),
    planned: Type.Optional(text('Its frequency in the plan in force.')),
    plan: Type.Optional(text('Title of this frequency plan.')),
    carrier_mhz: Type.Optional(text('Frequency of the unknown carrier in MHz, with three decimal places.')),
    carrier_dbm: Type.Optional(Type.Number({ description: 'Level of the unknown carrier in dBm.' })),
    near_mhz: Type.Optional(text('Frequency of the channel in MHz.')),
    sweep_source: Type.Optional(text('The source of the sweeps that show the unknown carrier.')),
    sweep_seconds: Type.Optional(
      Type.Number({ description: 'Time between its sweeps in seconds. A signal that is briefer can be missed.' }),
    ),
    confirmed_by: Type.Optional(
      oneOf(
        dropoutEvidence,
        'Why sound that broke off was a dropout: weak RF at the same time, or its return within 2 s.',
      ),
    ),
    ends_at: Type.Optional(time('Planned end of the show, before which the battery will be empty.')),
  },
)
export type AlertData = Body<typeof AlertData>
