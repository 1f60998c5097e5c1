/**
 * The browser's picture of the house, and how it changes. Pure: time comes in with each event.
 *
 * The order that keeps old and new apart:
 *   1. The socket opens (`link` open). The picture on display stays marked as old.
 *   2. A full picture is asked for (`picture_asked`). From here on updates are kept in `since`; they are shown at once
 *      only if the picture on display is unbroken, otherwise not at all.
 *   3. The picture comes (`picture`). It replaces everything, then the updates in `since` are put onto it: the server
 *      stores before it announces, so what was announced before the picture is in it, and what came later is in `since`.
 *   4. Updates are applied as they come, until the link is lost; then the picture is old (`isFresh` false) and 1 follows.
 */

import type { ChannelBody, DataBody, Group, ReceiverInData } from '../src/model/api.ts'
import type { DeviceUpdate, ServerMessage } from '../src/model/messages.ts'
import type { Settings } from '../src/model/settings.ts'
import type { Health, Problem } from './api.ts'

/** A channel, and what this page remembers of it. */
export interface WatchedChannel extends ChannelBody {
  /** When the transmitter was last there; null while it is, and when it never was. */
  readonly leftAt: number | null
  /** The last that was known, kept when the transmitter has gone. */
  readonly lastBattery: number | null
  readonly lastName: string | null
  /** The last moment of an overload, until somebody clears it. */
  readonly clippedAt: number | null
  /** The last moment of weak RF, and of RF that was fair at most. */
  readonly weakAt: number | null
  readonly fairAt: number | null
}

export interface WatchedReceiver extends Omit<ReceiverInData, 'channels'> {
  readonly channels: readonly WatchedChannel[]
  /** When it last had anything to say here. */
  readonly heardAt: number
}

/** Who wears the transmitter that is heard on a channel. */
export interface Wearer {
  readonly performer: number
  readonly name: string
  /** Something an <img> can show, or nothing. */
  readonly picture: string | null
}

/** `reading`: updates are switched off by configuration; the full picture is read again and again instead. */
export type Link = 'connecting' | 'open' | 'lost' | 'reading'

export interface House {
  readonly phase: 'loading' | 'ready' | 'failed'
  /** Why the last full picture could not be had. */
  readonly problem: Problem | null
  readonly client: Link
  readonly nextTryAt: number | null
  /** The receivers below are the server's, unbroken up to now. */
  readonly isFresh: boolean
  /** The last frame or full picture. */
  readonly heardAt: number | null
  /** Updates since the full picture was asked for; null when none is on its way, or the link changed on its way. */
  readonly since: readonly TimedUpdate[] | null
  /** Something was heard that only a full picture explains. */
  readonly needsPicture: boolean
  readonly receivers: ReadonlyMap<number, WatchedReceiver>
  readonly groups: readonly Group[]
  /** They were changed from this page since the full picture was asked for, which may not know it yet. */
  readonly areGroupsNewer: boolean
  /** By `wearerKey`. */
  readonly wearers: ReadonlyMap<string, Wearer>
  readonly config: Settings
  readonly health: Health | null
  readonly now: number
  /** The server's clock minus this browser's. */
  readonly clockAheadMs: number
}

interface TimedUpdate {
  readonly update: DeviceUpdate
  readonly at: number
}

export type HouseEvent = { readonly at: number } & (
  | { readonly type: 'message'; readonly message: ServerMessage }
  | { readonly type: 'picture_asked' }
  | { readonly type: 'picture'; readonly data: DataBody }
  | { readonly type: 'picture_failed'; readonly problem: Problem }
  | { readonly type: 'health'; readonly health: Health }
  | { readonly type: 'groups'; readonly groups: readonly Group[] }
  | { readonly type: 'wearers'; readonly wearers: ReadonlyMap<string, Wearer> }
  | { readonly type: 'link'; readonly client: Link; readonly nextTryAt?: number }
  | { readonly type: 'overload_cleared'; readonly receiverId: number; readonly channelId: number }
  | { readonly type: 'tick' }
)

