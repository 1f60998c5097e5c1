/** Replays a capture through its adapter, and compares what is read with what was read when it was recorded. */

import type { DeviceReport } from '../domain/equipment/receiver.ts'
import { isRecord, isSameJson } from '../domain/json.ts'
import { levelDetails, levelFields } from '../domain/levels/level-sample.ts'
import { type Capture, CaptureError, isExchange } from '../upstream/capture/capture-file.ts'
import { createUpstreamClient, type UpstreamClient } from '../upstream/client.ts'
import { ApiError } from '../upstream/errors.ts'
import { getPlugin } from './index.ts'
import { getDevices, type Plugin, type ProtocolAdapter } from './plugin.ts'
import { type ReplayServer, startReplayServer } from './replay-server.ts'

export { CaptureError, maxCaptureFileBytes, parseCapture } from '../upstream/capture/capture-file.ts'

export interface Difference {
  /** `shure-1.channels.2.name` */
  readonly path: string
  readonly recorded: unknown
  readonly replayed: unknown
}

export interface ReplayResult {
  readonly differences: readonly Difference[]
  /** Why the adapter could not read the capture, or not to its end; null if it could. */
  readonly error: string | null
  /** Requests of the adapter that the capture does not contain. */
  readonly unknownRequests: readonly string[]
  readonly devices: readonly DeviceReport[]
}

interface TimedReport {
  readonly t: number
  readonly report: DeviceReport
}

const timeoutSeconds = 10
/** Time to pass on what the adapter has collected. */
const settleMs = 1_000
/** An adapter may wait for answers that are missing in the capture before it reports anything. */
const maxSettleMs = timeoutSeconds * 1000 + settleMs
const maxReplayMs = 120_000

/** Throws a CaptureError if no adapter can read the capture. */
export async function replayCapture(capture: Capture): Promise<ReplayResult> {
  const { plugin, adapter } = findAdapter(capture)
  checkTransports(capture, adapter)
  const server = await startReplayServer(capture)
  try {
    return await replay(capture, { plugin, adapter, server })
  } finally {
    await server.close()
  }
}

interface Replay {
  readonly plugin: Plugin
  readonly adapter: ProtocolAdapter
  readonly server: ReplayServer
}

async function replay(capture: Capture, { plugin, adapter, server }: Replay): Promise<ReplayResult> {
  const reports: TimedReport[] = []
  const record = (report: DeviceReport) => reports.push({ t: server.time, report })
  const client = createReplayClient(plugin, capture, server.address)
  let error: string | null = null
  try {
    // A subscription may also poll.
    if (server.hasRequests && (adapter.pushesEverything !== true || !server.hasConnections)) {
      for (const device of await getDevices(adapter, client)) record(adapter.transformDeviceData(device))
    }
    if (server.hasConnections) await follow(adapter, client, server, capture, record)
  } catch (cause) {
    error = cause instanceof Error ? cause.message : String(cause)
  } finally {
    await client.close()
  }
  const recorded = capture.lines.flatMap((line) => (isExchange(line) ? [] : line))
  const replayed = reports.map(({ t, report }) => ({ t, report: withRecordedAddress(report, capture, server) }))
  const devices = mergeAll(replayed)
  return {
    differences: compare(capture, mergeAll(recorded), devices),
    error: error?.replaceAll(server.address, new URL(capture.header.address).host) ?? null,
    unknownRequests: [...server.unknownRequests],
    devices: [...devices.values()],
  }
}

function findAdapter({ header }: Capture): { readonly plugin: Plugin; readonly adapter: ProtocolAdapter } {
  try {
    const plugin = getPlugin(header.plugin)
    const adapter = plugin.adapters.find(({ protocol }) => protocol === header.protocol)
    if (adapter !== undefined && adapter.follow === undefined) return { plugin, adapter }
  } catch (error) {
    throw new CaptureError(`line 1: plugin: ${error instanceof Error ? error.message : error}`)
  }
  throw new CaptureError(`line 1: protocol: ${header.plugin} has no adapter ${header.protocol}`)
}

