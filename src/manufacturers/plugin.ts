/**
 * The contract of a manufacturer: an object of functions, without state. What it may touch of the world comes in as a
 * `link` to one source; what it cannot do, it leaves out.
 */

import type { Transport } from '../model/connection.ts'
import type { Complaint } from '../model/health.ts'
import type { Observation } from '../model/receiver.ts'
import { ApiError, type ErrorClasses } from '../upstream/errors.ts'
import type { Link, LinkSettings } from '../upstream/link.ts'

/**
 * One mouth of a manufacturer: a system that speaks for many devices, or a device that speaks for itself. It is the unit
 * of everything that can fail or be shared out: pace, backoff, lease, subscription, health.
 */
export interface Source extends LinkSettings {
  /** False where the configuration switches the manufacturer off. */
  readonly isEnabled: boolean
  /** Where the configuration says how often to poll. */
  readonly pollIntervalSeconds: number | undefined
}

/** The plugin's part of a manufacturer's record: `config`, parsed once. */
export type PluginConfig = Readonly<Record<string, unknown>>

export interface DeviceList<Device> {
  readonly devices: readonly Device[]
  /** How many entries could not be read and were left out. */
  readonly malformed: number
  /** What is wrong with the list or single devices; a hundred at most. */
  readonly complaints?: readonly Complaint[]
}

/** A device as one source tells it. What `readPart` has not filled in yet is absent. */
export interface UpstreamDevice {
  /** The manufacturer's own id. */
  readonly id: string
}

/** What the loop wants to hear about over a push subscription. */
export interface Interest {
  ids(): readonly string[]
  /** Resolves when `ids` has changed; rejects when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>
}

export type PushEvent =
  /** The link is up: from now on what changes is told. */
  | { readonly type: 'open' }
  | { readonly type: 'told'; readonly observation: Observation }
  | { readonly type: 'removed'; readonly id: string }
  /** Something that means nothing to us; counted, and logged at debug level. */
  | { readonly type: 'ignored'; readonly reason: string }

export interface HealthReport {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  /** A sentence for the person who can mend it; null when healthy. */
  readonly error: string | null
}

/** Addresses an upstream searches for devices. */
export interface DiscoveryList {
  getDiscoveryIps(link: Link, signal?: AbortSignal): Promise<readonly string[]>
  /** Keeps what is there. */
  addDiscoveryIps(link: Link, ips: readonly string[], signal?: AbortSignal): Promise<void>
  removeDiscoveryIps(link: Link, ips: readonly string[], signal?: AbortSignal): Promise<void>
}

export interface Plugin<Device extends UpstreamDevice = UpstreamDevice> {
  /** Equals the name of its folder. */
  readonly code: string
  readonly name: string
  readonly errors: ErrorClasses
  /** Which mouths a configuration names. Pure; throws a ConfigError naming the key that is wrong. */
  listSources(config: PluginConfig): readonly Source[]

  /**
   * One call: what the source lists. A malformed entry is left out and counted. Given the list `before`, a plugin may
   * give back the same object for a device of which the source says the same; that spares everybody the work.
   */
  listDevices(link: Link, signal?: AbortSignal, before?: DeviceList<Device>): Promise<DeviceList<Device>>
  /**
   * What can still be asked about this device beyond what it carries, each part one call, `identity` first.
   * An identity already carried by the list is not named.
   */
  partsOf(device: Device): readonly string[]
  /** The device with that part filled in. 404 and 5xx of a part count as an answer; what was known stands. */
  readPart(link: Link, device: Device, part: string, signal?: AbortSignal): Promise<Device>
  /** Its identity is known as far as the source can tell it. */
  hasIdentity(device: Device): boolean
  /** A freshly listed device completed with the identity that was read of it before; never with earlier levels. */
  withEarlierIdentity(listed: Device, before: Device): Device
  /** The two list entries differ in nothing but levels. */
  isSameIdentity(listed: Device, before: Device): boolean

  /** Pure: the source's words -> the common format. */
  transformDeviceData(device: Device): Observation
  /** Answers, whatever the system does. */
  checkHealth(link: Link, signal?: AbortSignal): Promise<HealthReport>

  /** Ends quietly when the signal aborts, with an error when the link is lost. Reconnecting is the caller's business. */
  subscribe?(link: Link, interest: Interest, signal: AbortSignal): AsyncIterable<PushEvent>
  readonly transport?: Transport
  readonly discovery?: DiscoveryList
}

/** Checks the shape at compile time and forgets the plugin's own device type for those who run all plugins alike. */
export function definePlugin<Device extends UpstreamDevice>(plugin: Plugin<Device>): Plugin {
  return plugin as unknown as Plugin
}

/** The specification's get_devices(): every device the source lists, each with everything that can be read of it. */
export async function getDevices(plugin: Plugin, link: Link, signal?: AbortSignal): Promise<UpstreamDevice[]> {
  const { devices } = await plugin.listDevices(link, signal)
  const complete: UpstreamDevice[] = []
  for (const listed of devices) {
    let device = listed
    for (const part of plugin.partsOf(listed)) device = await plugin.readPart(link, device, part, signal)
    complete.push(device)
  }
  return complete
}

/** A plugin's live check. Answers, whatever `probe` does; a wait that the upstream asked for is no failure. */
export async function reportHealth(link: Link, probe: () => Promise<unknown>): Promise<HealthReport> {
  try {
    await probe()
    return { status: 'healthy', error: null }
  } catch (error) {
    if (error instanceof ApiError) {
      return { status: error.retryAfter === null ? 'unhealthy' : 'degraded', error: error.message }
    }
    const reason = error instanceof Error ? error.message : String(error)
    return { status: 'unhealthy', error: `${link.settings.baseUrl} could not be checked: ${reason}` }
  }
}
