/**
 * The plugin contract. `Plugin` describes a manufacturer, `ProtocolAdapter` one protocol of its hardware. Both are
 * stateless objects of functions. An adapter does all its input and output through the `UpstreamClient` of one source,
 * and omits the functions that its protocol does not support.
 */

import type { RateLimit } from '../domain/access/limits.ts'
import type { Transport } from '../domain/equipment/connection.ts'
import { withoutFalseZeros } from '../domain/equipment/false-zeros.ts'
import type { DeviceProblem } from '../domain/equipment/health.ts'
import type { ModelStatus } from '../domain/equipment/model-status.ts'
import type { DeviceReport } from '../domain/equipment/receiver.ts'
import type { Sweep } from '../domain/frequencies/sweeps/sweep.ts'
import type { DeviceLevels, LevelSample } from '../domain/levels/level-sample.ts'
import type { FollowedEvents, FollowedMessage } from '../domain/sites/followed.ts'
import type { InstallationPath, LevelSelection } from '../domain/sites/sites.ts'
import type { MulticastGroup } from '../upstream/announcements.ts'
import type { Credentials } from '../upstream/authorize.ts'
import type { UpstreamClient, UpstreamSettings } from '../upstream/client.ts'
import {
  type Address,
  ConfigError,
  type ConnectionSettings,
  type DevicePorts,
  parseConnection,
} from '../upstream/connection-settings.ts'
import { ApiError, type ErrorClasses } from '../upstream/errors.ts'
import type { FieldTable } from '../upstream/field-table.ts'

/**
 * One source of a manufacturer: a system that manages many devices, or an individual device. Rate limit, back-off,
 * lease, subscription and health are kept per source.
 */
export interface SourceSettings extends UpstreamSettings {
  /** The adapter for the address's scheme, or a detector if several adapters use this scheme. */
  readonly adapter: ProtocolAdapter | ProtocolDetector
  /** False if the configuration disables the manufacturer. */
  readonly isEnabled: boolean
  /** Undefined if not configured. */
  readonly pollIntervalSeconds: number | undefined
}

/** The parsed `config` of a manufacturer's record. */
export type PluginConfig = Readonly<Record<string, unknown>>

export interface DeviceList<Device> {
  readonly devices: readonly Device[]
  /** Entries that could not be parsed and were skipped. */
  readonly malformed: number
  /** Problems with the list or with individual devices. */
  readonly problems?: readonly DeviceProblem[]
}

/** A device as reported by one source. Parts that `readPart` has not read yet are absent. */
export interface UpstreamDevice {
  /** The manufacturer's own id. */
  readonly id: string
}

