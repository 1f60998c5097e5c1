/** The rows of clips. Their sound lies in files. */

import type { Selectable } from 'kysely'
import type { Clip } from '../domain/audio/clip.ts'
import type { Reader, Tx } from './database.ts'
import type { AudioClipRow } from './schema/history.ts'

export interface ClipFilter {
  readonly channel?: number | undefined
  /** Epoch ms. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Newest first. */
export async function listClips(reader: Reader, { channel, from, to }: ClipFilter = {}): Promise<Clip[]> {
  let query = reader.selectFrom('audio_clips').selectAll()
  if (channel !== undefined) query = query.where('channel_id', '=', channel)
  if (from !== undefined) query = query.where('ended_at', '>=', from)
  if (to !== undefined) query = query.where('began_at', '<=', to)
  return (await query.orderBy('began_at', 'desc').orderBy('id', 'desc').execute()).map(toClip)
}

export async function findClip(reader: Reader, id: number): Promise<Clip | undefined> {
  const row = await reader.selectFrom('audio_clips').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toClip(row)
}

export async function insertClip(tx: Tx, { from, to, event_ids, faults, ...clip }: Omit<Clip, 'id'>): Promise<Clip> {
  const row = {
    ...clip,
    ...{ began_at: Math.round(from), ended_at: Math.round(to) },
    ...{ event_ids: JSON.stringify(event_ids), faults: JSON.stringify(faults) },
  }
  return toClip(await tx.query.insertInto('audio_clips').values(row).returningAll().executeTakeFirstOrThrow())
}

export async function saveClipEvents(tx: Tx, { id, event_ids }: Pick<Clip, 'id' | 'event_ids'>): Promise<void> {
  await tx.query
    .updateTable('audio_clips')
    .set({ event_ids: JSON.stringify(event_ids) })
    .where('id', '=', id)
    .execute()
}

export async function deleteClip(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('audio_clips').where('id', '=', id).execute()
}

function toClip({ began_at, ended_at, event_ids, faults, ...row }: Selectable<AudioClipRow>): Clip {
  return { ...row, from: began_at, to: ended_at, event_ids: JSON.parse(event_ids), faults: JSON.parse(faults) }
}
