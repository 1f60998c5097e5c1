/**
 * Shows, their scenes and their line checks. Every transaction that changes shows or scenes increments the counter of
 * shows first, and one that changes line checks that of checks (see `revision.ts`).
 */

import type { Selectable } from 'kysely'
import type { Arrangement } from '../contract/shows.ts'
import type { Check } from '../domain/checks.ts'
import {
  type Frequencies,
  listFrequencies,
  type Scene,
  type StoredScene,
  toArrangement,
} from '../domain/scenes/arrangement.ts'
import type { NewShow, Show } from '../domain/shows.ts'
import type { Unstored } from '../domain/versions.ts'
import type { Reader, Tx } from './database.ts'
import type { CheckRow } from './schema/shows.ts'
import { nextVersion, saveEdit } from './versions.ts'

/** Without the frequencies at the start, which are read only when they are needed. */
const columns = [
  ...(['id', 'title', 'starts_at', 'ends_at', 'group_ids', 'notes', 'started_at', 'ended_at', 'channel_ids'] as const),
  ...(['scenes_revision', 'version'] as const),
] as const

export async function listShows(reader: Reader): Promise<Show[]> {
  const rows = await reader.selectFrom('shows').select(columns).orderBy('id').execute()
  return rows.map(toShow)
}

export async function findShow(reader: Reader, id: number): Promise<Show | undefined> {
  const row = await reader.selectFrom('shows').select(columns).where('id', '=', id).executeTakeFirst()
  return row && toShow(row)
}

export async function insertShow(tx: Tx, show: NewShow): Promise<Show> {
  const row = { ...toRow(show), version: await nextVersion(tx) }
  return toShow(await tx.query.insertInto('shows').values(row).returning(columns).executeTakeFirstOrThrow())
}

export async function saveShow(tx: Tx, { id, ...show }: Show): Promise<Show> {
  return { ...show, id, version: await saveEdit(tx, 'shows', id, toRow(show)) }
}

/** Stores a start or an end, and keeps the version. */
export async function saveProgress(tx: Tx, { id, ...show }: Show): Promise<void> {
  await tx.query.updateTable('shows').set(toRow(show)).where('id', '=', id).execute()
}

export async function deleteShow(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('shows').where('id', '=', id).execute()
}

export async function saveStartFrequencies(tx: Tx, id: number, frequencies: Frequencies): Promise<void> {
  const start_frequencies = JSON.stringify(Object.fromEntries(frequencies))
  await tx.query.updateTable('shows').set({ start_frequencies }).where('id', '=', id).execute()
}

/**
 * The frequencies of the scene that was recalled last; for channels that are not in it, those at the start of the show.
 */
export async function plannedFrequencies(reader: Reader, showId: number): Promise<Frequencies> {
  const show = await reader.selectFrom('shows').select('start_frequencies').where('id', '=', showId).executeTakeFirst()
  const scene = await findRecalledScene(reader, showId)
  const slots = scene?.arrangement.slots ?? []
  const channels = slots.flatMap(({ channel_id: id, frequency }) => (id === null ? [] : [{ id, frequency }]))
  const atStart: Readonly<Record<string, string>> = JSON.parse(show?.start_frequencies ?? '{}')
  return new Map([
    ...Object.entries(atStart).map(([id, frequency]) => [Number(id), frequency] as const),
    ...listFrequencies(channels),
  ])
}

interface StoredShow extends Omit<Show, 'group_ids' | 'channel_ids'> {
  readonly group_ids: string
  readonly channel_ids: string | null
}

function toShow({ group_ids, channel_ids, ...row }: StoredShow): Show {
  return {
    ...row,
    group_ids: JSON.parse(group_ids),
    channel_ids: channel_ids === null ? null : JSON.parse(channel_ids),
  }
}

function toRow<Fields extends NewShow>({ group_ids, channel_ids, ...show }: Fields) {
  return {
    ...show,
    group_ids: JSON.stringify(group_ids),
    channel_ids: channel_ids === null ? null : JSON.stringify(channel_ids),
  }
}

const sceneColumns = ['id', 'show_id', 'title', 'created_at', 'actor as by', 'recalled_at', 'version'] as const

export async function listScenes(reader: Reader, showId: number): Promise<Scene[]> {
  return reader.selectFrom('scenes').select(sceneColumns).where('show_id', '=', showId).orderBy('id').execute()
}

export async function listStoredScenes(reader: Reader): Promise<StoredScene[]> {
  const rows = await reader.selectFrom('scenes').select(sceneColumns).select('arrangement').orderBy('id').execute()
  return rows.map(toScene)
}

