/** A session with one device over command strings: identity, changes and meters, until the connection is lost. */

import { isIPv4 } from 'node:net'
import type { DeviceProblem } from '../../../domain/equipment/health.ts'
import { levelLifetimeMs } from '../../../domain/levels/level-sample.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import type { DeviceSocket } from '../../../upstream/device-socket.ts'
import { describeNoResponse } from '../../../upstream/errors.ts'
import { createMisfits, type FieldTable, field } from '../../../upstream/field-table.ts'
import { openTcpSocket } from '../../../upstream/tcp.ts'
import { openUdpSocket } from '../../../upstream/udp.ts'
import type { OnLevels } from '../../plugin.ts'
import {
  answeredNumbers,
  countByModel,
  detectFamily,
  type Family,
  hasTransmitterKey,
  keepAliveCommand,
  levelsOf,
  meterCommands,
  presenceCommands,
  presenceOf,
  probes,
  queryCommands,
  type RawValues,
  uhfr,
} from './families.ts'
import { fields } from './fields.ts'
import { splitAngleFrames } from './frames.ts'
import { createLevelReader } from './level-reader.ts'
import { Fields } from './message-fields.ts'
import { type Changes, createPropertyStore, type PropertyStore } from './property-store.ts'
import { idOf, type StringsDevice } from './translate.ts'

/** The changes on a device. The device's `values` are live: later frames change them. */
export interface DeviceUpdate extends Changes {
  readonly device: StringsDevice
  /** Refused requests and undocumented values. The same list as before if unchanged. */
  readonly problems: readonly DeviceProblem[]
}

/** The connection is lost after this time without data. */
const silenceTimeoutMs = 5_000
/** The device is queried after this time without data, because one without meter values may still be online. */
const quietMs = 2_000
const checkEveryMs = 500
/** The interval of queries for the presence of transmitters. The answers show that the device is still online. */
const presenceIntervalMs = 3_000
/**
 * If no value changes for this long (plus the metering interval), the session stops waiting for outstanding answers
 * once it has enough of them (`isSufficient`).
 */
const settleMs = 400
/**
 * The same while the identity is missing, for a device whose number of channels or bays only its answers show. After a
 * shorter pause, more of them might answer.
 */
const settleWithoutCountMs = 2_000

/**
 * Opens a session. Yields once the device has reported everything, including meter values, and then at every change.
 * After the first yield, meter values are passed to `onLevels`, if it is set, instead of being yielded. Ends without an
 * error on abort. Throws the manufacturer's ApiError if the device does not respond or is not supported, or if the
 * connection is lost.
 */
export async function* openSession(
  client: UpstreamClient,
  signal: AbortSignal,
  onLevels?: OnLevels,
): AsyncGenerator<DeviceUpdate> {
  const { protocol, host } = new URL(client.settings.baseUrl)
  let family: Family | null = protocol === 'udp:' ? uhfr : null
  // A QLX-D hangs, including its front panel, if the client disconnects during metering.
  const closingMessage = () => family?.envelope && meterCommands(family, store.values, 0).join('')
  let takeLevels = (bytes: Buffer) => bytes
  const onArrival = (bytes: Buffer) => takeLevels(bytes)
  const socket =
    protocol === 'udp:'
      ? await openUdpSocket(client, { signal, silentMs: silenceTimeoutMs, closingMessage })
      : await openTcpSocket(client, {
          signal,
          silentMs: silenceTimeoutMs,
          refusedAdvice: controllerAccess,
          closingMessage,
          framing: splitAngleFrames,
          onArrival,
        })
  let check: DeviceCheck | undefined
  const store = createPropertyStore(socket.messages, protocol === 'udp:', (key, value) => check?.received(key, value))
  try {
    const deadline = performance.now() + client.settings.timeoutMs
    family ??= await identify(client, socket, store)
    check = createDeviceCheck(host, family)
    for (const [key, value] of Object.entries(store.values)) check.received(key, value)
    // A family refuses the probes of others.
    const refusedProbes = store.refusedCount()
    const listProblems = () => check?.listProblems(store.refusedCount() > refusedProbes) ?? []
    await sendAll(socket, queryCommands(family, store.values))
    await sendAll(socket, meterCommands(family, store.values, family.meterMs))
    if (!(await waitUntilComplete(client, family, { store, deadline }))) return
    const device = toDevice(client, socket, { family, values: store.values })
    const meterWatch = createMeterWatch(family, store.values)
    if (onLevels !== undefined) {
      takeLevels = createLevelReader(device, store, (id, samples) => {
        for (const { channel } of samples) {
          meterWatch.metered(channel)
          check?.metered(channel)
        }
        return onLevels(id, samples)
      })
    }
    const numbers = new Set(answeredNumbers(family, store.values))
    yield { device, channels: new Set(), metered: numbers, malformed: 0, affectsDevice: true, problems: listProblems() }

    const pollMs = family.presenceKeys.length > 0 ? presenceIntervalMs : family.refreshMs
    let presence = presenceOf(family, store.values)
    let [needsRefresh, restartsMeters, isSending] = [false, false, false]
    let queriedAt = performance.now()
    for (let polledAt = performance.now(), refreshedAt = polledAt; ; ) {
      const changes = await store.next(Math.max(0, Math.min(checkEveryMs, polledAt + pollMs - performance.now())))
      if (changes === null) return
      const now = performance.now()
      const before = presence
      presence = presenceOf(family, store.values)
      for (const channel of changes.metered) meterWatch.metered(channel)
      restartsMeters ||= (presence !== before && family.presenceKeys.length > 0) || meterWatch.takeSilence()
      needsRefresh ||= now - refreshedAt >= family.refreshMs || presence !== before
      yield { ...changes, device, affectsDevice: changes.affectsDevice || needsRefresh, problems: listProblems() }
      const isPollDue = needsRefresh || now - polledAt >= pollMs
      const isQuiet = now - Math.max(client.receivedAt, queriedAt) >= quietMs
      if (isPollDue) polledAt = now
      if (isSending || !(isPollDue || restartsMeters || isQuiet)) continue
      isSending = true
      queriedAt = now
      const commands = [
        ...(needsRefresh ? queryCommands(family, store.values) : []),
        ...(isPollDue && !needsRefresh ? presenceCommands(family, store.values) : []),
        ...(restartsMeters ? meterCommands(family, store.values, family.meterMs) : []),
        ...(isQuiet ? [keepAliveCommand(family, store.values)] : []),
      ]
      if (needsRefresh) refreshedAt = now
      needsRefresh = false
      restartsMeters = false
      // Not awaited, because sending is throttled. If the connection is lost, reading from it throws.
      sendAll(socket, commands)
        .catch(() => {})
        .finally(() => {
          isSending = false
        })
    }
  } finally {
    socket.close()
  }
}

