/**
 * State of the live pages and its transitions. The functions are pure: every event contains its time.
 *
 * A connection begins with a `snapshot`, which replaces everything, or with `resumed`, after which the missed messages
 * follow. From then on the state is fresh, and messages are applied as they arrive, until the connection is lost. The
 * levels themselves are kept in the level table (levels.ts); here they change only when they cross a limit.
 */

import type { LiveMessage, LivePerformerBody } from '../src/contract/live-messages.ts'
import type { ChannelBody } from '../src/contract/resources/channels.ts'
import type { DataBody } from '../src/contract/resources/data.ts'
import type { Group } from '../src/contract/resources/groups.ts'
import type { HealthBody } from '../src/contract/resources/health.ts'
import type { ChannelAssignment } from '../src/contract/resources/performers.ts'
import type { ReceiverInData } from '../src/contract/resources/receivers.ts'
import type { Settings } from '../src/contract/resources/settings.ts'
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
  /** When the receiver went offline; null while it is online, and if the time is unknown. */
  readonly offlineSince: number | null
  /** Time of the latest message about the receiver; messages with levels alone count while the system fails. */
  readonly receivedAt: number
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
  /** Time of the latest message, as of the latest tick of the page. */
  readonly receivedAt: number | null
  /** Time of the latest message before a connection was resumed; null once the missed messages have arrived. */
  readonly missedSince: number | null
  readonly receivers: ReadonlyMap<number, WatchedReceiver>
  readonly groups: readonly Group[]
  readonly performers: readonly LivePerformerBody[]
  readonly assignments: readonly ChannelAssignment[]
  /** Pictures of performers that are too large for messages, keyed by `pictureKey`. */
  readonly pictures: ReadonlyMap<string, string>
  /** Manufacturer filter of the page; null for all. */
  readonly manufacturer: string | null
  readonly config: Settings
  readonly health: HealthBody | null
  readonly now: number
  /** Server clock minus browser clock. */
  readonly clockAheadMs: number
}

/** What a snapshot and `GET /api/data.json` have in common. The latter contains no performers. */
export type SnapshotData = Pick<DataBody, 'receivers' | 'groups' | 'config' | 'assignments'> & {
  readonly performers?: readonly LivePerformerBody[]
}

export type WatchEvent = { readonly at: number } & (
  | { readonly type: 'message'; readonly message: LiveMessage }
  /** The body of `GET /api/data.json`, which is polled while live updates are disabled. */
  | { readonly type: 'polled'; readonly data: SnapshotData }
  | { readonly type: 'failed'; readonly problem: Problem }
  | { readonly type: 'health'; readonly health: HealthBody }
  | { readonly type: 'groups'; readonly groups: readonly Group[] }
  | { readonly type: 'picture'; readonly key: string; readonly picture: string }
  | { readonly type: 'connection'; readonly connection: ConnectionState; readonly nextTryAt?: number }
  | { readonly type: 'overload_cleared'; readonly receiverId: number; readonly channelId: number }
  /** The latest message arrived at `at`; `receivedAt` returns the time of the latest levels of a channel. */
  | { readonly type: 'received'; readonly receivedAt: (channelId: number) => number | null }
  | { readonly type: 'tick' }
)

/** An audio level at or above this one is an overload. */
export const clippingFrom = -1
/** RF below this level is weak (`poor` in the receiver's `signal_quality`). */
export const weakBelow = -85
/** RF below this level is fair or weak. */
export const fairBelow = -70

export function initialState(now: number, manufacturer: string | null = null): WatchState {
  return {
    phase: 'loading',
    problem: null,
    connection: 'connecting',
    nextTryAt: null,
    isFresh: false,
    receivedAt: null,
    missedSince: null,
    receivers: new Map(),
    groups: [],
    performers: [],
    assignments: [],
    pictures: new Map(),
    manufacturer,
    config: { polling_interval: 10, alert_battery_threshold: 20, enable_websocket: true },
    health: null,
    now,
    clockAheadMs: 0,
  }
}

