/** Frequencies: carriers, their conflicts, and suggestions. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { guards, megahertz, mhzRanges, windowMhz } from './frequency-profiles.ts'
import {
  type Body,
  binary,
  body,
  boundedText,
  boundedWhole,
  choiceOf,
  distinctIds,
  flag,
  idOf,
  ignoredOfRecord,
  listOf,
  mhz,
  named,
  nullable,
  oneOf,
  orNull,
  query,
  recordId,
  siteInsteadOfLocal,
  text,
  textOrNull,
  time,
  trueOrFalse,
  version,
  whole,
  wholeOrNull,
  zone,
} from './schema.ts'
import {
  carrierFormats,
  conflictKinds,
  guardLevels,
  measuredStates,
  reasonKinds,
  regions,
  softKinds,
} from './values.ts'

const FrequencyConflict = named('FrequencyConflict', 'A conflict of one carrier.', {
  victim: text('Id of the carrier.'),
  kind: oneOf(
    conflictKinds,
    '`foreign`: RF although the transmitter is off; `outside_band`: outside the bands of the profile; `tv`: touches a TV channel in use; `occupied`: a scan shows another signal; `duplicate`: another carrier on the same frequency; `spacing`: another carrier is too close; `peak`: a peak of a scan is too close; the others are orders of intermodulation.',
  ),
  product_mhz: textOrNull('The product of intermodulation in MHz with three decimals; null for the other kinds.'),
  offset_khz: wholeOrNull(
    'Product minus victim, or the other carrier minus the victim, in kHz; null if there is neither.',
  ),
  guard_khz: wholeOrNull('A distance below this guard is a conflict; null if there is no distance.'),
  generators: listOf(
    Type.String(),
    'Ids of the carriers that cause it, in the order of the formula: A, B of 2A - B; A, B, C of A + B - C. `peak:` and MHz: a peak of a scan.',
  ),
  scan_id: Type.Optional(whole('The scan with the strongest reading; only of `occupied`.')),
  dbm: Type.Optional(Type.Number({ description: 'Its level in dBm; only of `occupied`.' })),
  mhz: Type.Optional(text('Its frequency in MHz with three decimals; only of `occupied`.')),
})
export type FrequencyConflictBody = Body<typeof FrequencyConflict>

export const conflicts = listOf(FrequencyConflict, 'At most 1000, the smallest offset first.')

const totals = Type.Object(
  Object.fromEntries(conflictKinds.map((kind) => [kind, whole(`Conflicts of kind \`${kind}\`.`)])) as {
    [Kind in (typeof conflictKinds)[number]]: Type.TInteger
  },
  { description: 'How many conflicts there are, including those that are not listed.' },
)

const victims = Type.Record(Type.String(), Type.Integer(), {
  description: 'The number of conflicts of each carrier that has any, by id, including those that are not listed.',
})

const measured = oneOf(
  measuredStates,
  '`occupied`: the scans show another signal at its frequency; `free`: they show none; `unmeasured`: they do not cover it.',
)

const FrequencyCarrier = named('FrequencyCarrier', 'The carrier of a channel or placeholder.', {
  id: text('`c` and the id of the channel, or `p` and the id of the placeholder.'),
  channel_id: Type.Optional(whole('Id of the channel; absent for a placeholder.')),
  placeholder_id: Type.Optional(whole('Id of the placeholder; absent for a channel.')),
  receiver_id: Type.Optional(whole('Id of the receiver; absent for a placeholder.')),
  slot: whole('Slot.'),
  name: text('Name.'),
  mhz: megahertz,
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
  tv_channel: textOrNull('TV channel of the region; null outside its TV channels.'),
  measured,
})
export type FrequencyCarrierBody = Body<typeof FrequencyCarrier>

const MeasuredTvChannel = named('MeasuredTvChannel', 'The measured power in a TV channel.', {
  channel: text('TV channel.'),
  dbm: Type.Number({ description: 'Power of the whole channel in dBm: the highest of the scans.' }),
  scan_id: whole('The scan with this power.'),
  coverage: Type.Number({ description: 'The share of the channel that the scan covers, from 0 to 1.' }),
  assumed_rbw_khz: Type.Number({
    description: 'The resolution bandwidth in kHz, which is assumed to equal the step of the scan.',
  }),
})

export const Frequencies = named('Frequencies', 'All carriers, and their conflicts.', {
  region: oneOf(regions, 'The setting `REGION`.'),
  carriers: listOf(FrequencyCarrier, 'By frequency.'),
  scan_ids: listOf(Type.Integer(), 'Ids of the scans that were considered.'),
  tv: listOf(MeasuredTvChannel, 'The TV channels that these scans cover.'),
  conflicts,
  totals,
  victims,
  checked_at: time('When the conflicts were determined.'),
})
export type FrequenciesBody = Body<typeof Frequencies>

const ChannelNoise = named('ChannelNoise', 'The noise on a channel: the RF level while its transmitter was off.', {
  id: text('Id of the carrier: `c` and the id of the channel.'),
  channel_id: whole('Id of the channel.'),
  mhz: text('The current frequency in MHz.'),
  seconds: whole('Seconds for which the noise was measured since the channel was tuned to it.'),
  median_dbm: whole('The median of the highest level of each step, in dBm.'),
  highest_dbm: whole('The highest level in dBm.'),
  highest_at: time('Start of the last step with the highest level.'),
  is_high: flag('Whether the highest level is over `RF_NOISE_DBM`.'),
})

export const FrequencyNoise = named('FrequencyNoise', 'The noise on the channels.', {
  from: time('Start of the range.'),
  to: time('End of the range.'),
  step_seconds: whole('Length of a step in seconds.'),
  channels: listOf(ChannelNoise, 'Omits channels without a measurement.'),
})
export type FrequencyNoiseBody = Body<typeof FrequencyNoise>

export const FrequencyCheck = named('FrequencyCheck', 'Conflicts of the carriers in the request.', {
  conflicts,
  totals,
  victims,
  carriers: listOf(Type.Object({ id: text('Id of the carrier.'), measured }), 'In the order of the request.'),
})
export type FrequencyCheckBody = Body<typeof FrequencyCheck>

const group = Type.Union([boundedText(1, 64), recordId], {
  description: 'the id of a group, or its name with 1 to 64 characters',
})

/** The properties of the request that its carriers have. */
const requested = {
  profile: text('Id of the profile.'),
  band: Type.Optional(text('Band of the request; absent if it has none.')),
  zone: Type.Optional(text('Zone of the request; absent if it has none.')),
  groups: Type.Optional(listOf(group, 'Groups of the request; absent if it has none.')),
}

