/**
 * The contract of a manufacturer: who it is (`Plugin`), and each way its gear speaks (`Form`). Both are objects of
 * functions, without state. What a form may touch of the world comes in as a `link` to one source; what it cannot do, it
 * leaves out.
 */

import type { Transport } from '../model/connection.ts'
import type { DeviceProblem } from '../model/health.ts'
import type { DeviceReport } from '../model/receiver.ts'
import type { MulticastGroup } from '../upstream/announcements.ts'
import type { UpstreamClient, UpstreamSettings } from '../upstream/client.ts'
import { ConfigError, type DevicePorts } from '../upstream/connection-settings.ts'
import { ApiError, type ErrorClasses } from '../upstream/errors.ts'

/**
 * One mouth of a manufacturer: a system that speaks for many devices, or a device that speaks for itself. It is the unit
 * of everything that can fail or be shared out: pace, backoff, lease, subscription, health.
 */
export interface SourceSettings extends UpstreamSettings {
  /** How it speaks, as its address tells. */
  readonly adapter: ProtocolAdapter | ProtocolDetector
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
  /** What is wrong with the list or single devices. */
  readonly problems?: readonly DeviceProblem[]
}

/** A device as one source tells it. What `readPart` has not filled in yet is absent. */
export interface UpstreamDevice {
  /** The manufacturer's own id. */
  readonly id: string
}

/** What the loop wants to hear about over a push subscription. */
export interface SubscriptionTargets {
  ids(): readonly string[]
  /** Resolves when `ids` has changed; rejects when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>
}

export type PushEvent =
  /** The link is up: from now on what changes is told. */
  | { readonly type: 'open' }
  | {
      readonly type: 'told'
      readonly report: DeviceReport
      /** It says who the device is as completely as a poll would: a device nobody knows yet may come to be by it. */
      readonly isComplete?: boolean
    }
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
  getDiscoveryIps(client: UpstreamClient, signal?: AbortSignal): Promise<readonly string[]>
  /** Keeps what is there. */
  addDiscoveryIps(client: UpstreamClient, ips: readonly string[], signal?: AbortSignal): Promise<void>
  removeDiscoveryIps(client: UpstreamClient, ips: readonly string[], signal?: AbortSignal): Promise<void>
}

/** One way a source may speak: a protocol, from its calls to the common format. */
export interface ProtocolAdapter<Device extends UpstreamDevice = UpstreamDevice> {
  /**
   * One call: what the source lists. A malformed entry is left out and counted. Given the list `before`, a form may
   * give back the same object for a device of which the source says the same; that spares everybody the work.
   */
  listDevices(client: UpstreamClient, signal?: AbortSignal, before?: DeviceList<Device>): Promise<DeviceList<Device>>
  /**
   * What can still be asked about this device beyond what it carries, each part one call, `identity` first.
   * An identity already carried by the list is not named.
   */
  partsOf(device: Device): readonly string[]
  /** The device with that part filled in. 404 and 5xx of a part count as an answer; what was known stands. */
  readPart(client: UpstreamClient, device: Device, part: string, signal?: AbortSignal): Promise<Device>
  /** Its identity is known as far as the source can tell it. */
  hasIdentity(device: Device): boolean
  /** A freshly listed device completed with the identity that was read of it before; never with earlier levels. */
  withEarlierIdentity(listed: Device, before: Device): Device
  /** The two list entries differ in nothing but levels; false where that would take as long as to translate them. */
  isSameIdentity(listed: Device, before: Device): boolean

  /** Pure: the source's words -> the common format. */
  transformDeviceData(device: Device): DeviceReport

  /** Ends quietly when the signal aborts, with an error when the link is lost. Reconnecting is the caller's business. */
  subscribe?(client: UpstreamClient, interest: SubscriptionTargets, signal: AbortSignal): AsyncIterable<PushEvent>
  readonly transport?: Transport
  /** The subscription tells everything a poll would, and that the device is there: while it is up nobody polls. */
  readonly pushesEverything?: boolean
  readonly discovery?: DiscoveryList
  /** Where a device is heard in several forms, the word of the highest rank counts; 0 unless told. */
  readonly precedence?: number
  /** How the ids of a ranked form begin: by its id a receiver tells whose word it is. */
  readonly idPrefix?: string
}

/** Several forms share one kind of address: which is met has to be found out. */
export interface ProtocolDetector {
  /** Assumed until something else is met. */
  readonly default: ProtocolAdapter
  /**
   * A call in the form `assumed` met this trouble. Gives the form that is spoken instead; null where it is no other,
   * or nobody can tell.
   */
  detect(
    client: UpstreamClient,
    about: { assumed: ProtocolAdapter; error: ApiError },
    signal?: AbortSignal,
  ): Promise<ProtocolAdapter | null>
}

