/** Frequency plans: coordinated carriers that are stored, compared with what is tuned, and used. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { conflicts, exportFormats, measuredFields } from './frequencies.ts'
import {
  type Body,
  ById,
  binary,
  body,
  boundedText,
  choiceOf,
  flag,
  id,
  idOf,
  ignoredOfRecord,
  LocalList,
  listOf,
  mhz,
  NoContent,
  name,
  named,
  nullable,
  oneOf,
  optional,
  pagedOf,
  query,
  recordId,
  slot,
  text,
  textOrNull,
  time,
  trueOrFalse,
  version,
  whole,
  wholeOrNull,
  zone,
} from './schema.ts'
import { guardLevels, planResults, regions } from './values.ts'

export const maxPlans = 200
const maxPlanCarriers = 1000

export const PlanCarrier = named('PlanCarrier', 'A carrier of a plan.', {
  id: text('Its position in the plan, from `1`. Conflicts name it.'),
  slot: wholeOrNull('Slot that is to be tuned to it; null: none.'),
  name: textOrNull('Name; null: that of the slot.'),
  profile: text('Id of the profile.'),
  band: Type.Optional(text('Band of the equipment; absent if it is not known.')),
  mhz: text('MHz with three decimals.'),
  locked: flag('Whether a new coordination keeps it.'),
  zone: textOrNull('Zone; carriers without a zone are one zone.'),
  groups: listOf(Type.Union([Type.Integer(), Type.String()]), 'Ids or names of its groups.'),
  note: textOrNull('Note.'),
})
export type PlanCarrierBody = Body<typeof PlanCarrier>

export const Spare = Type.Object({ profile: text('Id of the profile.'), mhz: text('MHz with three decimals.') })

const anything = Type.Record(Type.String(), Type.Unknown())

export const FrequencyPlan = named('FrequencyPlan', 'Coordinated carriers.', {
  id,
  title: text('Title.'),
  show_id: wholeOrNull('Id of the show that it is for; null: none.'),
  region: oneOf(regions, 'Region. Determines the TV channels.'),
  carriers: listOf(PlanCarrier, 'In the order in which they were stored.'),
  spares: listOf(Spare, 'Free frequencies for replacements.'),
  settings: Type.Unsafe<Readonly<Record<string, unknown>>>({
    ...anything,
    description:
      'The settings of its coordination, as they were stored. `level` and `measured` apply to the conflicts.',
  }),
  conflicts: Type.Array(conflicts.items, {
    description: 'Conflicts between its carriers when they were stored: at most 100, the smallest offset first.',
  }),
  conflict_count: whole('Number of conflicts, including those that are not listed.'),
  created_by: text('Name of the user or token that stored it, or `local`.'),
  created_at: time('When it was stored.'),
  active: flag('Whether it is the plan in force: the one last used.'),
  version,
})
export type FrequencyPlanBody = Body<typeof FrequencyPlan>

const PlanComparison = named('PlanComparison', 'A plan, compared with what is tuned or with another plan.', {
  with: wholeOrNull('Id of the other plan; null: what is tuned.'),
  carriers: listOf(
    Type.Object({
      id: text('Id of the carrier in the plan.'),
      slot: wholeOrNull('Slot.'),
      name: textOrNull('Name in the plan, else the title of the slot.'),
      result: oneOf(
        planResults,
        '`missing`: nothing is tuned in the slot, or the other plan does not have the carrier; `differs`: tuned to another frequency; `off`: tuned as planned, but no transmitter is received; `same`: as planned.',
      ),
      planned: text('MHz with three decimals.'),
      tuned: textOrNull('What is tuned, or the frequency in the other plan; null: nothing.'),
    }),
    'The carriers of the plan. One without a slot is found by its name, and one without either by its frequency.',
  ),
  totals: Type.Object(
    Object.fromEntries(planResults.map((result) => [result, whole(`Carriers that are \`${result}\`.`)])) as {
      [Result in (typeof planResults)[number]]: Type.TInteger
    },
  ),
  others: listOf(
    Type.Object({ slot: wholeOrNull('Slot.'), name: textOrNull('Name.'), mhz: text('MHz with three decimals.') }),
    'Tuned channels, or carriers of the other plan, that the plan does not have.',
  ),
})
export type PlanComparisonBody = Body<typeof PlanComparison>

/** Other fields are ignored, so that a client can store what `suggest` returned. */
const newCarriers = Type.Array(
  Type.Object(
    {
      slot: Type.Optional(nullable(slot, 'a slot')),
      name: Type.Optional(nullable(boundedText(0, 255), 'text of at most 255 characters')),
      profile: Type.Optional(boundedText(1, 64)),
      band: Type.Optional(boundedText(1, 64)),
      mhz,
      locked: Type.Optional(trueOrFalse),
      zone: Type.Optional(zone),
      groups: Type.Optional(
        Type.Array(Type.Union([recordId, boundedText(1, 255)], { description: 'an id or a name' }), {
          maxItems: 100,
          description: 'a list of at most 100 groups',
        }),
      ),
      note: Type.Optional(nullable(boundedText(0, 1000), 'text of at most 1000 characters')),
    },
    { description: 'an object with mhz' },
  ),
  { maxItems: maxPlanCarriers, description: `a list of at most ${maxPlanCarriers} carriers` },
)
export type NewPlanCarriers = Body<typeof newCarriers>

