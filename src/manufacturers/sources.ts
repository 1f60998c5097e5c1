/** Opens the sources that a manufacturer's record configures, each with its plugin and its upstream client. */

import { listHttpOrigins, listSecrets, type SecretUse } from '../domain/access/secrets.ts'
import { localSite } from '../domain/equipment/sites.ts'
import { secretOf } from '../upstream/authorize.ts'
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts'
import { createDestinations, type Destinations, isHostBlocked } from '../upstream/destinations.ts'
import { ApiError, type FailureKind } from '../upstream/errors.ts'
import type { RequestThrottle } from '../upstream/request-throttle.ts'
import { followsSites, getPlugin } from './index.ts'
import {
  type DeviceList,
  type HealthReport,
  type Plugin,
  type PluginConfig,
  type ProtocolAdapter,
  type ProtocolDetector,
  reportHealth,
  type SourceSettings,
  type UpstreamDevice,
} from './plugin.ts'

export interface MonitoredSource {
  /** `<manufacturer code>:<address>`. Identifies the source in leases, statuses and logs. */
  readonly id: string
  readonly manufacturer: string
  readonly plugin: Plugin
  readonly settings: SourceSettings
  readonly client: UpstreamClient
  /** The last detected adapter, or the default one until one is detected. */
  readonly adapter: ProtocolAdapter
  /** If the source uses another protocol, repeats the request with its adapter. */
  listDevices(signal?: AbortSignal, before?: DeviceList<UpstreamDevice>): Promise<DeviceList<UpstreamDevice>>
  /**
   * Checks the source with a live request. Never rejects because of the source. This is check_health() in the interface
   * specification (see docs/conformance.md).
   */
  checkHealth(signal?: AbortSignal): Promise<HealthReport>
  /** Detects the adapter if necessary. Throws the errors of `listDevices`. */
  findAdapter(signal?: AbortSignal): Promise<ProtocolAdapter>
}

interface ConfiguredPlugin {
  readonly plugin: string
  readonly config: PluginConfig
}

interface ManufacturerRecord extends ConfiguredPlugin {
  readonly code: string
}

/** Throws the errors of `getPlugin` and of the plugin's `listSources`. */
export function listSources({ plugin, config }: ConfiguredPlugin): readonly SourceSettings[] {
  return getPlugin(plugin).listSources(config)
}

/** Lists the secrets of a record with the addresses that receive them. */
export function listSecretUses(record: ConfiguredPlugin): SecretUse[] {
  const secrets = listSecrets(record.config)
  const usesAt = (used: typeof secrets, config: unknown) =>
    used.flatMap((named) => listHttpOrigins(config, parseUrl).map((origin) => ({ ...named, origin })))
  let sources: readonly SourceSettings[]
  try {
    sources = listSources(record)
  } catch {
    // A stored configuration that has become invalid can be corrected without entering its secrets again.
    return usesAt(secrets, record.config)
  }
  return sources.flatMap(({ credentials, baseUrl, websocketUrl }) => {
    const used = secrets.find(({ secret }) => secret === secretOf(credentials))
    return used === undefined ? [] : usesAt([used], [baseUrl, websocketUrl])
  })
}

function parseUrl(address: string): URL | null {
  return URL.canParse(address) ? new URL(address) : null
}

export function sourceId(code: string, source: Pick<SourceSettings, 'baseUrl'>): string {
  return `${code}:${source.baseUrl}`
}

/** Shared by all connections of the process to upstream systems. */
export interface Outbound {
  readonly throttle: RequestThrottle
  readonly destinations: Destinations
}

/** The clients connect when they send their first request. The caller closes them. */
export function openSources(
  record: ManufacturerRecord,
  outbound: Outbound,
  listed: readonly SourceSettings[] = listSources(record),
): MonitoredSource[] {
  const plugin = getPlugin(record.plugin)
  return listed.map((settings) =>
    openSource({
      id: sourceId(record.code, settings),
      manufacturer: record.code,
      plugin,
      settings,
      client: createUpstreamClient({ settings, errors: plugin.errors, ...outbound }),
    }),
  )
}

