/** Groups of positions on the wall. */

import type { Group } from '../model/api.ts'
import type { Reader } from './database.ts'

/** By id. */
export async function listGroups(reader: Reader): Promise<Group[]> {
  const rows = await reader.selectFrom('groups').selectAll().orderBy('id').execute()
  return rows.map((row) => ({ ...row, slots: JSON.parse(row.slots), hide_charts: row.hide_charts === 1 }))
}
