/**
 * State of the live pages and its transitions. The functions are pure: every event contains its time.
 *
 * Connecting and loading:
 *   1. The socket opens (`connection` is `open`). The displayed state remains marked as stale.
 *   2. A snapshot is requested (`snapshot_requested`). From now on updates are collected in `since`. They are also
 *      applied at once if the displayed state is complete.
 *   3. The snapshot arrives (`snapshot`). It replaces everything; then the updates in `since` are applied. The server
 *      stores a change before it publishes it, so the snapshot contains every update published before it.
 *   4. Updates are applied as they arrive until the connection is lost. The state is then stale (`isFresh` is false),
 *      and step 1 follows.
 */

import type { ChannelBody, DataBody, Group, HealthBody, ReceiverInData, Settings } from '../src/contract/live.ts'
import type { DeviceUpdate, ServerMessage } from '../src/domain/messages.ts'
import type { Problem } from './api.ts'

/** A channel with values that only this page keeps. */
export interface WatchedChannel extends ChannelBody {
  /** When the transmitter turned off; null while it is on, and if it has never been on. */
  readonly offSince: number | null
  /** Last known value after the transmitter has turned off. */
  readonly lastBattery: number | null
  readonly lastName: string | null
  /** Time of the latest overload, until a user clears it. */
  readonly clippedAt: number | null
  /** When RF was last weak, and when it was last fair or weak. */
  readonly weakAt: number | null
  readonly fairAt: number | null
}

export interface WatchedReceiver extends Omit<ReceiverInData, 'channels'> {
  readonly channels: readonly WatchedChannel[]
  /** Known once the receiver became active or inactive while the page was open. */
  readonly last_seen?: string
  /** Time of the latest update. */
  readonly receivedAt: number
}

/** The performer who is assigned to the transmitter of a channel. */
export interface AssignedPerformer {
  readonly performer: number
  readonly name: string
  /** Source for an <img>, or null. */
  readonly picture: string | null
}

/** `polling`: updates are disabled in the configuration; snapshots are loaded periodically. */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'polling'

export interface WatchState {
  readonly phase: 'loading' | 'ready' | 'failed'
  /** Why the latest snapshot could not be loaded. */
  readonly problem: Problem | null
  readonly connection: ConnectionState
  readonly nextTryAt: number | null
  /** Whether `receivers` is current: no update since the snapshot has been missed. */
  readonly isFresh: boolean
  /** Time of the latest message or snapshot. */
  readonly receivedAt: number | null
  /**
   * Updates since a snapshot was requested. Null if no snapshot is pending, or if the connection has changed since the
   * request.
   */
  readonly since: readonly TimedUpdate[] | null
  /** Whether an update has arrived that requires a new snapshot. */
  readonly needsSnapshot: boolean
  readonly receivers: ReadonlyMap<number, WatchedReceiver>
  readonly groups: readonly Group[]
  /** Whether groups were edited on this page after the snapshot was requested, so that it may not contain the edit. */
  readonly hasEditedGroups: boolean
  /** Keyed by `performerKey`. */
  readonly performers: ReadonlyMap<string, AssignedPerformer>
  readonly config: Settings
  readonly health: HealthBody | null
  readonly now: number
  /** Server clock minus browser clock. */
  readonly clockAheadMs: number
}

interface TimedUpdate {
  readonly update: DeviceUpdate
  readonly at: number
}

export type WatchEvent = { readonly at: number } & (
  | { readonly type: 'message'; readonly message: ServerMessage }
  | { readonly type: 'snapshot_requested' }
  | { readonly type: 'snapshot'; readonly data: DataBody }
  | { readonly type: 'snapshot_failed'; readonly problem: Problem }
  | { readonly type: 'health'; readonly health: HealthBody }
  | { readonly type: 'groups'; readonly groups: readonly Group[] }
  | { readonly type: 'performers'; readonly performers: ReadonlyMap<string, AssignedPerformer> }
  | { readonly type: 'connection'; readonly connection: ConnectionState; readonly nextTryAt?: number }
  | { readonly type: 'overload_cleared'; readonly receiverId: number; readonly channelId: number }
  | { readonly type: 'tick' }
)

export function performerKey(receiverId: number, channel: number): string {
  return `${receiverId}.${channel}`
}

