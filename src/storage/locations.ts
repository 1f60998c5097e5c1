/** Locations, and devices found by scans. */

import { type Selectable, sql } from 'kysely'
import type { DiscoveredRecord } from '../domain/equipment/discovery.ts'
import type { Location } from '../domain/equipment/location.ts'
import type { Unstored } from '../domain/versions.ts'
import type { Reader, Tx } from './database.ts'
import type { LocationRow } from './schema/equipment.ts'
import { nextVersion, saveEdit } from './versions.ts'

export async function listLocations(reader: Reader): Promise<Location[]> {
  const rows = await reader.selectFrom('locations').selectAll().orderBy('id').execute()
  return rows.map(toLocation)
}

export async function insertLocation(tx: Tx, location: Unstored<Location>): Promise<Location> {
  const row = { ...location, ...toDegrees(location), version: await nextVersion(tx) }
  return toLocation(await tx.query.insertInto('locations').values(row).returningAll().executeTakeFirstOrThrow())
}

export async function saveLocation(tx: Tx, { id, ...fields }: Location): Promise<Location> {
  const row = { ...fields, ...toDegrees(fields) }
  return { ...fields, id, version: await saveEdit(tx, 'locations', id, row) }
}

function toLocation({ latitude, longitude, ...row }: Selectable<LocationRow>): Location {
  return {
    ...row,
    latitude: latitude === null ? null : Number(latitude),
    longitude: longitude === null ? null : Number(longitude),
  }
}

function toDegrees({ latitude, longitude }: Pick<Location, 'latitude' | 'longitude'>) {
  return {
    latitude: latitude === null ? null : String(latitude),
    longitude: longitude === null ? null : String(longitude),
  }
}

/** Deletes a location, which must have no receivers and no child locations. */
export async function removeLocation(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('locations').where('id', '=', id).execute()
}

export async function listDiscovered(reader: Reader, since: number): Promise<DiscoveredRecord[]> {
  return reader.selectFrom('discovered').selectAll().where('last_seen', '>=', since).orderBy('id').execute()
}

/** Stores devices found by a scan. A device that was found before keeps its id and the time of its first discovery. */
export async function saveDiscovered(tx: Tx, devices: readonly Omit<DiscoveredRecord, 'id'>[]): Promise<void> {
  for (const device of devices) {
    const { manufacturer: _, api_device_id: __, discovered_at: ___, ...changed } = device
    await tx.query
      .insertInto('discovered')
      .values(device)
      .onConflict((conflict) => conflict.columns(['manufacturer', 'api_device_id']).doUpdateSet(changed))
      .execute()
  }
}

export async function forgetDiscovered(tx: Tx, before: number): Promise<void> {
  await sql`delete from discovered where last_seen < ${before}`.execute(tx.query)
}
