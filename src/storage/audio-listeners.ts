/** Who listens to channels: a row for each process that plays sound. */

import type { AudioListenerBody } from '../contract/listening.ts'
import type { Reader, Tx } from './database.ts'
import { nextRevision } from './revision.ts'

/** Returns the listeners of all processes but this one. */
export async function listOtherListeners(reader: Reader, node: string): Promise<AudioListenerBody[]> {
  const rows = await reader.selectFrom('audio_listeners').select('listeners').where('node', '!=', node).execute()
  return rows.flatMap(({ listeners }): AudioListenerBody[] => JSON.parse(listeners))
}

/** Replaces the listeners of a process. */
export async function saveListeners(tx: Tx, node: string, listeners: readonly AudioListenerBody[]): Promise<void> {
  await nextRevision(tx, 'listeners')
  await tx.query.deleteFrom('audio_listeners').where('node', '=', node).execute()
  if (listeners.length === 0) return
  await tx.query
    .insertInto('audio_listeners')
    .values({ node, listeners: JSON.stringify(listeners) })
    .execute()
}

/** Deletes those of processes that have ended without doing so. Call it after `saveListeners`. */
export async function deleteOtherListeners(tx: Tx, node: string): Promise<void> {
  await tx.query.deleteFrom('audio_listeners').where('node', '!=', node).execute()
}
