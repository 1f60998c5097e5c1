/** The conditions at a place: bands for wireless microphones by country, and TV stations around it. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  body,
  boundedText,
  choiceOf,
  coordinates,
  countryCode,
  listOf,
  localList,
  mhz,
  NoContent,
  named,
  oneOf,
  orNull,
  pagedOf,
  query,
  text,
  textOrNull,
  time,
  uploadedFile,
  whole,
} from './schema.ts'
import { bandStatuses } from './values.ts'

const maxBands = 200

const Band = Type.Object({
  from_mhz: text('MHz with three decimals.'),
  to_mhz: text('MHz with three decimals.'),
  status: oneOf(
    bandStatuses,
    '`free`: without a licence for each user, under the conditions of the source; `licensed`: with one; `temporary`: for single events; `forbidden`: used by others.',
  ),
  source: text('Where this is written.'),
})

export const CountryBands = named('CountryBands', 'The bands for wireless microphones in a country. No legal advice.', {
  country: text('Code of the country (ISO 3166-1 alpha-2).'),
  updated: textOrNull('The day of the table, or of the last edit; null: there is no table for the country.'),
  edited_by: textOrNull('Who edited it; null: it is the built-in table.'),
  sources: listOf(Type.String(), 'The sources of its bands.'),
  bands: listOf(Band, 'In ascending order.'),
})
export type CountryBandsBody = Body<typeof CountryBands>

const CountryQuery = Type.Object({ country: countryCode }, { additionalProperties: false })

const BandsChange = body({
  bands: Type.Array(
    body({
      from_mhz: mhz,
      to_mhz: mhz,
      status: choiceOf(bandStatuses),
      source: Type.Optional(boundedText(0, 1000)),
    }),
    { maxItems: maxBands, description: `a list of at most ${maxBands} bands with from_mhz, to_mhz and status` },
  ),
})
export type BandsChange = Body<typeof BandsChange>

const TvStation = named('TvStation', 'A TV station in the imported list.', {
  channel: text('TV channel.'),
  latitude: Type.Number({ description: 'Degrees; north is positive.' }),
  longitude: Type.Number({ description: 'Degrees; east is positive.' }),
  erp_kw: orNull(Type.Number(), 'Effective radiated power in kW; null: unknown.'),
  name: text('Name; may be empty.'),
  distance_km: orNull(Type.Number(), 'Distance from the requested place; null without one.'),
  imported_at: time('When the list was imported.'),
})

const ImportedStations = named('ImportedStations', 'The result of an import of TV stations.', {
  count: whole('Number of stations.'),
  imported_at: time('When the list was imported.'),
})

const StationQuery = query({
  ...coordinates,
  ...localList,
})

const bands = '/api/frequencies/bands/'
const stations = '/api/tv-stations/'

export const placeOperations = operationsOf({
  getBands: endpoint('GET', bands, {
    ...about('Frequencies', 'The bands for wireless microphones in a country. Nothing is refused because of them.'),
    querystring: CountryQuery,
    response: { 200: CountryBands },
  }),

  changeBands: endpoint('PUT', bands, {
    ...about('Frequencies', 'Replaces the bands of a country.'),
    querystring: CountryQuery,
    body: BandsChange,
    response: { 200: CountryBands },
  }),

  resetBands: endpoint('DELETE', bands, {
    ...about('Frequencies', 'Returns to the built-in bands of a country.'),
    querystring: CountryQuery,
    response: { 204: NoContent },
  }),

  importTvStations: endpoint('POST', stations, {
    ...about(
      'Frequencies',
      'Replaces the list of TV stations with a CSV file that has the columns channel, latitude, longitude, erp_kw and name.',
    ),
    consumes: ['multipart/form-data', 'text/csv'],
    body: body({ file: uploadedFile('The file.') }),
    response: { 201: ImportedStations, 413: ErrorResponse },
  }),

  listTvStations: endpoint('GET', stations, {
    ...about('Frequencies', 'The imported TV stations, by distance from a place.'),
    querystring: StationQuery,
    response: { 200: pagedOf(TvStation) },
  }),
})
