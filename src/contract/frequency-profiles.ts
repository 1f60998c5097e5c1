/** Profiles: the distances that each kind of equipment needs to be free of interference. */

import Type, { type TSchema } from 'typebox'
import { profileId } from './channels.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  body,
  boundedText,
  boundedWhole,
  flag,
  LocalList,
  listOf,
  mhz,
  NoContent,
  name,
  named,
  nullable,
  pagedOf,
  text,
  trueOrFalse,
  version,
  whole,
} from './schema.ts'
import { guardLevels } from './values.ts'

export const megahertz = text('MHz with three decimals.')

const guardKhz = (description: string) => whole(`${description} in kHz; 0: not checked.`)

const Guards = named('Guards', 'Distances below which there is a conflict.', {
  spacing: guardKhz('Between two carriers'),
  '2t3o': guardKhz('From a product 2A - B'),
  '3t3o': guardKhz('From a product A + B - C'),
  '2t5o': guardKhz('From a product 3A - 2B'),
  '2t7o': guardKhz('From a product 4A - 3B'),
  '2t9o': guardKhz('From a product 5A - 4B'),
})

const windowOrNull = Type.Union([Type.Number(), Type.Null()], {
  description:
    'Products count only if all generators are within this many MHz of the carrier or its filter; null: without limit.',
})

export const FrequencyProfile = named('FrequencyProfile', 'The requirements of a kind of equipment.', {
  id: text('Id.'),
  name: text('Name.'),
  levels: Type.Object({ robust: Guards, standard: Guards, more: Guards }, { description: 'Guards by level.' }),
  window_mhz: Type.Object(
    { robust: windowOrNull, standard: windowOrNull, more: windowOrNull },
    { description: 'Filter windows by level.' },
  ),
  step_khz: whole('Suggested frequencies are multiples of this step, in kHz.'),
  occupied_khz: whole('Occupied width of a carrier in kHz.'),
  is_generator: flag('Whether its carriers cause intermodulation.'),
  filter_centres: listOf(
    megahertz,
    'Windows are around the nearest of these; around the carrier if the list is empty.',
  ),
  shares_carrier: flag('Whether channels of one device with the same frequency share one carrier.'),
  bands: listOf(
    Type.Object({
      name: text('Name.'),
      ranges: listOf(Type.Object({ from: megahertz, to: megahertz }), 'Where it can be tuned.'),
    }),
    'Bands; empty if they are not known.',
  ),
  source: text('Where the values come from.'),
  is_built_in: flag('Whether it comes with Micwatch. DELETE resets it instead of removing it.'),
  is_changed: flag('Whether it is built in and was changed.'),
  version,
})
export type FrequencyProfileBody = Body<typeof FrequencyProfile>

export const mhzRanges = (maxItems: number) =>
  Type.Array(Type.Object({ from: mhz, to: mhz }, { additionalProperties: false }), {
    maxItems,
    description: `a list of at most ${maxItems} ranges with from and to`,
  })

const guard = Type.Optional(boundedWhole(0, 100_000))

/** In kHz; absent guards are 0. */
export const guards = Type.Object(
  { spacing: guard, '2t3o': guard, '3t3o': guard, '2t5o': guard, '2t7o': guard, '2t9o': guard },
  { additionalProperties: false, description: 'an object with spacing, 2t3o, 3t3o, 2t5o, 2t7o and 2t9o in whole kHz' },
)

export const windowMhz = nullable(
  Type.Number({ minimum: 0.001, maximum: 10_000 }),
  'a number of MHz from 0.001 to 10000',
)

const perLevel = <Value extends TSchema>(value: Value) =>
  Type.Object(
    { robust: Type.Optional(value), standard: Type.Optional(value), more: Type.Optional(value) },
    { additionalProperties: false, description: `an object with ${guardLevels.join(', ')}` },
  )

/** Absent levels have the values of `standard`. */
export const profileFields = {
  levels: Type.Optional(perLevel(guards)),
  window_mhz: Type.Optional(perLevel(windowMhz)),
  step_khz: Type.Optional(boundedWhole(1, 10_000)),
  occupied_khz: Type.Optional(boundedWhole(1, 100_000)),
  is_generator: Type.Optional(trueOrFalse),
  filter_centres: Type.Optional(Type.Array(mhz, { maxItems: 100, description: 'a list of at most 100 MHz' })),
  shares_carrier: Type.Optional(trueOrFalse),
  bands: Type.Optional(
    Type.Array(Type.Object({ name: boundedText(1, 64), ranges: mhzRanges(20) }, { additionalProperties: false }), {
      maxItems: 200,
      description: 'a list of at most 200 bands with name and ranges',
    }),
  ),
  source: Type.Optional(boundedText(0, 1000)),
}

/** Without an id, the id follows from the name. */
export const NewFrequencyProfile = body({ id: Type.Optional(profileId), name, ...profileFields })
export const FrequencyProfileChange = body({ name: Type.Optional(name), ...profileFields })

const ByProfile = Type.Object({ id: text('Id of the profile.') })

const profiles = '/api/frequencies/profiles/'

export const frequencyProfileOperations = operationsOf({
  listFrequencyProfiles: endpoint('GET', profiles, {
    ...about('Frequencies', 'The distances that each kind of equipment needs to be free of interference.'),
    querystring: LocalList,
    response: { 200: pagedOf(FrequencyProfile) },
  }),

  getFrequencyProfile: endpoint('GET', `${profiles}:id/`, {
    ...about('Frequencies', 'One profile.'),
    params: ByProfile,
    response: { 200: FrequencyProfile },
  }),

  createFrequencyProfile: endpoint('POST', profiles, {
    ...about('Frequencies', 'Adds a profile. Levels that are absent equal `standard`.'),
    body: NewFrequencyProfile,
    response: { 201: FrequencyProfile, 409: ErrorResponse },
  }),

  changeFrequencyProfile: endpoint('PATCH', `${profiles}:id/`, {
    ...about('Frequencies', 'Changes the given fields and levels of a profile.'),
    params: ByProfile,
    body: FrequencyProfileChange,
    response: { 200: FrequencyProfile, 412: ErrorResponse },
  }),

  removeFrequencyProfile: endpoint('DELETE', `${profiles}:id/`, {
    ...about(
      'Frequencies',
      'Removes a profile; resets a built-in one. Its channels then use the profile of their model.',
    ),
    params: ByProfile,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),
})
