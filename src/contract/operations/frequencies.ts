/** Frequencies: conflicts, suggestions, export, and profiles of equipment. */

import { binary, NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ByProfile, FrequencyExportQuery, FrequencyNoiseQuery, FrequencyQuery, LocalList } from '../queries.ts'
import {
  FrequencyCheckRequest,
  FrequencyProfileChange,
  FrequencySuggestRequest,
  NewFrequencyProfile,
} from '../requests.ts'
import {
  Frequencies,
  FrequencyCheck,
  FrequencyNoise,
  FrequencyProfile,
  FrequencySuggestion,
} from '../resources/frequencies.ts'

const profiles = '/api/frequencies/profiles/'

export const getFrequencies = endpoint('GET', '/api/frequencies/', {
  ...operation('Frequencies', 'getFrequencies', 'Carriers of channels and placeholders, and their conflicts.'),
  querystring: FrequencyQuery,
  response: { 200: Frequencies, 404: ErrorResponse, 409: ErrorResponse },
})

export const getFrequencyNoise = endpoint('GET', '/api/frequencies/noise/', {
  ...operation(
    'Frequencies',
    'getFrequencyNoise',
    'The noise that was recorded on each channel while its transmitter was off, since it was tuned.',
  ),
  querystring: FrequencyNoiseQuery,
  response: { 200: FrequencyNoise },
})

export const checkFrequencies = endpoint('POST', '/api/frequencies/check/', {
  ...operation('Frequencies', 'checkFrequencies', 'Returns the conflicts of carriers, and stores nothing.'),
  body: FrequencyCheckRequest,
  response: { 200: FrequencyCheck },
})

export const suggestFrequencies = endpoint('POST', '/api/frequencies/suggest/', {
  ...operation(
    'Frequencies',
    'suggestFrequencies',
    'Suggests frequencies that can be used together; the same request has the same response.',
  ),
  body: FrequencySuggestRequest,
  response: { 200: FrequencySuggestion },
})

export const exportFrequencies = endpoint('GET', '/api/frequencies/export.csv', {
  ...operation('Frequencies', 'exportFrequencies', 'Carriers as a file for other programs.'),
  querystring: FrequencyExportQuery,
  response: { 200: binary('text/csv', 'One row for each carrier.'), 404: ErrorResponse },
})

export const listFrequencyProfiles = endpoint('GET', profiles, {
  ...operation('Frequencies', 'listFrequencyProfiles', 'What each kind of equipment needs to be free of interference.'),
  querystring: LocalList,
  response: { 200: pagedOf(FrequencyProfile) },
})

export const getFrequencyProfile = endpoint('GET', `${profiles}:id/`, {
  ...operation('Frequencies', 'getFrequencyProfile', 'One profile.'),
  params: ByProfile,
  response: { 200: FrequencyProfile },
})

export const createFrequencyProfile = endpoint('POST', profiles, {
  ...operation('Frequencies', 'createFrequencyProfile', 'Adds a profile. Levels that are absent equal `standard`.'),
  body: NewFrequencyProfile,
  response: { 201: FrequencyProfile, 409: ErrorResponse },
})

export const changeFrequencyProfile = endpoint('PATCH', `${profiles}:id/`, {
  ...operation('Frequencies', 'changeFrequencyProfile', 'Changes the given fields and levels of a profile.'),
  params: ByProfile,
  body: FrequencyProfileChange,
  response: { 200: FrequencyProfile },
})

export const removeFrequencyProfile = endpoint('DELETE', `${profiles}:id/`, {
  ...operation(
    'Frequencies',
    'removeFrequencyProfile',
    'Removes a profile; takes back the changes of a built-in one. Its channels use the profile of their model again.',
  ),
  params: ByProfile,
  response: { 204: NoContent, 409: ErrorResponse },
})
