/** The adapter for an N-DR1, which sends the values that a client has subscribed to. */

import type { DeviceProblem } from '../../domain/equipment/health.ts'
import type { ChannelReading } from '../../domain/equipment/receiver.ts'
import { type LevelKind, levelKinds, levelLifetimeMs, withoutLevels } from '../../domain/levels/level-sample.ts'
import type { ReceivedMessage } from '../../domain/osc/packet.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { createMisfits } from '../../upstream/field-table.ts'
import { openTcpSocket } from '../../upstream/tcp.ts'
import { readFirst, toPushEvents } from '../device-session.ts'
import { defineAdapter, type OnLevels, type PushEvent, type UpstreamDevice, withoutParts } from '../plugin.ts'
import { type Framing, formatPackets, parsePacket, splitPackets } from './codec.ts'
import {
  activeChannels,
  deviceLevels,
  type Endpoint,
  identityRequests,
  idOf,
  isComplete,
  isKnownAddress,
  levelDelivery,
  listMissing,
  parseLevelAddress,
  rawOf,
  settingsRequest,
  subscriptions,
  toDeviceReport,
  toLevels,
  type Values,
} from './device.ts'
import { fields } from './fields.ts'

interface Ndr1 extends UpstreamDevice {
  readonly values: Values
  readonly endpoint: Endpoint
}

/** The changes of a batch of messages. The `values` are live: later messages change them. */
interface Update {
  readonly values: Values
  readonly endpoint: Endpoint
  /** True if anything except levels has changed. */
  readonly affectsDevice: boolean
  /** The kinds of levels that have arrived, by channel, even if their values are the same. */
  readonly metered: ReadonlyMap<number, ReadonlySet<LevelKind>>
  readonly malformed: number
  /** The same list as in the previous update if unchanged. */
  readonly problems: readonly DeviceProblem[]
}

export const defaultPort = 1993
/** In the order in which they are tried. Public programs use both. */
const framings: readonly Framing[] = ['length', 'slip']
/** The other framing is tried if a device does not respond for this long. */
const firstAnswerMs = 1_000
/** A device that has not reported everything this long after its first answer is listed with the known values. */
const completeMs = 1_000
const refreshIntervalMs = 5_000
/** The device answers at least every `refreshIntervalMs`. */
const silenceTimeoutMs = 11_000

/** Without this setting, the device refuses connections or stays silent. */
const refusedAdvice = 'enable OSC over TCP in its Advanced menu'

export const ndr1 = defineAdapter<Ndr1>({
  protocol: 'ndr1',
  ...withoutParts,
  listDevices: (client, signal) =>
    readFirst(
      client,
      signal,
      (lifetime) => openSession(client, lifetime),
      ({ values, endpoint }) => ({
        devices: [{ id: idOf(values, endpoint.host), values: new Map(values), endpoint }],
        malformed: 0,
      }),
    ),
  transformDeviceData: ({ values, endpoint }) => ({
    ...toDeviceReport(values, endpoint),
    metadata: { osc: Object.fromEntries(values) },
  }),
  levels: () => deviceLevels,
  transport: 'tcp',
  pushesEverything: true,
  startsWithFullReport: true,
  subscribe: (client, _targets, signal, onLevels, onProblems) =>
    toPushEvents(openSession(client, signal), signal, (update) => toEvent(update, onLevels), 'messages', onProblems),
})

/** Passes on levels if nothing else has changed; returns null in that case. */
function toEvent({ values, endpoint, affectsDevice, metered }: Update, onLevels?: OnLevels): PushEvent | null {
  const withNewLevels = (reading: ChannelReading) => {
    const kinds = metered.get(reading.channel)
    return withoutLevels(
      reading,
      levelKinds.filter((kind) => kinds?.has(kind) !== true),
    )
  }
  if (affectsDevice) {
    const report = toDeviceReport(values, endpoint)
    return { type: 'report', isComplete: true, report: { ...report, channels: report.channels?.map(withNewLevels) } }
  }
  if (metered.size === 0) return null
  const id = idOf(values, endpoint.host)
  const levels = [...metered.keys()].map((channel) => withNewLevels(toLevels(values, channel)))
  return onLevels?.(id, levels) ? null : { type: 'report', report: { id, kind: 'receiver', channels: levels } }
}

/**
 * Opens a session. Yields once the device has reported everything, and then at every change. Ends without an error on
 * abort. Throws the manufacturer's ApiError if the device does not respond, or if the connection is lost.
 */
async function* openSession(client: UpstreamClient, signal: AbortSignal): AsyncGenerator<Update> {
  let hasReceived = false
  const framing = (text: string) => {
    hasReceived = true
    return splitPackets(text)
  }
  for (const kind of framings) {
    let hasAnswered = false
    for await (const update of runSession(client, { signal, framing, kind })) {
      hasAnswered = true
      yield update
    }
    if (hasAnswered || signal.aborted) return
  }
  const { host } = new URL(client.settings.baseUrl)
  throw new client.errors.ApiError(
    hasReceived
      ? `invalid response from ${host}: not from a DPA N-Series receiver`
      : `${host} accepts connections but does not respond; ${refusedAdvice}`,
    { failureKind: hasReceived ? 'unusable' : 'none' },
  )
}

