/**
 * Looks for devices that speak for themselves, and for systems that speak for many: at every address given, where their
 * protocols usually listen, and wherever they announce themselves. Nothing secret is sent: nobody knows yet who answers.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { DeviceReport } from '../model/receiver.ts'
import { type BrowseOptions, browse, listenForBeacons, type MulticastGroup } from '../upstream/announcements.ts'
import { createRequestThrottle, createUpstreamClient, type UpstreamClient } from '../upstream/client.ts'
import type { Destinations } from '../upstream/destinations.ts'
import { ApiError } from '../upstream/errors.ts'
import { openTcpSocket } from '../upstream/tcp.ts'
import type { AnnouncedDevice, IdentifyDevice, Plugin, ProtocolAdapter, SourceSettings } from './plugin.ts'
import { openSource } from './sources.ts'

/** A device, or a system, that answered, as far as it could be asked. */
export interface FoundDevice {
  /** Whether a configuration names it among its `devices`, or as its `api_base_url`. */
  readonly kind: 'device' | 'system'
  /** Where, as a configuration names it. */
  readonly address: string
  readonly ip: string
  /** The manufacturer's own. */
  readonly id: string
  readonly device_type: string
  readonly model: string | null
  readonly serial_number: string | null
  readonly mac_address: string | null
  readonly channels: number
}

export interface SearchOptions {
  readonly ips: readonly string[]
  /** Addresses that are listened to already; a device has little patience for a second listener. */
  readonly known: ReadonlySet<string>
  readonly destinations: Destinations
  readonly signal: AbortSignal
  /** Called for a device of this manufacturer that answered and that the plugin does not support. */
  readonly onUnsupported?: (address: string, error: string) => void
  /** Where services are asked for; the multicast group unless told. */
  readonly announcements?: Pick<BrowseOptions, 'group' | 'from'>
  /** Where beacons are listened to; their own group unless told. */
  readonly beacons?: { readonly group: MulticastGroup; readonly from: readonly string[] }
}

/** So many are asked at once, one of a kind after the other: some old gear does not stand being asked in a burst. */
const atOnce = 256
const apartMs = 2
/** On the networks where devices stand a connection takes some milliseconds. */
const connectMs = 500
/** Who is there may take longer to tell of itself; whether anybody is, over UDP only an answer says. */
const tellMs = { connected: 3_000, unconnected: 1_000, inAll: 8_000 }
const announceMs = 1_500
/** Those who announce themselves unasked do so every two seconds. */
const beaconMs = 2_500

/** Without credentials, certificates need not be looked at: nearly all devices have one of their own making. */
const asStranger = { credentials: { scheme: 'none' }, verifySsl: false, fingerprint: null } as const

/** What was found when the signal aborts is given all the same. */
export async function searchAddresses(plugin: Plugin, options: SearchOptions): Promise<FoundDevice[]> {
  const { search } = plugin
  if (search === undefined) return []
  const { ips, known } = options
  const tried = new Set<string>()
  const lookAt = (addresses: readonly string[], meet?: IdentifyDevice) => {
    const fresh = [...new Set(addresses)].filter((address) => !known.has(address) && !tried.has(address))
    for (const address of fresh) tried.add(address)
    return askAll(fresh, (address) => askOne(plugin, address, options, meet), options.signal)
  }
  const searches = Object.entries(search.ports).map(([scheme, port]) =>
    lookAt(ips.map((ip) => addressOf(scheme, ip, port))),
  )
  const systems = Object.entries(search.systems ?? {}).map(([scheme, { port, identify }]) =>
    lookAt(
      ips.map((ip) => addressOf(scheme, ip, port)),
      identify,
    ),
  )
  const announced = listenAround(search.services ?? {}, options).then((addresses) => lookAt(addresses))
  const introduced = introductions(plugin, options)
  const introducing = introduced.then((all) => lookAt(all.map(({ address }) => address)))
  const answered = (await Promise.all([...searches, ...systems, announced, introducing])).flat()
  // One that announces itself and does not answer is there all the same.
  const found = [...answered, ...(await introduced)]
  // A device may speak in several forms; one will do.
  const firsts = new Map(found.toReversed().map((one) => [`${one.kind} ${one.ip}`, one]))
  return ips.flatMap((ip) => kinds.flatMap((kind) => firsts.get(`${kind} ${ip}`) ?? []))
}

const kinds = ['device', 'system'] as const