async function sendAll(socket: DeviceSocket, commands: readonly string[]): Promise<void> {
  for (const command of commands) await socket.send(command)
}

/** Sends probes one after another until the answers identify the family. */
async function identify(client: UpstreamClient, socket: DeviceSocket, store: PropertyStore): Promise<Family> {
  const { host } = new URL(client.settings.baseUrl)
  for (const { commands, waitMs } of probes) {
    await sendAll(socket, commands)
    for (const until = performance.now() + waitMs; performance.now() < until; ) {
      if ((await store.next(until - performance.now())) === null) break
      const family = detectFamily(store.values)
      if (family !== null) return family
    }
  }
  const { values, hasReceived } = store
  const failureKind = values.MODEL !== undefined ? 'unsupported' : hasReceived() ? 'unusable' : 'none'
  throw new client.errors.ApiError(describeUnrecognized(host, store), { failureKind })
}

/** A blocked SLX-D refuses connections, or accepts them and stays silent. A new one is blocked. */
const controllerAccess = 'on an SLX-D, allow Controller Access in its menu'

function describeUnrecognized(host: string, { values, hasReceived }: PropertyStore): string {
  if (values.MODEL !== undefined) return `${host} is a ${values.MODEL}, which Micwatch does not support`
  return hasReceived()
    ? `invalid response from ${host}: not from a Shure receiver`
    : `${host} accepts connections but does not respond; ${controllerAccess}`
}

/**
 * Waits until the device is identified and every channel has sent meter values. Some devices never answer some queries,
 * and some channels answer none, so the wait also ends after a pause or at the deadline. Resolves with false on abort.
 */
async function waitUntilComplete(
  client: UpstreamClient,
  family: Family,
  { store, deadline }: { store: PropertyStore; deadline: number },
): Promise<boolean> {
  const { values } = store
  const { host } = new URL(client.settings.baseUrl)
  for (let changedAt = performance.now(); ; ) {
    const isSettled = performance.now() - changedAt > settleTimeOf(family, values) + family.meterMs
    if (isComplete(family, values) || (isSettled && isSufficient(family, values))) return true
    const remainingMs = deadline - performance.now()
    if (remainingMs <= 0) {
      if (answeredNumbers(family, values).length > 0) return true
      throw new client.errors.ApiError(describeNoResponse(host, client.settings.timeoutMs))
    }
    const changes = await store.next(Math.min(settleMs, remainingMs))
    if (changes === null) return false
    if (changes.affectsDevice || changes.channels.size > 0) changedAt = performance.now()
  }
}

function settleTimeOf(family: Family, values: RawValues): number {
  const isCountKnown = countByModel(family, values.MODEL) !== null
  return isCountKnown || hasIdentity(family, values) ? settleMs : settleWithoutCountMs
}

/** True if the device has reported everything, including a meter value for every channel. */
function isComplete(family: Family, values: RawValues): boolean {
  // The identity, which is queried last, is checked first, because this runs for all received data.
  if (!hasIdentity(family, values)) return false
  const numbers = answeredNumbers(family, values)
  const isMetered = (number: number) => values[`${number} ${family.meterKey}`] !== undefined
  return isEveryNumber(family, values, numbers) && numbers.every(isMetered)
}