export function wearerKey(receiverId: number, channel: number): string {
  return `${receiverId}.${channel}`
}

/** At or above: an overload. */
export const clippingFrom = -1
/** Below: weak (poor, in the words of the receiver's signal_quality). */
export const weakBelow = -85
/** Below: fair at most. */
export const fairBelow = -70

export function emptyHouse(now: number): House {
  return {
    phase: 'loading',
    problem: null,
    client: 'connecting',
    nextTryAt: null,
    isFresh: false,
    heardAt: null,
    since: null,
    needsPicture: false,
    receivers: new Map(),
    groups: [],
    areGroupsNewer: false,
    wearers: new Map(),
    config: { polling_interval: 10, alert_battery_threshold: 20, enable_websocket: true },
    health: null,
    now,
    clockAheadMs: 0,
  }
}

export function apply(runtime: House, event: HouseEvent): House {
  return applyAll(runtime, [event])
}

/** Many events at once: the map of receivers is copied once for each run of updates, not once an update. */
export function applyAll(runtime: House, events: readonly HouseEvent[]): House {
  let next = runtime
  for (let at = 0; at < events.length; ) {
    const updates = updatesFrom(events, at)
    if (updates.length > 0) next = applyUpdates(next, updates)
    else next = applyOther(next, events[at] as HouseEvent)
    at += Math.max(1, updates.length)
  }
  return next
}

function updatesFrom(events: readonly HouseEvent[], start: number): TimedUpdate[] {
  const updates: TimedUpdate[] = []
  for (let at = start; at < events.length; at += 1) {
    const event = events[at]
    if (event?.type !== 'message' || event.message.type !== 'device_update') break
    updates.push({ update: event.message, at: event.at })
  }
  return updates
}

function applyUpdates(runtime: House, updates: readonly TimedUpdate[]): House {
  const last = updates[updates.length - 1]
  const heard: House = {
    ...runtime,
    since: runtime.since && [...runtime.since, ...updates],
    heardAt: last?.at ?? runtime.heardAt,
  }
  return heard.isFresh ? putUpdates(heard, updates) : heard
}

function putUpdates(runtime: House, updates: readonly TimedUpdate[]): House {
  const receivers = new Map(runtime.receivers)
  let needsPicture = runtime.needsPicture
  for (const { update, at } of updates) {
    const before = receivers.get(update.receiver_id)
    if (before === undefined) needsPicture = true
    else receivers.set(update.receiver_id, updateReceiver(before, update.data, at))
  }
  return { ...runtime, receivers, needsPicture }
}

function applyOther(runtime: House, event: HouseEvent): House {
  switch (event.type) {
    case 'message':
      return applyMessage({ ...runtime, heardAt: event.at }, event.message, event.at)
    case 'picture_asked':
      return { ...runtime, since: [], needsPicture: false, areGroupsNewer: false }
    case 'picture':
      return applyPicture(runtime, event.data, event.at)
    case 'picture_failed':
      return {
        ...runtime,
        since: null,
        problem: event.problem,
        phase: runtime.phase === 'ready' && event.problem.kind !== 'sign_in' ? 'ready' : 'failed',
      }
    case 'health':
      return { ...runtime, health: event.health }
    case 'groups':
      return { ...runtime, groups: event.groups, areGroupsNewer: true }
    case 'wearers':
      return { ...runtime, wearers: event.wearers }
    case 'link':
      // The time too: ages are right at once, not with the next tick.
      return applyLink({ ...runtime, now: event.at }, event.client, event.nextTryAt ?? null)
    case 'overload_cleared':
      return clearOverload(runtime, event.receiverId, event.channelId)
    case 'tick':
      return { ...runtime, now: event.at }
    default:
      return event satisfies never
  }
}

function applyMessage(runtime: House, message: ServerMessage, at: number): House {
  if (message.type !== 'pong') return runtime
  const ahead = Date.parse(message.timestamp) - at
  // Small differences are the way the answer took, and would only make ages tremble.
  return Math.abs(ahead - runtime.clockAheadMs) > 1_000 ? { ...runtime, clockAheadMs: ahead } : runtime
}