/** What devices send to everybody, unasked, every few seconds. */
export interface Beacon {
  readonly group: MulticastGroup
  /** Anybody may have sent it; null where it makes no sense, or tells of something that cannot be listened to. */
  read(datagram: Buffer, ip: string): AnnouncedDevice | null
}

/** Who a device says it is before anybody has spoken with it. */
export interface AnnouncedDevice extends Required<Pick<DeviceReport, 'id' | 'device_type'>> {
  /** Of the address to listen to it at, on the usual port. */
  readonly scheme: string
  readonly model: string
  readonly mac_address: string | null
  readonly channels: number
}

/** How devices that speak for themselves are found. Each is asked in the form that its address stands for. */
export interface DeviceSearch {
  /** Schemes, each with the port its devices listen at unless somebody changed it. */
  readonly ports: DevicePorts
  /** Service types they announce (`_ssc._udp`), each with the scheme spoken there. */
  readonly services?: Readonly<Record<string, string>>
  /** How they announce themselves, where they do it in a way of their own. */
  readonly beacon?: Beacon
  /** By scheme: how a device is asked who it is, where listing it takes a password. */
  readonly identify?: Readonly<Record<string, IdentifyDevice>>
  /** By scheme: where systems that speak for many devices listen, and how one is asked who it is. */
  readonly systems?: Readonly<Record<string, { readonly port: number; readonly identify: IdentifyDevice }>>
}

/** As a stranger, without credentials; throws where it is somebody else. */
export type IdentifyDevice = (client: UpstreamClient, signal: AbortSignal) => Promise<DeviceReport>

export interface Plugin {
  /** Equals the name of its folder. */
  readonly code: string
  readonly name: string
  readonly errors: ErrorClasses
  /** Every form its sources may speak, the specification's first. */
  readonly adapters: readonly ProtocolAdapter[]
  /** Which mouths a configuration names. Pure; throws a ConfigError naming the key that is wrong. */
  listSources(config: PluginConfig): readonly SourceSettings[]
  readonly search?: DeviceSearch
}

/** Checks the shape at compile time and forgets the form's own device type for those who use all forms alike. */
export function defineAdapter<Device extends UpstreamDevice>(form: ProtocolAdapter<Device>): ProtocolAdapter {
  return form as unknown as ProtocolAdapter
}

/** The parts of a form whose gear tells everything of itself in one conversation: there is nothing left to ask for. */
export const withoutParts = {
  partsOf: () => [],
  readPart: async <Device>(_: UpstreamClient, device: Device) => device,
  hasIdentity: () => true,
  withEarlierIdentity: <Device>(listed: Device) => listed,
  // Names and levels come in one word; which of them has changed is seen when it is translated.
  isSameIdentity: () => false,
} as const

/** Takes an address's scheme (`tcp:`) for the form spoken there. */
export function adapterFor(
  forms: Readonly<Record<string, ProtocolAdapter | ProtocolDetector>>,
  baseUrl: string,
): ProtocolAdapter | ProtocolDetector {
  const form = forms[new URL(baseUrl).protocol]
  if (form === undefined) {
    const schemes = Object.keys(forms).map((scheme) => `${scheme}//`)
    throw new ConfigError(`devices: expected an address that begins with ${schemes.join(' or ')}, not ${baseUrl}`)
  }
  return form
}

/** The specification's get_devices(): every device the source lists, each with everything that can be read of it. */
export async function getDevices(
  form: ProtocolAdapter,
  client: UpstreamClient,
  signal?: AbortSignal,
): Promise<UpstreamDevice[]> {
  const { devices } = await form.listDevices(client, signal)
  const complete: UpstreamDevice[] = []
  for (const listed of devices) {
    let device = listed
    // One part may tell that there is another.
    const asked = new Set<string>()
    for (;;) {
      const part = form.partsOf(device).find((one) => !asked.has(one))
      if (part === undefined) break
      asked.add(part)
      device = await form.readPart(client, device, part, signal)
    }
    complete.push(device)
  }
  return complete
}

/** A live check. Answers, whatever `probe` does; a wait that the upstream asked for is no failure. */
export async function reportHealth(client: UpstreamClient, probe: () => Promise<unknown>): Promise<HealthReport> {
  try {
    await probe()
    return { status: 'healthy', error: null }
  } catch (error) {
    if (error instanceof ApiError) {
      return { status: error.retryAfter === null ? 'unhealthy' : 'degraded', error: error.message }
    }
    const reason = error instanceof Error ? error.message : String(error)
    return { status: 'unhealthy', error: `${client.settings.baseUrl} could not be checked: ${reason}` }
  }
}
