/** Subscribes to an SSC 2 device: an event stream, and separate requests that set the list of subscribed paths. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { isRecord, parseJson } from '../../../domain/json.ts'
import { levelLifetimeMs } from '../../../domain/levels/level-sample.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { createMisfits } from '../../../upstream/field-table.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import { merge } from '../../../upstream/merge.ts'
import { openEventStream } from '../../../upstream/push.ts'
import type { OnProblems, PushEvent } from '../../plugin.ts'
import type { DeviceEndpoint } from '../datagram-session.ts'
import { readSessionPath, streamPath } from '../realtime.ts'
import { familyOfProduct } from './families.ts'
import type { Family } from './family.ts'
import { common } from './fields.ts'
import { createNewLevels, queryLevels } from './new-levels.ts'
import {
  applyResource,
  currentPathOf,
  earlierPathOf,
  firmwarePath,
  identityPath,
  isOfTransmitter,
  listFields,
  meteringPath,
  property,
  type Resources,
  sitePath,
  versionPath,
} from './resources.ts'
import { meters } from './spectera.ts'

/** If the device rejects one path, it rejects the whole request. Four paths per request work on real devices. */
const pathsPerRequest = 4
/** The retry interval of rejected paths, which may become available, for example when a transmitter is linked. */
const retryMs = 30_000
/** The protocol has no keep-alive. After this silence, a request checks the connection. */
const maxQuietMs = 3000
/** Minimum interval of reports with meters. A meter event that arrives sooner is combined with the next event. */
const minMeterIntervalMs = 100
/** Meters that are silent for this long are requested again, once per silence. */
const meterLifetimeMs = levelLifetimeMs(meters, 0)
/** A stream without events for this long is reopened. The device then reports all resources again. */
const maxSilenceMs = 300_000

interface IdentifiedDevice {
  readonly resources: Resources
  readonly endpoint: DeviceEndpoint
}

/** Returns without an error on abort, and throws the manufacturer's ApiError when the session is lost. */
export async function* subscribe(
  client: UpstreamClient,
  device: IdentifiedDevice,
  signal: AbortSignal,
  onProblems?: OnProblems,
): AsyncGenerator<PushEvent> {
  const misfits = createMisfits(device.endpoint.host, familyOfDevice(device.resources)?.fields)
  const reportProblems = (hasChanged: boolean) => {
    if (hasChanged) onProblems?.(misfits.list())
  }
  reportProblems(true)
  const resources = new Map(device.resources)
  const channels = new Set<number>()
  const ended = new AbortController()
  const lifetime = AbortSignal.any([signal, ended.signal])
  let failure: unknown
  const fail = (error: unknown) => {
    failure ??= error
    ended.abort()
  }
  let receivedAt = performance.now()
  let reportedAt = Number.NEGATIVE_INFINITY
  let subscriber: PathSubscriber | undefined
  let meterTimer: NodeJS.Timeout | undefined
  const stream = openEventStream(client, streamPath, lifetime, { silentStreamMs: maxSilenceMs })
  const levels = createNewLevels(familyOfDevice(resources))
  try {
    for await (const { event, data } of merge(stream, queryLevels(client, levels, lifetime))) {
      if (event !== 'answer') receivedAt = performance.now()
      if (event === 'open') {
        const paths = [...(familyOfDevice(resources)?.paths ?? []), sitePath, firmwarePath]
        subscriber = createPathSubscriber(client, readSessionPath(client, data), paths, (refused) =>
          reportProblems(misfits.setRefused(refused)),
        )
        subscriber.run(lifetime).catch(fail)
        watchConnection(client, () => performance.now() - receivedAt, lifetime).catch(fail)
        yield { type: 'open' }
      } else if (event === 'close') throw new client.errors.ApiError('the device closed the session')
      else {
        const before = linkStateOf(resources)
        const changes = readChanges(data)
        if (changes === null) yield { type: 'ignored', reason: 'an event is not a JSON object' }
        else {
          for (const [path, body] of changes) {
            applyResource(resources, path, body)
            reportProblems(misfits.check(listFields(path, body)))
            levels.received(path, body, resources)
            if (path === meteringPath) {
              meterTimer ??= setTimeout(() => subscriber?.renew(meteringPath), meterLifetimeMs)
              meterTimer.refresh()
            }
          }
          if (event === 'answer') levels.answered()
          if (linkStateOf(resources) !== before) subscriber?.retryNow()
          const isMeters = changes.every(([path]) => path === meteringPath)
          if (isMeters && receivedAt - reportedAt < minMeterIntervalMs) continue
          reportedAt = receivedAt
          yield {
            type: 'report',
            report: withRemovedChannels(levels.takeNew(toDeviceReport(resources, device.endpoint)), channels),
            isComplete: true,
          }
        }
      }
    }
    if (failure !== undefined) throw failure
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearTimeout(meterTimer)
    ended.abort()
    await stream.return(undefined).catch(() => {})
  }
}

/** Parses `{"/api/…": body, …}`, or one resource as `{"path", "value"}`. Returns null for anything else. */
export function readChanges(data: string): readonly (readonly [string, unknown])[] | null {
  const event = parseJson(data)
  if (!isRecord(event)) return null
  const { path, value } = event
  const changes = typeof path === 'string' && 'value' in event ? [[path, value] as const] : Object.entries(event)
  return changes.filter(([path]) => path.startsWith('/api/')).map(([path, body]) => [currentPathOf(path), body])
}