const FrequencySuggestion = named('FrequencySuggestion', 'Frequencies that can be used together.', {
  carriers: listOf(
    Type.Object({
      ...requested,
      mhz: megahertz,
      soft: listOf(
        oneOf(conflictKinds, 'Kind.'),
        'The kinds of `soft` of which the carrier has conflicts, or causes them on a carrier to keep.',
      ),
      measured,
    }),
    'The new carriers, in the order of the request, then by frequency.',
  ),
  spares: listOf(
    Type.Object({ profile: requested.profile, band: requested.band, mhz: megahertz }),
    'Frequencies that are free against all carriers and the other spares, whatever their zones and groups.',
  ),
  unplaced: listOf(
    Type.Object({
      ...requested,
      count: whole('Number of missing carriers.'),
      reason: Type.Object({
        kind: oneOf(
          reasonKinds,
          'The kind of conflict that blocks most frequencies; `time`: the search ended before any was tried.',
        ),
        by: listOf(
          Type.String(),
          'The carriers involved, those that block most first: ids of `keep`, `new:` and the MHz of a new carrier, `peak:` and the MHz of a peak, or `scan:` and the id of a scan.',
        ),
      }),
    }),
    'What did not fit.',
  ),
  timed_out: Type.Optional(Type.Literal(true, { description: 'Present if `timeout_ms` ended the search.' })),
})