export interface SubscriptionTargets {
  ids(): readonly string[]
  /** Resolves when `ids` has changed; rejects when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>
}

export type PushEvent =
  /** The subscription is open and reports changes. */
  | { readonly type: 'open' }
  | {
      readonly type: 'report'
      readonly report: DeviceReport
      /**
       * True if the report identifies the device as completely as a poll does. Such a report may create a device that
       * is not stored yet.
       */
      readonly isComplete?: boolean
    }
  | { readonly type: 'removed'; readonly id: string }
  /** An unsupported message; counted, and logged at debug level. */
  | { readonly type: 'ignored'; readonly reason: string }

/**
 * Receives levels of a device as soon as they arrive, outside the sequence of events, so that ten messages a second
 * from each of many devices cost little. If it returns false, the samples must also be reported as an event, for
 * example because they show that a transmitter has appeared. An adapter may report all levels as events instead.
 */
export type OnLevels = (deviceId: string, samples: readonly LevelSample[]) => boolean

export interface HealthReport {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  /** A sentence that an administrator can act on; null when healthy. */
  readonly error: string | null
}

/**
 * Receives the refused requests and undocumented values of a device. Replaces those that the subscription has passed on
 * before.
 */
export type OnProblems = (problems: readonly DeviceProblem[]) => void

/** A request to find a device, or one of its channels, by its flashing lights. */
export interface FlashRequest {
  readonly deviceId: string
  readonly deviceType: string
  /** Null for the whole device. */
  readonly channel: number | null
  /** False to stop flashing. */
  readonly isOn: boolean
}

/** The part of a device that flashes, or has stopped flashing. */
export interface Flashing {
  /** Null for the whole device, even if a channel was requested that cannot flash alone. */
  readonly channel: number | null
}

/** Lights that identify a device in its rack. */
export interface Lights {
  /** True if devices of this type have such lights. */
  areIn(deviceType: string): boolean
  /**
   * Resolves when the device has confirmed the request, with null if it has no such lights. `signal` limits the time.
   */
  flash(client: UpstreamClient, request: FlashRequest, signal: AbortSignal): Promise<Flashing | null>
}

/** Frequencies in equal steps. */
export interface ScanRange {
  readonly fromKhz: number
  readonly toKhz: number
  readonly stepKhz: number
}

/** The state of a receiver before it scans. */
export interface ScannerState {
  /** The frequencies in kHz to which its channels are tuned, by channel number. */
  readonly tuned: ReadonlyMap<number, number>
  /** True if it scans already, for example for another program. */
  readonly isScanning: boolean
  /** True if it receives a transmitter. */
  readonly hasTransmitter: boolean
}

export type ScanEvent =
  /** The device has confirmed that it scans. */
  { readonly type: 'started' } | { readonly type: 'sweep'; readonly sweep: Sweep }

/** Scans of the spectrum by a receiver, which receives nothing meanwhile. They write to the device. */
export interface SpectrumScanner {
  /** Returns the largest range and the smallest step of devices of this type, or null if they cannot scan. */
  rangeOf(deviceType: string): ScanRange | null
  readState(client: UpstreamClient, signal: AbortSignal): Promise<ScannerState>
  /**
   * Scans the range again and again. Ends without an error on abort. Throws if the device refuses, or is lost. The
   * device may continue to scan until `restore`.
   */
  scan(client: UpstreamClient, range: ScanRange, signal: AbortSignal): AsyncGenerator<ScanEvent>
  /** Ends the scan and tunes the channels. Resolves when the device has confirmed both. `signal` limits the time. */
  restore(client: UpstreamClient, tuned: ScannerState['tuned'], signal: AbortSignal): Promise<void>
}

/** The list of addresses that an upstream searches for devices. */
export interface DiscoveryList {
  getDiscoveryIps(client: UpstreamClient, signal?: AbortSignal): Promise<readonly string[]>
  /** Existing addresses stay in the list. */
  addDiscoveryIps(client: UpstreamClient, ips: readonly string[], signal?: AbortSignal): Promise<void>
  removeDiscoveryIps(client: UpstreamClient, ips: readonly string[], signal?: AbortSignal): Promise<void>
}

/** The last message of an earlier connection that was applied. */
export interface ResumePoint {
  readonly seq: number
  readonly epoch: string
}

export interface FollowOptions {
  /**
   * The point from which to resume. The other installation sends a snapshot for null, or if it cannot resume.
   */
  readonly resumeAfter: ResumePoint | null
  /** Called when the other installation has answered a ping. */
  onLatency(ms: number): void
  /** Called when the connection is open, with a function that selects the levels to receive. */
  onOpen(requestLevels: (selection: LevelSelection) => void): void
  /** Called when parts of a message were dropped. */
  onDropped(dropped: DroppedParts): void
}

/** Parts of messages or responses that do not match their schema or exceed a limit. */
export interface DroppedParts {
  readonly count: number
  /** The path of the first part, and the expected value. */
  readonly first: string
}

/** A protocol of a source: its requests, and the conversion to the common format. */
export interface ProtocolAdapter<Device extends UpstreamDevice = UpstreamDevice> {
  /** Names the protocol in captures. Unique within the plugin. */
  readonly protocol: string
  /**
   * Lists the devices in one request. Malformed entries are skipped and counted. An adapter may return the same object
   * for a device that is unchanged since the list `before`, which saves the caller a comparison. It may modify the
   * objects in `before`, which must not be passed again.
   */
  listDevices(client: UpstreamClient, signal?: AbortSignal, before?: DeviceList<Device>): Promise<DeviceList<Device>>
  /**
   * Returns the names of the parts to read with `readPart`, `identity` first. Omits parts that the device list already
   * contains.
   */
  partsOf(device: Device): readonly string[]
  /**
   * Returns the device with this part added. If the response is an error that affects only this device, the known
   * values are kept.
   */
  readPart(client: UpstreamClient, device: Device, part: string, signal?: AbortSignal): Promise<Device>
  /** True if the complete identity of the device has been read. */
  hasIdentity(device: Device): boolean
  /** Adds the identity read earlier to a newly listed device. Never adds earlier levels. */
  withEarlierIdentity(listed: Device, before: Device): Device
  /**
   * True if the two list entries differ only in levels. May always return false if a comparison costs as much as a
   * conversion.
   */
  isSameIdentity(listed: Device, before: Device): boolean
  /**
   * True if a list entry differs from the entry `before` only in levels. The caller then converts only them, with
   * `readLevels`.
   */
  differsOnlyInLevels?(listed: Device, before: Device): boolean
  /** Required with `differsOnlyInLevels`. */
  readLevels?(listed: Device): readonly LevelSample[]

  /** Converts a device to the common format. Pure. */
  transformDeviceData(device: Device): DeviceReport
  /** Returns the parts that the device refuses or reports in an undocumented form. Pure. */
  problemsOf?(device: Device): readonly DeviceProblem[]

