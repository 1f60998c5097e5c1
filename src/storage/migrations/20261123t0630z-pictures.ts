/** Pictures in a table of their own. Before, each performer had its picture as a data URL. */

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { pictureTypeOf } from '../../domain/equipment/picture.ts'
import type { Reader } from '../database.ts'

export const name = '20261123T0630Z-pictures'

export function statements(dialect: 'sqlite' | 'postgres'): readonly string[] {
  return [
    `create table pictures (
      id text primary key,
      type text not null,
      bytes ${dialect === 'sqlite' ? 'blob' : 'bytea'} not null
    )`,
  ]
}

/** Moves the content of data URLs to the table. Data URLs in other formats stay as they are. */
export async function convert(query: Reader): Promise<void> {
  const { rows: performers } = await sql<{ id: number }>`
    select id from performers where picture like 'data:%;base64,%' order by id`.execute(query)
  for (const { id: performer } of performers) {
    const { rows } = await sql<{ picture: string }>`select picture from performers where id = ${performer}`.execute(
      query,
    )
    const base64 = rows[0]?.picture.split(';base64,')[1] ?? ''
    const bytes = Buffer.from(base64, 'base64')
    const type = pictureTypeOf(bytes)
    if (type === null) continue
    const id = createHash('sha256').update(bytes).digest('hex').slice(0, 32)
    await sql`insert into pictures (id, type, bytes) values (${id}, ${type}, ${bytes})
      on conflict do nothing`.execute(query)
    await sql`update performers set picture = ${`/api/pictures/${id}`} where id = ${performer}`.execute(query)
  }
}
