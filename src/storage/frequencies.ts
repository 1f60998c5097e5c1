/** Added frequency profiles, changes to built-in ones, and spectrum scans. */

import type { Selectable } from 'kysely'
import type { MeasuredBody } from '../contract/frequencies.ts'
import { defaultMeasured } from '../domain/frequencies/measured-options.ts'
import { isBuiltIn, type StoredProfile } from '../domain/frequencies/profile-changes.ts'
import type { Levels } from '../domain/frequencies/scans/scan.ts'
import type { NewScan, Scan } from '../domain/frequencies/scans/stored-scan.ts'
import { packLevels, unpackLevels } from '../domain/frequencies/scans/stored-scan.ts'
import { isSameJson } from '../domain/json.ts'
import type { Reader, Tx } from './database.ts'
import type { ScanRow } from './schema/equipment.ts'
import { removeProfileFromSlots } from './slot-entries.ts'
import { nextVersion } from './versions.ts'

/** True for a built-in profile and for one that users have added. */
export async function hasProfile(reader: Reader, id: string): Promise<boolean> {
  return isBuiltIn(id) || (await listStoredProfiles(reader)).some((profile) => profile.id === id)
}

export async function listStoredProfiles(reader: Reader): Promise<StoredProfile[]> {
  const rows = await reader.selectFrom('frequency_profiles').selectAll().orderBy('id').execute()
  return rows.map(({ change, ...row }) => ({ ...row, change: JSON.parse(change) }))
}

/** Stores the profile with a new version, unless it is unchanged. */
export async function saveStoredProfile(tx: Tx, { id, change }: Omit<StoredProfile, 'version'>): Promise<void> {
  const stored = (await listStoredProfiles(tx.query)).find((profile) => profile.id === id)
  if (isSameJson(stored?.change, change)) return
  const row = { change: JSON.stringify(change), version: await nextVersion(tx) }
  await tx.query
    .insertInto('frequency_profiles')
    .values({ id, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}

/** A built-in profile keeps a row, so that its version does not return to an earlier one. */
export async function deleteStoredProfile(tx: Tx, id: string): Promise<void> {
  if (isBuiltIn(id)) await saveStoredProfile(tx, { id, change: {} })
  else await tx.query.deleteFrom('frequency_profiles').where('id', '=', id).execute()
}

export async function setChannelProfile(
  tx: Tx,
  revision: number,
  { channelId, receiverId, profile }: { channelId: number; receiverId: number; profile: string | null },
): Promise<void> {
  await tx.query.updateTable('channels').set({ profile }).where('id', '=', channelId).execute()
  await tx.query.updateTable('receivers').set({ revision }).where('id', '=', receiverId).execute()
}

export async function clearChannelProfile(tx: Tx, revision: number, profile: string): Promise<void> {
  await tx.query
    .updateTable('receivers')
    .set({ revision })
    .where('id', 'in', (eb) => eb.selectFrom('channels').select('receiver_id').where('profile', '=', profile))
    .execute()
  await tx.query.updateTable('channels').set({ profile: null }).where('profile', '=', profile).execute()
  await removeProfileFromSlots(tx, profile)
}

// Spectrum scans. Every transaction that adds or deletes one increments their counter (see `revision.ts`).

const facts = [
  ...(['id', 'name', 'format', 'points', 'from_khz', 'to_khz', 'taken_at', 'uploaded_at', 'actor'] as const),
  ...(['unit', 'is_calibrated', 'step_hz', 'version'] as const),
] as const

export async function listScans(reader: Reader): Promise<Scan[]> {
  return (await reader.selectFrom('scans').select(facts).orderBy('id').execute()).map(toScan)
}

export async function findScan(reader: Reader, id: number): Promise<Scan | undefined> {
  const row = await reader.selectFrom('scans').select(facts).where('id', '=', id).executeTakeFirst()
  return row && toScan(row)
}

export async function findScanLevels(reader: Reader, id: number): Promise<Levels | undefined> {
  const row = await reader.selectFrom('scans').select(['points', 'levels']).where('id', '=', id).executeTakeFirst()
  return row && unpackLevels(row.levels, row.points)
}

export async function countScans(reader: Reader): Promise<number> {
  const { count } = await reader
    .selectFrom('scans')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertScan(tx: Tx, { by, isCalibrated, ...scan }: NewScan, levels: Levels): Promise<Scan> {
  const row = {
    ...scan,
    actor: by,
    is_calibrated: isCalibrated ? (1 as const) : (0 as const),
    levels: packLevels(levels),
    version: await nextVersion(tx),
  }
  return toScan(await tx.query.insertInto('scans').values(row).returning(facts).executeTakeFirstOrThrow())
}

export async function deleteScan(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('scans').where('id', '=', id).execute()
}

function toScan({ actor, is_calibrated, ...row }: Pick<Selectable<ScanRow>, (typeof facts)[number]>): Scan {
  return { ...row, by: actor, isCalibrated: is_calibrated === 1 }
}

// The scans that are considered by default.

const measuredId = 1

export async function findMeasured(reader: Reader): Promise<MeasuredBody> {
  const row = await reader.selectFrom('measured_scans').selectAll().where('id', '=', measuredId).executeTakeFirst()
  return row === undefined ? defaultMeasured : { ...JSON.parse(row.options), version: row.version }
}

/** An edit that changes nothing keeps the version. */
export async function saveMeasured(tx: Tx, options: Omit<MeasuredBody, 'version'>): Promise<void> {
  const { version: _, ...stored } = await findMeasured(tx.query)
  if (isSameJson(stored, options)) return
  const row = { options: JSON.stringify(options), version: await nextVersion(tx) }
  await tx.query
    .insertInto('measured_scans')
    .values({ id: measuredId, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}
