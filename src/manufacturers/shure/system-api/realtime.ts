/**
 * Subscribes to changes on a System API server. Its WebSocket first sends a transport id. One REST request per resource
 * then subscribes that transport to the resource.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { isRecord, parseJson } from '../../../domain/json.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { ApiError } from '../../../upstream/errors.ts'
import { readText } from '../../../upstream/fields.ts'
import { merge } from '../../../upstream/merge.ts'
import { openWebSocket } from '../../../upstream/push.ts'
import type { PushEvent, SubscriptionTargets } from '../../plugin.ts'
import { subscribe as subscribeAsSpecified } from '../realtime.ts'
import { listAudioChannels, listNodes, readResource, subscribeTo } from './client.ts'
import { hasAudioChannels, nodeToReport, parsePushed, resourcesOf } from './device.ts'
import { type AudioChannel, channelNumber, type DeviceNode, parseDeviceNode } from './schema.ts'

const socketPath = '/api/v1/subscriptions/websocket/create'
/** Devices gain capabilities without an event, so the list is read again at this interval. */
const refreshIntervalMs = 60_000
const transportTimeoutMs = 10_000

/** Uses the WebSocket of the common device API if the server does not have this one. */
export async function* subscribe(
  client: UpstreamClient,
  targets: SubscriptionTargets,
  signal: AbortSignal,
): AsyncGenerator<PushEvent> {
  const ended = new AbortController()
  const lifetime = AbortSignal.any([signal, ended.signal])
  const frames = openWebSocket(client, socketPath, lifetime)
  try {
    if (!(await hasSocket(frames))) return yield* subscribeAsSpecified(client, targets, signal)
    const transport = await readTransport(client, frames, ended)
    if (transport === null) return
    yield { type: 'open' }
    const refresh = createRefreshSignal()
    yield* merge(readFrames(frames, refresh), keepSubscribed(client, { transport, targets, refresh, signal: lifetime }))
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    ended.abort()
  }
}

async function hasSocket(frames: AsyncIterator<string | null>): Promise<boolean> {
  try {
    await frames.next()
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false
    throw error
  }
}

/**
 * Reads the first frame, `{"transportId": "<uuid>"}`. Returns null if the subscription is aborted before it arrives.
 */
async function readTransport(
  client: UpstreamClient,
  frames: AsyncIterator<string | null>,
  ended: AbortController,
): Promise<string | null> {
  const timer = setTimeout(() => ended.abort(), transportTimeoutMs)
  const { value, done } = await frames.next().finally(() => clearTimeout(timer))
  if (done && !ended.signal.aborted) return null
  const frame = parseJson(String(value))
  const transport = isRecord(frame) ? readText(frame.transportId) : null
  if (typeof transport === 'string') return transport
  throw new client.errors.ApiError(
    `${new URL(client.settings.baseUrl).host} sent no transport id for its subscriptions`,
  )
}

// --- Events -----------------------------------------------------------------------------------------------------------

async function* readFrames(frames: AsyncIterable<string | null>, refresh: RefreshSignal): AsyncGenerator<PushEvent> {
  for await (const text of frames) {
    if (text === null) continue
    const frame = parseJson(text)
    const { envelope, body } = isRecord(frame) ? frame : {}
    const eventName = isRecord(envelope) ? readText(envelope.eventName) : null
    if (!isRecord(envelope) || typeof eventName !== 'string') {
      yield { type: 'ignored', reason: 'a frame has no event name' }
    } else if (eventName === 'DEVICE_STATE_CHANGE') {
      const node = parseDeviceNode(body)
      // The device may have gained resources.
      refresh.notify()
      if (node === null) yield { type: 'ignored', reason: 'a state change has no valid device' }
      else yield { type: 'report', report: nodeToReport(node) }
    } else yield readChange(eventName, envelope, body)
  }
}

function readChange(eventName: string, envelope: Readonly<Record<string, unknown>>, body: unknown): PushEvent {
  const id = readText(envelope.deviceId)
  const channelId = readText(envelope.audioChannelId) ?? null
  const channel = channelId === null ? null : channelNumber(channelId)
  const value = channel === null && channelId !== null ? undefined : parsePushed(eventName, channel, body)
  if (typeof id !== 'string' || value === undefined) {
    return { type: 'ignored', reason: `${eventName} events are not supported` }
  }
  return { type: 'report', report: { id: id.toLowerCase(), kind: 'receiver', ...value } }
}

// --- Subscriptions ----------------------------------------------------------------------------------------------------

interface Subscriptions {
  readonly transport: string
  readonly targets: SubscriptionTargets
  readonly refresh: RefreshSignal
  readonly signal: AbortSignal
}

/** Subscribes to all resources of the targets, and yields the current value of each newly subscribed resource. */
async function* keepSubscribed(client: UpstreamClient, options: Subscriptions): AsyncGenerator<PushEvent> {
  const { transport, targets, refresh, signal } = options
  const subscribed = new Set<string>()
  const channels = new Map<string, readonly AudioChannel[]>()
  await subscribeTo(client, { transport }, signal)
  for (;;) {
    const round = new AbortController()
    const waitSignal = AbortSignal.any([signal, round.signal])
    // Started before the list is read, so that no change during the request is missed.
    const triggers = [
      targets.changed(waitSignal),
      refresh.notified(),
      pause(refreshIntervalMs, undefined, { signal: waitSignal }),
    ]
    for (const trigger of triggers) trigger.catch(() => {})
    const targetIds = new Set(targets.ids())
    for (const node of await listNodes(client, signal)) {
      if (node !== null && targetIds.has(node.id)) yield* subscribeDevice(node)
    }
    await Promise.race(triggers)
    round.abort()
  }

  async function* subscribeDevice(node: DeviceNode): AsyncGenerator<PushEvent> {
    const { id } = node
    if (node.state !== 'ONLINE') {
      // The server may drop the subscriptions of an offline device.
      for (const key of subscribed) if (key.startsWith(`${id}/`)) subscribed.delete(key)
      return
    }
    if (hasAudioChannels(node) && !channels.has(id)) channels.set(id, await listAudioChannels(client, node, signal))
    for (const resource of resourcesOf({ id, node, channels: channels.get(id) ?? [], values: {} })) {
      const key = `${id}/${resource.path}`
      if (subscribed.has(key) || !(await subscribeTo(client, { transport, scope: { node, resource } }, signal)))
        continue
      subscribed.add(key)
      const value = resource.parse(await readResource(client, node, resource, signal))
      if (value !== undefined) yield { type: 'report', report: { id, kind: 'receiver', ...value } }
    }
  }
}

/** Requests a refresh, even while another one is in progress. */
interface RefreshSignal {
  notify(): void
  /** Resolves at the next `notify`, or immediately if it was called since the last `notified`. */
  notified(): Promise<void>
}

function createRefreshSignal(): RefreshSignal {
  let isNotified = false
  let resolveWaiting: (() => void) | undefined
  return {
    notify() {
      isNotified = resolveWaiting === undefined
      resolveWaiting?.()
      resolveWaiting = undefined
    },
    notified: () =>
      new Promise((resolve) => {
        if (isNotified) resolve()
        else resolveWaiting = resolve
        isNotified = false
      }),
  }
}
