/** Worker thread that checkpoints SQLite's write-ahead log into the database and ends. Does not block writers. */

import { workerData } from 'node:worker_threads'
import { DatabaseSync } from '@photostructure/sqlite'

/** The log restarts only after a complete checkpoint, and another process may write during one. */
const maxPasses = 5

const database = new DatabaseSync(workerData as string, { timeout: 0 })
const pass = database.prepare('pragma wal_checkpoint(passive)')
for (let passes = 0; passes < maxPasses; passes += 1) {
  const { log, checkpointed } = pass.get() as { log: number; checkpointed: number }
  if (checkpointed === log) break
}
database.close()
