/**
 * Searches every given address, on the default ports, for individual devices and for systems that manage many devices.
 * Also listens for service announcements and beacons. Sends no credentials, because it is unknown what is listening at
 * an address.
 */

import { isOnNetwork, type LocalAddress } from '../domain/identity/network.ts'
import { serialKey } from '../domain/identity/reconcile.ts'
import { findRouteInterface } from '../platform/route.ts'
import { type AnnouncedService, browse, listenForBeacons, type MulticastGroup } from '../upstream/announcements.ts'
import type { Destinations } from '../upstream/destinations.ts'
import type { AnnouncedDevice, Plugin } from './plugin.ts'
import { addressOf, type FoundDevice, type Probe, probeAll } from './probe.ts'

export interface SearchOptions {
  readonly ips: readonly string[]
  /** Monitored addresses are skipped, because many devices accept only few connections. */
  readonly known: ReadonlySet<string>
  readonly destinations: Destinations
  readonly signal: AbortSignal
  /** Announcements are received on these. */
  readonly localAddresses: readonly LocalAddress[]
  /** Called when a device of this manufacturer responds but is not supported by the plugin. */
  readonly onUnsupported?: (address: string, error: string) => void
  /** The destination of service queries. Default: the mDNS multicast group. */
  readonly serviceGroup?: MulticastGroup
  /** Default: the multicast group of the plugin's beacon. */
  readonly beaconGroup?: MulticastGroup
}

/** A device or system that was found, and the interfaces of this machine on which its answers arrived. */
export interface AnsweringDevice extends FoundDevice {
  readonly heard_on: readonly string[]
}

const browseMs = 1_500
/** Beacons are sent every two seconds. */
const beaconListenMs = 2_500

/**
 * If the signal aborts, resolves with the devices and systems found so far. A device that answers at several addresses
 * is returned once.
 */
export async function searchAddresses(plugin: Plugin, options: SearchOptions): Promise<readonly AnsweringDevice[]> {
  const { search } = plugin
  if (search === undefined) return []
  const { ips, known, destinations, signal, onUnsupported, localAddresses } = options
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
  const services = findAnnouncedServices(search.services ?? {}, options)
  const fromServices = services.then((all) => probe(all.map(({ address }) => address)))
  const announced = findAnnouncedDevices(plugin, options)
  const fromBeacons = announced.then((all) => probe(all.map(({ address }) => address)))
  const probed = (await Promise.all([...searches, ...systems, fromServices, fromBeacons])).flat()
  // A device that announces itself is included even if it does not respond.
  const found = [...probed, ...(await announced)]
  // A device may support several protocols; the first one found is kept.
  const firsts = new Map(found.toReversed().map((device) => [`${device.kind} ${device.ip}`, device]))
  const devices = ips.flatMap((ip) => kinds.flatMap((kind) => firsts.get(`${kind} ${ip}`) ?? []))
  const answers = [
    ...(await services),
    ...(await announced).map(({ ip }) => ({ ip, interfaces: listInterfaces(localAddresses, ip) })),
  ]
  const responding = new Set(probed.map(({ ip }) => ip))
  const answering = devices.map(async (device) => {
    const route = responding.has(device.ip) ? await findRouteInterface(device.ip) : null
    const names = answers.flatMap(({ ip, interfaces }) => (ip === device.ip ? interfaces : []))
    return { ...device, heard_on: [...new Set(route === null ? names : [route, ...names])] }
  })
  return joinPorts(await Promise.all(answering), localAddresses)
}

/** An answer from an address, and the interfaces on which it arrived. */
interface Answer {
  readonly ip: string
  readonly interfaces: readonly string[]
}

/** The interfaces whose network contains the address. The system does not report on which one a multicast datagram arrived. */
function listInterfaces(localAddresses: readonly LocalAddress[], ip: string): readonly string[] {
  return localAddresses.filter((local) => isOnNetwork(local, ip)).map(({ interfaceName }) => interfaceName)
}

/**
 * Joins the ports of a device by its serial number: it may answer at those for control and for Dante. The address in a
 * network of this machine is kept.
 */
function joinPorts(
  devices: readonly AnsweringDevice[],
  localAddresses: readonly LocalAddress[],
): readonly AnsweringDevice[] {
  const isLocal = ({ ip }: AnsweringDevice) => localAddresses.some((local) => isOnNetwork(local, ip))
  const joined = new Map<string, AnsweringDevice>()
  for (const device of devices) {
    const serial = serialKey(device.serial_number) ?? device.ip
    const key = `${device.kind} ${serial}`
    const first = joined.get(key)
    const kept = first === undefined || (isLocal(device) && !isLocal(first)) ? device : first
    const heard_on = [...new Set([...(first?.heard_on ?? []), ...device.heard_on])]
    joined.set(key, { ...kept, heard_on })
  }
  return [...joined.values()]
}

const kinds = ['device', 'system'] as const

/** Returns the requested addresses that announce one of the services. */
async function findAnnouncedServices(
  services: Readonly<Record<string, string>>,
  { ips, signal, localAddresses: from, serviceGroup: group }: SearchOptions,
): Promise<readonly (Answer & { readonly address: string })[]> {
  const requestedIps = new Set(ips)
  const options = { types: Object.keys(services), forMs: browseMs, signal, from, ...(group && { group }) }
  const found = await browse(options).catch((): AnnouncedService[] => [])
  return found.flatMap(({ type, port, addresses, interfaces }) =>
    addresses
      .filter((ip) => requestedIps.has(ip))
      .map((ip) => ({ ip, interfaces, address: addressOf(String(services[type]), ip, port) })),
  )
}

/** Returns the devices that send beacons from a requested address and are not monitored yet. */
async function findAnnouncedDevices({ search }: Plugin, options: SearchOptions): Promise<FoundDevice[]> {
  const { beacon, ports = {} } = search ?? {}
  if (beacon === undefined) return []
  const { ips, known, signal, localAddresses: from, beaconGroup } = options
  const requestedIps = new Set(ips)
  const { request, ports: ownPorts } = beacon
  const group = beaconGroup ?? beacon.group
  const listenOptions = { group, request, forMs: beaconListenMs, signal, from }
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
