/**
 * Searches every given address, on the default ports, for individual devices and for systems that manage many devices.
 * Also listens for service announcements and beacons. Sends no credentials, because it is unknown what is listening at
 * an address.
 */

import { type BrowseOptions, browse, listenForBeacons, type MulticastGroup } from '../upstream/announcements.ts'
import type { Destinations } from '../upstream/destinations.ts'
import type { AnnouncedDevice, Plugin } from './plugin.ts'
import { addressOf, type FoundDevice, type Probe, probeAll } from './probe.ts'

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

const browseMs = 1_500
/** Beacons are sent every two seconds. */
const beaconListenMs = 2_500

/** If the signal aborts, resolves with the devices and systems found so far. */
export async function searchAddresses(plugin: Plugin, options: SearchOptions): Promise<FoundDevice[]> {
  const { search } = plugin
  if (search === undefined) return []
  const { ips, known, destinations, signal, onUnsupported } = options
  const tried = new Set<string>()
  const probe = async (addresses: readonly string[], more: Pick<Probe, 'kind' | 'identify'> = { kind: 'device' }) => {
    const newAddresses = [...new Set(addresses)].filter((address) => !known.has(address) && !tried.has(address))
    for (const address of newAddresses) tried.add(address)
    const probes = newAddresses.map((address) => {
      return { plugin, address, identify: search.identify?.[new URL(address).protocol], ...more }
    })
    const results = await probeAll(probes, destinations, signal)
    for (const [index, { failure }] of results.entries()) {
      if (failure?.isUnsupported) onUnsupported?.(newAddresses[index] ?? '', failure.error)
    }
    return results.flatMap(({ devices }) => devices)
  }
  const searches = Object.entries(search.ports).map(([scheme, port]) =>
    probe(ips.map((ip) => addressOf(scheme, ip, port))),
  )
  const systems = Object.entries(search.systems ?? {}).map(([scheme, { port, identify }]) =>
    probe(
      ips.map((ip) => addressOf(scheme, ip, port)),
      { kind: 'system', identify },
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