export type FrequencySuggestionBody = Body<typeof FrequencySuggestion>

const level = Type.Optional(choiceOf(guardLevels))

const dbm = Type.Number({ minimum: -250, maximum: 100, description: 'a number of dBm from -250 to 100' })

export const measuredFields = {
  scan_ids: distinctIds,
  exclude_above_dbm: Type.Optional(dbm),
  peak_above_dbm: Type.Optional(dbm),
  peak_spacing_khz: Type.Optional(boundedWhole(0, 100_000)),
  peak_products: Type.Optional(trueOrFalse),
  max_age_hours: Type.Optional(
    nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }), 'a number of hours above 0, at most 1000000'),
  ),
}

/** Absent fields have their default. */
export const MeasuredRequest = body({ ...measuredFields, version: ignoredOfRecord.version })

const MeasuredScans = named(
  'MeasuredScans',
  'The scans that are considered by default, and the limits for their levels.',
  {
    scan_ids: listOf(
      Type.Integer(),
      'Ids of the scans; the highest level of all of them counts. At first, there are none.',
    ),
    exclude_above_dbm: Type.Number({ description: 'A carrier with a reading at or above this level is `occupied`.' }),
    peak_above_dbm: Type.Number({ description: 'Adjacent readings at or above this level are one peak.' }),
    peak_spacing_khz: whole('A carrier that is closer to a peak has a conflict of the kind `peak`.'),
    peak_products: flag(
      'Whether the 40 strongest peaks generate third-order products, with half the spacing as guard.',
    ),
    max_age_hours: orNull(Type.Number(), 'Older scans are ignored; null: all are considered.'),
    version,
  },
)
export type MeasuredBody = Body<typeof MeasuredScans>

/** Unknown bands have no effect. */
const band = boundedText(1, 64)

const groups = Type.Array(group, { maxItems: 20, description: 'a list of at most 20 groups' })

const neverOnTogether = Type.Array(
  Type.Array(group, {
    minItems: 2,
    maxItems: 100,
    uniqueItems: true,
    description: 'a list of 2 to 100 different groups',
  }),
  { maxItems: 100, description: 'a list of at most 100 lists of groups' },
)

/** Either a profile or guards; with neither, the generic profile. A window is given together with guards. */
const checkedCarriers = Type.Array(
  body({
    id: boundedText(1, 255),
    mhz,
    profile: Type.Optional(boundedText(1, 64)),
    guards: Type.Optional(guards),
    window_mhz: Type.Optional(windowMhz),
    zone: Type.Optional(zone),
    band: Type.Optional(band),
    receiver_id: Type.Optional(recordId),
    second_mhz: Type.Optional(mhz),
    foreign: Type.Optional(trueOrFalse),
    groups: Type.Optional(groups),
    /** Has no effect, because no carrier of a request is moved. */
    locked: Type.Optional(trueOrFalse),
  }),
  { maxItems: 1000, description: 'a list of at most 1000 carriers' },
)

export const FrequencyCheckRequest = body({
  carriers: checkedCarriers,
  victims: Type.Optional(
    Type.Array(Type.String(), { maxItems: 1000, description: 'a list of at most 1000 ids of carriers' }),
  ),
  never_on_together: Type.Optional(neverOnTogether),
  measured: Type.Optional(body(measuredFields)),
  level,
})

