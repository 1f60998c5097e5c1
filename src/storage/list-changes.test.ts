/** Which transactions increment the counters of changes to the lists and the cast, on both engines. */

import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { draft } from '../../test/support/store/draft.ts'
import { insertDrafts, openStore } from '../../test/support/store/helpers.ts'
import type { Database, Tx } from './database.ts'
import { countedTables } from './list-changes.ts'
import { removeReceiver, saveReadings } from './receivers.ts'
import { forgetIncident } from './repair.ts'
import { currentRevision, nextReadingRevision, nextRevision } from './revision.ts'
import { saveMaxHistoryBytes } from './settings.ts'

const counters = ['lists', 'cast'] as const
type Counter = (typeof counters)[number]

const counterOf = (db: Database, counter: Counter) => currentRevision(db.read, counter)

/** Returns by how much the transaction increments the counter. */
async function increaseBy(
  db: Database,
  work: (tx: Tx) => Promise<unknown>,
  counter: Counter = 'lists',
): Promise<number> {
  const before = await counterOf(db, counter)
  await db.transaction(async (tx) => {
    await work(tx)
  })
  return (await counterOf(db, counter)) - before
}

describe('the tables of the lists and the cast', () => {
  it.each(counters)('are changed by deletions from others only where these are counted too (%s)', async (counter) => {
    const db = await openStore('sqlite')
    const { tables, cascading } = countedTables[counter]
    const found = new Set<string>(tables)
    // A set also iterates over what is added meanwhile.
    for (const table of found) {
      const { rows } = await sql<{ parent: string }>`
        select "table" as parent from pragma_foreign_key_list(${table}) where on_delete <> 'NO ACTION'`.execute(db.read)
      for (const { parent } of rows) found.add(parent)
    }
    expect([...found].sort()).toEqual([...tables, ...cascading].sort())
  })
})

describe.each(engines)('a transaction (%s)', (engine) => {
  it('that changes a table of the lists is counted once, however the statements are written', async () => {
    const db = await openStore(engine)
    for (const counter of counters) {
      for (const table of countedTables[counter].tables) {
        const deletion = ({ query }: Tx) => query.deleteFrom(table).execute()
        const nested = sql`with none as (select 0) delete from ${sql.table(table)} where 1 = 0`
        expect([table, await increaseBy(db, deletion, counter)]).toEqual([table, 1])
        expect([table, await increaseBy(db, ({ query }) => nested.execute(query), counter)]).toEqual([table, 1])
      }
    }
    const hall = {
      name: 'Hall',
      description: '',
      parent: null,
      zone: null,
      country: null,
      latitude: null,
      longitude: null,
      version: 1,
    }
    const twice = async ({ query }: Tx) => {
      await query.insertInto('locations').values(hall).execute()
      await query.updateTable('locations').set({ name: 'Stage' }).execute()
    }
    expect(await increaseBy(db, twice)).toBe(1)
    expect(await increaseBy(db, (tx) => saveMaxHistoryBytes(tx, 1))).toBe(1)
    expect(await increaseBy(db, forgetIncident)).toBe(1)
  })

  it('that stores readings or other equipment is not counted, and one that is rolled back neither', async () => {
    const db = await openStore(engine)
    const counts = () => Promise.all(counters.map((counter) => counterOf(db, counter)))
    const before = await counts()
    const [receiver] = await insertDrafts(db, [draft(1)])
    if (receiver === undefined) throw new Error('nothing was inserted')
    await db.transaction(async (tx) => {
      const { readings } = await nextReadingRevision(tx, receiver.manufacturer)
      await saveReadings(tx, readings, [receiver], 'reading_revision')
    })
    const rolledBack = db.transaction(async ({ query }) => {
      await query.deleteFrom('groups').execute()
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    expect(await counts()).toEqual(before)
  })

  it('that removes a receiver is counted, because this ends assignments', async () => {
    const db = await openStore(engine)
    const [receiver] = await insertDrafts(db, [draft(1)])
    if (receiver === undefined) throw new Error('nothing was inserted')
    const remove = async (tx: Tx) => removeReceiver(tx, await nextRevision(tx), receiver.id)
    expect(await increaseBy(db, remove, 'cast')).toBe(1)
  })
})
