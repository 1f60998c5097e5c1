/** Worker thread that checkpoints SQLite's write-ahead log into the database and ends. Does not block writers. */

import { workerData } from 'node:worker_threads'
import { DatabaseSync } from '@photostructure/sqlite'

/**
 * SQLite reuses the log from its start only after a complete checkpoint. If something is written during a pass, the
 * pass may be incomplete and is then repeated.
 */
const maxPasses = 5

const database = new DatabaseSync(workerData as string, { timeout: 0 })
const pass = database.prepare('pragma wal_checkpoint(passive)')
for (let passes = 0; passes < maxPasses; passes += 1) {
  const { log, checkpointed } = pass.get() as { log: number; checkpointed: number }
  if (checkpointed === log) break
}
database.close()
