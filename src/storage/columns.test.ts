/** The values that columns contain for unusual input, the same on both engines. */

import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { executeForRows } from './rows.ts'

const numbers = [
  [1_700_000_000_000.37, 1_700_000_000_000],
  [6.5, 7],
  [-0.2, 0],
  [1e300, Number.MAX_SAFE_INTEGER],
  [-1e300, Number.MIN_SAFE_INTEGER],
] as const

describe.each(engines)('columns on %s', (engine) => {
  test('contain text or whole numbers only, and pictures', async () => {
    const db = await openStore(engine)
    const found =
      engine === 'postgres'
        ? sql<{ type: string }>`select distinct data_type as type from information_schema.columns
            where table_schema = 'public' order by type`
        : sql<{ type: string }>`select distinct lower(columns.type) as type
            from sqlite_master as tables, pragma_table_info(tables.name) as columns where tables.type = 'table' order by 1`
    const types = (await found.execute(db.read)).rows.map(({ type }) => type)
    const bytes = engine === 'postgres' ? 'bytea' : 'blob'
    expect(types.filter((type) => type !== '').sort()).toEqual(['bigint', 'integer', 'text', bytes].sort())
  })

  test('store rounded numbers within their range', async () => {
    const db = await openStore(engine)
    await db.transaction(async (tx) => {
      const rows = numbers.map(([value]) => ({ key: `row ${value}`, value }))
      await executeForRows(
        tx,
        { key: 'text', value: 'bigint' },
        rows,
        (rowset) => sql`insert into meta (key, value) select key, value from ${rowset} where true`,
      )
      for (const [value] of numbers) {
        await tx.query
          .insertInto('meta')
          .values({ key: `parameter ${value}`, value })
          .execute()
      }
    })
    for (const [value, stored] of numbers) {
      for (const key of [`row ${value}`, `parameter ${value}`]) {
        const row = await db.read.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
        expect([key, row]).toEqual([key, { value: stored }])
      }
    }
  })

  test('reject values that are not numbers', async () => {
    const db = await openStore(engine)
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const insert = db.transaction((tx) => tx.query.insertInto('meta').values({ key: 'x', value }).execute())
      await expect(insert).rejects.toThrow(`${value} cannot be stored`)
    }
  })
})
