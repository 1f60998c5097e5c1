/**
 * Searches every given address, on the default ports, for individual devices and for systems that manage many devices.
 * Also listens for service announcements and beacons. Sends no credentials, because it is unknown what is listening at
 * an address.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { DeviceReport } from '../domain/equipment/receiver.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { abortWithin } from '../platform/wait.ts'
import { type BrowseOptions, browse, listenForBeacons, type MulticastGroup } from '../upstream/announcements.ts'
import { createUpstreamClient } from '../upstream/client.ts'
import type { Destinations } from '../upstream/destinations.ts'
import { ApiError } from '../upstream/errors.ts'
import { createRequestThrottle } from '../upstream/request-throttle.ts'
import { isListening } from '../upstream/tcp.ts'
import type { AnnouncedDevice, IdentifyDevice, Plugin, ProtocolAdapter, SourceSettings } from './plugin.ts'
import { openSource } from './sources.ts'

/** A device or system that was found, with the properties that it reports without credentials. */
export interface FoundDevice {
  /** A device belongs in the configuration's `devices`, a system in `api_base_url`. */
  readonly kind: 'device' | 'system'
  /** As written in the configuration. */
  readonly address: string
  readonly ip: string
  /** The manufacturer's own id. */
  readonly id: string
  readonly device_type: string
  readonly model: string | null
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly channels: number
}

export interface SearchOptions {
  readonly ips: readonly string[]
  /** Monitored addresses are skipped, because many devices accept only few connections. */
  readonly known: ReadonlySet<string>
  readonly destinations: Destinations
  readonly signal: AbortSignal
  /** Called when a device of this manufacturer responds but is not supported by the plugin. */
  readonly onUnsupported?: (address: string, error: string) => void
  /** The destination of service queries. Default: the mDNS multicast group. */
  readonly announcements?: Pick<BrowseOptions, 'group' | 'from'>
  /** Default: the multicast group of the plugin's beacon. */
  readonly beacons?: { readonly group: MulticastGroup; readonly from: readonly string[] }
}

/** All searches of the process share these slots and the start interval. */
const probeSlots = new Semaphore(256)
/**
 * Minimum time between the starts of two probes. Some old hardware fails when it is probed in a burst, and the event
 * loop must also serve live monitoring.
 */
const startIntervalMs = 2
/** The earliest start of the next probe, as a `performance.now()` time. */
let nextStartAt = 0
/** On a local network a connection takes a few milliseconds. */
const connectTimeoutMs = 500
/** A host that accepted a connection is given more time. Over UDP, only an answer shows that a host exists. */
const identifyTimeoutMs = { connected: 3_000, unconnected: 1_000, total: 8_000 }
const browseMs = 1_500
/** Beacons are sent every two seconds. */
const beaconListenMs = 2_500

/**
 * Certificates are not verified, because no credentials are sent, and nearly all devices have a self-signed
 * certificate.
 */
const anonymously = { credentials: { scheme: 'none' }, verifySsl: false, fingerprint: null } as const

/** If the signal aborts, resolves with the devices and systems found so far. */
export async function searchAddresses(plugin: Plugin, options: SearchOptions): Promise<FoundDevice[]> {
  const { search } = plugin
  if (search === undefined) return []
  const { ips, known } = options
  const tried = new Set<string>()
  const probe = (addresses: readonly string[], identify?: IdentifyDevice) => {
    const newAddresses = [...new Set(addresses)].filter((address) => !known.has(address) && !tried.has(address))
    for (const address of newAddresses) tried.add(address)
    return probeAll(newAddresses, (address) => probeAddress(plugin, address, options, identify), options.signal)
  }
  const searches = Object.entries(search.ports).map(([scheme, port]) =>
    probe(ips.map((ip) => addressOf(scheme, ip, port))),
  )
  const systems = Object.entries(search.systems ?? {}).map(([scheme, { port, identify }]) =>
    probe(
      ips.map((ip) => addressOf(scheme, ip, port)),
      identify,
    ),
  )
  const fromServices = findAnnouncedServices(search.services ?? {}, options).then((addresses) => probe(addresses))
  const announced = findAnnouncedDevices(plugin, options)
  const fromBeacons = announced.then((all) => probe(all.map(({ address }) => address)))
  const probed = (await Promise.all([...searches, ...systems, fromServices, fromBeacons])).flat()
  // A device that announces itself is included even if it does not respond.
  const found = [...probed, ...(await announced)]
  // A device may support several protocols; the first one found is kept.
  const firsts = new Map(found.toReversed().map((device) => [`${device.kind} ${device.ip}`, device]))
  return ips.flatMap((ip) => kinds.flatMap((kind) => firsts.get(`${kind} ${ip}`) ?? []))
}

const kinds = ['device', 'system'] as const