/** An audio level at or above this one is an overload. */
export const clippingFrom = -1
/** RF below this level is weak (`poor` in the receiver's `signal_quality`). */
export const weakBelow = -85
/** RF below this level is fair or weak. */
export const fairBelow = -70

export function initialState(now: number): WatchState {
  return {
    phase: 'loading',
    problem: null,
    connection: 'connecting',
    nextTryAt: null,
    isFresh: false,
    receivedAt: null,
    since: null,
    needsSnapshot: false,
    receivers: new Map(),
    groups: [],
    hasEditedGroups: false,
    performers: new Map(),
    config: { polling_interval: 10, alert_battery_threshold: 20, enable_websocket: true },
    health: null,
    now,
    clockAheadMs: 0,
  }
}

export function apply(watchState: WatchState, event: WatchEvent): WatchState {
  return applyAll(watchState, [event])
}

/** Applies many events at once; consecutive updates share one copy of the map of receivers. */
export function applyAll(watchState: WatchState, events: readonly WatchEvent[]): WatchState {
  let next = watchState
  for (let index = 0; index < events.length; ) {
    const updates = updatesFrom(events, index)
    if (updates.length > 0) next = applyUpdates(next, updates)
    else next = applyOther(next, events[index] as WatchEvent)
    index += Math.max(1, updates.length)
  }
  return next
}

function updatesFrom(events: readonly WatchEvent[], start: number): TimedUpdate[] {
  const updates: TimedUpdate[] = []
  for (let index = start; index < events.length; index += 1) {
    const event = events[index]
    if (event?.type !== 'message' || event.message.type !== 'device_update') break
    updates.push({ update: event.message, at: event.at })
  }
  return updates
}

function applyUpdates(watchState: WatchState, updates: readonly TimedUpdate[]): WatchState {
  const last = updates[updates.length - 1]
  const next: WatchState = {
    ...watchState,
    since: watchState.since && [...watchState.since, ...updates],
    receivedAt: last?.at ?? watchState.receivedAt,
  }
  return next.isFresh ? mergeUpdates(next, updates) : next
}

function mergeUpdates(watchState: WatchState, updates: readonly TimedUpdate[]): WatchState {
  const receivers = new Map(watchState.receivers)
  let needsSnapshot = watchState.needsSnapshot
  for (const { update, at } of updates) {
    const before = receivers.get(update.receiver_id)
    if (before === undefined) needsSnapshot = true
    else receivers.set(update.receiver_id, updateReceiver(before, update.data, at))
  }
  return { ...watchState, receivers, needsSnapshot }
}

function applyOther(watchState: WatchState, event: WatchEvent): WatchState {
  switch (event.type) {
    case 'message':
      return applyMessage({ ...watchState, receivedAt: event.at }, event.message, event.at)
    case 'snapshot_requested':
      return { ...watchState, since: [], needsSnapshot: false, hasEditedGroups: false }
    case 'snapshot':
      return applySnapshot(watchState, event.data, event.at)
    case 'snapshot_failed':
      return {
        ...watchState,
        since: null,
        problem: event.problem,
        phase: watchState.phase === 'ready' && event.problem.kind !== 'sign_in' ? 'ready' : 'failed',
      }
    case 'health':
      return { ...watchState, health: event.health }
    case 'groups':
      return { ...watchState, groups: event.groups, hasEditedGroups: true }
    case 'performers':
      return { ...watchState, performers: event.performers }
    case 'connection':
      // Also updates `now`, so that ages are correct before the next tick.
      return applyConnection({ ...watchState, now: event.at }, event.connection, event.nextTryAt ?? null)
    case 'overload_cleared':
      return clearOverload(watchState, event.receiverId, event.channelId)
    case 'tick':
      return { ...watchState, now: event.at }
    default:
      return event satisfies never
  }
}

function applyMessage(watchState: WatchState, message: ServerMessage, at: number): WatchState {
  if (message.type !== 'pong') return watchState
  const ahead = Date.parse(message.timestamp) - at
  // Small differences are network delay and would make ages jitter.
  return Math.abs(ahead - watchState.clockAheadMs) > 1_000 ? { ...watchState, clockAheadMs: ahead } : watchState
}

