/** Manufacturers with their configuration, and settings that can change while the service runs. */

import { sql } from 'kysely'
import { isSameJson } from '../domain/json.ts'
import type { SettingRecord, SettingScope } from '../domain/settings.ts'
import type { Versioned } from '../domain/versions.ts'
import type { Reader, Tx } from './database.ts'
import { removeFollowedEvents } from './followed-sites.ts'
import { removeFollowed } from './receivers.ts'
import { nextRevision } from './revision.ts'
import type { Config, Secrets } from './secrets.ts'
import { nextVersion } from './versions.ts'

export interface Manufacturer {
  readonly code: string
  readonly name: string
  readonly plugin: string
  readonly api_enabled: boolean
  readonly config: Config
}

export interface StoredManufacturer extends Manufacturer, Versioned {
  /** If secrets were sealed with another key, they are null in `config` until they are entered again. */
  readonly secretsUnreadable: boolean
}

/** The secrets stay sealed, so the records are cheap to read and compare. */
export async function listSealedManufacturers(reader: Reader) {
  return reader.selectFrom('manufacturers').selectAll().orderBy('code').execute()
}

type SealedManufacturer = Awaited<ReturnType<typeof listSealedManufacturers>>[number]

export function openManufacturer({ config: json, ...row }: SealedManufacturer, secrets: Secrets): StoredManufacturer {
  const { config, isUnreadable } = secrets.openConfig(JSON.parse(json), row.code)
  return { ...row, api_enabled: row.api_enabled === 1, config, secretsUnreadable: isUnreadable }
}

export async function listManufacturers(reader: Reader, secrets: Secrets): Promise<StoredManufacturer[]> {
  return (await listSealedManufacturers(reader)).map((row) => openManufacturer(row, secrets))
}

export async function findManufacturer(
  reader: Reader,
  secrets: Secrets,
  code: string,
): Promise<StoredManufacturer | undefined> {
  const row = await reader.selectFrom('manufacturers').selectAll().where('code', '=', code).executeTakeFirst()
  return row && openManufacturer(row, secrets)
}

/** Saves a manufacturer. A secret that could not be opened and is still null keeps its stored value. */
export async function saveManufacturer(tx: Tx, secrets: Secrets, manufacturer: Manufacturer): Promise<void> {
  const { code, name, plugin, api_enabled, config } = manufacturer
  const stored = await findManufacturer(tx.query, secrets, code)
  if (stored !== undefined && isSameJson({ ...stored, name, plugin, api_enabled, config }, stored)) return
  const previous = await tx.query
    .selectFrom('manufacturers')
    .select('config')
    .where('code', '=', code)
    .executeTakeFirst()
  const fields = {
    name,
    plugin,
    api_enabled: api_enabled ? 1 : 0,
    config: JSON.stringify(secrets.sealConfig(config, code, JSON.parse(previous?.config ?? '{}') as Config)),
    version: await nextVersion(tx),
  } as const
  await tx.query
    .insertInto('manufacturers')
    .values({ code, ...fields })
    .onConflict((conflict) => conflict.column('code').doUpdateSet(fields))
    .execute()
}

/** The manufacturer must have no receivers of this installation. Those of a site that it follows are deleted. */
export async function deleteManufacturer(tx: Tx, code: string, revision: number): Promise<void> {
  await removeFollowed(tx, revision, code)
  await removeFollowedEvents(tx, code)
  await tx.query.deleteFrom('discovery_queue').where('manufacturer', '=', code).execute()
  await tx.query.deleteFrom('sources').where('manufacturer', '=', code).execute()
  await tx.query.deleteFrom('manufacturers').where('code', '=', code).execute()
}

export async function hasReceivers(reader: Reader, code: string): Promise<boolean> {
  const row = await reader
    .selectFrom('receivers')
    .select('id')
    .where('manufacturer', '=', code)
    .where('origin', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

export async function listSettings(reader: Reader): Promise<SettingRecord[]> {
  const rows = await reader.selectFrom('settings').select(['manufacturer', 'key', 'value']).orderBy('id').execute()
  const ofGroups = await reader
    .selectFrom('group_settings')
    .select(['group_id as group', 'key', 'value'])
    .orderBy('group_id')
    .orderBy('key')
    .execute()
  return [...rows.map((row) => ({ ...row, group: null })), ...ofGroups.map((row) => ({ ...row, manufacturer: null }))]
}

export async function deleteSetting(tx: Tx, setting: Omit<SettingRecord, 'value'>): Promise<boolean> {
  const { manufacturer, group, key } = setting
  const deletion =
    group === null
      ? tx.query.deleteFrom('settings').where('manufacturer', manufacturer === null ? 'is' : '=', manufacturer)
      : tx.query.deleteFrom('group_settings').where('group_id', '=', group)
  const { numDeletedRows } = await deletion.where('key', '=', key).executeTakeFirst()
  if (numDeletedRows > 0n) await renewVersion(tx, setting)
  return numDeletedRows > 0n
}

export async function saveSetting(tx: Tx, setting: SettingRecord): Promise<void> {
  const { manufacturer, group, key, value } = setting
  if ((await listSettings(tx.query)).some((stored) => isSameJson({ ...stored, ...setting }, stored))) return
  await renewVersion(tx, setting)
  if (group === null) {
    await sql`
      insert into settings (manufacturer, key, value) values (${manufacturer}, ${key}, ${value})
      on conflict (coalesce(manufacturer, ''), key) do update set value = excluded.value`.execute(tx.query)
    return
  }
  await tx.query
    .insertInto('group_settings')
    .values({ group_id: group, key, value })
    .onConflict((conflict) => conflict.columns(['group_id', 'key']).doUpdateSet({ value }))
    .execute()
}

// The settings of each scope have one version. It is not stored with them, because settings can be deleted.

const versionPrefix = 'settings of '

export function scopeName({ manufacturer, group }: SettingScope): string {
  if (manufacturer !== null) return `manufacturer ${manufacturer}`
  return group === null ? 'all' : `group ${group}`
}

/** Returns the versions by `scopeName`. Scopes that were never edited have none. */
export async function listSettingVersions(reader: Reader): Promise<Readonly<Record<string, number>>> {
  const rows = await reader
    .selectFrom('meta')
    .selectAll()
    .where('key', 'like', `${versionPrefix}%`)
    .orderBy('key')
    .execute()
  return Object.fromEntries(rows.map(({ key, value }) => [key.slice(versionPrefix.length), value]))
}

async function renewVersion(tx: Tx, scope: SettingScope): Promise<void> {
  const value = await nextVersion(tx)
  await tx.query
    .insertInto('meta')
    .values({ key: versionPrefix + scopeName(scope), value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}

const maxHistoryKey = 'history_max_bytes'

/** Returns the default of `HISTORY_MAX_GB` in bytes; null until recording has started for the first time. */
export async function findMaxHistoryBytes(reader: Reader): Promise<number | null> {
  const row = await reader.selectFrom('meta').select('value').where('key', '=', maxHistoryKey).executeTakeFirst()
  return row?.value ?? null
}

export async function saveMaxHistoryBytes(tx: Tx, value: number): Promise<void> {
  // Changes to `meta` are not counted at the commit.
  await nextRevision(tx, 'lists')
  await tx.query
    .insertInto('meta')
    .values({ key: maxHistoryKey, value })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
}
