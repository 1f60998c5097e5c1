/** The manufacturers in the configuration. They override the stored ones, and are stored themselves. */

import type { FastifyBaseLogger } from 'fastify'
import { type Config, ConfigError, type ManufacturerEntry } from '../config.ts'
import { listSources } from '../manufacturers/sources.ts'
import type { Database } from '../storage/database.ts'
import { StoreDownError } from '../storage/errors.ts'
import type { Secrets } from '../storage/secrets.ts'
import { listManufacturers, type StoredManufacturer, saveManufacturer } from '../storage/settings.ts'

interface ConfiguredManufacturersDeps {
  readonly db: Database
  readonly secrets: Secrets
  readonly log: FastifyBaseLogger
  readonly entries: readonly ManufacturerEntry[]
  /** If true, nothing is stored. */
  readonly isReadOnly: boolean
}

export class ConfiguredManufacturers {
  /** The stored manufacturers when the service started, overridden by those in the configuration. */
  readonly merged: readonly StoredManufacturer[]
  readonly #deps: ConfiguredManufacturersDeps
  #isSaved = false

  private constructor(merged: readonly StoredManufacturer[], deps: ConfiguredManufacturersDeps) {
    this.merged = merged
    this.#deps = deps
  }

  /** Merges the manufacturers and stores those in the configuration. Throws a ConfigError if an entry is invalid. */
  static async open({ file }: Config, deps: ConfiguredManufacturersDeps): Promise<ConfiguredManufacturers> {
    const stored = await listManufacturers(deps.db.read, deps.secrets)
    const merged = mergeManufacturers(stored, deps.entries, file ?? 'configuration')
    const configured = new ConfiguredManufacturers(merged, deps)
    await configured.save()
    return configured
  }

  /** False while the database is not writable: the stored manufacturers then lack those in the configuration. */
  get isSaved(): boolean {
    return this.#isSaved
  }

  /** Stores the manufacturers in the configuration, unless they are stored already. */
  async save(): Promise<void> {
    const { db, secrets, log, entries, isReadOnly } = this.#deps
    if (this.#isSaved || isReadOnly) return
    const codes = new Set(entries.map(({ code }) => code))
    const configured = this.merged.filter(({ code }) => codes.has(code))
    try {
      if (configured.length > 0) {
        await db.transaction(async (tx) => {
          for (const record of configured) await saveManufacturer(tx, secrets, record)
        })
      }
      this.#isSaved = true
    } catch (error) {
      if (!(error instanceof StoreDownError)) throw error
      log.error({ error: error.message }, 'the manufacturers in the configuration could not be stored yet')
    }
  }
}

function mergeManufacturers(
  stored: readonly StoredManufacturer[],
  entries: readonly ManufacturerEntry[],
  file: string,
): StoredManufacturer[] {
  const merged = new Map(stored.map((record) => [record.code, record]))
  for (const [index, entry] of entries.entries()) {
    const before = merged.get(entry.code)
    const plugin = entry.plugin ?? before?.plugin ?? entry.code
    const record: StoredManufacturer = {
      code: entry.code,
      name: entry.name ?? before?.name ?? entry.code,
      plugin,
      api_enabled: entry.api_enabled ?? before?.api_enabled ?? true,
      config: { ...before?.config, ...entry.config },
      secretsUnreadable: before?.secretsUnreadable ?? false,
    }
    checkEntry(record, `${file}: manufacturers.${index}`)
    merged.set(record.code, record)
  }
  return [...merged.values()].sort((a, b) => (a.code < b.code ? -1 : 1))
}

function checkEntry(record: StoredManufacturer, where: string): void {
  try {
    listSources(record)
  } catch (error) {
    const { message } = error as Error
    throw new ConfigError(`${where}.${error instanceof RangeError ? `plugin: ${message}` : `config.${message}`}`)
  }
}
