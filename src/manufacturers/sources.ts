/** From a manufacturer's record to the sources that can be asked: each with its plugin and its link. */

import { createDestinations, type Destinations, isRefusedNow } from '../upstream/destinations.ts'
import { ApiError, type UpstreamAnswer } from '../upstream/errors.ts'
import { createLink, type Link, type Turnstile } from '../upstream/link.ts'
import { getPlugin } from './index.ts'
import {
  type DeviceList,
  type Form,
  type FormChoice,
  type HealthReport,
  type Plugin,
  type PluginConfig,
  reportHealth,
  type Source,
  type UpstreamDevice,
} from './plugin.ts'

/** A source of a manufacturer, with the link it is asked over. */
export interface HeardSource {
  /** `<manufacturer code>:<address>`; names the source in leases, reports and logs. */
  readonly id: string
  readonly manufacturer: string
  readonly plugin: Plugin
  readonly source: Source
  readonly link: Link
  /** How it speaks: the form met last, the usual one before any was. */
  readonly form: Form
  /** What it lists. Where another form is met than the one assumed, it is asked again in that one. */
  listDevices(signal?: AbortSignal, before?: DeviceList<UpstreamDevice>): Promise<DeviceList<UpstreamDevice>>
  /** The specification's check_health(): answers, whatever the source does. */
  checkHealth(signal?: AbortSignal): Promise<HealthReport>
  /** The form, asking for it where it is not known. Throws what `listDevices` throws. */
  findForm(signal?: AbortSignal): Promise<Form>
}

interface ManufacturerRecord {
  readonly code: string
  readonly plugin: string
  readonly config: PluginConfig
}

/** Throws what `getPlugin` and the plugin's `listSources` throw. */
export function listSources({ plugin, config }: Pick<ManufacturerRecord, 'plugin' | 'config'>): readonly Source[] {
  return getPlugin(plugin).listSources(config)
}

export function sourceId(code: string, source: Pick<Source, 'baseUrl'>): string {
  return `${code}:${source.baseUrl}`
}

/** What all links of the process share. */
export interface SourceDeps {
  readonly turnstile: Turnstile
  readonly destinations: Destinations
}

/** Links are opened at their first request; whoever opened the sources closes them. */
export function openSources(record: ManufacturerRecord, deps: SourceDeps): HeardSource[] {
  const plugin = getPlugin(record.plugin)
  return listSources(record).map((source) =>
    hearSource({
      id: sourceId(record.code, source),
      manufacturer: record.code,
      plugin,
      source,
      link: createLink({ settings: source, errors: plugin.errors, ...deps }),
    }),
  )
}

/** Remembers which form the source was met in. */
export function hearSource(
  about: Pick<HeardSource, 'id' | 'manufacturer' | 'plugin' | 'source' | 'link'>,
): HeardSource {
  const { link, source } = about
  const choice: FormChoice | null = 'usual' in source.form ? source.form : null
  let form = 'usual' in source.form ? source.form.usual : source.form
  let isKnown = choice === null

  async function listDevices(signal?: AbortSignal, before?: DeviceList<UpstreamDevice>) {
    // Another call may find out meanwhile.
    const assumed = form
    try {
      const list = await assumed.listDevices(link, signal, before)
      isKnown = true
      return list
    } catch (trouble) {
      if (choice === null || !(trouble instanceof ApiError)) throw trouble
      const met = await choice.detect(link, { assumed, trouble }, signal)
      if (met === null || met === assumed) throw trouble
      form = met
      isKnown = true
      return form.listDevices(link, signal)
    }
  }

  return {
    ...about,
    get form() {
      return form
    },
    listDevices,
    checkHealth: (signal) => reportHealth(link, () => listDevices(signal)),
    async findForm(signal) {
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
export async function findFault(
  record: Pick<ManufacturerRecord, 'plugin' | 'config'>,
  destinations: Destinations,
): Promise<string | null> {
  let sources: readonly Source[]
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

export interface Trouble {
  /** A sentence for the person who can mend it. */
  readonly error: string
  /** Seconds to wait, as the upstream asked. */
  readonly retryAfter: number | null
  /** Credentials or access were refused. */
  readonly isRefused: boolean
  readonly answer: UpstreamAnswer
  /** How an answer began that made no sense. */
  readonly excerpt?: string | undefined
}

/** What was thrown while a source was asked. */
export function readTrouble(thrown: unknown): Trouble {
  if (!(thrown instanceof ApiError)) {
    const error = thrown instanceof Error ? thrown.message : String(thrown)
    return { error, retryAfter: null, isRefused: false, answer: 'none' }
  }
  const isRefused = thrown.status === 401 || thrown.status === 403
  const { message: error, retryAfter, answer, response } = thrown
  return { error, retryAfter, isRefused, answer, excerpt: response?.excerpt }
}
