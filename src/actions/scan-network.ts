/**
 * Searches a subnet: tells the upstreams which addresses to search and polls them, looks itself for devices that speak
 * for themselves, and says who was found there.
 */

import { randomBytes } from 'node:crypto'
import type { ReceiverStore } from '../live/receiver-store.ts'
import { getPlugin } from '../manufacturers/index.ts'
import type { DiscoveryList } from '../manufacturers/plugin.ts'
import { type FoundDevice, searchAddresses } from '../manufacturers/search.ts'
import { type MonitoredSource, type SourceDeps, toSourceFailure } from '../manufacturers/sources.ts'
import type { Actor } from '../model/access.ts'
import { type DiscoveredRecord, discoveredRetentionMs } from '../model/discovery.ts'
import { type ScanBody, toScannedDevice } from '../model/discovery-api.ts'
import { RequestError } from '../model/errors.ts'
import type { SourceError } from '../model/health.ts'
import { formatSubnet, hostAddresses, isInSubnet, parseScanSubnet, type Subnet } from '../model/network.ts'
import type { Monitor, PollResult } from '../monitor/monitor.ts'
import { childLifetime, pause } from '../monitor/wait.ts'
import { writeAudit } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import { listUnimported } from '../store/discovery.ts'
import { acquireLease, releaseLease } from '../store/leases.ts'
import { forgetDiscovered, saveDiscovered } from '../store/locations.ts'
import type { Secrets } from '../store/secrets.ts'
import { listManufacturers } from '../store/settings.ts'
import { refuseFailed, selectEnabled, toSourceError } from './refresh.ts'

export interface ScanDeps {
  readonly db: Database
  readonly secrets: Secrets
  readonly receiverStore: ReceiverStore
  readonly sourceDeps: SourceDeps
  readonly monitor: Pick<Monitor, 'pollNow' | 'pollers'>
  /** Networks that may be scanned beside the private ones. */
  readonly ranges: readonly string[]
  /** Ends with the service. */
  readonly signal: AbortSignal
  manufacturers(): readonly { readonly code: string; readonly isEnabled: boolean }[]
  /** Takes over what people have changed in the store. */
  reload(): Promise<void>
  now(): number
}

const scanLimitMs = 30_000
/** Of one scan at a time, in all processes on the database; longer than a scan may take. */
const scanLease = 'scan'

/** Throws a Refusal: a network that may not be scanned, an unknown manufacturer, a scan under way, nobody in reach. */
export async function scanNetwork(
  deps: ScanDeps,
  actor: Actor,
  wanted: { readonly scan_subnet: string; readonly manufacturer?: string | undefined },
): Promise<ScanBody> {
  const { db } = deps
  const codes = selectEnabled(deps.manufacturers(), wanted.manufacturer)
  const subnet = parseScanSubnet(wanted.scan_subnet, deps.ranges)
  if ('error' in subnet) throw new RequestError('bad_request', { details: `scan_subnet: ${subnet.error}` })
  const owner = randomBytes(8).toString('hex')
  const lease = await db.transaction((tx) => acquireLease(tx, scanLease, owner, 2 * scanLimitMs))
  if (lease === null) throw new RequestError('scan_running')
  try {
    return await scan(deps, actor, codes, subnet)
  } finally {
    await db.transaction((tx) => releaseLease(tx, scanLease, owner)).catch(() => {})
  }
}

async function scan(deps: ScanDeps, actor: Actor, codes: readonly string[], subnet: Subnet): Promise<ScanBody> {
  const { db, monitor, now } = deps
  const sources = monitor.pollers.map(({ source }) => source).filter(({ manufacturer }) => codes.includes(manufacturer))
  const limit = AbortSignal.any([deps.signal, AbortSignal.timeout(scanLimitMs)])
  const ips = hostAddresses(subnet)
  const searching = search(deps, codes, ips, limit)
  const registered = await registerAddresses(sources, 'add', ips, limit)
  const polled = await pollWithin(deps, codes, limit)
  const { found, unsupported } = await searching

  const errors = [...sources.flatMap((source) => errorOf(source, registered, polled)), ...unsupported]
  const target = formatSubnet(subnet)
  const audit = { actor, action: 'network.scan', target }
  const hasAnswer =
    polled.length < sources.length || polled.some(({ report: { failed } }) => failed === null || failed === 'upstream')
  if (sources.length > 0 && !hasAnswer && found.length === 0 && unsupported.length === 0) {
    await db.transaction((tx) => writeAudit(tx, { ...audit, result: 'failed', details: { errors } }))
    throw refuseFailed(polled, errors)
  }

  const { receivers, strangers } = await findInside(deps, codes, subnet)
  const seen = new Set([...receivers, ...strangers].map(({ ip }) => ip))
  strangers.push(...found.filter(({ ip }) => !seen.has(ip)))
  const devices = [...receivers, ...strangers.map(toScannedDevice)]
  await db.transaction(async (tx) => {
    await forgetDiscovered(tx, now() - discoveredRetentionMs)
    await saveDiscovered(tx, strangers)
    await writeAudit(tx, { ...audit, result: 'ok', details: { manufacturers: codes, discovered: devices.length } })
  })
  await deps.reload()
  return { discovered: devices.length, devices, ...(errors.length > 0 && { errors }) }
}

