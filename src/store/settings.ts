/** Manufacturers with their configuration, and the settings an operator changes while the service runs. */

import { sql } from 'kysely'
import type { SettingRecord } from '../model/settings.ts'
import type { Reader, Tx } from './database.ts'
import type { Config, Secrets } from './secrets.ts'

export interface Manufacturer {
  readonly code: string
  readonly name: string
  readonly plugin: string
  readonly api_enabled: boolean
  readonly config: Config
}

export interface StoredManufacturer extends Manufacturer {
  /** Sealed with another key: those values of `config` are null until they are entered again. */
  readonly secretsUnreadable: boolean
}

/** By code. */
export async function listManufacturers(reader: Reader, secrets: Secrets): Promise<StoredManufacturer[]> {
  const rows = await reader.selectFrom('manufacturers').selectAll().orderBy('code').execute()
  return rows.map(({ config: json, ...row }) => {
    const { config, isUnreadable } = secrets.openConfig(JSON.parse(json), row.code)
    return { ...row, api_enabled: row.api_enabled === 1, config, secretsUnreadable: isUnreadable }
  })
}

/** A secret that could not be read and is still null keeps what is stored. */
export async function saveManufacturer(tx: Tx, secrets: Secrets, manufacturer: Manufacturer): Promise<void> {
  const { code, name, plugin } = manufacturer
  const stored = await tx.query.selectFrom('manufacturers').select('config').where('code', '=', code).executeTakeFirst()
  const before = stored === undefined ? {} : (JSON.parse(stored.config) as Config)
  const fields = {
    name,
    plugin,
    api_enabled: manufacturer.api_enabled ? 1 : 0,
    config: JSON.stringify(secrets.sealConfig(manufacturer.config, code, before)),
  } as const
  await tx.query
    .insertInto('manufacturers')
    .values({ code, ...fields })
    .onConflict((conflict) => conflict.column('code').doUpdateSet(fields))
    .execute()
}

export async function listSettings(reader: Reader): Promise<SettingRecord[]> {
  return reader.selectFrom('settings').select(['manufacturer', 'key', 'value']).orderBy('id').execute()
}

/** One record a manufacturer (or none: global) and key. */
export async function saveSetting(tx: Tx, { manufacturer, key, value }: SettingRecord): Promise<void> {
  await sql`
    insert into settings (manufacturer, key, value) values (${manufacturer}, ${key}, ${value})
    on conflict (coalesce(manufacturer, ''), key) do update set value = excluded.value`.execute(tx.query)
}