/** Returns the requested addresses that announce one of the services. */
async function findAnnouncedServices(
  services: Readonly<Record<string, string>>,
  options: SearchOptions,
): Promise<string[]> {
  const { ips, signal, announcements } = options
  const requestedIps = new Set(ips)
  const browseOptions = { types: Object.keys(services), forMs: browseMs, signal, ...announcements }
  const found = await browse(browseOptions).catch(() => [])
  return found.flatMap(({ type, port, addresses }) =>
    addresses.filter((ip) => requestedIps.has(ip)).map((ip) => addressOf(String(services[type]), ip, port)),
  )
}

/** Returns the devices that send beacons from a requested address and are not monitored yet. */
async function findAnnouncedDevices({ search }: Plugin, options: SearchOptions): Promise<FoundDevice[]> {
  const { beacon, ports = {} } = search ?? {}
  if (beacon === undefined) return []
  const { ips, known, signal, beacons } = options
  const requestedIps = new Set(ips)
  const { group, request, ports: ownPorts } = beacon
  const listenOptions = { group, request, forMs: beaconListenMs, signal, ...beacons }
  const announced = await listenForBeacons(listenOptions, (datagram, ip) =>
    requestedIps.has(ip) ? beacon.read(datagram, ip) : null,
  ).catch(() => new Map<string, AnnouncedDevice>())
  return [...announced].flatMap(([ip, { scheme, ...device }]) => {
    const port = ports[scheme] ?? ownPorts?.[scheme]
    const address = port === undefined ? null : addressOf(scheme, ip, port)
    return address === null || known.has(address)
      ? []
      : [{ ...device, kind: 'device' as const, address, ip, serial_number: null }]
  })
}

/** Formats an address like source settings, for comparison. */
function addressOf(scheme: string, ip: string, port: number): string {
  return new URL(`${scheme}//${ip}:${port}`).href.replace(/\/$/, '')
}

async function probeAll(
  addresses: readonly string[],
  probe: (address: string) => Promise<FoundDevice[]>,
  signal: AbortSignal,
): Promise<FoundDevice[]> {
  const probes: Promise<FoundDevice[]>[] = []
  for (const address of addresses) {
    await waitForStart()
    await probeSlots.acquire()
    if (signal.aborted) {
      probeSlots.release()
      break
    }
    probes.push(probe(address).finally(() => probeSlots.release()))
  }
  return (await Promise.all(probes)).flat()
}

/** Waits until the next probe may start. After a delay, the missed starts do not follow in a burst. */
async function waitForStart(): Promise<void> {
  const now = performance.now()
  const startAt = Math.max(nextStartAt, now)
  nextStartAt = startAt + startIntervalMs
  await pause(startAt - now)
}

/** Resolves with the device or system at an address; nothing if no host responds or the host uses another protocol. */
async function probeAddress(
  plugin: Plugin,
  address: string,
  options: SearchOptions,
  identifySystem?: IdentifyDevice,
): Promise<FoundDevice[]> {
  const [settings] = plugin.listSources({ devices: [address] })
  if (settings === undefined) return []
  const { destinations } = options
  const url = new URL(address)
  const isUdp = defaultAdapter(settings).transport === 'udp'
  const signal = abortWithin(identifyTimeoutMs.total, options.signal)
  if (!isUdp && !(await isListening(url, { destinations, signal, timeoutMs: connectTimeoutMs }))) return []
  const timeoutMs = isUdp ? identifyTimeoutMs.unconnected : identifyTimeoutMs.connected
  const client = createUpstreamClient({
    settings: { ...settings, ...anonymously, timeoutMs },
    errors: plugin.errors,
    throttle: createRequestThrottle(),
    destinations,
  })
  try {
    const identify = identifySystem ?? plugin.search?.identify?.[url.protocol]
    const kind = identifySystem === undefined ? 'device' : 'system'
    if (identify !== undefined) return [toFound(kind, address, await identify(client, signal))]
    const source = openSource({ id: address, manufacturer: plugin.code, plugin, settings, client })
    const { devices } = await source.listDevices(signal)
    return devices.map((device) => toFound(kind, address, source.adapter.transformDeviceData(device)))
  } catch (error) {
    if (error instanceof ApiError && error.failureKind === 'unsupported')
      options.onUnsupported?.(address, error.message)
    return []
  } finally {
    await client.close()
  }
}

function defaultAdapter({ adapter }: SourceSettings): ProtocolAdapter {
  return 'default' in adapter ? adapter.default : adapter
}

function toFound(kind: FoundDevice['kind'], address: string, report: DeviceReport): FoundDevice {
  return {
    kind,
    address,
    ip: new URL(address).hostname,
    id: report.id,
    device_type: report.device_type ?? report.kind,
    model: report.model_name ?? null,
    serial_number: report.serial_number ?? null,
    mac_address: report.mac_address ?? null,
    channels: report.channels?.length ?? 0,
  }
}
