/** Shows. Every transaction that changes them increments their counter first (see `revision.ts`). */

import { type Frequencies, listFrequencies } from '../domain/scenes/arrangement.ts'
import type { NewShow, Show } from '../domain/shows.ts'
import type { Reader, Tx } from './database.ts'
import { findRecalledScene } from './scenes.ts'

/** Without the frequencies at the start, which are read only when they are needed. */
const columns = [
  ...(['id', 'title', 'starts_at', 'ends_at', 'group_ids', 'notes', 'started_at', 'ended_at', 'channel_ids'] as const),
  'scenes_revision',
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
  const row = toRow({ ...show, scenes_revision: 0 })
  return toShow(await tx.query.insertInto('shows').values(row).returning(columns).executeTakeFirstOrThrow())
}

export async function saveShow(tx: Tx, { id, ...show }: Show): Promise<void> {
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
  const atStart: Readonly<Record<string, string>> = JSON.parse(show?.start_frequencies ?? '{}')
  return new Map([
    ...Object.entries(atStart).map(([id, frequency]) => [Number(id), frequency] as const),
    ...listFrequencies(scene?.arrangement.channels ?? []),
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

function toRow({ group_ids, channel_ids, ...show }: Omit<Show, 'id'>) {
  return {
    ...show,
    group_ids: JSON.stringify(group_ids),
    channel_ids: channel_ids === null ? null : JSON.stringify(channel_ids),
  }
}
