/**
 * Placeholders. They share the slots with the channels, so every transaction that changes them increments the revision
 * first, as for channels. A counter of their own is incremented with every change.
 */

import type { Placeholder } from '../domain/equipment/placeholder.ts'
import type { Reader, Tx } from './database.ts'
import { nextRevision } from './revision.ts'

export async function listPlaceholders(reader: Reader): Promise<Placeholder[]> {
  return reader.selectFrom('placeholders').selectAll().orderBy('id').execute()
}

export async function insertPlaceholder(tx: Tx, placeholder: Omit<Placeholder, 'id'>): Promise<Placeholder> {
  await countPlaceholderChange(tx)
  return tx.query.insertInto('placeholders').values(placeholder).returningAll().executeTakeFirstOrThrow()
}

export async function savePlaceholder(tx: Tx, { id, ...placeholder }: Placeholder): Promise<void> {
  await countPlaceholderChange(tx)
  await tx.query.updateTable('placeholders').set(placeholder).where('id', '=', id).execute()
}

export async function deletePlaceholder(tx: Tx, id: number): Promise<void> {
  await countPlaceholderChange(tx)
  await tx.query.deleteFrom('placeholders').where('id', '=', id).execute()
}

/** Must be called by every transaction that changes placeholders, so that other processes read them again. */
export async function countPlaceholderChange(tx: Tx): Promise<void> {
  await nextRevision(tx, 'placeholders')
}
