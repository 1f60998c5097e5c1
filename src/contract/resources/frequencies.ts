/** Frequencies: carriers, their conflicts, suggestions, and profiles of equipment. */

import Type from 'typebox'
import { type Body, flag, listOf, named, oneOf, text, textOrNull, time, whole, wholeOrNull } from '../described.ts'
import { conflictKinds, regions } from '../values.ts'

const mhz = text('MHz with three decimals.')

const FrequencyConflict = named('FrequencyConflict', 'A conflict of one carrier.', {
  victim: text('Id of the carrier.'),
  kind: oneOf(
    [...conflictKinds],
    '`foreign`: RF although the transmitter is off; `outside_band`: outside the bands of the profile; `tv`: touches a TV channel in use; `duplicate`: another carrier on the same frequency; `spacing`: another carrier is too close; the others are orders of intermodulation.',
  ),
  product_mhz: textOrNull('The product of intermodulation in MHz with three decimals; null for the other kinds.'),
  offset_khz: wholeOrNull(
    'Product minus victim, or the other carrier minus the victim, in kHz; null if there is neither.',
  ),
  guard_khz: wholeOrNull('A distance below this guard is a conflict; null if there is no distance.'),
  generators: listOf(
    Type.String(),
    'Ids of the carriers that cause it, in the order of the formula: A, B of 2A - B; A, B, C of A + B - C.',
  ),
})
export type FrequencyConflictBody = Body<typeof FrequencyConflict>

const conflicts = listOf(FrequencyConflict, 'At most 1000, the smallest offset first.')

const totals = Type.Object(
  Object.fromEntries(conflictKinds.map((kind) => [kind, whole(`Conflicts of kind \`${kind}\`.`)])) as {
    [Kind in (typeof conflictKinds)[number]]: Type.TInteger
  },
  { description: 'How many conflicts there are, including those that are not listed.' },
)

const victims = Type.Record(Type.String(), Type.Integer(), {
  description: 'The number of conflicts of each carrier that has any, by id, including those that are not listed.',
})

const FrequencyCarrier = named('FrequencyCarrier', 'The carrier of a channel or placeholder.', {
  id: text('`c` and the id of the channel, or `p` and the id of the placeholder.'),
  channel_id: Type.Optional(whole('Id of the channel; absent for a placeholder.')),
  placeholder_id: Type.Optional(whole('Id of the placeholder; absent for a channel.')),
  receiver_id: Type.Optional(whole('Id of the receiver; absent for a placeholder.')),
  slot: whole('Slot.'),
  name: text('Name.'),
  mhz,
  second_mhz: Type.Optional(text('The second carrier of frequency diversity; absent if there is none.')),
  model: textOrNull('Model of the receiver; null for a placeholder.'),
  band: Type.Optional(text('Band of the receiver; absent if it is not known.')),
  profile: text('Id of the profile that applies.'),
  zone: textOrNull('Zone that applies; carriers without a zone are one zone.'),
  transmitter_on: Type.Union([flag('Whether a transmitter is received.'), Type.Null()], {
    description: 'Whether a transmitter is received; null if that is unknown, as it is for a placeholder.',
  }),
  rf_level: wholeOrNull('dBm.'),
  noise_dbm: wholeOrNull('The RF level in dBm while no transmitter is received, else null.'),
  foreign: Type.Optional(
    Type.Literal(true, { description: 'Present if there is RF although the transmitter is off.' }),
  ),
  tv_channel: textOrNull('TV channel of the region; null outside of its TV channels.'),
})
export type FrequencyCarrierBody = Body<typeof FrequencyCarrier>

export const Frequencies = named('Frequencies', 'All carriers, and their conflicts.', {
  region: oneOf([...regions], 'The setting `REGION`.'),
  carriers: listOf(FrequencyCarrier, 'By frequency.'),
  conflicts,
  totals,
  victims,
  checked_at: time('When the conflicts were determined.'),
})
export type FrequenciesBody = Body<typeof Frequencies>

