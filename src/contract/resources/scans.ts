/** Spectrum scans: measured RF levels over a range of frequencies, uploaded as a file. */

import Type from 'typebox'
import { type Body, listOf, named, oneOf, text, time, timeOrNull, whole } from '../described.ts'
import { scanFormats } from '../values.ts'
import { id } from './common.ts'

const megahertz = (description: string) => text(`${description} in MHz, with three decimal places.`)

export const Scan = named('Scan', 'A spectrum scan.', {
  id,
  name: text('Name of the uploaded file.'),
  format: oneOf(
    [...scanFormats],
    'Format of the file: `csv`: a frequency and a level in each line, from Wireless Workbench, RF Explorer, tinySA or others; `rf_explorer`: sweeps of RF Explorer; `wsm`: Wireless Systems Manager; `sdb2` and `sdb3`: Wireless Workbench.',
  ),
  points: whole('Number of measured frequencies.'),
  from_mhz: megahertz('Lowest measured frequency'),
  to_mhz: megahertz('Highest measured frequency'),
  taken_at: timeOrNull('When the scan was made, if the file says so.'),
  uploaded_at: time('When the file was uploaded.'),
  by: text('Name of the user or token, or `local`.'),
})
export type ScanBody = Body<typeof Scan>

export const ScanLevels = named('ScanLevels', 'A spectrum scan with its levels.', {
  ...Scan.properties,
  mhz: listOf(megahertz('Frequency'), 'The measured frequencies, in ascending order.'),
  dbm: listOf(
    Type.Number({ description: 'RF level in dBm, with at most one decimal place.' }),
    'The level at each frequency, in the same order: the highest of all sweeps, with `offset_db` added.',
  ),
})
export type ScanLevelsBody = Body<typeof ScanLevels>
