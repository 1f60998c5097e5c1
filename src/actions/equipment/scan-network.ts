/**
 * Scans a subnet for devices. Upstream systems search the addresses that are added to their discovery lists; Micwatch
 * searches for individual devices.
 */

import { randomBytes } from 'node:crypto'
import type { ScanBody } from '../../contract/discovery.ts'
import type { Actor } from '../../domain/access/access.ts'
import { type DiscoveredRecord, discoveredRetentionMs } from '../../domain/equipment/discovery.ts'
import { toScannedDevice } from '../../domain/equipment/discovery-bodies.ts'
import type { SourceError } from '../../domain/equipment/health.ts'
import { RequestError } from '../../domain/errors.ts'
import { formatSubnet, hostAddresses, isInSubnet, parseScanSubnet, type Subnet } from '../../domain/identity/network.ts'
import { type KnownReceivers, serialKey } from '../../domain/identity/reconcile.ts'
import { getPlugin, plugins } from '../../manufacturers/index.ts'
import type { DiscoveryList } from '../../manufacturers/plugin.ts'
import { type AnsweringDevice, searchAddresses } from '../../manufacturers/search.ts'
import { type MonitoredSource, toSourceFailure } from '../../manufacturers/sources.ts'
import { now } from '../../platform/clock.ts'
import { abortWithin, childLifetime, pause } from '../../platform/wait.ts'
import type { Service } from '../../service.ts'
import type { PollResult } from '../../sources/monitor.ts'
import { writeAudit } from '../../storage/audit.ts'
import { listUnimported } from '../../storage/discovery.ts'
import { acquireLease, releaseLease } from '../../storage/leases.ts'
import { forgetDiscovered, saveDiscovered } from '../../storage/locations.ts'
import { listManufacturers } from '../../storage/settings.ts'
import { allFailedError, selectEnabled, toSourceError } from '../sources/refresh.ts'

const scanLimitMs = 30_000
/** Allows one scan at a time across all processes on the database. The lease lasts longer than the longest scan. */
const scanLease = 'scan'

/**
 * Runs a scan. Throws a RequestError when the network is not allowed, the manufacturer is unknown, a scan is already
 * running, or nothing responded.
 */
export async function scanNetwork(
  service: Service,
  actor: Actor,
  request: { readonly scan_subnet: string; readonly manufacturer?: string | undefined },
): Promise<ScanBody> {
  const { db } = service
  const codes = selectEnabled(service.sourceRegistry.manufacturers(), request.manufacturer)
  const subnet = parseScanSubnet(request.scan_subnet, service.discoveryRanges)
  if ('error' in subnet) throw new RequestError('bad_request', { details: `scan_subnet: ${subnet.error}` })
  const nodeId = randomBytes(8).toString('hex')
  const lease = await db.transaction((tx) => acquireLease(tx, scanLease, nodeId, 2 * scanLimitMs))
  if (lease === null) throw new RequestError('scan_running')
  try {
    return await scan(service, actor, codes, request.manufacturer === undefined, subnet)
  } finally {
    await db.transaction((tx) => releaseLease(tx, scanLease, nodeId)).catch(() => {})
  }
}

