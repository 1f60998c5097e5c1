/** Shows: performances and rehearsals. */

import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, Paging } from '../queries.ts'
import { NewShow, ShowChange } from '../requests.ts'
import { Show } from '../resources/shows.ts'

export const listShows = endpoint('GET', '/api/shows/', {
  ...operation('Shows', 'listShows', 'Planned, running and ended shows.'),
  querystring: Paging,
  response: { 200: pagedOf(Show) },
})

export const getShow = endpoint('GET', '/api/shows/:id/', {
  ...operation('Shows', 'getShow', 'One show.'),
  params: ById,
  response: { 200: Show },
})

export const createShow = endpoint('POST', '/api/shows/', {
  ...operation('Shows', 'createShow', 'Plans a show.'),
  body: NewShow,
  response: { 201: Show },
})

export const changeShow = endpoint('PATCH', '/api/shows/:id/', {
  ...operation('Shows', 'changeShow', 'Changes the given fields of a show.'),
  params: ById,
  body: ShowChange,
  response: { 200: Show, 409: ErrorResponse },
})

export const removeShow = endpoint('DELETE', '/api/shows/:id/', {
  ...operation('Shows', 'removeShow', 'Removes a show that is not running.'),
  params: ById,
  response: { 204: NoContent, 409: ErrorResponse },
})

export const startShow = endpoint('POST', '/api/shows/:id/start', {
  ...operation('Shows', 'startShow', 'Starts a planned show.'),
  params: ById,
  response: { 200: Show, 409: ErrorResponse },
})

export const endShow = endpoint('POST', '/api/shows/:id/end', {
  ...operation('Shows', 'endShow', 'Ends a running show.'),
  params: ById,
  response: { 200: Show, 409: ErrorResponse },
})
