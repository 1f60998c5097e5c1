/** The configured manufacturers and their sources, which can change while the service runs. */

import { isDeepStrictEqual } from 'node:util'
import { type ManufacturerHealth, type MonitoredManufacturer, noSources } from '../domain/equipment/health.ts'
import { followsSites } from '../manufacturers/index.ts'
import { listSources, type MonitoredSource, openSources, type SourceDeps, sourceId } from '../manufacturers/sources.ts'
import type { StoredManufacturer } from '../storage/settings.ts'

export interface SourceRegistry {
  /** Returns the manufacturers, ordered by code. */
  manufacturers(): readonly MonitoredManufacturer[]
  sources(): readonly MonitoredSource[]
  /** Returns the records with which other installations are followed, also those that are disabled. */
  followed(): readonly Pick<MonitoredManufacturer, 'code' | 'name' | 'base_url'>[]
  find(id: string): MonitoredSource | undefined
  /** Returns the health of manufacturers with an unusable configuration, by code. */
  configurationErrors(): ReadonlyMap<string, ManufacturerHealth>
  has(code: string): boolean
  /** Returns the manufacturer's configured polling interval, if any. */
  pollIntervalSeconds(code: string): number | undefined
  /**
   * Replaces the manufacturers and returns the removed sources, for the caller to close when they are no longer in use. An
   * unchanged manufacturer keeps its source objects.
   */
  update(records: readonly StoredManufacturer[]): readonly MonitoredSource[]
}

interface OpenedManufacturer {
  readonly record: StoredManufacturer
  readonly monitored: MonitoredManufacturer
  readonly sources: readonly MonitoredSource[]
  readonly pollIntervalSeconds?: number | undefined
  readonly configurationError: ManufacturerHealth | null
}

export function createSourceRegistry(deps: SourceDeps): SourceRegistry {
  let opened: ReadonlyMap<string, OpenedManufacturer> = new Map()
  const all = () => [...opened.values()]
  const sources = () => all().flatMap((manufacturer) => manufacturer.sources)
  let byId: ReadonlyMap<string, MonitoredSource> = new Map()
  return {
    manufacturers: () => all().map((manufacturer) => manufacturer.monitored),
    sources,
    followed: () => all().flatMap(({ record, monitored }) => (followsSites(record.plugin) ? monitored : [])),
    find: (id) => byId.get(id),
    configurationErrors: () =>
      new Map(all().flatMap(({ configurationError: health }) => (health === null ? [] : [[health.code, health]]))),
    has: (code) => opened.has(code),
    pollIntervalSeconds: (code) => opened.get(code)?.pollIntervalSeconds,
    update(records) {
      const before = sources()
      opened = new Map(
        records.map((record) => {
          const known = opened.get(record.code)
          const isSame = known !== undefined && hasSameConnection(known.record, record)
          return [record.code, isSame ? rename(known, record) : openManufacturer(record, deps)]
        }),
      )
      byId = new Map(sources().map((source) => [source.id, source]))
      const kept = new Set(sources())
      return before.filter((source) => !kept.has(source))
    },
  }
}

/** Whether the records differ at most in the name, which does not affect the connection. */
function hasSameConnection(a: StoredManufacturer, b: StoredManufacturer): boolean {
  return isDeepStrictEqual({ ...a, name: '' }, { ...b, name: '' })
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

function openManufacturer(record: StoredManufacturer, deps: SourceDeps): OpenedManufacturer {
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
