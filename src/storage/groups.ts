import type { Group } from '../contract/groups.ts'
import type { Reader, Tx } from './database.ts'

export async function listGroups(reader: Reader): Promise<Group[]> {
  const rows = await reader.selectFrom('groups').selectAll().orderBy('id').execute()
  return rows.map(toGroup)
}

export async function findGroup(reader: Reader, id: number): Promise<Group | undefined> {
  const row = await reader.selectFrom('groups').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toGroup(row)
}

export async function insertGroup(tx: Tx, group: Omit<Group, 'id'>): Promise<Group> {
  return toGroup(await tx.query.insertInto('groups').values(toRow(group)).returningAll().executeTakeFirstOrThrow())
}

export async function saveGroup(tx: Tx, { id, ...group }: Group): Promise<void> {
  await tx.query.updateTable('groups').set(toRow(group)).where('id', '=', id).execute()
}

export async function deleteGroup(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('groups').where('id', '=', id).execute()
}

interface StoredGroup extends Omit<Group, 'slots' | 'hide_charts'> {
  readonly slots: string
  readonly hide_charts: 0 | 1
}

function toGroup({ slots, hide_charts, ...row }: StoredGroup): Group {
  return { ...row, slots: JSON.parse(slots), hide_charts: hide_charts === 1 }
}

function toRow({ slots, hide_charts, ...group }: Omit<Group, 'id'>) {
  return { ...group, slots: JSON.stringify(slots), hide_charts: hide_charts ? (1 as const) : (0 as const) }
}