/** What came of it at one source. */
export interface Registration {
  readonly source: MonitoredSource
  readonly error: string | null
}

/** In the discovery list of every source that has one; the others are passed over. */
export async function registerAddresses(
  sources: readonly MonitoredSource[],
  verb: 'add' | 'remove',
  ips: readonly string[],
  signal: AbortSignal,
): Promise<Registration[]> {
  const able = sources.flatMap((source) => {
    const { discovery } = source.adapter
    return discovery === undefined ? [] : [{ source, discovery }]
  })
  return Promise.all(
    able.map(({ source, discovery }) =>
      callList(discovery, verb)(source.client, ips, signal).then(
        () => ({ source, error: null }),
        (error: unknown) => ({ source, error: toSourceFailure(error).error }),
      ),
    ),
  )
}

function callList(discovery: DiscoveryList, verb: 'add' | 'remove'): DiscoveryList['addDiscoveryIps'] {
  return verb === 'add' ? discovery.addDiscoveryIps : discovery.removeDiscoveryIps
}

type Stranger = Omit<DiscoveredRecord, 'id'>

interface SearchResult {
  readonly found: readonly Stranger[]
  /** Devices of these manufacturers that answered and that Micwatch does not support. */
  readonly unsupported: readonly SourceError[]
}

/** Devices that answer for themselves, of manufacturers whose devices can. */
async function search(
  { db, secrets, monitor, sourceDeps, now }: ScanDeps,
  codes: readonly string[],
  ips: readonly string[],
  signal: AbortSignal,
): Promise<SearchResult> {
  const records = (await listManufacturers(db.read, secrets)).filter(({ code }) => codes.includes(code))
  const known = new Set(monitor.pollers.map(({ source }) => source.settings.baseUrl))
  const { destinations } = sourceDeps
  const unsupported: SourceError[] = []
  const found = await Promise.all(
    records.map(async ({ code: manufacturer, plugin }) => {
      const onUnsupported = (source: string, error: string) => unsupported.push({ manufacturer, source, error })
      const devices = await searchAddresses(getPlugin(plugin), { ips, known, destinations, signal, onUnsupported })
      return devices.map((device) => toStranger(manufacturer, device, now()))
    }),
  )
  return { found: found.flat(), unsupported }
}

function toStranger(manufacturer: string, device: FoundDevice, at: number): Stranger {
  const { id, kind: _, ...told } = device
  return { ...told, manufacturer, api_device_id: id, discovered_at: at, last_seen: at }
}

/** The sources that were polled in time. A poll that takes longer goes on; what it finds shows up by itself. */
async function pollWithin(
  { monitor, signal }: ScanDeps,
  codes: readonly string[],
  limit: AbortSignal,
): Promise<readonly PollResult[]> {
  const waiting = childLifetime(limit)
  const polled: PollResult[] = []
  const polling = monitor.pollNow(codes, signal, (one) => polled.push(one)).finally(waiting.abort)
  await Promise.race([polling, pause(2 * scanLimitMs, waiting.signal)])
  return [...polled]
}

/** Why its devices may be missing from what the scan shows, if they may. */
function errorOf(
  heard: MonitoredSource,
  registered: readonly Registration[],
  polled: readonly PollResult[],
): SourceError[] {
  const { manufacturer, settings } = heard
  const own = polled.find((one) => one.manufacturer === manufacturer && one.source === settings.baseUrl)
  if (own === undefined) {
    return [{ manufacturer, source: settings.baseUrl, error: `still being read after ${scanLimitMs / 1000} s` }]
  }
  const failed = toSourceError(own)
  if (failed.length > 0) return failed
  const error = registered.find((one) => one.source === heard)?.error ?? null
  return error === null ? [] : [{ manufacturer, source: settings.baseUrl, error }]
}

/** The devices the upstreams list at an address of the subnet; `strangers`: those that are no receivers. */
async function findInside({ db, receiverStore, monitor, now }: ScanDeps, codes: readonly string[], subnet: Subnet) {
  const listed = new Set(
    monitor.pollers.flatMap((poller) => poller.deviceIds().map((id) => `${poller.source.manufacturer}\n${id}`)),
  )
  const isListed = (manufacturer: string, id: string | null) => listed.has(`${manufacturer}\n${id}`)
  const receivers = codes
    .flatMap((code) => receiverStore.list(code))
    .filter((one) => one.is_active && isListed(one.manufacturer, one.api_device_id))
    .flatMap(({ ip, device_type, channels }) =>
      isInSubnet(subnet, ip) ? [{ ip, device_type, channels: channels.length }] : [],
    )

  const strangers = (await listUnimported(db.read, codes)).flatMap(({ entry, report }): Stranger[] => {
    const { manufacturer, api_device_id, serial_number, mac_address, ip } = entry
    if (!isListed(manufacturer, api_device_id) || !isInSubnet(subnet, ip)) return []
    const stranger = {
      manufacturer,
      api_device_id,
      serial_number,
      mac_address,
      ip,
      device_type: report?.device_type ?? entry.device_type,
      channels: report?.channels?.length ?? 0,
      discovered_at: now(),
      last_seen: now(),
      model: null,
      address: null,
    }
    return [stranger]
  })
  return { receivers, strangers }
}
