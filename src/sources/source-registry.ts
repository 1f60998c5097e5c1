import { isDeepStrictEqual } from 'node:util'
import { type ManufacturerHealth, type MonitoredManufacturer, noSources } from '../domain/equipment/health.ts'
import { followsSites } from '../manufacturers/index.ts'
import { listSources, type MonitoredSource, type Outbound, openSources, sourceId } from '../manufacturers/sources.ts'
import type { StoredManufacturer } from '../storage/settings.ts'

interface OpenedManufacturer {
  readonly record: StoredManufacturer
  readonly monitored: MonitoredManufacturer
  readonly sources: readonly MonitoredSource[]
  readonly pollIntervalSeconds?: number | undefined
  readonly configurationError: ManufacturerHealth | null
}

/** The configured manufacturers and their sources, which can change while the service runs. */
export class SourceRegistry {
  readonly #deps: Outbound
  #opened: ReadonlyMap<string, OpenedManufacturer> = new Map()
  #byId: ReadonlyMap<string, MonitoredSource> = new Map()

  constructor(deps: Outbound) {
    this.#deps = deps
  }

  /** Returns the manufacturers, ordered by code. */
  manufacturers(): readonly MonitoredManufacturer[] {
    return this.#all().map(({ monitored }) => monitored)
  }

  sources(): readonly MonitoredSource[] {
    return this.#all().flatMap(({ sources }) => sources)
  }

  /** Returns the records of followed installations, including disabled ones. */
  followed(): readonly MonitoredManufacturer[] {
    return this.#all().flatMap(({ record, monitored }) => (followsSites(record.plugin) ? monitored : []))
  }

  find(id: string): MonitoredSource | undefined {
    return this.#byId.get(id)
  }

  /** Returns the health of manufacturers with an unusable configuration, by code. */
  configurationErrors(): ReadonlyMap<string, ManufacturerHealth> {
    const errors = this.#all().flatMap(({ configurationError }) => configurationError ?? [])
    return new Map(errors.map((health) => [health.code, health]))
  }

  has(code: string): boolean {
    return this.#opened.has(code)
  }

  /** Returns the manufacturer's configured polling interval, if any. */
  pollIntervalSeconds(code: string): number | undefined {
    return this.#opened.get(code)?.pollIntervalSeconds
  }

  /**
   * Replaces the manufacturers and returns the removed sources, for the caller to close when they are no longer in use. An
   * unchanged manufacturer keeps its source objects.
   */
  update(records: readonly StoredManufacturer[]): readonly MonitoredSource[] {
    const before = this.sources()
    this.#opened = new Map(
      records.map((record) => {
        const known = this.#opened.get(record.code)
        const isSame = known !== undefined && hasSameConnection(known.record, record)
        return [record.code, isSame ? rename(known, record) : openManufacturer(record, this.#deps)]
      }),
    )
    const kept = new Set(this.sources())
    this.#byId = new Map([...kept].map((source) => [source.id, source]))
    return before.filter((source) => !kept.has(source))
  }

  #all(): readonly OpenedManufacturer[] {
    return [...this.#opened.values()]
  }
}

/** True if the records differ at most in the name, which does not affect the connection. */
function hasSameConnection(a: StoredManufacturer, b: StoredManufacturer): boolean {
  return isDeepStrictEqual({ ...a, name: '', version: 0 }, { ...b, name: '', version: 0 })
}

/** Takes the name from the record. The sources stay open. */
function rename(manufacturer: OpenedManufacturer, record: StoredManufacturer): OpenedManufacturer {
  const { name } = record
  const { monitored, configurationError } = manufacturer
  return {
    ...manufacturer,
    record,
    monitored: { ...monitored, name },
    configurationError: configurationError === null ? null : { ...configurationError, name },
  }
}

function openManufacturer(record: StoredManufacturer, deps: Outbound): OpenedManufacturer {
  const { code, name } = record
  const unusable = (error: string, base_url: string): OpenedManufacturer => ({
    record,
    monitored: { code, name, base_url, isEnabled: record.api_enabled, sources: [], unverified: [] },
    sources: [],
    configurationError: record.api_enabled ? { ...noSources, code, name, base_url, status: 'unhealthy', error } : null,
  })
  try {
    const listed = listSources(record)
    const base_url = listed[0]?.baseUrl ?? ''
    if (record.secretsUnreadable)
      return unusable('the stored credentials cannot be decrypted; enter them again', base_url)
    const isEnabled = record.api_enabled && listed.every((source) => source.isEnabled)
    const ids = listed.map((source) => sourceId(code, source))
    const unverified = listed.flatMap(({ baseUrl, verifySsl, fingerprint }) => {
      const { protocol, host } = new URL(baseUrl)
      return protocol === 'https:' && !verifySsl && !fingerprint ? [host] : []
    })
    const monitored = { code, name, base_url, isEnabled, sources: ids, unverified }
    const sources = isEnabled ? openSources(record, deps, listed) : []
    return { record, monitored, sources, pollIntervalSeconds: listed[0]?.pollIntervalSeconds, configurationError: null }
  } catch (error) {
    return unusable(`the configuration is invalid: ${(error as Error).message}`, '')
  }
}
