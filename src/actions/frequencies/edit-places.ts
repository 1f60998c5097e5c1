/** Edits the bands of countries, and imports TV stations. */

import Papa from 'papaparse'
import type { BandsChange } from '../../contract/places.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { parseMhz } from '../../domain/frequencies/carrier.ts'
import { readTvStations, TvStationFileError } from '../../domain/frequencies/tv-stations.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { deleteBands, saveBands, saveTvStations } from '../../storage/places.ts'

export async function changeBands(
  { db }: Service,
  actor: Actor,
  country: string,
  { bands: entered }: BandsChange,
): Promise<void> {
  const bands = entered.map(({ from_mhz, to_mhz, status, source = '' }, index) => {
    const [fromKhz, toKhz] = [parseMhz(from_mhz) ?? 0, parseMhz(to_mhz) ?? 0]
    if (fromKhz >= toKhz) {
      throw new RequestError('bad_request', { details: `bands.${index}.to_mhz: expected more than from_mhz` })
    }
    return { fromKhz, toKhz, status, source }
  })
  bands.sort((a, b) => a.fromKhz - b.fromKhz)
  const overlap = bands.find((band, index) => band.fromKhz < (bands[index - 1]?.toKhz ?? 0))
  if (overlap !== undefined) {
    const details = `bands: expected bands that do not overlap; one begins at ${overlap.fromKhz / 1000} MHz, within another`
    throw new RequestError('bad_request', { details })
  }
  await db.transaction(async (tx) => {
    await saveBands(tx, country, { bands, editedAt: now(), by: actor.name })
    const details = { bands: bands.length }
    await writeAudit(tx, { actor, action: 'bands.change', target: `bands of ${country}`, result: 'ok', details })
  })
}

export async function resetBands({ db }: Service, actor: Actor, country: string): Promise<void> {
  await db.transaction(async (tx) => {
    await deleteBands(tx, country)
    const details = { built_in: true }
    await writeAudit(tx, { actor, action: 'bands.change', target: `bands of ${country}`, result: 'ok', details })
  })
}

/** Replaces all stations. Returns their number and the time. */
export async function importTvStations(
  { db }: Service,
  actor: Actor,
  bytes: Uint8Array,
): Promise<{ readonly count: number; readonly importedAt: number }> {
  const stations = readFile(new TextDecoder().decode(bytes))
  const importedAt = now()
  await db.transaction(async (tx) => {
    await saveTvStations(tx, stations, importedAt)
    const details = { stations: stations.length }
    await writeAudit(tx, { actor, action: 'tv_stations.import', target: 'TV stations', result: 'ok', details })
  })
  return { count: stations.length, importedAt }
}

function readFile(text: string) {
  try {
    return readTvStations(Papa.parse<string[]>(text.trimEnd(), { delimiter: ',' }).data)
  } catch (error) {
    if (error instanceof TvStationFileError)
      throw new RequestError('bad_request', { details: `file: ${error.message}` })
    throw error
  }
}