export function applyAll(watchState: WatchState, events: readonly WatchEvent[]): WatchState {
  return events.reduce(apply, watchState)
}

export function apply(watchState: WatchState, event: WatchEvent): WatchState {
  switch (event.type) {
    case 'message':
      return applyMessage(withClock(watchState, event.message, event.at), event.message, event.at)
    case 'polled':
      return { ...applySnapshot(watchState, event.data, event.at), isFresh: watchState.connection === 'polling' }
    case 'failed': {
      const isSignedOut = event.problem.kind === 'sign_in'
      return {
        ...watchState,
        problem: event.problem,
        phase: watchState.phase === 'ready' && !isSignedOut ? 'ready' : 'failed',
      }
    }
    case 'health':
      return { ...watchState, health: event.health }
    case 'groups':
      return { ...watchState, groups: event.groups }
    case 'picture':
      return { ...watchState, pictures: new Map(watchState.pictures).set(event.key, event.picture) }
    case 'connection':
      return applyConnection(watchState, event.connection, event.nextTryAt ?? null, event.at)
    case 'overload_cleared':
      return clearOverload(watchState, event.receiverId, event.channelId)
    case 'received':
      return applyReceived(watchState, event.at, event.receivedAt)
    case 'tick':
      return { ...watchState, now: event.at, missedSince: null }
    default:
      return event satisfies never
  }
}

/** Computes the clock difference from messages that contain the service's time. */
function withClock(watchState: WatchState, message: LiveMessage, at: number): WatchState {
  if (message.type !== 'tick' && message.type !== 'levels') return watchState
  const ahead = Date.parse(message.at) - at
  // Small differences are network delay and would make ages jitter.
  return Math.abs(ahead - watchState.clockAheadMs) > 1_000 ? { ...watchState, clockAheadMs: ahead } : watchState
}

/** Applies a message. Types that nothing on the live pages shows, and unknown types, change nothing. */
function applyMessage(watchState: WatchState, message: LiveMessage, at: number): WatchState {
  switch (message.type) {
    case 'snapshot':
      return applySnapshot(watchState, message.data, at)
    case 'resumed':
      return { ...watchState, problem: null, isFresh: true, missedSince: watchState.receivedAt }
    case 'receiver_added':
      return setReceiver(watchState, watchReceiver(watchState, message.receiver, at))
    case 'receiver_removed': {
      const receivers = new Map(watchState.receivers)
      receivers.delete(message.id)
      return { ...watchState, receivers }
    }
    case 'receiver': {
      const { type: _, seq: __, ...fields } = message
      const before = watchState.receivers.get(message.id)
      if (before === undefined) return watchState
      const offlineSince = offlineTime(before, fields.is_active ?? before.is_active, watchState.missedSince ?? at)
      return setReceiver(watchState, { ...before, ...fields, offlineSince, receivedAt: at })
    }
    case 'channel':
      return applyChannel(watchState, message, at)
    case 'channel_removed':
      return updateChannels(watchState, message.receiver_id, (channels) =>
        channels.filter(({ id }) => id !== message.id),
      )
    case 'slots':
      return applySlots(watchState, new Map(message.values.map(([id = 0, slot = 0]) => [id, slot])))
    case 'levels':
      return applyLevels(watchState, message.values, at)
    case 'groups':
      return { ...watchState, groups: message.groups }
    case 'performers':
      return { ...watchState, performers: message.performers }
    case 'assignments':
      return { ...watchState, assignments: message.assignments }
    case 'settings':
      return message.manufacturer === watchState.manufacturer && message.group === null
        ? { ...watchState, config: { ...watchState.config, ...message.config } }
        : watchState
    default:
      return watchState
  }
}