/**
 * Adds each channel that is no longer reported, for instance because a pack was removed, without a transmitter. `known`
 * contains all channels reported so far.
 */
function withRemovedChannels(report: DeviceReport, known: Set<number>): DeviceReport {
  const present = new Set(report.channels?.map(({ channel }) => channel))
  const vanished = [...known].filter((channel) => !present.has(channel))
  for (const channel of present) known.add(channel)
  const empty = vanished.map((channel) => ({
    ...{ channel, rf_level: null, audio_level: null, transmitter: null },
    details: { audio_peak: null, audio_rms: null },
  }))
  return empty.length === 0 ? report : { ...report, channels: [...(report.channels ?? []), ...empty] }
}

/** Returns the channels without a transmitter, as a string for comparison. */
function linkStateOf(resources: Resources): string {
  const warnings = [...resources].filter(([path]) => /^\/api\/channel\/\d+\/warnings$/.test(path))
  return warnings.map(([path, warningNames]) => `${path} ${String(warningNames).includes('NoLink')}`).join('\n')
}

interface PathSubscriber {
  run(signal: AbortSignal): Promise<never>
  retryNow(): void
  /** Subscribes to this path again. */
  renew(path: string): void
}

/** Subscribes to paths and retries the rejected ones. */
function createPathSubscriber(
  client: UpstreamClient,
  session: string,
  paths: readonly string[],
  onRefused: (refused: ReadonlyMap<string, string>) => void,
): PathSubscriber {
  let pending = [...paths]
  let wake = new AbortController()

  async function subscribePending(signal: AbortSignal): Promise<void> {
    const rejected = new Map<string, string>()
    for (let index = 0; index < pending.length; index += pathsPerRequest) {
      const batch = pending.slice(index, index + pathsPerRequest)
      if ((await add(batch, signal)) === null) continue
      for (const path of batch) {
        const status = await addOrEarlier(path, signal)
        if (status !== null) rejected.set(path, `status ${status}`)
      }
    }
    if (rejected.size === paths.length) throw new client.errors.ApiError('the device rejects all subscriptions')
    pending = [...rejected.keys()]
    onRefused(new Map([...rejected].filter(([path]) => !isOfTransmitter(path))))
  }

  /**
   * Returns the status with which the device rejects the paths, or null. It is 400 or 404 if a resource does not exist,
   * 422 if it is currently unavailable or the session has ended.
   */
  async function add(batch: readonly string[], signal: AbortSignal): Promise<number | null> {
    const { status } = await client.request('PUT', `${session}/add`, { body: batch, accept: [400, 404, 422], signal })
    return status < 300 ? null : status
  }

  /** Requests the path of an earlier API version if the device does not have this one. */
  async function addOrEarlier(path: string, signal: AbortSignal): Promise<number | null> {
    const status = await add([path], signal)
    const earlier = earlierPathOf(path)
    return status !== null && earlier !== undefined && (await add([earlier], signal)) === null ? null : status
  }

  return {
    async run(signal) {
      for (;;) {
        wake = new AbortController()
        await subscribePending(signal)
        await sleep(retryMs, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => {})
        signal.throwIfAborted()
      }
    },
    retryNow: () => wake.abort(),
    renew(path) {
      pending = [...new Set([...pending, path])]
      wake.abort()
    },
  }
}

/** Checks the connection while the stream is silent. Throws when two consecutive requests fail. */
async function watchConnection(
  client: UpstreamClient,
  getSilenceMs: () => number,
  signal: AbortSignal,
): Promise<never> {
  for (let checkedAt = Number.NEGATIVE_INFINITY; ; ) {
    const quietForMs = Math.min(getSilenceMs(), performance.now() - checkedAt)
    if (quietForMs < maxQuietMs) await sleep(maxQuietMs - quietForMs, undefined, { signal })
    else {
      const check = () => client.request('GET', versionPath, { signal })
      await check().catch(check)
      checkedAt = performance.now()
    }
  }
}

export const idPrefix = 'sscv2:'

export function productOf(resources: Resources): string {
  return common.product.read(property(resources, identityPath, 'product')) ?? ''
}

/** The serial number is the same on both network interfaces of a device. */
function serialOf(resources: Resources): string | null {
  const serial = common.serial.read(property(resources, identityPath, 'serial'))
  return serial && !/^0+$/.test(serial) ? serial : null
}

export function familyOfDevice(resources: Resources): Family | null {
  return familyOfProduct(productOf(resources))
}

export function deviceIdOf(resources: Resources, { host }: DeviceEndpoint): string {
  return idPrefix + (serialOf(resources) ?? host)
}

export function toDeviceReport(resources: Resources, endpoint: DeviceEndpoint): DeviceReport {
  const product = productOf(resources)
  const family = familyOfDevice(resources)
  const readSite = (name: 'deviceName' | 'location') => common[name].read(property(resources, sitePath, name))
  const id = deviceIdOf(resources, endpoint)
  return withoutUndefined<DeviceReport>({
    id,
    kind: 'receiver',
    name: readSite('deviceName') || endpoint.name || product || endpoint.host,
    device_type: family?.device_type ?? (product || 'ssc').toLowerCase(),
    model_name: family?.model ?? (product || null),
    online: true,
    serial_number: serialOf(resources),
    ip: endpoint.ip,
    description: readSite('location') || undefined,
    firmware_version: common.deviceVersion.read(property(resources, firmwarePath, 'deviceVersion')),
    details: family?.readDetails(resources),
    channels: family?.readChannels(resources) ?? [],
    units: family?.readUnits?.(resources, id),
  })
}
