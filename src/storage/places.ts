/** Bands that operators have edited, and the imported TV stations. */

import type { CountryBand } from '../domain/frequencies/bands.ts'
import type { TvStation } from '../domain/frequencies/tv-stations.ts'
import type { Reader, Tx } from './database.ts'

export interface EditedBands {
  readonly bands: readonly CountryBand[]
  /** Epoch milliseconds. */
  readonly editedAt: number
  readonly by: string
}

export async function findEditedBands(reader: Reader, country: string): Promise<EditedBands | undefined> {
  const row = await reader.selectFrom('country_bands').selectAll().where('country', '=', country).executeTakeFirst()
  return row && { bands: JSON.parse(row.bands), editedAt: row.edited_at, by: row.actor }
}

export async function saveBands(tx: Tx, country: string, { bands, editedAt, by }: EditedBands): Promise<void> {
  const row = { bands: JSON.stringify(bands), edited_at: editedAt, actor: by }
  await tx.query
    .insertInto('country_bands')
    .values({ country, ...row })
    .onConflict((conflict) => conflict.column('country').doUpdateSet(row))
    .execute()
}

export async function deleteBands(tx: Tx, country: string): Promise<void> {
  await tx.query.deleteFrom('country_bands').where('country', '=', country).execute()
}

const listId = 1

export interface TvStationList {
  readonly stations: readonly TvStation[]
  /** Epoch milliseconds; null if none was imported. */
  readonly importedAt: number | null
}

export async function findTvStations(reader: Reader): Promise<TvStationList> {
  const row = await reader.selectFrom('tv_stations').selectAll().where('id', '=', listId).executeTakeFirst()
  return row === undefined
    ? { stations: [], importedAt: null }
    : { stations: JSON.parse(row.stations), importedAt: row.imported_at }
}

export async function saveTvStations(tx: Tx, stations: readonly TvStation[], importedAt: number): Promise<void> {
  const row = { stations: JSON.stringify(stations), imported_at: importedAt }
  await tx.query
    .insertInto('tv_stations')
    .values({ id: listId, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}
