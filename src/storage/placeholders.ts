/**
 * Placeholders. They share the slots with the channels, so every transaction that changes them increments the revision
 * first, as for channels.
 */

import type { Placeholder } from '../domain/equipment/placeholder.ts'
import type { Reader, Tx } from './database.ts'

/** Returns all placeholders, ordered by id. */
export async function listPlaceholders(reader: Reader): Promise<Placeholder[]> {
  return reader.selectFrom('placeholders').selectAll().orderBy('id').execute()
}

export async function insertPlaceholder(tx: Tx, placeholder: Omit<Placeholder, 'id'>): Promise<Placeholder> {
  return tx.query.insertInto('placeholders').values(placeholder).returningAll().executeTakeFirstOrThrow()
}

export async function savePlaceholder(tx: Tx, { id, ...placeholder }: Placeholder): Promise<void> {
  await tx.query.updateTable('placeholders').set(placeholder).where('id', '=', id).execute()
}

export async function deletePlaceholder(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('placeholders').where('id', '=', id).execute()
}
