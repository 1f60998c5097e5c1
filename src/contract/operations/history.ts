/** Recorded levels, events and markers. */

import { binary, NoContent } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, EventCsvQuery, EventQuery, HistoryCsvQuery, HistoryQuery, HistoryTimeQuery } from '../queries.ts'
import { MarkerChange, NewMarker } from '../requests.ts'
import { Event, EventList } from '../resources/events.ts'
import { DataAtTime, HistoryLevels } from '../resources/history.ts'

export const getHistoryLevels = endpoint('GET', '/api/history/levels/', {
  ...operation('History', 'getHistoryLevels', 'Recorded levels of channels.'),
  querystring: HistoryQuery,
  response: { 200: HistoryLevels },
})

export const getHistoryLevelsCsv = endpoint('GET', '/api/history/levels.csv', {
  ...operation('History', 'getHistoryLevelsCsv', 'Recorded levels of channels as CSV.'),
  querystring: HistoryCsvQuery,
  response: { 200: binary('text/csv', 'One row for each step of each channel.') },
})

export const getHistoryAt = endpoint('GET', '/api/history/at/', {
  ...operation('History', 'getHistoryAt', 'What was shown at an earlier second.'),
  querystring: HistoryTimeQuery,
  response: { 200: DataAtTime, 404: ErrorResponse },
})

export const listEvents = endpoint('GET', '/api/events/', {
  ...operation('History', 'listEvents', 'What has happened, newest first.'),
  querystring: EventQuery,
  response: { 200: EventList },
})

export const getEventsCsv = endpoint('GET', '/api/events.csv', {
  ...operation('History', 'getEventsCsv', 'Events as CSV.'),
  querystring: EventCsvQuery,
  response: { 200: binary('text/csv', 'One row for each event.') },
})

export const createMarker = endpoint('POST', '/api/markers/', {
  ...operation('History', 'createMarker', 'Adds a marker at a moment or over a range.'),
  body: NewMarker,
  response: { 201: Event },
})

export const changeMarker = endpoint('PATCH', '/api/markers/:id/', {
  ...operation('History', 'changeMarker', 'Changes the given fields of a marker.'),
  params: ById,
  body: MarkerChange,
  response: { 200: Event, 409: ErrorResponse },
})

export const removeMarker = endpoint('DELETE', '/api/markers/:id/', {
  ...operation('History', 'removeMarker', 'Removes a marker.'),
  params: ById,
  response: { 204: NoContent, 409: ErrorResponse },
})
