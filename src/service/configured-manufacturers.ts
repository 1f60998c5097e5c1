/** The manufacturers in the configuration. They override the stored ones, and are stored themselves. */

import { isDeepStrictEqual } from 'node:util'
import type { ManufacturerEntry } from '../config/file-schema.ts'
import { type Config, ConfigError } from '../config.ts'
import { listMovedSecrets, listSecrets } from '../domain/access/secrets.ts'
import { plugins } from '../manufacturers/index.ts'
import { findRecordError, listSecretUses } from '../manufacturers/sources.ts'
import type { Database } from '../storage/database.ts'
import { StoreDownError } from '../storage/errors.ts'
import type { Secrets } from '../storage/secrets.ts'
import { listManufacturers, type StoredManufacturer, saveManufacturer } from '../storage/settings.ts'
import type { ServiceOptions } from './options.ts'

export class ConfiguredManufacturers {
  readonly #db: Database
  readonly #secrets: Secrets
  readonly #options: ServiceOptions
  #entries: readonly ManufacturerEntry[] = []
  #merged: readonly StoredManufacturer[] = []
  /** The codes of the manufacturers that are not stored yet. */
  #unsaved: ReadonlySet<string> = new Set()
  #isSaved = false

  constructor(db: Database, secrets: Secrets, options: ServiceOptions) {
    this.#db = db
    this.#secrets = secrets
    this.#options = options
  }

  /** The stored manufacturers at the last update, overridden by those in the configuration. */
  get merged(): readonly StoredManufacturer[] {
    return this.#merged
  }

  /** False while the database is not writable: the stored manufacturers then lack those in the configuration. */
  get isSaved(): boolean {
    return this.#isSaved
  }

  /**
   * Merges and stores the entries that differ from those of the last update. Throws a ConfigError if one of them is
   * invalid; nothing has changed then.
   */
  async update(config: Config): Promise<void> {
    const manufacturers = [...config.manufacturers, ...(this.#options.manufacturers ?? [])]
    const isSame = (entry: ManufacturerEntry) => this.#entries.some((known) => isDeepStrictEqual(known, entry))
    const changed = new Set(manufacturers.filter((entry) => !isSame(entry)))
    const stored = this.#unsaved.size > 0 ? this.#merged : await listManufacturers(this.#db.read, this.#secrets)
    this.#merged = this.#merge(stored, manufacturers, changed, config.file)
    this.#entries = manufacturers
    this.#unsaved = new Set([...this.#unsaved, ...[...changed].map(({ code }) => code)])
    this.#isSaved = false
    await this.save()
  }

  /** Overrides the stored manufacturers with the entries in `changed`. */
  #merge(
    stored: readonly StoredManufacturer[],
    manufacturers: readonly ManufacturerEntry[],
    changed: ReadonlySet<ManufacturerEntry>,
    file: string | null,
  ): StoredManufacturer[] {
    const merged = new Map(stored.map((record) => [record.code, record]))
    for (const [index, entry] of manufacturers.entries()) {
      if (!changed.has(entry)) continue
      const before = merged.get(entry.code)
      const record = toRecord(entry, before)
      checkEntry(record, `${file ?? 'configuration'}: manufacturers.${index}`)
      merged.set(record.code, before === undefined ? record : this.#withoutMovedSecrets(before, record, entry))
    }
    return [...merged.values()].sort((a, b) => (a.code < b.code ? -1 : 1))
  }

  /** Removes the stored secrets that the entry would send to another address. */
  #withoutMovedSecrets(
    before: StoredManufacturer,
    record: StoredManufacturer,
    { code, config: entered }: ManufacturerEntry,
  ): StoredManufacturer {
    const uses = { before: listSecretUses(before), after: listSecretUses(record), entered: listSecrets(entered) }
    const keys = new Set(listMovedSecrets(uses).map(({ key }) => key))
    if (keys.size === 0) return record
    const text = 'the address has changed, so the stored secrets no longer apply: enter them again'
    this.#options.log.warn({ manufacturer: code, keys: [...keys] }, text)
    return { ...record, config: Object.fromEntries(Object.entries(record.config).filter(([key]) => !keys.has(key))) }
  }

  /** Stores the manufacturers in the configuration, unless they are stored already. */
  async save(): Promise<void> {
    const { log, isReadOnly = false } = this.#options
    if (this.#isSaved || isReadOnly) return
    const configured = this.#merged.filter(({ code }) => this.#unsaved.has(code))
    try {
      if (configured.length > 0) {
        await this.#db.transaction(async (tx) => {
          for (const record of configured) await saveManufacturer(tx, this.#secrets, record)
        })
      }
      this.#unsaved = new Set()
      this.#isSaved = true
    } catch (error) {
      if (!(error instanceof StoreDownError)) throw error
      log.error({ error: error.message }, 'the manufacturers in the configuration could not be stored yet')
    }
  }
}

/** `before` is the stored record, which the entry overrides. */
export function toRecord(entry: ManufacturerEntry, before?: StoredManufacturer): StoredManufacturer {
  return {
    code: entry.code,
    name: entry.name ?? before?.name ?? defaultName(entry.code),
    plugin: entry.plugin ?? before?.plugin ?? entry.code,
    api_enabled: entry.api_enabled ?? before?.api_enabled ?? true,
    config: { ...before?.config, ...entry.config },
    secretsUnreadable: before?.secretsUnreadable ?? false,
    version: before?.version ?? 0,
  }
}

/** Returns the name of the plugin with this code; the code itself if there is none. */
function defaultName(code: string): string {
  return plugins.find((plugin) => plugin.code === code)?.name ?? code
}

function checkEntry(record: StoredManufacturer, where: string): void {
  const fault = findRecordError(record)
  if (fault !== null) throw new ConfigError(`${where}.${fault}`)
}
