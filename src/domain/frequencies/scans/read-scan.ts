/** Reads a scan file. The content determines the format, whatever the name of the file. */

import { isAnritsu, readAnritsu } from './read-anritsu.ts'
import { isPowerRows, readPowerRows } from './read-power-rows.ts'
import { isRfExplorer, readRfExplorer } from './read-rf-explorer.ts'
import { type Gunzip, isRfe, readRfe } from './read-rfe.ts'
import { isSdb3, isXml, readSdb2, readSdb3 } from './read-sdb.ts'
import { readTable } from './read-table.ts'
import { maxScanFileBytes, type ReadScan, ScanFileError } from './scan.ts'
import { decodeLatin1, decodeText } from './scan-text.ts'

/** Throws a `ScanFileError` if the file cannot be read. */
export function readScan(bytes: Uint8Array, gunzip: Gunzip): ReadScan {
  if (bytes.length === 0) throw new ScanFileError('The file is empty.')
  if (bytes.length > maxScanFileBytes) throw new ScanFileError('The file is larger than 16 MiB.')
  if (isSdb3(bytes)) return readSdb3(bytes)
  if (isRfe(bytes)) return readRfe(bytes, gunzip)
  refuseByName(bytes)
  const text = decodeText(bytes)
  if (text.includes('\0')) throw new ScanFileError('The file is neither text nor a scan of a supported program.')
  const format = textFormats.find(({ detect }) => detect(text))
  return format === undefined ? readTable(text) : format.read(text)
}

interface TextFormat {
  detect(text: string): boolean
  read(text: string): ReadScan
}

/** In the order of detection. Everything else is a table. */
const textFormats: readonly TextFormat[] = [
  { detect: isXml, read: readSdb2 },
  { detect: isRfExplorer, read: readRfExplorer },
  { detect: isAnritsu, read: readAnritsu },
  { detect: isPowerRows, read: readPowerRows },
]

/** Beginnings of files whose format contains no levels in dBm or cannot be read. */
const unsupported: readonly (readonly [begins: RegExp, message: string])[] = [
  [/^PK[^ -~]{2}/, 'The file is a spreadsheet or a ZIP archive. Save the scan as CSV.'],
  [/^%PDF/, 'The file is a PDF document. Export the scan as CSV.'],
  [/^.{0,8}WiNRADiO/s, 'Sweep files of WiNRADiO contain no levels in dBm. Export the scan as CSV.'],
  [/^MeasResult/m, 'Measurement results (MeasResult) are not supported. Save the trace as CSV.'],
  [
    /^#[ \t]*[kMG]?Hz[ \t]+[SYZGH][ \t]+\w+[ \t]+R[ \t]/im,
    'Touchstone files contain reflections or transmissions, not levels. Export a spectrum as CSV.',
  ],
]

function refuseByName(bytes: Uint8Array): void {
  const start = decodeLatin1(bytes.subarray(0, 4096))
  const found = unsupported.find(([begins]) => begins.test(start))
  if (found !== undefined) throw new ScanFileError(found[1])
}
