/** Sweeps that analysers push while they measure. They are kept in memory. */

import Type from 'typebox'
import {
  highestDbm,
  highestMhz,
  lowestDbm,
  maxSweepPoints,
  maxWaterfallLines,
  maxWaterfallPoints,
} from '../domain/frequencies/sweeps/sweep.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { Scan, SkippedRow } from './scans.ts'
import { type Body, binary, body, flag, listOf, NoContent, named, orNull, query, text, time, whole } from './schema.ts'

export const levels = (description: string) =>
  listOf(orNull(Type.Number(), 'Level in dBm, or relative in dB; `null` if nothing was measured.'), description)

const WaterfallLine = named('WaterfallLine', 'One sweep of a waterfall.', {
  at: time('When the sweep began.'),
  dbm: levels(
    `The levels over the whole range, in ascending order of frequency. Of a sweep with more than ${maxWaterfallPoints} points, each is the highest of as many neighbouring frequencies as necessary.`,
  ),
})

/** Minutes after which the maximum begins again. */
const resetMinutes = { minimum: 1, maximum: 1440 } as const

const Sweeps = named('Sweeps', 'The sweeps of one source.', {
  source: text('Name of the source.'),
  from_mhz: Type.Number({ description: 'Lowest frequency in MHz.' }),
  step_mhz: Type.Number({ description: 'Distance of neighbouring frequencies in MHz.' }),
  last: levels('The levels of the last sweep, in ascending order of frequency.'),
  max: levels('The highest levels since the first sweep, since the range changed, or since the last reset.'),
  waterfall: listOf(WaterfallLine, `The last ${maxWaterfallLines} sweeps of this range, the oldest first.`),
  calibrated: flag('`false` if the levels are relative, as those of `rtl_power` and `hackrf_sweep`.'),
  sweep_seconds: orNull(Type.Number(), 'Time between the last two sweeps in seconds. `null` after the first.'),
  at: time('When the last sweep began.'),
  reset_minutes: Type.Optional(
    Type.Integer({ ...resetMinutes, description: 'The maximum begins again after this time.' }),
  ),
})
export type SweepsBody = Body<typeof Sweeps>

const ReceivedSweeps = named('ReceivedSweeps', 'What was received.', {
  source: text('Name of the source.'),
  sweeps: whole('Number of sweeps.'),
  rows_read: whole('Number of rows that were read. A sweep in JSON is one.'),
  rows_skipped: listOf(SkippedRow, 'Rows that were not read. At most 100 are listed.'),
})

export type ReceivedSweepsBody = Body<typeof ReceivedSweeps>

/** A number, or text with one. */
const numeric = (minimum: number, maximum: number) => {
  const description = `a number from ${minimum} to ${maximum}`
  const asText = Type.String({ maxLength: 40, pattern: '^\\s*[+-]?\\d+(\\.\\d*)?([eE][+-]?\\d+)?\\s*$', description })
  return Type.Union([Type.Number({ minimum, maximum, description }), asText], { description })
}

/** The names of sources, and what an error message says of them. */
export const sourceNames = {
  pattern: '^[^\\p{Cc}/]{1,64}$',
  description: 'text of 1 to 64 characters without slashes and control characters',
} as const

const sourceName = new RegExp(sourceNames.pattern, 'u')

export function isSourceName(text: string): boolean {
  return sourceName.test(text)
}

const NewSweep = body({
  source: Type.String(sourceNames),
  started_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z, default now' }),
  ),
  mhz_from: numeric(0.001, highestMhz),
  mhz_step: numeric(0.000_001, highestMhz),
  dbm: Type.Array(Type.Union([numeric(lowestDbm, highestDbm), Type.Null()]), {
    minItems: 1,
    maxItems: maxSweepPoints,
    description: `a list of 1 to ${maxSweepPoints} levels in dBm from ${lowestDbm} to ${highestDbm}, or null`,
  }),
})
export type NewSweepBody = Body<typeof NewSweep>

const KeptSweeps = body({
  name: Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', description: 'text of 1 to 255 characters' }),
})

const ResetSweeps = body({
  after_minutes: Type.Optional(
    orNull(
      Type.Integer({ ...resetMinutes, description: 'a whole number from 1 to 1440' }),
      'The maximum also begins again whenever this time has passed; `null` or absent: only on request.',
    ),
  ),
})

const BySource = Type.Object({ source: text('Name of the source.') })
const OfSource = query({ source: text('Name of the source of the rows.') })
const SweepList = query({
  levels: flag('False: `last`, `max` and `waterfall` are empty, for a list of the sources. True by default.'),
})
const receipt = { 404: ErrorResponse, 409: ErrorResponse }

export const sweepOperations = operationsOf({
  listSweeps: endpoint('GET', '/api/sweeps/', {
    ...about('Frequencies', 'The sweeps of all sources.'),
    querystring: SweepList,
    response: { 200: listOf(Sweeps, 'By source, the first one first.') },
  }),

  getSweeps: endpoint('GET', '/api/sweeps/:source/', {
    ...about('Frequencies', 'The sweeps of one source.'),
    params: BySource,
    response: { 200: Sweeps },
  }),

  pushSweep: endpoint('POST', '/api/sweeps/', {
    ...about(
      'Frequencies',
      'Adds one sweep. With `source` in the query, the body may be rows as for PUT, with the content type `text/csv` or none.',
    ),
    querystring: OfSource,
    body: Type.Optional(NewSweep),
    response: { 201: ReceivedSweeps, ...receipt },
  }),

  streamSweeps: endpoint('PUT', '/api/sweeps/', {
    ...about('Frequencies', 'Adds the rows of `rtl_power` or `hackrf_sweep` as they come, for as long as they come.'),
    querystring: OfSource,
    consumes: ['text/csv'],
    body: Type.Optional(binary('text/csv', 'Rows.')),
    response: { 200: ReceivedSweeps, ...receipt },
  }),

  keepSweeps: endpoint('POST', '/api/sweeps/:source/keep/', {
    ...about('Frequencies', 'Stores the highest levels of a source as a spectrum scan.'),
    params: BySource,
    body: KeptSweeps,
    response: { 201: Scan, 409: ErrorResponse },
  }),

  resetSweeps: endpoint('POST', '/api/sweeps/:source/reset/', {
    ...about('Frequencies', 'Begins the highest levels of a source again with its last sweep.'),
    params: BySource,
    body: Type.Optional(ResetSweeps),
    response: { 200: Sweeps },
  }),

  removeSweeps: endpoint('DELETE', '/api/sweeps/:source/', {
    ...about('Frequencies', 'Deletes the sweeps of a source.'),
    params: BySource,
    response: { 204: NoContent },
  }),
})
