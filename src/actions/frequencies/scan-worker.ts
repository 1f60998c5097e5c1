/** Worker thread that reads one scan file and ends, so that a large file never delays live levels. */

import { parentPort, workerData } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import { readScan } from '../../domain/frequencies/scans/read-scan.ts'
import { ScanFileError, type ScanFileResult } from '../../domain/frequencies/scans/scan.ts'

parentPort?.postMessage(read(workerData as Uint8Array))

function read(bytes: Uint8Array): ScanFileResult {
  try {
    return { scan: readScan(bytes, (data, maxOutputLength) => gunzipSync(data, { maxOutputLength })) }
  } catch (error) {
    if (error instanceof ScanFileError) return { fault: error.message }
    throw error
  }
}