/** Opens a source, which remembers the detected adapter. */
export function openSource(
  source: Pick<MonitoredSource, 'id' | 'manufacturer' | 'plugin' | 'settings' | 'client'>,
): MonitoredSource {
  const { client, settings } = source
  const detector: ProtocolDetector | null = 'default' in settings.adapter ? settings.adapter : null
  let adapter = 'default' in settings.adapter ? settings.adapter.default : settings.adapter
  let isKnown = detector === null

  async function listDevices(signal?: AbortSignal, before?: DeviceList<UpstreamDevice>) {
    // A concurrent call may change `adapter` during the request.
    const assumed = adapter
    try {
      const list = await assumed.listDevices(client, signal, before)
      isKnown = true
      return list
    } catch (error) {
      if (detector === null || !(error instanceof ApiError)) throw error
      const detected = await detector.detect(client, { assumed, error }, signal)
      if (detected === null || detected === assumed) throw error
      adapter = detected
      isKnown = true
      return adapter.listDevices(client, signal)
    }
  }

  return {
    ...source,
    get adapter() {
      return adapter
    },
    listDevices,
    checkHealth: (signal) => reportHealth(client, () => listDevices(signal)),
    async findAdapter(signal) {
      if (!isKnown) await listDevices(signal)
      return adapter
    },
  }
}

/** Creates the allowed destinations of a service that listens on this host and port. The service itself is blocked. */
export function createDestinationsExcluding({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Destinations {
  const destinations = createDestinations()
  destinations.blockListener(host, port)
  return destinations
}

/** Returns why a manufacturer's record is invalid, starting with the invalid key, or null. */
export function findRecordError(record: ManufacturerRecord): string | null {
  try {
    listSources(record)
  } catch (error) {
    const { message } = error as Error
    return error instanceof RangeError ? `plugin: ${message}` : `config.${message}`
  }
  if (record.code !== localSite || !followsSites(record.plugin)) return null
  return `code: expected another code than ${localSite}, which stands for this installation in filters`
}

/**
 * Returns why a manufacturer's record cannot be used, starting with the invalid key, or null. Resolves host names.
 * Accepts a name that does not resolve, because it may resolve later.
 */
export async function findConfigError(record: ManufacturerRecord, destinations: Destinations): Promise<string | null> {
  const fault = findRecordError(record)
  if (fault !== null) return fault
  const targets = listSources(record).flatMap(({ baseUrl, websocketUrl }) => [
    { key: 'api_base_url', url: new URL(baseUrl) },
    ...(typeof websocketUrl === 'string' ? [{ key: 'websocket_url', url: new URL(websocketUrl) }] : []),
  ])
  // In parallel, so that an unresponsive name server delays the check once and not once per device.
  const results = await Promise.all(targets.map(({ url }) => isHostBlocked(destinations, url)))
  const blockedTarget = targets.find((_, index) => results[index])
  if (blockedTarget !== undefined) {
    const { key, url } = blockedTarget
    const others = 'Micwatch itself, a cloud metadata service or a multicast group'
    const expected = `the address of a manufacturer's system, not of ${others}`
    return `config.${key}: expected ${expected}; Micwatch sends no requests to ${url.host}`
  }
  return null
}

/**
 * Returns the time in the Date header of an HTTP source, in epoch milliseconds, or null. Throws if the source does not
 * respond. Sends no credentials, so the certificate is not verified.
 */
export async function readSourceTime({ plugin, client }: MonitoredSource, signal: AbortSignal): Promise<number | null> {
  const { settings, destinations } = client
  if (!/^https?:/.test(settings.baseUrl)) return null
  const anonymous = { ...settings, credentials: { scheme: 'none' }, verifySsl: false, fingerprint: null } as const
  const probe = createUpstreamClient({ settings: anonymous, errors: plugin.errors, destinations })
  try {
    const headers = await probe.request('GET', '/', { signal }).then(
      (response) => response.headers,
      (error) => {
        if (error instanceof ApiError && error.response) return error.response.headers
        throw error
      },
    )
    const time = Date.parse(headers.date ?? '')
    return Number.isNaN(time) ? null : time
  } finally {
    await probe.close()
  }
}

export interface SourceFailure {
  /** A sentence that an administrator can act on. */
  readonly error: string
  /** Seconds, as requested by the upstream. */
  readonly retryAfter: number | null
  /** The upstream rejected the credentials or denied access. */
  readonly isAccessDenied: boolean
  readonly failureKind: FailureKind
  /** The beginning of a response that could not be parsed. */
  readonly excerpt?: string | undefined
}

export function toSourceFailure(thrown: unknown): SourceFailure {
  if (!(thrown instanceof ApiError)) {
    const error = thrown instanceof Error ? thrown.message : String(thrown)
    return { error, retryAfter: null, isAccessDenied: false, failureKind: 'none' }
  }
  const isAccessDenied = thrown.status === 401 || thrown.status === 403
  const { message: error, retryAfter, failureKind, response } = thrown
  return { error, retryAfter, isAccessDenied, failureKind, excerpt: response?.excerpt }
}