async function scan(
  service: Service,
  actor: Actor,
  codes: readonly string[],
  isEverything: boolean,
  subnet: Subnet,
): Promise<ScanBody> {
  const { db, monitor } = service
  const sources = monitor.pollers.map(({ source }) => source).filter(({ manufacturer }) => codes.includes(manufacturer))
  const limit = abortWithin(scanLimitMs, service.signal)
  const ips = hostAddresses(subnet)
  const searching = search(service, codes, isEverything, ips, limit)
  const registered = await registerAddresses(sources, 'add', ips, limit)
  const polled = await pollWithin(service, codes, limit)
  const { found, unsupported } = await searching

  const errors = [...sources.flatMap((source) => errorOf(source, registered, polled)), ...unsupported]
  const target = formatSubnet(subnet)
  const audit = { actor, action: 'network.scan', target } as const
  const hasResponse =
    polled.length < sources.length || polled.some(({ report: { failed } }) => failed === null || failed === 'upstream')
  if (sources.length > 0 && !hasResponse && found.length === 0 && unsupported.length === 0) {
    await db.transaction((tx) => writeAudit(tx, { ...audit, result: 'failed', details: { errors } }))
    throw allFailedError(polled, errors)
  }

  const { receivers, others } = await findInside(service, codes, subnet)
  const knownIps = new Set([...receivers, ...others].map(({ ip }) => ip))
  const single = found.filter(({ record }) => !knownIps.has(record.ip))
  const devices = [
    ...receivers,
    ...others.map(toScannedDevice),
    ...single.map(({ record, heard_on }) => ({ ...toScannedDevice(record), heard_on })),
  ]
  const discovered = [...others, ...single.map(({ record }) => record)]
  const isConfigured = ({ manufacturer }: FoundRecord) => service.hasManufacturer(manufacturer)
  await db.transaction(async (tx) => {
    await forgetDiscovered(tx, now() - discoveredRetentionMs)
    await saveDiscovered(tx, discovered.filter(isConfigured))
    await writeAudit(tx, { ...audit, result: 'ok', details: { manufacturers: codes, discovered: devices.length } })
  })
  await service.reload()
  return { discovered: devices.length, devices, ...(errors.length > 0 && { errors }) }
}

/** The result of changing the discovery list of one source. */
export interface Registration {
  readonly source: MonitoredSource
  readonly error: string | null
}

/** Changes the discovery list of every source that has one; skips the others. */
export async function registerAddresses(
  sources: readonly MonitoredSource[],
  operation: 'add' | 'remove',
  ips: readonly string[],
  signal: AbortSignal,
): Promise<Registration[]> {
  const withList = sources.flatMap((source) => {
    const { discovery } = source.adapter
    return discovery === undefined ? [] : [{ source, discovery }]
  })
  return Promise.all(
    withList.map(({ source, discovery }) =>
      callList(discovery, operation)(source.client, ips, signal).then(
        () => ({ source, error: null }),
        (error: unknown) => ({ source, error: toSourceFailure(error).error }),
      ),
    ),
  )
}

function callList(discovery: DiscoveryList, operation: 'add' | 'remove'): DiscoveryList['addDiscoveryIps'] {
  return operation === 'add' ? discovery.addDiscoveryIps : discovery.removeDiscoveryIps
}

type FoundRecord = Omit<DiscoveredRecord, 'id'>

interface SearchResult {
  readonly found: readonly { readonly record: FoundRecord; readonly heard_on: readonly string[] }[]
  /** Devices of these manufacturers that responded, but that Micwatch does not support. */
  readonly unsupported: readonly SourceError[]
}

/**
 * Searches for individual devices of the manufacturers whose plugins support this. If everything is scanned, also those
 * of the supported manufacturers that are not configured yet.
 */
async function search(
  { db, secrets, monitor, outbound, localAddresses, receiverStore }: Service,
  codes: readonly string[],
  isEverything: boolean,
  ips: readonly string[],
  signal: AbortSignal,
): Promise<SearchResult> {
  const configured = await listManufacturers(db.read, secrets)
  const isConfigured = (plugin: string) =>
    configured.some((record) => record.plugin === plugin || record.code === plugin)
  const others = isEverything ? plugins.filter(({ code }) => !isConfigured(code)) : []
  const records = [
    ...configured.filter(({ code }) => codes.includes(code)),
    ...others.map(({ code }) => ({ code, plugin: code })),
  ]
  const known = new Set(monitor.pollers.map(({ source }) => source.settings.baseUrl))
  const { destinations } = outbound
  const unsupported: SourceError[] = []
  const found = await Promise.all(
    records.map(async ({ code: manufacturer, plugin }) => {
      const onUnsupported = (source: string, error: string) => unsupported.push({ manufacturer, source, error })
      const options = { ips, known, destinations, signal, localAddresses, onUnsupported }
      const devices = await searchAddresses(getPlugin(plugin), options)
      return devices
        .filter((device) => !isMonitored(receiverStore, manufacturer, device))
        .map(({ heard_on, ...device }) => ({ record: toFoundRecord(manufacturer, device, now()), heard_on }))
    }),
  )
  return { found: found.flat(), unsupported }
}