/** Messages of another transport would never be read. */
function checkTransports({ header, lines }: Capture, { transport }: ProtocolAdapter): void {
  const isPush = transport === 'websocket' || transport === 'sse'
  const isHttp = /^https?:/.test(header.address)
  const expected: readonly (string | undefined)[] = [
    ...(isHttp ? ['http'] : []),
    ...(isPush || !isHttp ? [transport] : []),
  ]
  for (const [index, line] of lines.entries()) {
    if (isExchange(line) && !expected.includes(line.transport))
      throw new CaptureError(`line ${index + 2}: transport: expected ${expected.join(' or ')}`)
  }
}

/** Without credentials, because the server in the capture accepts every request. */
function createReplayClient(plugin: Plugin, { header }: Capture, address: string): UpstreamClient {
  const scheme = URL.canParse(header.address) ? new URL(header.address).protocol.replace('https:', 'http:') : ''
  const url = `${scheme}//${address}`
  const rate = { calls_per_second: 10_000, burst: 10_000, timeout: timeoutSeconds }
  try {
    const [settings] = plugin.listSources({
      ...rate,
      ...(scheme === 'http:' ? { api_base_url: url } : { devices: [url] }),
    })
    if (settings === undefined) throw new Error('no source has this address')
    return createUpstreamClient({ settings: { ...settings, credentials: { scheme: 'none' } }, errors: plugin.errors })
  } catch (error) {
    throw new CaptureError(`line 1: address: ${error instanceof Error ? error.message : error}`)
  }
}

async function follow(
  adapter: ProtocolAdapter,
  client: UpstreamClient,
  server: ReplayServer,
  capture: Capture,
  record: (report: DeviceReport) => void,
): Promise<void> {
  if (adapter.subscribe === undefined)
    throw new CaptureError(`line 1: protocol: ${capture.header.protocol} has no connections`)
  const controller = new AbortController()
  const ids = [...new Set(capture.lines.flatMap((line) => (isExchange(line) ? [] : line.report.id)))]
  const targets = { ids: () => ids, changed: () => new Promise<void>(() => {}) }
  const onLevels = (id: string, channels: NonNullable<DeviceReport['channels']>) => {
    record({ id, kind: 'receiver', channels })
    return true
  }
  let isAtEnd = false
  const limit = setTimeout(() => controller.abort(), maxReplayMs)
  let settling: NodeJS.Timeout | undefined
  // The devices of a system have been polled.
  const expected = adapter.pushesEverything === true ? ids.length : 0
  const reported = new Set<string>()
  const settle = () => {
    clearTimeout(settling)
    settling = setTimeout(() => controller.abort(), reported.size < expected ? maxSettleMs : settleMs)
  }
  const recordReport = (report: DeviceReport) => {
    record(report)
    if (reported.has(report.id)) return
    reported.add(report.id)
    if (isAtEnd) settle()
  }
  void server.ended.then(() => {
    isAtEnd = true
    settle()
  })
  try {
    while (!isAtEnd && !controller.signal.aborted) {
      try {
        for await (const event of adapter.subscribe(client, targets, controller.signal, onLevels)) {
          if (event.type === 'report') recordReport(event.report)
        }
      } catch (error) {
        // At the end of a connection, the server closes it.
        if (!(error instanceof ApiError) || server.isCutOff) throw error
      }
    }
  } finally {
    clearTimeout(limit)
    clearTimeout(settling)
  }
  if (!isAtEnd) throw new Error(`The capture was not replayed to its end within ${maxReplayMs / 1000} s.`)
}