export async function findScene(reader: Reader, showId: number, id: number): Promise<StoredScene | undefined> {
  const row = await reader
    .selectFrom('scenes')
    .select(sceneColumns)
    .select('arrangement')
    .where('show_id', '=', showId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toScene(row)
}

export async function findRecalledScene(reader: Reader, showId: number): Promise<StoredScene | undefined> {
  const row = await reader
    .selectFrom('scenes')
    .select(sceneColumns)
    .select('arrangement')
    .where('show_id', '=', showId)
    .where('recalled_at', 'is not', null)
    .orderBy('recalled_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toScene(row)
}

export async function insertScene(tx: Tx, revision: number, scene: Unstored<StoredScene>): Promise<StoredScene> {
  const { by, arrangement, ...fields } = scene
  const version = await nextVersion(tx)
  const row = await tx.query
    .insertInto('scenes')
    .values({ ...fields, actor: by, arrangement: JSON.stringify(arrangement), version })
    .returning('id')
    .executeTakeFirstOrThrow()
  await markShow(tx, revision, scene.show_id)
  return { ...scene, id: row.id, version }
}

export async function saveArrangement(
  tx: Tx,
  revision: number,
  { id, show_id }: Scene,
  arrangement: Arrangement,
): Promise<void> {
  await saveEdit(tx, 'scenes', id, { arrangement: JSON.stringify(arrangement) })
  await markShow(tx, revision, show_id)
}

/** Returns the version. */
export async function saveSceneTitle(tx: Tx, revision: number, { id, show_id, title }: Scene): Promise<number> {
  const version = await saveEdit(tx, 'scenes', id, { title })
  await markShow(tx, revision, show_id)
  return version
}

export async function deleteScene(tx: Tx, revision: number, { id, show_id }: Scene): Promise<void> {
  await tx.query.deleteFrom('scenes').where('id', '=', id).execute()
  await markShow(tx, revision, show_id)
}

export async function saveRecallTime(tx: Tx, revision: number, { id, show_id }: Scene, time: number): Promise<void> {
  await tx.query.updateTable('scenes').set({ recalled_at: time }).where('id', '=', id).execute()
  await markShow(tx, revision, show_id)
}

export async function markShow(tx: Tx, scenes_revision: number, id: number): Promise<void> {
  await tx.query.updateTable('shows').set({ scenes_revision }).where('id', '=', id).execute()
}

function toScene<Row extends Scene & { readonly arrangement: string }>(row: Row): StoredScene {
  return { ...row, arrangement: toArrangement(JSON.parse(row.arrangement)) }
}

export async function listChecks(reader: Reader, showId?: number): Promise<Check[]> {
  let query = reader.selectFrom('checks').selectAll()
  if (showId !== undefined) query = query.where('show_id', '=', showId)
  return (await query.orderBy('id').execute()).map(toCheck)
}

export async function listChecksSince(reader: Reader, since: number): Promise<Check[]> {
  const query = reader.selectFrom('checks').selectAll().where('revision', '>', since)
  return (await query.orderBy('revision').orderBy('id').execute()).map(toCheck)
}

export async function findOpenCheck(
  reader: Reader,
  { show_id, channel_id }: Pick<Check, 'show_id' | 'channel_id'>,
): Promise<Check | undefined> {
  const query = reader.selectFrom('checks').selectAll().where('show_id', '=', show_id)
  const row = await query.where('channel_id', '=', channel_id).where('result', 'is', null).executeTakeFirst()
  return row && toCheck(row)
}

export async function insertCheck(tx: Tx, revision: number, check: Omit<Check, 'id'>): Promise<Check> {
  const row = { ...toCheckRow(check), revision }
  return toCheck(await tx.query.insertInto('checks').values(row).returningAll().executeTakeFirstOrThrow())
}

export async function saveCheck(tx: Tx, revision: number, { id, ...check }: Check): Promise<void> {
  const row = { ...toCheckRow(check), revision }
  await tx.query.updateTable('checks').set(row).where('id', '=', id).execute()
}

function toCheckRow({ by, checked, ...check }: Omit<Check, 'id'>) {
  return { ...check, actor: by, checked: checked && JSON.stringify(checked) }
}

function toCheck({ actor, revision: _, checked, ...row }: Selectable<CheckRow>): Check {
  return { ...row, by: actor, checked: checked === null ? null : JSON.parse(checked) }
}
