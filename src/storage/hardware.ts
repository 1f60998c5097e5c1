/** Performers and their assigned units. */

import type { Performer } from '../contract/performers.ts'
import type { WornPack } from '../domain/equipment/cast-following.ts'
import type { Assignment } from '../domain/equipment/hardware.ts'
import type { ActiveAssignment } from '../domain/events/event-drafts.ts'
import type { Unstored } from '../domain/versions.ts'
import type { Reader, Tx } from './database.ts'
import { inChunks } from './rows.ts'
import { nextVersion, saveEdit } from './versions.ts'

export async function listPerformers(reader: Reader): Promise<Performer[]> {
  return reader.selectFrom('performers').selectAll().orderBy('id').execute()
}

export async function findPerformer(reader: Reader, id: number): Promise<Performer | undefined> {
  return reader.selectFrom('performers').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function insertPerformer(tx: Tx, performer: Unstored<Performer>): Promise<Performer> {
  const row = { ...performer, version: await nextVersion(tx) }
  return tx.query.insertInto('performers').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function savePerformer(tx: Tx, { id, ...performer }: Omit<Performer, 'version'>): Promise<Performer> {
  return { ...performer, id, version: await saveEdit(tx, 'performers', id, performer) }
}

export async function deletePerformer(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('performers').where('id', '=', id).execute()
}

export interface AssignmentFilter {
  readonly is_active?: boolean | undefined
  readonly performer?: number | undefined
  readonly wireless_unit?: number | undefined
  readonly manufacturer?: string | undefined
}

export async function listAssignments(reader: Reader, filter: AssignmentFilter = {}): Promise<Assignment[]> {
  const { is_active, performer, wireless_unit, manufacturer } = filter
  const rows = await reader
    .selectFrom('assignments')
    .selectAll('assignments')
    .$if(is_active !== undefined, (query) => query.where('is_active', '=', is_active ? 1 : 0))
    .$if(performer !== undefined, (query) => query.where('performer', '=', performer ?? 0))
    .$if(wireless_unit !== undefined, (query) => query.where('wireless_unit', '=', wireless_unit ?? 0))
    .$if(manufacturer !== undefined, (query) =>
      query
        .innerJoin('units', 'units.id', 'assignments.wireless_unit')
        .where('units.manufacturer', '=', manufacturer ?? ''),
    )
    .orderBy('assignments.id')
    .execute()
  return rows.map(toAssignment)
}

export async function findAssignment(reader: Reader, id: number): Promise<Assignment | undefined> {
  const row = await reader.selectFrom('assignments').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toAssignment(row)
}

/** Returns the active assignments of packs, or only those of `ofPerformer`, without units that are devices. */
export function listWornPacks(reader: Reader, ofPerformer?: number): Promise<WornPack[]> {
  return reader
    .selectFrom('assignments')
    .innerJoin('units', 'units.id', 'assignments.wireless_unit')
    .select(['assignments.id', 'performer', 'wireless_unit', 'role', 'units.channel_id'])
    .where('is_active', '=', 1)
    .where('units.api_device_id', 'is', null)
    .$if(ofPerformer !== undefined, (query) => query.where('performer', '=', ofPerformer ?? 0))
    .orderBy('assignments.id')
    .execute()
}

export async function listActiveAssignments(reader: Reader): Promise<ActiveAssignment[]> {
  return (await activeAssignments(reader).execute()).map(toActive)
}

export async function listActiveAssignmentsOf(reader: Reader, units: readonly number[]): Promise<ActiveAssignment[]> {
  const found: ActiveAssignment[] = []
  await inChunks(units, async (chunk) => {
    const rows = await activeAssignments(reader).where('wireless_unit', 'in', chunk).execute()
    found.push(...rows.map(toActive))
  })
  return found
}

function activeAssignments(reader: Reader) {
  return reader
    .selectFrom('assignments')
    .innerJoin('performers', 'performers.id', 'assignments.performer')
    .innerJoin('units', 'units.id', 'assignments.wireless_unit')
    .leftJoin('channels', 'channels.id', 'units.channel_id')
    .leftJoin('receivers', 'receivers.id', 'units.receiver_id')
    .select(['performers.id as performer', 'performers.name as performer_name', 'wireless_unit'])
    .select(['units.manufacturer', 'units.channel_id', 'units.receiver_id', 'units.name', 'channels.slot'])
    .select('receivers.name as receiver')
    .where('assignments.is_active', '=', 1)
    .orderBy('assignments.id')
}

function toActive({
  performer: id,
  performer_name,
  name,
  ...row
}: Awaited<ReturnType<ReturnType<typeof activeAssignments>['execute']>>[number]): ActiveAssignment {
  return { ...row, performer: { id, name: performer_name }, name: name ?? row.receiver }
}

export async function findActiveAssignment(reader: Reader, unit: number): Promise<Assignment | undefined> {
  const row = await reader
    .selectFrom('assignments')
    .selectAll()
    .where('wireless_unit', '=', unit)
    .where('is_active', '=', 1)
    .executeTakeFirst()
  return row && toAssignment(row)
}

export async function insertAssignment(tx: Tx, assignment: Omit<Assignment, 'id'>): Promise<Assignment> {
  const row = await tx.query
    .insertInto('assignments')
    .values(toRow(assignment))
    .returningAll()
    .executeTakeFirstOrThrow()
  return toAssignment(row)
}

export async function saveAssignment(tx: Tx, { id, ...assignment }: Assignment): Promise<void> {
  await tx.query.updateTable('assignments').set(toRow(assignment)).where('id', '=', id).execute()
}

export async function deleteAssignment(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('assignments').where('id', '=', id).execute()
}

export async function hasUnit(reader: Reader, id: number): Promise<boolean> {
  return (await reader.selectFrom('units').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

interface StoredAssignment extends Omit<Assignment, 'is_active'> {
  readonly is_active: 0 | 1
}

function toAssignment(row: StoredAssignment): Assignment {
  return { ...row, is_active: row.is_active === 1 }
}

function toRow(assignment: Omit<Assignment, 'id'>) {
  return { ...assignment, is_active: assignment.is_active ? (1 as const) : (0 as const) }
}
