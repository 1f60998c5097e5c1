/** Spectrum scans: measured RF levels over a range of frequencies, uploaded as a file. */

import Type from 'typebox'
import { maxOffsetDb, maxScanFiles } from '../domain/frequencies/scans/scan.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  flag,
  id,
  LocalList,
  listOf,
  NoContent,
  named,
  oneOf,
  orNull,
  pagedOf,
  text,
  textOrNull,
  time,
  timeOrNull,
  uploadedFile,
  version,
  whole,
} from './schema.ts'
import { scanFormats } from './values.ts'

const megahertz = (description: string) => text(`${description} in MHz, with three decimal places.`)

export const Scan = named('Scan', 'A spectrum scan.', {
  id,
  name: text('Name of the uploaded file; of the first one and the number of the others, if there were several.'),
  format: oneOf(
    scanFormats,
    'Format of the file: `csv`: a table of frequencies and levels, from Wireless Workbench, RF Explorer, tinySA or others; `rf_explorer`: sweeps of RF Explorer; `wsm`: Wireless Systems Manager; `sdb2` and `sdb3`: Wireless Workbench; `rtl_power` and `hackrf_sweep`: rows of these programs; `rohde_schwarz`, `keysight` and `anritsu`: traces of spectrum analysers; `sweeps`: the highest levels of sweeps that an analyser pushed; `mixed`: several files of different formats.',
  ),
  points: whole('Number of measured frequencies.'),
  from_mhz: megahertz('Lowest measured frequency'),
  to_mhz: megahertz('Highest measured frequency'),
  step_khz: orNull(
    Type.Number(),
    'Distance of neighbouring frequencies in kHz: the median. `null` for scans of version 1.0.',
  ),
  unit: textOrNull('Unit of the levels in the file, as the file names it. `null` for scans of version 1.0.'),
  calibrated: flag('`false` if the levels are relative, as those of `rtl_power` and `hackrf_sweep`.'),
  taken_at: timeOrNull('When the scan was made, if the file says so.'),
  uploaded_at: time('When the file was uploaded.'),
  by: text('Name of the user or token, or `local`.'),
  version,
})
export type ScanBody = Body<typeof Scan>

export const SkippedRow = named('SkippedRow', 'A row of a file that was not read.', {
  file: Type.Optional(text('Name of the file, if several were uploaded.')),
  line: whole('Line in the file, or number of the sweep in a binary file.'),
  why: text('The reason.'),
})

export const UploadedScan = named('UploadedScan', 'A spectrum scan, and a summary of the rows read.', {
  ...Scan.properties,
  rows_read: whole('Number of rows whose levels were read: lines, sweeps, or levels in XML.'),
  rows_skipped: listOf(
    SkippedRow,
    'Rows that were not read. At most 1,000 are listed; one more item says how many follow.',
  ),
})
export type UploadedScanBody = Body<typeof UploadedScan>

export const ScanLevels = named('ScanLevels', 'A spectrum scan with its levels.', {
  ...Scan.properties,
  mhz: listOf(megahertz('Frequency'), 'The measured frequencies, in ascending order.'),
  dbm: listOf(
    Type.Number({ description: 'RF level in dBm, with at most one decimal place.' }),
    'The level at each frequency, in the same order: the highest of all sweeps, with `offset_db` added.',
  ),
})
export type ScanLevelsBody = Body<typeof ScanLevels>

/** The fields of a form. The content of each file determines its format. */
const NewScan = body({
  file: Type.Array(uploadedFile('The scan, or a part of it.'), {
    minItems: 1,
    maxItems: maxScanFiles,
    description: `1 to ${maxScanFiles} files`,
  }),
  offset_db: Type.Optional(
    Type.Number({
      minimum: -maxOffsetDb,
      maximum: maxOffsetDb,
      description: `a number of decibels from -${maxOffsetDb} to ${maxOffsetDb}, which is added to all levels`,
    }),
  ),
})

export const scanOperations = operationsOf({
  listScans: endpoint('GET', '/api/scans/', {
    ...about('Frequencies', 'Spectrum scans, without their levels.'),
    querystring: LocalList,
    response: { 200: pagedOf(Scan) },
  }),

  getScan: endpoint('GET', '/api/scans/:id/', {
    ...about('Frequencies', 'One spectrum scan, with its levels.'),
    params: ById,
    response: { 200: ScanLevels },
  }),

  uploadScan: endpoint('POST', '/api/scans/', {
    ...about(
      'Frequencies',
      'Stores a spectrum scan: a file of Wireless Workbench, Wireless Systems Manager, RF Explorer, tinySA, rtl_power, a spectrum analyser or other programs, of at most 16 MiB. Several files become one scan with the highest level at each frequency.',
    ),
    consumes: ['multipart/form-data'],
    body: NewScan,
    response: { 201: UploadedScan, 409: ErrorResponse },
  }),

  removeScan: endpoint('DELETE', '/api/scans/:id/', {
    ...about('Frequencies', 'Deletes a spectrum scan.'),
    params: ById,
    response: { 204: NoContent, 412: ErrorResponse },
  }),
})