  /**
   * Subscribes to changes. Ends without an error when the signal aborts, and throws when the connection is lost. The
   * caller reconnects.
   */
  subscribe?(
    client: UpstreamClient,
    targets: SubscriptionTargets,
    signal: AbortSignal,
    onLevels?: OnLevels,
    onProblems?: OnProblems,
  ): AsyncIterable<PushEvent>
  /**
   * Follows another installation of Micwatch, whose data are shown unchanged. Such a source is neither polled nor
   * subscribed to. Ends without an error when the signal aborts, and throws when the connection is lost.
   */
  follow?(client: UpstreamClient, signal: AbortSignal, options: FollowOptions): AsyncIterable<FollowedMessage>
  /** Reads a page of the events that a followed installation has recorded. */
  readEvents?(
    client: UpstreamClient,
    path: string,
    options: { readonly signal: AbortSignal } & Pick<FollowOptions, 'onDropped'>,
  ): Promise<FollowedEvents>
  /** Reads the identity of this installation and of those that it follows; null if its version is too old. */
  readInstallation?(client: UpstreamClient, signal: AbortSignal): Promise<InstallationPath | null>
  /**
   * Returns how the levels of devices of a type arrive from a source with this rate limit. Default: polled. A report
   * contains only levels that have arrived since the last one, because a reported level counts as received.
   */
  levels?(deviceType: string, rateLimit: RateLimit): DeviceLevels
  readonly transport?: Transport
  /**
   * True if the subscription reports everything that a poll does, including that the device is online or offline.
   * Polling stops while such a subscription is open.
   */
  readonly pushesEverything?: boolean
  /**
   * True if the subscription starts with a report of the source's only device that contains everything that a poll
   * reads. Such a source is subscribed to without being polled first.
   */
  readonly startsWithFullReport?: boolean
  readonly discovery?: DiscoveryList
  readonly lights?: Lights
  readonly scanner?: SpectrumScanner
  /** If a device is reported through several adapters, the report with the highest precedence wins. Default: 0. */
  readonly precedence?: number
  /** Prefix of the device ids of an adapter with a precedence. A receiver's id shows which adapter reported it. */
  readonly idPrefix?: string
}

/** Chooses between adapters that use the same address scheme. */
export interface ProtocolDetector {
  /** Used until another protocol is detected. */
  readonly default: ProtocolAdapter
  /**
   * Called when a request by the adapter `assumed` failed with `error`. Returns the adapter to use instead, or null.
   */
  detect(
    client: UpstreamClient,
    failure: { assumed: ProtocolAdapter; error: ApiError },
    signal?: AbortSignal,
  ): Promise<ProtocolAdapter | null>
}

/** A datagram that devices multicast every few seconds, or in response to a multicast request. */
export interface Beacon {
  readonly group: MulticastGroup
  /** Sent to the group when a search begins. */
  readonly request?: Buffer
  /** Scheme -> default port, for devices that are found only by their announcements. */
  readonly ports?: Readonly<Record<string, number>>
  /**
   * Reads the announcement in a datagram, whose sender is not verified. Returns null if the datagram is malformed or
   * the device cannot be monitored.
   */
  read(datagram: Buffer, ip: string): AnnouncedDevice | null
}

/** The announcement of a device, before any connection is made. */
export interface AnnouncedDevice extends Required<Pick<DeviceReport, 'id' | 'device_type'>> {
  /** Scheme of the address at which the device is monitored, on the default port. */
  readonly scheme: string
  readonly model: string
  readonly mac_address: string | null
  readonly channels: number
}

/**
 * Finds individual devices and systems. A device whose scheme has no entry in `identify` is identified by listing it
 * with the adapter for its scheme.
 */
export interface DeviceSearch {
  /** Scheme -> default port of its devices. */
  readonly ports: DevicePorts
  /** Announced service type (`_ssc._udp`) -> scheme. */
  readonly services?: Readonly<Record<string, string>>
  /** The manufacturer's own announcement protocol. */
  readonly beacon?: Beacon
  /** Scheme -> identification of a device whose list requires a password. */
  readonly identify?: Readonly<Record<string, IdentifyDevice>>
  /** Scheme -> default port and identification of systems that manage many devices. */
  readonly systems?: Readonly<Record<string, { readonly port: number; readonly identify: IdentifyDevice }>>
}

/** Identifies a device or system of this manufacturer without credentials. Throws if the host is neither. */
export type IdentifyDevice = (client: UpstreamClient, signal: AbortSignal) => Promise<DeviceReport>

export interface Plugin {
  /** The name of the plugin's folder. */
  readonly code: string
  readonly name: string
  readonly errors: ErrorClasses
  /** The fields that its protocols report. `docs/hardware-fields.md` lists them, and a test checks every table. */
  readonly fieldTables?: readonly FieldTable[]
  /** An adapter for the common device API (`/api/v1/devices`) comes first. */
  readonly adapters: readonly ProtocolAdapter[]
  /** Returns the sources in a configuration. Pure. Throws a ConfigError that names the invalid key. */
  listSources(config: PluginConfig): readonly SourceSettings[]
  readonly search?: DeviceSearch
  /** How far each model has been verified. A plugin for equipment of a manufacturer has a row for every adapter. */
  readonly modelStatus?: readonly ModelStatus[]
  /**
   * Device type -> the lowest audio level in dBFS that its meters can show, for equipment whose scale ends above -60.
   */
  readonly audioFloors?: ReadonlyMap<string, number>
}

/**
 * Checks the adapter at compile time and erases its device type, so that all adapters have the same type. Removes false
 * zeros from its reports.
 */
export function defineAdapter<Device extends UpstreamDevice>(adapter: ProtocolAdapter<Device>): ProtocolAdapter {
  const { subscribe } = adapter
  const defined: ProtocolAdapter<Device> = {
    ...adapter,
    transformDeviceData: (device) => withoutFalseZeros(adapter.transformDeviceData(device)),
    ...(subscribe && { subscribe: (...parameters) => cleanEvents(subscribe(...parameters)) }),
  }
  return defined as unknown as ProtocolAdapter
}

async function* cleanEvents(events: AsyncIterable<PushEvent>): AsyncGenerator<PushEvent> {
  for await (const event of events) {
    yield event.type === 'report' ? { ...event, report: withoutFalseZeros(event.report) } : event
  }
}

/**
 * Implements the functions for parts and earlier identities in adapters whose devices report everything in one session.
 */
export const withoutParts = {
  partsOf: () => [],
  readPart: async <Device>(_: UpstreamClient, device: Device) => device,
  hasIdentity: () => true,
  withEarlierIdentity: <Device>(listed: Device) => listed,
  // Names and levels arrive together, so only the conversion shows whether a name has changed.
  isSameIdentity: () => false,
} as const

/** By the scheme of the address, such as `tcp:`. */
type AdaptersByScheme = Readonly<Record<string, ProtocolAdapter | ProtocolDetector>>

interface SourceKinds {
  readonly adapters: AdaptersByScheme
  /** Adapters of individual devices, if they differ from those of systems. */
  readonly deviceAdapters?: AdaptersByScheme
  /** Scheme -> default port of individual devices. */
  readonly ports: DevicePorts
  /** Returns the credentials for one address. By default, none are sent. */
  toCredentials?(configured: ConfiguredCredentials): Credentials
}

type ConfiguredCredentials = Pick<ConnectionSettings, 'username' | 'authHeader'> & Pick<Address, 'secret' | 'isSystem'>

/** Returns one source per address of a configuration. Throws a ConfigError that names the invalid key. */
export function listConfiguredSources(
  config: PluginConfig,
  { adapters, deviceAdapters = adapters, ports, toCredentials = () => ({ scheme: 'none' }) }: SourceKinds,
): readonly SourceSettings[] {
  const { addresses, username, authHeader, ...settings } = parseConnection(config, ports)
  return addresses.map(({ secret, isSystem, ...address }) => ({
    ...settings,
    ...address,
    username,
    adapter: adapterFor(isSystem ? adapters : deviceAdapters, address.baseUrl),
    credentials: toCredentials({ username, authHeader, secret, isSystem }),
  }))
}

function adapterFor(adapters: AdaptersByScheme, baseUrl: string): ProtocolAdapter | ProtocolDetector {
  const adapter = adapters[new URL(baseUrl).protocol]
  if (adapter === undefined) {
    const schemes = Object.keys(adapters).map((scheme) => `${scheme}//`)
    throw new ConfigError(`devices: expected an address that begins with ${schemes.join(' or ')}, not ${baseUrl}`)
  }
  return adapter
}

/**
 * Lists the devices of a source and reads all parts of each. This is get_devices() in the interface specification (see
 * docs/conformance.md).
 */
export async function getDevices(
  adapter: ProtocolAdapter,
  client: UpstreamClient,
  signal?: AbortSignal,
): Promise<UpstreamDevice[]> {
  const { devices } = await adapter.listDevices(client, signal)
  const complete: UpstreamDevice[] = []
  for (const listed of devices) {
    let device = listed
    // Reading one part may reveal another.
    const requested = new Set<string>()
    for (;;) {
      const part = adapter.partsOf(device).find((name) => !requested.has(name))
      if (part === undefined) break
      requested.add(part)
      device = await adapter.readPart(client, device, part, signal)
    }
    complete.push(device)
  }
  return complete
}

/** Runs `probe` as a live check and never rejects. The status is `degraded` if the upstream requests a pause. */
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