function applyPicture(runtime: House, data: DataBody, at: number): House {
  // A transmitter that went during a gap was last known to be there when something was last heard.
  const lastKnownAt = runtime.isFresh ? at : (runtime.heardAt ?? at)
  const receivers = new Map<number, WatchedReceiver>()
  for (const body of data.receivers) {
    const before = runtime.receivers.get(body.id)
    const channels = body.channels.map((channel) => watchChannel(before?.channels, channel, at, lastKnownAt))
    receivers.set(body.id, { ...body, channels, heardAt: before?.heardAt ?? at })
  }
  const painted: House = {
    ...runtime,
    phase: 'ready',
    problem: null,
    receivers,
    groups: runtime.areGroupsNewer || isSameGroups(runtime.groups, data.groups) ? runtime.groups : data.groups,
    config: data.config,
    isFresh: runtime.since !== null && (runtime.client === 'open' || runtime.client === 'reading'),
    heardAt: at,
    now: Math.max(runtime.now, at),
    since: null,
  }
  return runtime.since === null || runtime.since.length === 0 ? painted : putUpdates(painted, runtime.since)
}

/** The same list as long as it says the same, so that nothing is laid out again for each full picture. */
function isSameGroups(before: readonly Group[], after: readonly Group[]): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}

function applyLink(runtime: House, client: Link, nextTryAt: number | null): House {
  // What is on display becomes fresh with the next full picture, not with the link; and a picture asked for before the
  // link changed may miss what was announced meanwhile, so that `since` is given up.
  return { ...runtime, client, nextTryAt, isFresh: client === 'reading' && runtime.isFresh, since: null }
}

function clearOverload(runtime: House, receiverId: number, channelId: number): House {
  const receiver = runtime.receivers.get(receiverId)
  if (receiver === undefined) return runtime
  const channels = receiver.channels.map((one) => (one.id === channelId ? { ...one, clippedAt: null } : one))
  return { ...runtime, receivers: new Map(runtime.receivers).set(receiverId, { ...receiver, channels }) }
}

function updateReceiver(before: WatchedReceiver, change: DeviceUpdate['data'], at: number): WatchedReceiver {
  const channels = change.channels.map((channel) => watchChannel(before.channels, channel, at, at))
  return { ...before, ...change, channels, heardAt: at }
}

function watchChannel(
  known: readonly WatchedChannel[] | undefined,
  body: ChannelBody,
  at: number,
  lastKnownAt: number,
): WatchedChannel {
  const before = known?.find((one) => one.id === body.id)
  const told = body.transmitter
  const wasThere = before?.transmitter ?? null
  /** Unchanged values are not sent again: what was so until now ended now. */
  const lastMoment = (is: (channel: ChannelBody) => boolean, known: number | null): number | null => {
    if (is(body)) return at
    return before !== undefined && is(before) ? lastKnownAt : known
  }
  return {
    ...body,
    leftAt: told !== null ? null : wasThere !== null ? lastKnownAt : (before?.leftAt ?? null),
    lastBattery: told === null ? (before?.lastBattery ?? null) : told.battery,
    lastName: told?.name ?? before?.lastName ?? null,
    clippedAt: lastMoment(isClipping, before?.clippedAt ?? null),
    weakAt: told === null ? null : lastMoment(isWeak, before?.weakAt ?? null),
    fairAt: told === null ? null : lastMoment(isFair, before?.fairAt ?? null),
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

/** Percent of the gear's own scale, where it tells no dBm. */
export function rfPercentOf({ transmitter, details }: Pick<ChannelBody, 'transmitter' | 'details'>): number | null {
  return transmitter === null || transmitter.rf_level !== null ? null : (details?.rf_percent ?? null)
}

function isBelow({ transmitter }: ChannelBody, dbm: number): boolean {
  const level = transmitter?.rf_level ?? null
  return level !== null && level < dbm
}
