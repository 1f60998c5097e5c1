/** Worker thread that reads one coordination file and ends, so that a large file never delays live levels. */

import { parentPort, workerData } from 'node:worker_threads'
import { CoordinationFileError } from '../../domain/frequencies/coordination/coordination.ts'
import { type ReadFile, readCoordinationFile } from '../../domain/frequencies/coordination/read-coordination.ts'

export type CoordinationFileResult = ReadFile | { readonly fault: string }

parentPort?.postMessage(read(workerData as Uint8Array))

function read(bytes: Uint8Array): CoordinationFileResult {
  try {
    return readCoordinationFile(decode(bytes))
  } catch (error) {
    if (error instanceof CoordinationFileError) return { fault: error.message }
    throw error
  }
}

/** Workbench writes UTF-8; reports that a spreadsheet has saved may be UTF-16 or Windows-1252. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