/** Runs a session with one framing. Ends without an error if the device does not respond. */
async function* runSession(
  client: UpstreamClient,
  options: {
    readonly signal: AbortSignal
    readonly framing: typeof splitPackets
    readonly kind: Framing
  },
): AsyncGenerator<Update> {
  const { signal, framing, kind } = options
  const socket = await openTcpSocket(client, {
    signal,
    framing,
    encoding: 'latin1',
    silentMs: silenceTimeoutMs,
    refusedAdvice,
  })
  const endpoint = endpointOf(client, socket.remoteAddress)
  const send = (packets: readonly Uint8Array[]) => socket.send(formatPackets(packets, kind))
  const values = new Map<string, ReceivedMessage['args']>()
  const answerTimer = setTimeout(() => socket.close(), firstAnswerMs)
  // Not awaited, because sending is throttled. If the connection is lost, reading from it throws.
  const refreshTimer = setInterval(() => {
    updateProblems(findUnanswered())
    send([settingsRequest]).catch(() => {})
  }, refreshIntervalMs)
  let completeAt = Number.POSITIVE_INFINITY
  let isReady = false
  const silence = createSilence()
  const misfits = createMisfits(endpoint.host, fields)
  let problems: readonly DeviceProblem[] = []
  let missing: readonly string[] = []

  function updateProblems(hasChanged: boolean): void {
    if (hasChanged) problems = misfits.list()
  }

  /** An address is unanswered if it was already missing at the last refresh. Returns true if the list has changed. */
  function findUnanswered(): boolean {
    const before = missing
    missing = listMissing(values)
    const unanswered = missing.filter((address) => before.includes(address))
    return misfits.setRefused(new Map(unanswered.map((address) => [address.replace(/\d/, '*'), 'no answer'])))
  }

  try {
    await send([settingsRequest, ...identityRequests, ...subscriptions])
    for await (const packets of socket.messages) {
      const activeBefore = activeChannels(values)
      const { reported, ...applied } = applyPackets(values, packets)
      updateProblems(misfits.check(reported))
      const changes = { ...applied, problems }
      if (values.size === 0) continue
      clearTimeout(answerTimer)
      completeAt = Math.min(completeAt, performance.now() + completeMs)
      // The Companion module subscribes again when a transmitter appears.
      if (isReady && activeChannels(values) !== activeBefore) send(subscriptions).catch(() => {})
      if (silence.isNew(changes.metered)) send(subscriptions).catch(() => {})
      if (isReady) yield { values, endpoint, ...changes }
      else if (isComplete(values) || performance.now() > completeAt) {
        isReady = true
        yield { values, endpoint, ...changes, metered: allLevels, affectsDevice: true }
      }
    }
  } finally {
    clearTimeout(answerTimer)
    clearInterval(refreshTimer)
    socket.close()
  }
}

const allLevels: Update['metered'] = new Map([1, 2].map((channel) => [channel, new Set(levelKinds)]))

/** Detects missing levels, once per silence. */
function createSilence() {
  const lifetimeMs = levelLifetimeMs(levelDelivery, 0)
  const openedAt = performance.now()
  const keyOf = (channel: number, kind: LevelKind) => `${channel} ${kind}`
  const times = new Map(
    [...allLevels].flatMap(([channel, kinds]) => [...kinds].map((kind) => [keyOf(channel, kind), openedAt])),
  )
  return {
    isNew(metered: Update['metered']): boolean {
      const now = performance.now()
      for (const [channel, kinds] of metered) for (const kind of kinds) times.set(keyOf(channel, kind), now)
      const silent = [...times].filter(([, at]) => now - at >= lifetimeMs)
      for (const [key] of silent) times.delete(key)
      return silent.length > 0
    },
  }
}

/** With port forwarding, the address is not the device's own and may be shared with other devices. */
function endpointOf({ settings }: UpstreamClient, remoteAddress: string): Endpoint {
  const { hostname, host, port } = new URL(settings.baseUrl)
  const isOwn = port === String(defaultPort)
  return { host: isOwn ? hostname : host, ip: isOwn ? remoteAddress : null, name: settings.name ?? null }
}

/** Stores the arguments of every message, and returns the changes. */
function applyPackets(
  values: Map<string, ReceivedMessage['args']>,
  packets: readonly string[],
): Pick<Update, 'affectsDevice' | 'metered' | 'malformed'> & { readonly reported: readonly [string, unknown][] } {
  const reported: [string, unknown][] = []
  const metered = new Map<number, Set<LevelKind>>()
  let affectsDevice = false
  let malformed = 0
  for (const packet of packets) {
    const messages = parsePacket(packet)
    if (messages === null) malformed += 1
    for (const { address, args } of messages ?? []) {
      if (!isKnownAddress(address)) continue
      const level = parseLevelAddress(address)
      if (level !== null) metered.set(level.channel, (metered.get(level.channel) ?? new Set()).add(level.kind))
      else if (String(values.get(address)) !== String(args)) affectsDevice = true
      values.set(address, args)
      reported.push([address, rawOf(address, args)])
    }
  }
  return { affectsDevice, metered, malformed, reported }
}