/** True if the wait may end. The device has then reported its identity, which is queried last, or every channel. */
function isSufficient(family: Family, values: RawValues): boolean {
  const numbers = answeredNumbers(family, values)
  if (numbers.length > 0) return hasIdentity(family, values) || isEveryNumber(family, values, numbers)
  // An ANX4 without licences has no channels.
  return family.identityKeys.length > 0 && hasIdentity(family, values)
}

/** True if these are all channels or bays of the model. */
function isEveryNumber(family: Family, values: RawValues, numbers: readonly number[]): boolean {
  return numbers.length >= (countByModel(family, values.MODEL) ?? 1)
}

function hasIdentity({ identityKeys }: Family, values: RawValues): boolean {
  return identityKeys.every((key) => values[key] !== undefined)
}

function toDevice(
  client: UpstreamClient,
  socket: DeviceSocket,
  { family, values }: Pick<StringsDevice, 'family' | 'values'>,
): StringsDevice {
  const { hostname, host, port } = new URL(client.settings.baseUrl)
  // With port forwarding, the address is not the device's own and may be shared with other devices.
  const isDefaultPort = port === '2202'
  const ip = isDefaultPort && isIPv4(socket.remoteAddress) ? socket.remoteAddress : null
  return {
    id: idOf(values, isDefaultPort ? hostname : host),
    family,
    ip,
    configuredName: client.settings.name ?? null,
    values,
  }
}

/** Detects channels that no longer send meter values although the session is open. */
interface MeterWatch {
  metered(channel: number): void
  /** Returns true if a channel has been silent for too long, once per silence. */
  takeSilence(): boolean
}

function createMeterWatch(family: Family, values: RawValues): MeterWatch {
  const { rf, audio } = levelsOf(family)
  const delivery = rf ?? audio
  const lifetimeMs = delivery === null ? Number.POSITIVE_INFINITY : levelLifetimeMs(delivery, 0)
  const openedAt = performance.now()
  /** By channel number. */
  const meteredAt: number[] = []
  const isReported: boolean[] = []
  return {
    metered(channel) {
      meteredAt[channel] = performance.now()
      isReported[channel] = false
    },
    takeSilence() {
      const now = performance.now()
      const silent = answeredNumbers(family, values).filter((channel) => {
        if (isReported[channel] === true || !shouldMeter(family, values, channel)) return false
        return now - (meteredAt[channel] ?? openedAt) >= lifetimeMs
      })
      for (const channel of silent) isReported[channel] = true
      return silent.length > 0
    },
  }
}

function shouldMeter(family: Family, values: RawValues, channel: number): boolean {
  return family.presenceKeys.length === 0 || hasTransmitterKey(family, values, channel)
}

export interface DeviceCheck {
  /** Checks a value that the device has reported under a key such as `1 FREQUENCY` or `1 SLOT_STATUS 2`. */
  received(key: string, value: string): void
  /** Meter values of a channel have arrived in the documented form. */
  metered(channel: number): void
  /** Returns the same list as before if unchanged. `hasRefused` is true if the device has refused any query. */
  listProblems(hasRefused: boolean): readonly DeviceProblem[]
}

const byKey = Object.fromEntries(
  Object.values(fields).flatMap((entry) => entry.address.split(', ').map((key) => [key, { ...entry, address: key }])),
)

export function createDeviceCheck(subject: string, family: Family): DeviceCheck {
  const misfits = createMisfits(subject, { ...byKey, ...sampleField(family) })
  const reported = new Set<string>()
  let problems: readonly DeviceProblem[] = []
  let hasChanged = false
  return {
    received(key, value) {
      const name = key.replace(/^\d+ | \d+$/g, '')
      const address = name.replace(/^(?:SEC|BAY) /, '')
      if (!reported.has(name)) hasChanged = true
      reported.add(name)
      if (misfits.check([[address, value, key]])) hasChanged = true
    },
    metered(channel) {
      if (problems.length > 0 && misfits.check([['SAMPLE', null, `${channel} SAMPLE`]])) hasChanged = true
    },
    listProblems(hasRefused) {
      // `REP ERR` does not name the command, so all unanswered queries count as refused.
      const refused = hasRefused ? queriedNames(family).filter((name) => !reported.has(name)) : []
      if (misfits.setRefused(new Map(refused.map((name) => [name, 'REP ERR'])))) hasChanged = true
      if (hasChanged) problems = misfits.list()
      hasChanged = false
      return problems
    },
  }
}

/** Returns the queried keys as they are reported. `ALL` stands for several keys, and is not a key itself. */
function queriedNames({ deviceKeys, channelKeys, meterMs, meterKey }: Family): readonly string[] {
  const queries = [...deviceKeys, ...channelKeys, ...(meterMs > 0 ? [meterKey] : [])]
  return queries.filter((key) => key !== 'ALL').map((key) => key.replace(/^CH | \d+$/g, ''))
}

function sampleField({ readSample }: Family): FieldTable['fields'] {
  if (readSample === null) return {}
  const hasForm = (raw: unknown) => readSample(Fields.of(String(raw)), 0) !== null
  return { SAMPLE: field({ address: 'SAMPLE', unit: 'text', range: '', hasForm, convert: () => null }) }
}
