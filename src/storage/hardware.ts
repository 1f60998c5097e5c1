/** Performers, their assigned units, and the slots of channels on the wall. */

import { sql } from 'kysely'
import type { Performer } from '../contract/resources/performers.ts'
import type { Assignment } from '../domain/equipment/hardware.ts'
import type { Reader, Tx } from './database.ts'

/** Returns all performers, ordered by id. */
export async function listPerformers(reader: Reader): Promise<Performer[]> {
  return reader.selectFrom('performers').selectAll().orderBy('id').execute()
}

export interface PerformerName extends Pick<Performer, 'id' | 'name'> {
  /**
   * Changes whenever the picture changes. Consists of the picture's length and last characters, which differ between
   * compressed pictures.
   */
  readonly picture_tag: string | null
}

/** Returns all performers, ordered by id, without their pictures, which may be large. */
export async function listPerformerNames(reader: Reader): Promise<PerformerName[]> {
  const pictureTag = sql<string | null>`length(picture) || ':' || substr(picture, length(picture) - 47)`
  return reader
    .selectFrom('performers')
    .select(['id', 'name', pictureTag.as('picture_tag')])
    .orderBy('id')
    .execute()
}

export interface PerformerWithTag extends Performer {
  /**
   * Present instead of a picture that is too large for messages. Changes whenever the picture changes, like
   * `PerformerName.picture_tag`.
   */
  readonly picture_tag?: string
}

/** A picture whose text is longer than this is a data URL. */
const maxPictureUrlChars = 2048

/** Returns all performers, ordered by id, without pictures that are data URLs. */
export async function listPerformersWithTags(reader: Reader): Promise<PerformerWithTag[]> {
  const isLong = sql<number>`length(picture) > ${maxPictureUrlChars}`
  const rows = await reader
    .selectFrom('performers')
    .select(['id', 'name', 'notes'])
    .select(sql<string | null>`case when ${isLong} then null else picture end`.as('picture'))
    .select(
      sql<
        string | null
      >`case when ${isLong} then length(picture) || ':' || substr(picture, length(picture) - 47) end`.as('picture_tag'),
    )
    .orderBy('id')
    .execute()
  return rows.map(({ picture_tag, ...performer }) => ({ ...performer, ...(picture_tag !== null && { picture_tag }) }))
}

export async function findPerformer(reader: Reader, id: number): Promise<Performer | undefined> {
  return reader.selectFrom('performers').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function insertPerformer(tx: Tx, performer: Omit<Performer, 'id'>): Promise<Performer> {
  return tx.query.insertInto('performers').values(performer).returningAll().executeTakeFirstOrThrow()
}

export async function savePerformer(tx: Tx, { id, ...performer }: Performer): Promise<void> {
  await tx.query.updateTable('performers').set(performer).where('id', '=', id).execute()
}

/** Deletes a performer and all its assignments. */
export async function deletePerformer(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('performers').where('id', '=', id).execute()
}

export interface AssignmentFilter {
  readonly is_active?: boolean | undefined
  readonly performer?: number | undefined
  readonly wireless_unit?: number | undefined
  readonly manufacturer?: string | undefined
}

/** Returns the matching assignments, ordered by id. */
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

/** Returns the unit's active assignment. */
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

/** Returns the slot and the receiver of a channel; undefined if the channel does not exist. */
export async function findChannel(reader: Reader, id: number) {
  return reader
    .selectFrom('channels')
    .innerJoin('receivers', 'receivers.id', 'channels.receiver_id')
    .select(['channels.id', 'channels.slot', 'channels.receiver_id', 'receivers.manufacturer'])
    .where('channels.id', '=', id)
    .executeTakeFirst()
}

/** Returns the id of the channel in a slot; undefined if the slot is empty. */
export async function channelAtSlot(reader: Reader, slot: number): Promise<number | undefined> {
  const row = await reader.selectFrom('channels').select('id').where('slot', '=', slot).executeTakeFirst()
  return row?.id
}

/**
 * Moves a channel to another slot, and marks its receiver as changed. `revision` is the revision of the transaction.
 */
export async function moveChannel(
  tx: Tx,
  revision: number,
  { id, receiver_id, slot }: { readonly id: number; readonly receiver_id: number; readonly slot: number },
): Promise<void> {
  await tx.query.updateTable('channels').set({ slot }).where('id', '=', id).execute()
  await tx.query.updateTable('receivers').set({ revision }).where('id', '=', receiver_id).execute()
}

/**
 * Moves several channels at once; they may swap slots. They are first given temporary negative slots, so that no two
 * channels ever have the same slot.
 */
export async function placeChannels(
  tx: Tx,
  revision: number,
  moves: readonly { readonly id: number; readonly receiver_id: number; readonly slot: number }[],
): Promise<void> {
  for (const { id } of moves) await tx.query.updateTable('channels').set({ slot: -id }).where('id', '=', id).execute()
  for (const move of moves) await moveChannel(tx, revision, move)
}