/** True if this is another port of a receiver that is online, for example the one for Dante. */
function isMonitored(known: KnownReceivers, manufacturer: string, { ip, serial_number }: AnsweringDevice): boolean {
  const serial = serialKey(serial_number)
  const same = serial === null ? [] : known.bySerial(serial)
  return same.some((receiver) => receiver.manufacturer === manufacturer && receiver.is_active && receiver.ip !== ip)
}

function toFoundRecord(manufacturer: string, device: Omit<AnsweringDevice, 'heard_on'>, at: number): FoundRecord {
  const { id, kind: _, ...facts } = device
  return { ...facts, manufacturer, api_device_id: id, discovered_at: at, last_seen: at }
}

/**
 * Polls the sources of these manufacturers, and returns the results of the polls that completed in time. A slower poll
 * continues, and its devices appear when it completes.
 */
async function pollWithin(
  { monitor, signal }: Service,
  codes: readonly string[],
  limit: AbortSignal,
): Promise<readonly PollResult[]> {
  const waiting = childLifetime(limit)
  const polled: PollResult[] = []
  const polling = monitor.pollNow(codes, signal, (result) => polled.push(result)).finally(waiting.abort)
  await Promise.race([polling, pause(2 * scanLimitMs, waiting.signal)])
  return [...polled]
}

/** Returns the reason why devices of a source may be missing from the scan's result; empty if none can be missing. */
function errorOf(
  monitored: MonitoredSource,
  registered: readonly Registration[],
  polled: readonly PollResult[],
): SourceError[] {
  const { manufacturer, settings } = monitored
  const result = polled.find((poll) => poll.manufacturer === manufacturer && poll.source === settings.baseUrl)
  if (result === undefined) {
    return [{ manufacturer, source: settings.baseUrl, error: `not finished after ${scanLimitMs / 1000} s` }]
  }
  const failed = toSourceError(result)
  if (failed.length > 0) return failed
  const error = registered.find(({ source }) => source === monitored)?.error ?? null
  return error === null ? [] : [{ manufacturer, source: settings.baseUrl, error }]
}

/**
 * Finds the devices that the upstreams list and whose address is in the subnet. `others` are those that are not stored
 * as receivers.
 */
async function findInside({ db, receiverStore, monitor }: Service, codes: readonly string[], subnet: Subnet) {
  const listed = new Set(
    monitor.pollers.flatMap((poller) => poller.devices.listedIds.map((id) => `${poller.source.manufacturer}\n${id}`)),
  )
  const isListed = (manufacturer: string, id: string | null) => listed.has(`${manufacturer}\n${id}`)
  const receivers = codes
    .flatMap((code) => receiverStore.list(code))
    .filter(({ is_active, manufacturer, api_device_id }) => is_active && isListed(manufacturer, api_device_id))
    .flatMap(({ ip, device_type, channels }) =>
      isInSubnet(subnet, ip) ? [{ ip, device_type, channels: channels.length }] : [],
    )

  const others = (await listUnimported(db.read, codes)).flatMap(({ entry, report }): FoundRecord[] => {
    const { manufacturer, api_device_id, serial_number, mac_address, ip } = entry
    if (!isListed(manufacturer, api_device_id) || !isInSubnet(subnet, ip)) return []
    const record = {
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
    return [record]
  })
  return { receivers, others }
}
