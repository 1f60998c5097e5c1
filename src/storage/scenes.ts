/** Scenes of shows. Every transaction that changes them increments the counter of shows first (see `revision.ts`). */

import type { Arrangement } from '../contract/shows.ts'
import type { Scene, StoredScene } from '../domain/scenes/arrangement.ts'
import type { Reader, Tx } from './database.ts'

const columns = ['id', 'show_id', 'title', 'created_at', 'actor as by', 'recalled_at'] as const

export async function listScenes(reader: Reader, showId: number): Promise<Scene[]> {
  return reader.selectFrom('scenes').select(columns).where('show_id', '=', showId).orderBy('id').execute()
}

export async function listStoredScenes(reader: Reader): Promise<StoredScene[]> {
  const rows = await reader.selectFrom('scenes').select(columns).select('arrangement').orderBy('id').execute()
  return rows.map(toScene)
}

export async function findScene(reader: Reader, showId: number, id: number): Promise<StoredScene | undefined> {
  const row = await reader
    .selectFrom('scenes')
    .select(columns)
    .select('arrangement')
    .where('show_id', '=', showId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toScene(row)
}

export async function findRecalledScene(reader: Reader, showId: number): Promise<StoredScene | undefined> {
  const row = await reader
    .selectFrom('scenes')
    .select(columns)
    .select('arrangement')
    .where('show_id', '=', showId)
    .where('recalled_at', 'is not', null)
    .orderBy('recalled_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toScene(row)
}

export async function insertScene(tx: Tx, revision: number, scene: Omit<StoredScene, 'id'>): Promise<StoredScene> {
  const { by, arrangement, ...fields } = scene
  const row = await tx.query
    .insertInto('scenes')
    .values({ ...fields, actor: by, arrangement: JSON.stringify(arrangement) })
    .returning('id')
    .executeTakeFirstOrThrow()
  await markShow(tx, revision, scene.show_id)
  return { ...scene, id: row.id }
}

export async function saveArrangement(
  tx: Tx,
  revision: number,
  { id, show_id }: Scene,
  arrangement: Arrangement,
): Promise<void> {
  const text = JSON.stringify(arrangement)
  await tx.query.updateTable('scenes').set({ arrangement: text }).where('id', '=', id).execute()
  await markShow(tx, revision, show_id)
}

export async function deleteScene(tx: Tx, revision: number, { id, show_id }: Scene): Promise<void> {
  await tx.query.deleteFrom('scenes').where('id', '=', id).execute()
  await markShow(tx, revision, show_id)
}

export async function saveRecallTime(tx: Tx, revision: number, { id, show_id }: Scene, time: number): Promise<void> {
  await tx.query.updateTable('scenes').set({ recalled_at: time }).where('id', '=', id).execute()
  await markShow(tx, revision, show_id)
}

export async function markShowOfScene(tx: Tx, revision: number, sceneId: number): Promise<void> {
  await tx.query
    .updateTable('shows')
    .set({ scenes_revision: revision })
    .where('id', 'in', (eb) => eb.selectFrom('scenes').select('show_id').where('id', '=', sceneId))
    .execute()
}

async function markShow(tx: Tx, scenes_revision: number, id: number): Promise<void> {
  await tx.query.updateTable('shows').set({ scenes_revision }).where('id', '=', id).execute()
}

function toScene<Row extends Scene & { readonly arrangement: string }>(row: Row): StoredScene {
  return { ...row, arrangement: JSON.parse(row.arrangement) }
}