/** A report contains the address of its device, in place of which the adapter has that of the replay. */
function withRecordedAddress(
  report: DeviceReport,
  { header, lines }: Capture,
  { host: replayHost, address }: ReplayServer,
): DeviceReport {
  const { hostname, host } = new URL(header.address)
  const { metadata: _, ...fields } = report
  const text = JSON.stringify(fields)
  const isInId = lines.some((line) => !isExchange(line) && line.report.id.includes(host))
  const recorded = isInId ? host : hostname
  return JSON.parse(text.replaceAll(address, recorded).replaceAll(replayHost, hostname)) as DeviceReport
}

function mergeAll(reports: readonly TimedReport[]): Map<string, DeviceReport> {
  const devices = new Map<string, DeviceReport>()
  for (const { report } of [...reports].sort((a, b) => a.t - b.t)) {
    const earlier = devices.get(report.id)
    devices.set(report.id, merge(earlier, report) as DeviceReport)
  }
  return devices
}

function keyOf(item: unknown, index: number): string {
  const key = isRecord(item) ? (item.channel ?? item.slot ?? item.id) : undefined
  return typeof key === 'number' || typeof key === 'string' ? String(key) : String(index)
}

/** Lists of channels, slots and units are merged by number or id. */
function merge(earlier: unknown, later: unknown): unknown {
  if (Array.isArray(later) && later.some(isRecord)) {
    const merged = new Map<unknown, unknown>()
    for (const list of [Array.isArray(earlier) ? earlier : [], later]) {
      for (const [index, item] of list.entries()) {
        const key = keyOf(item, index)
        merged.set(key, merge(merged.get(key), item))
      }
    }
    return [...merged.values()]
  }
  if (!isRecord(earlier) || !isRecord(later)) return later === undefined ? earlier : later
  const fields = Object.keys({ ...earlier, ...later }).map((key) => [key, merge(earlier[key], later[key])])
  return Object.fromEntries(fields)
}

/** The address under which the device was reached, which another port changes, and confirmations. */
const ignoredFields = new Set(['ip', 'isConfirmation'])
/** Levels depend on the moment, so only whether they are known is compared. */
const levelNames: ReadonlySet<string> = new Set([...levelFields, ...levelDetails, 'audio_activity'])

function compare(
  capture: Capture,
  recorded: ReadonlyMap<string, DeviceReport>,
  replayed: ReadonlyMap<string, DeviceReport>,
): Difference[] {
  const opening = mergeAll(capture.lines.flatMap((line) => (isExchange(line) || line.t >= 0 ? [] : line)))
  const known = new Map(capture.header.known.map((report) => [report.id, report]))
  return [...recorded].flatMap(([id, report]) => {
    const differences = compareValues(id, flatten(report), flatten(replayed.get(id) ?? {}))
    const [before, then] = [flatten(opening.get(id) ?? {}), flatten(known.get(id) ?? {})]
    // A value that changed after the connection was opened and before the capture began is in neither.
    return differences.filter(({ path }) => {
      const field = path.slice(id.length + 1)
      return !before.has(field) || !then.has(field) || isSameJson(before.get(field), then.get(field))
    })
  })
}

function compareValues(
  id: string,
  recorded: ReadonlyMap<string, unknown>,
  replayed: ReadonlyMap<string, unknown>,
): Difference[] {
  return [...recorded].flatMap(([path, was]) => {
    const is = replayed.get(path) ?? null
    const name = path.slice(path.lastIndexOf('.') + 1)
    const isSame = levelNames.has(name) ? (was === null) === (is === null) : isSameJson(was, is)
    return isSame || ignoredFields.has(path) ? [] : [{ path: `${id}.${path}`, recorded: was, replayed: is }]
  })
}

/** Path -> value, with channels and units by number and id. */
function flatten(value: unknown, path = '', values = new Map<string, unknown>()): Map<string, unknown> {
  const at = (key: string | number) => (path === '' ? String(key) : `${path}.${key}`)
  if (Array.isArray(value) && value.some(isRecord)) {
    for (const [index, item] of value.entries()) flatten(item, at(keyOf(item, index)), values)
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) flatten(item, at(key), values)
  } else values.set(path, value)
  return values
}
