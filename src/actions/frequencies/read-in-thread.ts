/** Reads an uploaded file in a thread of its own, so that a large or hostile file never delays live levels. */

import { RequestError } from '../../domain/errors.ts'
import { type ClientKey, FairQueue } from '../../platform/concurrency.ts'
import { startThread } from '../../platform/thread.ts'

/** Reading takes a few seconds for the largest files on a slow machine. */
const maxReadingMs = 60_000
const maxReadingMegabytes = 1024

/** Files are read one after the other, so that several large ones do not fill the memory. */
const reading = new FairQueue({
  atOnce: 1,
  places: 64,
  refuse: (share) =>
    new RequestError('scans_busy', { details: `at most ${share} of one client are read or wait at a time` }),
})

/** Why a file cannot be read. */
interface Fault {
  readonly fault: string
}

/** Runs the worker with the bytes, and returns the message that it posts. Its time and memory are limited. */
export function readInThread<Result>(client: ClientKey, worker: URL, bytes: Uint8Array): Promise<Result | Fault> {
  return reading.run(client, async () => {
    const thread = startThread(worker, {
      workerData: bytes,
      resourceLimits: { maxOldGenerationSizeMb: maxReadingMegabytes },
    })
    try {
      return await new Promise<Result | Fault>((resolve) => {
        const tooComplex = () => resolve({ fault: 'The file takes too much time or memory to read. Export it again.' })
        const timer = setTimeout(tooComplex, maxReadingMs)
        thread
          .once('message', resolve)
          .once('error', tooComplex)
          .once('exit', () => {
            clearTimeout(timer)
            tooComplex()
          })
      })
    } finally {
      await thread.terminate()
    }
  })
}
