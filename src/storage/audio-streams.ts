/** Audio streams that were entered, or found on the network. */

import type { StoredStream } from '../domain/audio/audio-stream.ts'
import type { Unstored } from '../domain/versions.ts'
import type { Reader, Tx } from './database.ts'
import type { AudioStreamRow } from './schema/audio.ts'
import { nextVersion, saveEdit } from './versions.ts'

export async function listAudioStreams(reader: Reader): Promise<StoredStream[]> {
  const rows = await reader.selectFrom('audio_streams').selectAll().orderBy('id').execute()
  return rows.map(({ enabled, is_edited, labels, legs, ...row }) => ({
    ...row,
    enabled: enabled === 1,
    is_edited: is_edited === 1,
    labels: JSON.parse(labels),
    legs: JSON.parse(legs),
  }))
}

export async function insertAudioStream(tx: Tx, stream: Unstored<StoredStream>): Promise<StoredStream> {
  const row = { ...toRow(stream), version: await nextVersion(tx) }
  const { id } = await tx.query.insertInto('audio_streams').values(row).returning('id').executeTakeFirstOrThrow()
  return { ...stream, id, version: row.version }
}

/** Stores an edit, with a new version. */
export async function saveAudioStream(tx: Tx, stream: StoredStream): Promise<StoredStream> {
  const { id, version: _, ...fields } = stream
  return { ...stream, version: await saveEdit(tx, 'audio_streams', id, toRow(fields)) }
}

/** Stores what a new announcement says; the version stays, because nobody has edited the stream. */
export async function updateAudioStream(tx: Tx, { id, version: _, ...fields }: StoredStream): Promise<void> {
  await tx.query.updateTable('audio_streams').set(toRow(fields)).where('id', '=', id).execute()
}

export async function deleteAudioStreams(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.query.deleteFrom('audio_streams').where('id', 'in', ids).execute()
}

function toRow(stream: Unstored<StoredStream>): Omit<AudioStreamRow, 'id' | 'version'> {
  const { enabled, is_edited, labels, legs, ...fields } = stream
  return {
    ...fields,
    enabled: enabled ? 1 : 0,
    is_edited: is_edited ? 1 : 0,
    labels: JSON.stringify(labels),
    legs: JSON.stringify(legs),
  }
}