const newSpares = Type.Array(
  Type.Object({ profile: boundedText(1, 64), mhz }, { description: 'an object with profile and mhz' }),
  { maxItems: maxPlanCarriers, description: `a list of at most ${maxPlanCarriers} spares` },
)

/** Keeps all fields of the request that led to the plan. */
const settings = Type.Object(
  { level: Type.Optional(choiceOf(guardLevels)), measured: Type.Optional(nullable(body(measuredFields), 'an object')) },
  { description: 'an object' },
)

export const planFields = {
  region: Type.Optional(choiceOf(regions)),
  carriers: Type.Optional(newCarriers),
  spares: Type.Optional(newSpares),
  settings: Type.Optional(settings),
}

const show_id = Type.Optional(nullable(recordId, 'the id of a show'))

const ignored = {
  ...ignoredOfRecord,
  conflicts: Type.Optional(Type.Array(Type.Unknown(), { description: 'a list' })),
  conflict_count: Type.Optional(Type.Integer({ description: 'a whole number' })),
  created_by: Type.Optional(Type.String({ description: 'text' })),
  created_at: Type.Optional(Type.String({ description: 'text' })),
  active: Type.Optional(trueOrFalse),
}

export const NewFrequencyPlan = body({ title: name, show_id, ...planFields, ...ignored })
export const FrequencyPlanChange = body(optional({ title: name, show_id, ...planFields, ...ignored }))

/** The body may be absent. */
const Duplicate = Type.Optional(body({ title: Type.Optional(name) }))

const plans = '/api/frequency-plans/'

export const frequencyPlanOperations = operationsOf({
  listFrequencyPlans: endpoint('GET', plans, {
    ...about('Frequencies', 'Frequency plans.'),
    querystring: LocalList,
    response: { 200: pagedOf(FrequencyPlan) },
  }),

  getFrequencyPlan: endpoint('GET', `${plans}:id/`, {
    ...about('Frequencies', 'One frequency plan.'),
    params: ById,
    response: { 200: FrequencyPlan },
  }),

  createFrequencyPlan: endpoint('POST', plans, {
    ...about('Frequencies', `Stores a frequency plan: at most ${maxPlans}, with at most ${maxPlanCarriers} carriers.`),
    body: NewFrequencyPlan,
    response: { 201: FrequencyPlan, 409: ErrorResponse },
  }),

  changeFrequencyPlan: endpoint('PATCH', `${plans}:id/`, {
    ...about('Frequencies', 'Changes the given fields of a frequency plan.'),
    params: ById,
    body: FrequencyPlanChange,
    response: { 200: FrequencyPlan, 412: ErrorResponse },
  }),

  removeFrequencyPlan: endpoint('DELETE', `${plans}:id/`, {
    ...about('Frequencies', 'Deletes a frequency plan. If it is the plan in force, no plan is in force afterwards.'),
    params: ById,
    response: { 204: NoContent, 412: ErrorResponse },
  }),

  duplicateFrequencyPlan: endpoint('POST', `${plans}:id/duplicate`, {
    ...about('Frequencies', 'Stores a copy of a frequency plan.'),
    params: ById,
    body: Duplicate,
    response: { 201: FrequencyPlan, 409: ErrorResponse },
  }),

  useFrequencyPlan: endpoint('POST', `${plans}:id/use`, {
    ...about('Frequencies', 'Makes a plan the one in force. Never writes to equipment.'),
    params: ById,
    response: { 200: FrequencyPlan },
  }),

  compareFrequencyPlan: endpoint('GET', `${plans}:id/compare/`, {
    ...about('Frequencies', 'Compares a plan with what is tuned, or with another plan.'),
    params: ById,
    querystring: query({ with: idOf('Id of another plan; default: what is tuned.') }),
    response: { 200: PlanComparison },
  }),

  exportFrequencyPlan: endpoint('GET', `${plans}:id/export.csv`, {
    ...about('Frequencies', 'The carriers of a plan as a file for other programs.'),
    params: ById,
    querystring: query({ format: exportFormats }),
    response: { 200: binary('text/csv', 'One row for each carrier.') },
  }),
})