function applySnapshot(watchState: WatchState, data: SnapshotData, at: number): WatchState {
  // If a transmitter turned off while messages were missed, it was last known to be on when the latest message came.
  const lastKnownAt = watchState.isFresh ? at : (watchState.receivedAt ?? at)
  const receivers = new Map(data.receivers.map((body) => [body.id, watchReceiver(watchState, body, at, lastKnownAt)]))
  const { groups, config, assignments, performers = watchState.performers } = data
  return {
    ...watchState,
    phase: 'ready',
    problem: null,
    receivers,
    // Equal groups stay the same object, so that the page need not be rendered again.
    groups: isSameJson(watchState.groups, groups) ? watchState.groups : groups,
    assignments,
    performers,
    config,
    isFresh: true,
    receivedAt: at,
    missedSince: null,
    now: Math.max(watchState.now, at),
  }
}

function watchReceiver(watchState: WatchState, body: ReceiverInData, at: number, lastKnownAt = at): WatchedReceiver {
  const before = watchState.receivers.get(body.id)
  const channels = body.channels.map((channel) =>
    watchChannel(
      before?.channels.find(({ id }) => id === channel.id),
      channel,
      at,
      lastKnownAt,
    ),
  )
  return { ...body, channels, offlineSince: offlineTime(before, body.is_active, lastKnownAt), receivedAt: at }
}

function offlineTime(before: WatchedReceiver | undefined, isActive: boolean, lastKnownAt: number): number | null {
  if (isActive || before === undefined) return null
  return before.is_active ? lastKnownAt : before.offlineSince
}

function setReceiver(watchState: WatchState, receiver: WatchedReceiver): WatchState {
  return { ...watchState, receivers: new Map(watchState.receivers).set(receiver.id, receiver) }
}

function updateChannels(
  watchState: WatchState,
  receiverId: number,
  update: (channels: readonly WatchedChannel[]) => readonly WatchedChannel[],
): WatchState {
  const receiver = watchState.receivers.get(receiverId)
  return receiver === undefined
    ? watchState
    : setReceiver(watchState, { ...receiver, channels: update(receiver.channels) })
}

function applyChannel(
  watchState: WatchState,
  { type: _, seq: __, receiver_id, details, last_transmitter, ...fields }: Extract<LiveMessage, { type: 'channel' }>,
  at: number,
): WatchState {
  const known = watchState.receivers.get(receiver_id)?.channels.find(({ id }) => id === fields.id)
  const {
    details: detailsBefore,
    last_transmitter: lastBefore,
    ...before
  } = known ?? { ...unknownChannel, id: fields.id }
  const after = details === undefined ? detailsBefore : (details ?? undefined)
  const last = last_transmitter === undefined ? lastBefore : (last_transmitter ?? undefined)
  const body: ChannelBody = {
    ...before,
    ...fields,
    ...(after !== undefined && { details: after }),
    ...(last !== undefined && { last_transmitter: last }),
  }
  const channel = watchChannel(known, body, at, watchState.missedSince ?? at)
  return updateChannels(watchState, receiver_id, (channels) =>
    known === undefined
      ? [...channels, channel].sort((a, b) => a.channel - b.channel)
      : channels.map((other) => (other === known ? channel : other)),
  )
}

/** The message of a new channel is complete, so none of these values remains. */
const unknownChannel: Omit<ChannelBody, 'id'> = {
  ...{ channel: 0, slot: 0, name: null, frequency: null, audio_level: null, rf_level: null, transmitter: null },
  condition: { state: 'ok', severity: 'ok', attention: false, since: '', flags: [] },
}

function applySlots(watchState: WatchState, slots: ReadonlyMap<number, number>): WatchState {
  return mapChannels(watchState, (channel) => {
    const slot = slots.get(channel.id)
    if (slot === undefined) return channel
    return { ...channel, slot, transmitter: channel.transmitter && { ...channel.transmitter, slot } }
  })
}