const ChannelNoise = named('ChannelNoise', 'The noise on a channel: the RF level while its transmitter was off.', {
  id: text('Id of the carrier: `c` and the id of the channel.'),
  channel_id: whole('Id of the channel.'),
  mhz: text('The present frequency in MHz.'),
  seconds: whole('For how many seconds the noise was measured since the channel was tuned to it.'),
  median_dbm: whole('The median of the highest level of each step, in dBm.'),
  highest_dbm: whole('The highest level in dBm.'),
  highest_at: time('Start of the last step with the highest level.'),
  is_high: flag('Whether the highest level is over `RF_NOISE_DBM`.'),
})

export const FrequencyNoise = named('FrequencyNoise', 'The noise on the channels.', {
  from: time('Start of the range.'),
  to: time('End of the range.'),
  step_seconds: whole('Length of a step in seconds.'),
  channels: listOf(ChannelNoise, 'Without those for which it was not measured.'),
})
export type FrequencyNoiseBody = Body<typeof FrequencyNoise>

export const FrequencyCheck = named('FrequencyCheck', 'Conflicts of the carriers in the request.', {
  conflicts,
  totals,
  victims,
})
export type FrequencyCheckBody = Body<typeof FrequencyCheck>

export const FrequencySuggestion = named('FrequencySuggestion', 'Frequencies that can be used together.', {
  carriers: listOf(
    Type.Object({
      profile: text('Id of the profile.'),
      band: Type.Optional(text('Band of the request; absent if it has none.')),
      mhz,
    }),
    'The new carriers, in the order of the request, then by frequency.',
  ),
  unplaced: listOf(
    Type.Object({ profile: text('Id of the profile.'), count: whole('How many carriers are missing.') }),
    'What did not fit.',
  ),
  timed_out: Type.Optional(Type.Literal(true, { description: 'Present if `timeout_ms` ended the search.' })),
})

const guard = (description: string) => whole(`${description} in kHz; 0: not checked.`)

const Guards = named('Guards', 'Distances below which there is a conflict.', {
  spacing: guard('Between two carriers'),
  '2t3o': guard('From a product 2A - B'),
  '3t3o': guard('From a product A + B - C'),
  '2t5o': guard('From a product 3A - 2B'),
  '2t7o': guard('From a product 4A - 3B'),
  '2t9o': guard('From a product 5A - 4B'),
})

const windowMhz = Type.Union([Type.Number(), Type.Null()], {
  description:
    'Products count only if all generators are within this many MHz of the carrier or its filter; null: without limit.',
})

export const FrequencyProfile = named('FrequencyProfile', 'What a kind of equipment needs.', {
  id: text('Id.'),
  name: text('Name.'),
  levels: Type.Object({ robust: Guards, standard: Guards, more: Guards }, { description: 'Guards by level.' }),
  window_mhz: Type.Object(
    { robust: windowMhz, standard: windowMhz, more: windowMhz },
    { description: 'Filter windows by level.' },
  ),
  step_khz: whole('Suggested frequencies are multiples of this step, in kHz.'),
  occupied_khz: whole('Occupied width of a carrier in kHz.'),
  is_generator: flag('Whether its carriers cause intermodulation.'),
  filter_centres: listOf(mhz, 'Windows are around the nearest of these; around the carrier if the list is empty.'),
  shares_carrier: flag('Whether channels of one device with the same frequency share one carrier.'),
  bands: listOf(
    Type.Object({
      name: text('Name.'),
      ranges: listOf(Type.Object({ from: mhz, to: mhz }), 'Where it can be tuned.'),
    }),
    'Bands; empty if they are not known.',
  ),
  source: text('Where the values come from.'),
  is_built_in: flag('Whether it comes with Micwatch. DELETE takes back its changes, and does not remove it.'),
  is_changed: flag('Whether it is built in and was changed.'),
})
export type FrequencyProfileBody = Body<typeof FrequencyProfile>