function applySnapshot(watchState: WatchState, data: DataBody, at: number): WatchState {
  // If a transmitter turned off while updates were missed, it was last known to be on when the latest message came.
  const lastKnownAt = watchState.isFresh ? at : (watchState.receivedAt ?? at)
  const receivers = new Map<number, WatchedReceiver>()
  for (const body of data.receivers) {
    const before = watchState.receivers.get(body.id)
    const channels = body.channels.map((channel) => watchChannel(before?.channels, channel, at, lastKnownAt))
    receivers.set(body.id, { ...body, channels, receivedAt: before?.receivedAt ?? at })
  }
  const loaded: WatchState = {
    ...watchState,
    phase: 'ready',
    problem: null,
    receivers,
    groups:
      watchState.hasEditedGroups || isSameGroups(watchState.groups, data.groups) ? watchState.groups : data.groups,
    config: data.config,
    isFresh: watchState.since !== null && (watchState.connection === 'open' || watchState.connection === 'polling'),
    receivedAt: at,
    now: Math.max(watchState.now, at),
    since: null,
  }
  return watchState.since === null || watchState.since.length === 0 ? loaded : mergeUpdates(loaded, watchState.since)
}

/** Whether the groups are equal. The previous array is then kept, so that the page need not be rendered again. */
function isSameGroups(before: readonly Group[], after: readonly Group[]): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}

function applyConnection(watchState: WatchState, connection: ConnectionState, nextTryAt: number | null): WatchState {
  // A new connection does not make the state fresh; the next snapshot does. A snapshot that was requested before the
  // connection changed may lack updates, so `since` is discarded.
  return { ...watchState, connection, nextTryAt, isFresh: connection === 'polling' && watchState.isFresh, since: null }
}

function clearOverload(watchState: WatchState, receiverId: number, channelId: number): WatchState {
  const receiver = watchState.receivers.get(receiverId)
  if (receiver === undefined) return watchState
  const channels = receiver.channels.map((channel) =>
    channel.id === channelId ? { ...channel, clippedAt: null } : channel,
  )
  return { ...watchState, receivers: new Map(watchState.receivers).set(receiverId, { ...receiver, channels }) }
}

function updateReceiver(before: WatchedReceiver, change: DeviceUpdate['data'], at: number): WatchedReceiver {
  const channels = change.channels.map((channel) => watchChannel(before.channels, channel, at, at))
  return { ...before, ...change, channels, receivedAt: at }
}

function watchChannel(
  known: readonly WatchedChannel[] | undefined,
  body: ChannelBody,
  at: number,
  lastKnownAt: number,
): WatchedChannel {
  const before = known?.find((item) => item.id === body.id)
  const transmitter = body.transmitter
  const previousTransmitter = before?.transmitter ?? null
  /**
   * Returns when the condition last held. Unchanged values are not sent again, so a condition that no longer holds did
   * hold until this update.
   */
  const lastMoment = (holds: (channel: ChannelBody) => boolean, known: number | null): number | null => {
    if (holds(body)) return at
    return before !== undefined && holds(before) ? lastKnownAt : known
  }
  return {
    ...body,
    offSince: transmitter !== null ? null : previousTransmitter !== null ? lastKnownAt : (before?.offSince ?? null),
    lastBattery: transmitter === null ? (before?.lastBattery ?? null) : transmitter.battery,
    lastName: transmitter?.name ?? before?.lastName ?? null,
    clippedAt: lastMoment(isClipping, before?.clippedAt ?? null),
    weakAt: transmitter === null ? null : lastMoment(isWeak, before?.weakAt ?? null),
    fairAt: transmitter === null ? null : lastMoment(isFair, before?.fairAt ?? null),
  }
}

export function isClipping(channel: ChannelBody): boolean {
  const level = channel.transmitter?.audio_level ?? null
  return level !== null && level >= clippingFrom
}

export function isWeak(channel: ChannelBody): boolean {
  return isBelow(channel, weakBelow)
}

export function isFair(channel: ChannelBody): boolean {
  return isBelow(channel, fairBelow)
}

/** Returns RF as a percentage of the device's own scale, if the device does not report dBm. */
export function rfPercentOf({ transmitter, details }: Pick<ChannelBody, 'transmitter' | 'details'>): number | null {
  return transmitter === null || transmitter.rf_level !== null ? null : (details?.rf_percent ?? null)
}

function isBelow({ transmitter }: ChannelBody, dbm: number): boolean {
  const level = transmitter?.rf_level ?? null
  return level !== null && level < dbm
}
