/** From a manufacturer's record to the sources that can be asked: each with its plugin and its link. */

import { createUpstreamClient, type RequestThrottle, type UpstreamClient } from '../upstream/client.ts'
import { createDestinations, type Destinations, isRefusedNow } from '../upstream/destinations.ts'
import { ApiError, type FailureKind } from '../upstream/errors.ts'
import { getPlugin } from './index.ts'
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

/** A source of a manufacturer, with the link it is asked over. */
export interface MonitoredSource {
  /** `<manufacturer code>:<address>`; names the source in leases, reports and logs. */
  readonly id: string
  readonly manufacturer: string
  readonly plugin: Plugin
  readonly settings: SourceSettings
  readonly client: UpstreamClient
  /** How it speaks: the form met last, the usual one before any was. */
  readonly adapter: ProtocolAdapter
  /** What it lists. Where another form is met than the one assumed, it is asked again in that one. */
  listDevices(signal?: AbortSignal, before?: DeviceList<UpstreamDevice>): Promise<DeviceList<UpstreamDevice>>
  /** The specification's check_health(): answers, whatever the source does. */
  checkHealth(signal?: AbortSignal): Promise<HealthReport>
  /** The form, asking for it where it is not known. Throws what `listDevices` throws. */
  findAdapter(signal?: AbortSignal): Promise<ProtocolAdapter>
}

interface ManufacturerRecord {
  readonly code: string
  readonly plugin: string
  readonly config: PluginConfig
}

/** Throws what `getPlugin` and the plugin's `listSources` throw. */
export function listSources({
  plugin,
  config,
}: Pick<ManufacturerRecord, 'plugin' | 'config'>): readonly SourceSettings[] {
  return getPlugin(plugin).listSources(config)
}

export function sourceId(code: string, source: Pick<SourceSettings, 'baseUrl'>): string {
  return `${code}:${source.baseUrl}`
}

/** What all links of the process share. */
export interface SourceDeps {
  readonly throttle: RequestThrottle
  readonly destinations: Destinations
}

/** Links are opened at their first request; whoever opened the sources closes them. */
export function openSources(record: ManufacturerRecord, deps: SourceDeps): MonitoredSource[] {
  const plugin = getPlugin(record.plugin)
  return listSources(record).map((settings) =>
    openSource({
      id: sourceId(record.code, settings),
      manufacturer: record.code,
      plugin,
      settings,
      client: createUpstreamClient({ settings, errors: plugin.errors, ...deps }),
    }),
  )
}

/** Remembers which form the source was met in. */
export function openSource(
  about: Pick<MonitoredSource, 'id' | 'manufacturer' | 'plugin' | 'settings' | 'client'>,
): MonitoredSource {
  const { client, settings } = about
  const choice: ProtocolDetector | null = 'default' in settings.adapter ? settings.adapter : null
  let form = 'default' in settings.adapter ? settings.adapter.default : settings.adapter
  let isKnown = choice === null

  async function listDevices(signal?: AbortSignal, before?: DeviceList<UpstreamDevice>) {
    // Another call may find out meanwhile.
    const assumed = form
    try {
      const list = await assumed.listDevices(client, signal, before)
      isKnown = true
      return list
    } catch (error) {
      if (choice === null || !(error instanceof ApiError)) throw error
      const met = await choice.detect(client, { assumed, error }, signal)
      if (met === null || met === assumed) throw error
      form = met
      isKnown = true
      return form.listDevices(client, signal)
    }
  }

  return {
    ...about,
    get adapter() {
      return form
    },
    listDevices,
    checkHealth: (signal) => reportHealth(client, () => listDevices(signal)),
    async findAdapter(signal) {
      if (!isKnown) await listDevices(signal)
      return form
    },
  }
}

/** As a service that listens at this address has them. */
export function destinationsBeside({ host, port }: { readonly host: string; readonly port: number }): Destinations {
  const destinations = createDestinations()
  destinations.addOwn(host, port)
  return destinations
}

/**
 * Why a manufacturer's record cannot be used, beginning with the key that is wrong; null when it can. Names are resolved;
 * one that does not resolve may do so later.
 */
export async function findConfigError(
  record: Pick<ManufacturerRecord, 'plugin' | 'config'>,
  destinations: Destinations,
): Promise<string | null> {
  let sources: readonly SourceSettings[]
  try {
    sources = listSources(record)
  } catch (error) {
    const { message } = error as Error
    return error instanceof RangeError ? `plugin: ${message}` : `config.${message}`
  }
  const targets = sources.flatMap(({ baseUrl, websocketUrl }) => [
    { key: 'api_base_url', url: new URL(baseUrl) },
    ...(typeof websocketUrl === 'string' ? [{ key: 'websocket_url', url: new URL(websocketUrl) }] : []),
  ])
  // All at once: a name server that does not answer is waited for once, not once a device.
  const refusals = await Promise.all(targets.map(({ url }) => isRefusedNow(destinations, url)))
  const refused = targets.find((_, at) => refusals[at])
  if (refused !== undefined) {
    const { key, url } = refused
    return `config.${key}: expected the address of a manufacturer's system; nothing is sent to ${url.host}`
  }
  return null
}

export interface SourceFailure {
  /** A sentence for the person who can mend it. */
  readonly error: string
  /** Seconds to wait, as the upstream asked. */
  readonly retryAfter: number | null
  /** Credentials or access were refused. */
  readonly isRefused: boolean
  readonly answer: FailureKind
  /** How an answer began that made no sense. */
  readonly excerpt?: string | undefined
}

/** What was thrown while a source was asked. */
export function toSourceFailure(thrown: unknown): SourceFailure {
  if (!(thrown instanceof ApiError)) {
    const error = thrown instanceof Error ? thrown.message : String(thrown)
    return { error, retryAfter: null, isRefused: false, answer: 'none' }
  }
  const isRefused = thrown.status === 401 || thrown.status === 403
  const { message: error, retryAfter, failureKind, response } = thrown
  return { error, retryAfter, isRefused, answer: failureKind, excerpt: response?.excerpt }
}