/** Applies the levels of channels of which a level has crossed a limit. */
function applyLevels(
  watchState: WatchState,
  values: Extract<LiveMessage, { type: 'levels' }>['values'],
  at: number,
): WatchState {
  const entries = new Map(values.map((entry) => [entry[0], entry]))
  return mapChannels(watchState, (channel) => {
    const entry = entries.get(channel.id)
    if (entry === undefined || channel.transmitter === null) return channel
    const [, rf_level = null, audio_level = null] = entry as readonly [number, number?, number?]
    const body: ChannelBody = { ...channel, transmitter: { ...channel.transmitter, rf_level, audio_level } }
    if (
      isClipping(body) === isClipping(channel) &&
      isWeak(body) === isWeak(channel) &&
      isFair(body) === isFair(channel)
    )
      return channel
    return watchChannel(channel, body, at, at)
  })
}

/** Replaces the channels for which `update` returns another object; returns the same state if there are none. */
function mapChannels(watchState: WatchState, update: (channel: WatchedChannel) => WatchedChannel): WatchState {
  let receivers: Map<number, WatchedReceiver> | null = null
  for (const [id, receiver] of watchState.receivers) {
    const channels = receiver.channels.map(update)
    if (channels.every((channel, index) => channel === receiver.channels[index])) continue
    receivers ??= new Map(watchState.receivers)
    receivers.set(id, { ...receiver, channels })
  }
  return receivers === null ? watchState : { ...watchState, receivers }
}

function isSameJson(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}

function applyConnection(
  watchState: WatchState,
  connection: ConnectionState,
  nextTryAt: number | null,
  at: number,
): WatchState {
  // A new connection does not make the state fresh; its first message does. `now` is updated too, so that ages are
  // correct before the next tick.
  const isFresh = connection === 'polling' && watchState.connection === 'polling' && watchState.isFresh
  return { ...watchState, now: at, connection, nextTryAt, isFresh }
}

function applyReceived(
  watchState: WatchState,
  at: number,
  receivedAt: (channelId: number) => number | null,
): WatchState {
  if (watchState.health?.manufacturers.some(isUpstreamFailing) !== true) return { ...watchState, receivedAt: at }
  const receivers = new Map(watchState.receivers)
  for (const [id, receiver] of receivers) {
    if (!isFailing(watchState, receiver.manufacturer)) continue
    const times = receiver.channels.map((channel) => receivedAt(channel.id) ?? 0)
    receivers.set(id, { ...receiver, receivedAt: Math.max(receiver.receivedAt, ...times) })
  }
  return { ...watchState, receivers, receivedAt: at }
}

/** Whether the manufacturer's system fails. */
export function isFailing({ health }: Pick<WatchState, 'health'>, manufacturer: string): boolean {
  return (
    health?.manufacturers.some((upstream) => upstream.code === manufacturer && isUpstreamFailing(upstream)) === true
  )
}

function isUpstreamFailing({ status, consecutive_failures }: HealthBody['manufacturers'][number]): boolean {
  return status === 'unhealthy' || consecutive_failures > 0
}

function clearOverload(watchState: WatchState, receiverId: number, channelId: number): WatchState {
  const receiver = watchState.receivers.get(receiverId)
  if (receiver === undefined) return watchState
  const channels = receiver.channels.map((channel) =>
    channel.id === channelId ? { ...channel, clippedAt: null } : channel,
  )
  return { ...watchState, receivers: new Map(watchState.receivers).set(receiverId, { ...receiver, channels }) }
}

function watchChannel(
  before: WatchedChannel | undefined,
  body: ChannelBody,
  at: number,
  lastKnownAt: number,
): WatchedChannel {
  const transmitter = body.transmitter
  const previousTransmitter = before?.transmitter ?? null
  /** Returns when the condition was last true. One that this message ends was true until `lastKnownAt`. */
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

function isBelow({ transmitter }: ChannelBody, dbm: number): boolean {
  const level = transmitter?.rf_level ?? null
  return level !== null && level < dbm
}