export const FrequencySuggestRequest = body({
  wanted: Type.Array(
    body({
      profile: boundedText(1, 64),
      band: Type.Optional(band),
      ranges: Type.Optional(mhzRanges(100)),
      candidates: Type.Optional(
        Type.Array(mhz, { minItems: 1, maxItems: 2000, description: 'a list of 1 to 2000 MHz' }),
      ),
      count: boundedWhole(1, 1000),
      priority: Type.Optional(boundedWhole(-1_000_000_000, 1_000_000_000)),
      groups: Type.Optional(groups),
      zone: Type.Optional(zone),
      spares: Type.Optional(boundedWhole(0, 1000)),
    }),
    { maxItems: 100, description: 'a list of at most 100 objects with profile, count, and ranges or candidates' },
  ),
  keep: Type.Optional(checkedCarriers),
  avoid: Type.Optional(mhzRanges(1000)),
  never_on_together: Type.Optional(neverOnTogether),
  soft: Type.Optional(
    Type.Array(choiceOf(softKinds), { uniqueItems: true, description: `a list of ${softKinds.join(', ')}` }),
  ),
  measured: Type.Optional(body(measuredFields)),
  level,
  timeout_ms: Type.Optional(boundedWhole(100, 30_000)),
})

const frequencyFilters = {
  group: idOf('Id of a group, to return only its carriers and their conflicts; others still count as generators.'),
  only_on: flag('Only transmitters that are on.'),
  site: siteInsteadOfLocal,
}

const FrequencyQuery = query({
  level: oneOf(guardLevels, 'Which guards of the profiles apply; default `standard`.'),
  ...frequencyFilters,
  measured: Type.String({
    pattern: '^(default|off|\\d{1,15}(,\\d{1,15})*)$',
    description:
      '`default`: the scans that were chosen as default; `off`: none; or ids of scans, separated by commas, with the default limits of the installation. Default `default`.',
  }),
})

const FrequencyNoiseQuery = query({
  hours: Type.Integer({ minimum: 1, maximum: 168, description: 'How many hours back; default 24.' }),
  site: text('Code of a site. Noise is listed from what this installation records, so only `local` returns any.'),
})

export const exportFormats = oneOf(
  carrierFormats,
  '`list` and `wwb`: only MHz, one per line, for Wireless Workbench; `wsm`: for Wireless Systems Manager, in kHz; default `csv`.',
)

const FrequencyExportQuery = query({ format: exportFormats, ...frequencyFilters })

export const frequencyOperations = operationsOf({
  getFrequencies: endpoint('GET', '/api/frequencies/', {
    ...about('Frequencies', 'Carriers of channels and placeholders, and their conflicts.'),
    querystring: FrequencyQuery,
    response: { 200: Frequencies, 404: ErrorResponse, 409: ErrorResponse },
  }),

  getMeasuredScans: endpoint('GET', '/api/frequencies/measured/', {
    ...about('Frequencies', 'The scans that are considered by default, and the limits for their levels.'),
    response: { 200: MeasuredScans },
  }),

  chooseMeasuredScans: endpoint('PUT', '/api/frequencies/measured/', {
    ...about(
      'Frequencies',
      'Chooses the scans that are considered by default. Absent limits return to their defaults.',
    ),
    body: MeasuredRequest,
    response: { 200: MeasuredScans, 412: ErrorResponse },
  }),

  getFrequencyNoise: endpoint('GET', '/api/frequencies/noise/', {
    ...about(
      'Frequencies',
      'The noise that was recorded on each channel while its transmitter was off, since it was tuned.',
    ),
    querystring: FrequencyNoiseQuery,
    response: { 200: FrequencyNoise },
  }),

  checkFrequencies: endpoint('POST', '/api/frequencies/check/', {
    ...about('Frequencies', 'Returns the conflicts of carriers, and stores nothing.'),
    body: FrequencyCheckRequest,
    response: { 200: FrequencyCheck },
  }),

  suggestFrequencies: endpoint('POST', '/api/frequencies/suggest/', {
    ...about('Frequencies', 'Suggests frequencies that can be used together; the same request has the same response.'),
    body: FrequencySuggestRequest,
    response: { 200: FrequencySuggestion },
  }),

  exportFrequencies: endpoint('GET', '/api/frequencies/export.csv', {
    ...about('Frequencies', 'Carriers as a file for other programs.'),
    querystring: FrequencyExportQuery,
    response: { 200: binary('text/csv', 'One row for each carrier.'), 404: ErrorResponse },
  }),
})
