/** The line check of a show. */

import { pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, CheckQuery } from '../queries.ts'
import { CheckBegin, NewCheck } from '../requests.ts'
import { ChannelCheck, Check } from '../resources/checks.ts'

export const listChecks = endpoint('GET', '/api/shows/:id/checks/', {
  ...operation('Shows', 'listChecks', 'The line check of each channel of a show, by slot.'),
  params: ById,
  querystring: CheckQuery,
  response: { 200: pagedOf(ChannelCheck) },
})

export const createCheck = endpoint('POST', '/api/shows/:id/checks/', {
  ...operation('Shows', 'createCheck', 'Enters the result of the line check of a channel.'),
  params: ById,
  body: NewCheck,
  response: { 201: Check, 409: ErrorResponse },
})

export const beginCheck = endpoint('POST', '/api/shows/:id/checks/begin', {
  ...operation(
    'Shows',
    'beginCheck',
    'Begins the check of a channel: its lowest RF level and its dropouts count from now.',
  ),
  params: ById,
  body: CheckBegin,
  response: { 200: Check, 409: ErrorResponse },
})
