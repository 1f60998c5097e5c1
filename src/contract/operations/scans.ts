/** Spectrum scans. */

import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, LocalList } from '../queries.ts'
import { NewScan } from '../requests.ts'
import { Scan, ScanLevels, UploadedScan } from '../resources/scans.ts'

export const listScans = endpoint('GET', '/api/scans/', {
  ...operation('Frequencies', 'listScans', 'Spectrum scans, without their levels.'),
  querystring: LocalList,
  response: { 200: pagedOf(Scan) },
})

export const getScan = endpoint('GET', '/api/scans/:id/', {
  ...operation('Frequencies', 'getScan', 'One spectrum scan, with its levels.'),
  params: ById,
  response: { 200: ScanLevels },
})

export const uploadScan = endpoint('POST', '/api/scans/', {
  ...operation(
    'Frequencies',
    'uploadScan',
    'Stores a spectrum scan: a file of Wireless Workbench, Wireless Systems Manager, RF Explorer, tinySA, rtl_power, a spectrum analyser or other programs, of at most 16 MiB.',
  ),
  consumes: ['multipart/form-data'],
  body: NewScan,
  response: { 201: UploadedScan, 409: ErrorResponse },
})

export const removeScan = endpoint('DELETE', '/api/scans/:id/', {
  ...operation('Frequencies', 'removeScan', 'Deletes a spectrum scan.'),
  params: ById,
  response: { 204: NoContent },
})
