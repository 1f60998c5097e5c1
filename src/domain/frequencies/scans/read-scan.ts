/** Reads a scan file. The content determines the format, whatever the name of the file. */

import { readCsv } from './read-csv.ts'
import { isRfExplorer, readRfExplorer } from './read-rf-explorer.ts'
import { isXml, readSdb2 } from './read-sdb2.ts'
import { isSdb3, readSdb3 } from './read-sdb3.ts'
import { isWsm, readWsm } from './read-wsm.ts'
import { maxScanFileBytes, type ReadScan, ScanFileError } from './scan.ts'
import { decodeText } from './scan-text.ts'

/** Throws a `ScanFileError` if the file cannot be read. */
export function readScan(bytes: Uint8Array): ReadScan {
  if (bytes.length === 0) throw new ScanFileError('The file is empty.')
  if (bytes.length > maxScanFileBytes) throw new ScanFileError('The file is larger than 16 MiB.')
  if (isSdb3(bytes)) return readSdb3(bytes)
  const text = decodeText(bytes)
  // Text in UTF-16 without a byte order mark, or a binary file.
  if (text.includes('\0')) throw new ScanFileError('The file is neither text nor a scan of Wireless Workbench.')
  if (isXml(text)) return readSdb2(text)
  if (isRfExplorer(text)) return readRfExplorer(text)
  if (isWsm(text)) return readWsm(text)
  return readCsv(text)
}
