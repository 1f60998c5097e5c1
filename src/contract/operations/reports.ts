/** Reports of shows, and the crew sheet. */

import { binary } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, CrewSheetQuery } from '../queries.ts'
import { CrewSheet, ShowReport } from '../resources/reports.ts'

export const getShowReport = endpoint('GET', '/api/shows/:id/report/', {
  ...operation('Shows', 'getShowReport', 'What happened during a show that is running or has ended.'),
  params: ById,
  response: { 200: ShowReport, 409: ErrorResponse },
})

export const getShowReportCsv = endpoint('GET', '/api/shows/:id/report.csv', {
  ...operation('Shows', 'getShowReportCsv', 'The report of a show as CSV.'),
  params: ById,
  response: { 200: binary('text/csv', 'One row for each channel.'), 409: ErrorResponse },
})

export const getCrewSheet = endpoint('GET', '/api/crew-sheet/', {
  ...operation('Shows', 'getCrewSheet', 'Who wears what, by slot.'),
  querystring: CrewSheetQuery,
  response: { 200: CrewSheet, 404: ErrorResponse },
})

export const getCrewSheetCsv = endpoint('GET', '/api/crew-sheet.csv', {
  ...operation('Shows', 'getCrewSheetCsv', 'Who wears what, by slot, as CSV.'),
  querystring: CrewSheetQuery,
  response: { 200: binary('text/csv', 'One row for each channel and placeholder.'), 404: ErrorResponse },
})
