/**
 * Identifies the device or system at an address. Sends no credentials, because it is unknown what is listening there.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { DeviceReport } from '../domain/equipment/receiver.ts'
import { Semaphore } from '../platform/concurrency.ts'
import { abortWithin } from '../platform/wait.ts'
import { createUpstreamClient } from '../upstream/client.ts'
import type { Destinations } from '../upstream/destinations.ts'
import { ApiError, describeNoResponse } from '../upstream/errors.ts'
import { createRequestThrottle } from '../upstream/request-throttle.ts'
import { isListening } from '../upstream/tcp.ts'
import type { IdentifyDevice, Plugin, ProtocolAdapter, SourceSettings } from './plugin.ts'
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

/** An address, and the protocol with which it is probed. */
export interface Probe extends Pick<FoundDevice, 'kind' | 'address'> {
  readonly plugin: Plugin
  /** Default: lists the devices with the adapter of the address. */
  readonly identify?: IdentifyDevice | undefined
}

export interface ProbeResult {
  readonly devices: readonly FoundDevice[]
  /** Reason that a responding host could not be identified. */
  readonly failure: ProbeFailure | null
}

export interface ProbeFailure {
  readonly error: string
  readonly status: number | null
  /** The host is a device of the manufacturer that the plugin does not support. */
  readonly isUnsupported: boolean
}

/** All probes of the process share these slots and the start interval. */
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

/**
 * Certificates are not verified, because no credentials are sent, and nearly all devices have a self-signed
 * certificate.
 */
const anonymously = { credentials: { scheme: 'none' }, verifySsl: false, fingerprint: null } as const

const nothing: ProbeResult = { devices: [], failure: null }

/** Skips probes that have not started when the signal aborts. */
export async function probeAll(
  probes: readonly Probe[],
  destinations: Destinations,
  signal: AbortSignal,
): Promise<ProbeResult[]> {
  const started: Promise<ProbeResult>[] = []
  for (const probe of probes) {
    await waitForStart()
    await probeSlots.acquire()
    if (signal.aborted) {
      probeSlots.release()
      break
    }
    started.push(probeAddress(probe, destinations, signal).finally(() => probeSlots.release()))
  }
  return Promise.all(started)
}

/** Waits until the next probe may start. After a delay, the missed starts do not follow in a burst. */
async function waitForStart(): Promise<void> {
  const now = performance.now()
  const startAt = Math.max(nextStartAt, now)
  nextStartAt = startAt + startIntervalMs
  await pause(startAt - now)
}

/** Finds nothing if no host responds. */
async function probeAddress(
  { plugin, kind, address, identify }: Probe,
  destinations: Destinations,
  outerSignal: AbortSignal,
): Promise<ProbeResult> {
  const [settings] = plugin.listSources(configOf(kind, address))
  if (settings === undefined) return nothing
  const url = new URL(address)
  const isUdp = defaultAdapter(settings).transport === 'udp'
  const signal = abortWithin(identifyTimeoutMs.total, outerSignal)
  if (!isUdp && !(await isListening(url, { destinations, signal, timeoutMs: connectTimeoutMs }))) return nothing
  const timeoutMs = isUdp ? identifyTimeoutMs.unconnected : identifyTimeoutMs.connected
  const client = createUpstreamClient({
    settings: { ...settings, ...anonymously, timeoutMs },
    errors: plugin.errors,
    throttle: createRequestThrottle(),
    destinations,
  })
  try {
    if (identify !== undefined) return found([toFound(kind, address, await identify(client, signal))])
    const source = openSource({ id: address, manufacturer: plugin.code, plugin, settings, client })
    const { devices } = await source.listDevices(signal)
    if (kind === 'system')
      return found([toFound(kind, address, { id: address, kind: 'receiver', device_type: 'system' })])
    return found(devices.map((device) => toFound(kind, address, source.adapter.transformDeviceData(device))))
  } catch (error) {
    return { devices: [], failure: toFailure(error, url, isUdp) }
  } finally {
    await client.close()
  }
}

function configOf(kind: FoundDevice['kind'], address: string): Readonly<Record<string, unknown>> {
  return kind === 'system' ? { api_base_url: address } : { devices: [address] }
}

function found(devices: readonly FoundDevice[]): ProbeResult {
  return { devices, failure: null }
}

/** Returns null if no host responded. Over TCP, it has accepted a connection before. */
function toFailure(error: unknown, { host }: URL, isUdp: boolean): ProbeFailure | null {
  if (!(error instanceof ApiError)) {
    const message = describeNoResponse(host, identifyTimeoutMs.total)
    return isUdp ? null : { error: message, status: null, isUnsupported: false }
  }
  const { message, status, failureKind } = error
  if (isUdp && failureKind === 'none') return null
  return { error: message, status, isUnsupported: failureKind === 'unsupported' }
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

/** Formats an address like source settings, for comparison. */
export function addressOf(scheme: string, host: string, port: number): string {
  return new URL(`${scheme}//${host}:${port}`).href.replace(/\/$/, '')
}
