/** A thread of its own that moves what stands in SQLite's log to the database itself, and ends. Holds up no writer. */

import { workerData } from 'node:worker_threads'
import { DatabaseSync } from '@photostructure/sqlite'

/** Only a log of which nothing is left can be begun anew, and somebody may have written meanwhile. */
const maxPasses = 5

const database = new DatabaseSync(workerData as string, { timeout: 0 })
const pass = database.prepare('pragma wal_checkpoint(passive)')
for (let passes = 0; passes < maxPasses; passes += 1) {
  const { log, checkpointed } = pass.get() as { log: number; checkpointed: number }
  if (checkpointed === log) break
}
database.close()
