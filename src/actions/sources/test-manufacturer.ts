/** Tests the connection to a manufacturer's systems, with the stored configuration or with an unsaved one. */

import type { ConnectionTest, PluginBody } from '../../contract/manufacturers.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { plugins } from '../../manufacturers/index.ts'
import { findConfigError, type MonitoredSource, openSources } from '../../manufacturers/sources.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { findManufacturer, type Manufacturer } from '../../storage/settings.ts'
import { getManufacturer, type ManufacturerChange, mergeConfig } from './change-manufacturers.ts'

export function listPlugins(): readonly PluginBody[] {
  return plugins.map(({ code, name, adapters }) => ({
    code,
    name,
    transport: adapters[0]?.transport ?? null,
    has_discovery_list: adapters.some(({ discovery }) => discovery !== undefined),
  }))
}

type SourceTest = ConnectionTest['sources'][number]

/** Tests every stored source, including disabled ones. */
export async function testManufacturer(
  service: Service,
  actor: Actor,
  code: string,
  signal?: AbortSignal,
): Promise<ConnectionTest> {
  const record = await getManufacturer(service, code)
  const running = service.sourceRegistry.sources().filter((source) => source.manufacturer === code)
  return testSources(service, actor, { record, running }, signal)
}

/**
 * An unsaved configuration. With a `code`, the test uses that manufacturer's stored configuration with `config` merged
 * over it.
 */
export type ManufacturerTrial = Pick<ManufacturerChange, 'plugin' | 'config'> & { readonly code?: string }

/**
 * Tests an unsaved configuration without storing it. The test is subject to the rate limit of each address, and to any
 * pause that an earlier response from the address requested.
 */
export async function tryManufacturer(
  service: Service,
  actor: Actor,
  trial: ManufacturerTrial,
  signal?: AbortSignal,
): Promise<ConnectionTest> {
  const stored =
    trial.code === undefined ? undefined : await findManufacturer(service.db.read, service.secrets, trial.code)
  if (trial.code !== undefined && stored === undefined) {
    throw new RequestError('bad_request', { details: `code: there is no manufacturer ${trial.code}` })
  }
  const plugin = trial.plugin ?? stored?.plugin
  if (plugin === undefined) throw new RequestError('bad_request', { details: 'plugin: missing' })
  const config = mergeConfig(stored ?? { plugin, config: {} }, trial)
  const record = { code: stored?.code ?? plugin, plugin, config }
  return testSources(service, actor, { record, running: [] }, signal)
}

interface TestTarget {
  readonly record: Pick<Manufacturer, 'code' | 'plugin' | 'config'>
  /** Sources that are being monitored; they are tested with their existing clients. */
  readonly running: readonly MonitoredSource[]
}

async function testSources(
  service: Service,
  actor: Actor,
  { record, running }: TestTarget,
  signal?: AbortSignal,
): Promise<ConnectionTest> {
  const fault = await findConfigError(record, service.outbound.destinations)
  if (fault !== null) throw new RequestError('bad_request', { details: fault })
  const opened = running.length > 0 ? [] : openSources(record, service.outbound)
  try {
    const sources = await Promise.all([...running, ...opened].map((source) => testSource(source, signal)))
    const status = summary(sources.map((source) => source.status))
    const details = { status, addresses: sources.map((source) => source.base_url) }
    const target = `manufacturer ${record.code}`
    await service.db.transaction((tx) =>
      writeAudit(tx, { actor, action: 'manufacturer.test', target, result: 'ok', details }),
    )
    return { status, sources }
  } finally {
    await Promise.all(opened.map(({ client }) => client.close()))
  }
}

async function testSource(source: MonitoredSource, signal?: AbortSignal): Promise<SourceTest> {
  source.client.allowTest()
  const { status, error } = await source.checkHealth(signal)
  const listed = status === 'healthy' ? await source.listDevices(signal).catch(() => null) : null
  return { base_url: source.settings.baseUrl, status, error, devices: listed?.devices.length ?? null }
}

function summary(statuses: readonly SourceTest['status'][]): ConnectionTest['status'] {
  if (statuses.length === 0) return 'unconfigured'
  if (statuses.every((status) => status === 'healthy')) return 'healthy'
  return statuses.every((status) => status === 'unhealthy') ? 'unhealthy' : 'degraded'
}