/** Addresses that are announced, of those that are wanted. */
async function listenAround(services: Readonly<Record<string, string>>, options: SearchOptions): Promise<string[]> {
  const { ips, signal, announcements } = options
  const wanted = new Set(ips)
  const about = { types: Object.keys(services), forMs: announceMs, signal, ...announcements }
  const offered = await browse(about).catch(() => [])
  return offered.flatMap(({ type, port, addresses }) =>
    addresses.filter((ip) => wanted.has(ip)).map((ip) => addressOf(String(services[type]), ip, port)),
  )
}

/** Who announces itself unasked, of those that are wanted and not listened to. */
async function introductions({ search }: Plugin, options: SearchOptions): Promise<FoundDevice[]> {
  const { beacon, ports = {} } = search ?? {}
  if (beacon === undefined) return []
  const { ips, known, signal, beacons } = options
  const wanted = new Set(ips)
  const about = { group: beacon.group, forMs: beaconMs, signal, ...beacons }
  const heard = await listenForBeacons(about, (datagram, ip) =>
    wanted.has(ip) ? beacon.read(datagram, ip) : null,
  ).catch(() => new Map<string, AnnouncedDevice>())
  return [...heard].flatMap(([ip, { scheme, ...told }]) => {
    const port = ports[scheme]
    const address = port === undefined ? null : addressOf(scheme, ip, port)
    return address === null || known.has(address)
      ? []
      : [{ ...told, kind: 'device' as const, address, ip, serial_number: null }]
  })
}

/** In the spelling that sources have. */
function addressOf(scheme: string, ip: string, port: number): string {
  return new URL(`${scheme}//${ip}:${port}`).href.replace(/\/$/, '')
}

async function askAll(
  addresses: readonly string[],
  ask: (address: string) => Promise<FoundDevice[]>,
  signal: AbortSignal,
): Promise<FoundDevice[]> {
  const found: FoundDevice[] = []
  const rest = addresses.values()
  let nextAt = performance.now()
  const work = async () => {
    for (const address of rest) {
      if (signal.aborted) return
      const startAt = Math.max(nextAt, performance.now())
      nextAt = startAt + apartMs
      await pause(startAt - performance.now())
      found.push(...(await ask(address)))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, addresses.length) }, work))
  return found
}

/** Nobody, or somebody who speaks otherwise, is nothing found. */
async function askOne(
  plugin: Plugin,
  address: string,
  options: SearchOptions,
  meetSystem?: IdentifyDevice,
): Promise<FoundDevice[]> {
  const [settings] = plugin.listSources({ devices: [address] })
  if (settings === undefined) return []
  const { destinations } = options
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(tellMs.inAll)])
  const throttle = createRequestThrottle()
  const open = (timeoutMs: number) =>
    createUpstreamClient({
      settings: { ...settings, ...asStranger, timeoutMs },
      errors: plugin.errors,
      throttle,
      destinations,
    })
  let client: UpstreamClient | undefined
  try {
    const isConnected = usualForm(settings).transport !== 'udp'
    if (isConnected) await knock(open(connectMs), signal)
    client = open(isConnected ? tellMs.connected : tellMs.unconnected)
    const meet = meetSystem ?? plugin.search?.identify?.[new URL(address).protocol]
    const kind = meetSystem === undefined ? 'device' : 'system'
    if (meet !== undefined) return [toFound(kind, address, await meet(client, signal))]
    const heard = openSource({ id: address, manufacturer: plugin.code, plugin, settings, client })
    const { devices } = await heard.listDevices(signal)
    return devices.map((device) => toFound(kind, address, heard.adapter.transformDeviceData(device)))
  } catch (error) {
    if (error instanceof ApiError && error.failureKind === 'unsupported') options.onUnsupported?.(address, error.message)
    return []
  } finally {
    await client?.close()
  }
}

function usualForm({ adapter }: SourceSettings): ProtocolAdapter {
  return 'default' in adapter ? adapter.default : adapter
}

/** Throws where nobody takes connections. */
async function knock(client: UpstreamClient, signal: AbortSignal): Promise<void> {
  const line = await openTcpSocket(client, { framing: () => ({ messages: [], rest: '' }), signal })
  line.close()
}

function toFound(kind: FoundDevice['kind'], address: string, told: DeviceReport): FoundDevice {
  return {
    kind,
    address,
    ip: new URL(address).hostname,
    id: told.id,
    device_type: told.device_type ?? told.kind,
    model: told.model_name ?? null,
    serial_number: told.serial_number ?? null,
    mac_address: told.mac_address ?? null,
    channels: told.channels?.length ?? 0,
  }
}
