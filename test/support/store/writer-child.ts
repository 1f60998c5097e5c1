/** Commits one batch of receivers after another until it is killed: writer-child.ts <url> <first batch> */

import { openDatabase } from '../../../src/storage/database.ts'
import { migrate } from '../../../src/storage/migrate.ts'
import { insertReceivers } from '../../../src/storage/receivers.ts'
import { nextRevision } from '../../../src/storage/revision.ts'
import { draft } from './draft.ts'

const [url = '', first = '0'] = process.argv.slice(2)
const db = await openDatabase({ url })
await migrate(db)
for (let batch = Number(first); ; batch += 1) {
  const drafts = Array.from({ length: 20 }, (_, index) => draft(batch * 20 + index, { name: `batch ${batch}` }))
  await db.transaction(async (tx) => insertReceivers(tx, await nextRevision(tx), drafts))
  process.stdout.write(`${batch}\n`)
}
