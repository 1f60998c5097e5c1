/**
 * Fills the history of the demo with the day before its start, newest time first. A worker thread plays the levels; the
 * caller stores them.
 */

import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { RecordedSeconds } from '../src/domain/history/columns.ts'
import { startThread } from '../src/platform/thread.ts'
import { dayMs, type Period, planDay, type VenueDay } from './show/day.ts'
import {
  listChannelEvents,
  listMarkers,
  listReceiverEvents,
  type PlayedEvent,
  toDropoutEvent,
} from './show/day-events.ts'
import {
  listStates,
  type PlayedChannel,
  type PlayedDevice,
  type PlayedState,
  type WeakSpan,
} from './show/day-levels.ts'

/** The simulated equipment, and the start time. */
export interface Venue {
  readonly seed: number
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly devices: readonly PlayedDevice[]
}

export interface MonitoredChannel {
  readonly id: number
  readonly channel: number
  readonly receiverId: number
  readonly manufacturer: string
  /** The id under which its receiver is reported. */
  readonly deviceId: string | null
}

/** Stores the day. */
export interface DayTarget {
  /** Returns the channels that are known now. */
  listChannels(): readonly MonitoredChannel[]
  importSeconds(seconds: RecordedSeconds): Promise<void>
  addEvents(events: readonly PlayedEvent[]): Promise<void>
  addStates(states: readonly PlayedState[]): Promise<void>
  /** Adds a finished show and its events. Times are epoch milliseconds. */
  addShow(show: { readonly title: string; readonly startedAt: number; readonly endedAt: number }): Promise<void>
}

export interface PlayRequest {
  readonly group: number
  /** Sent with the first request of a group. */
  readonly channels?: readonly PlayedChannel[]
  readonly startedAt: number
  readonly range: { readonly from: number; readonly count: number }
}

export interface PlayResponse {
  readonly seconds: RecordedSeconds
  readonly dropouts: readonly WeakSpan[]
}

/** The seconds to play and store at once: few of the last hour, so that it is complete soon, then whole hours. */
const recentSpan = 600
const earlierSpan = 3600
/** Channels that appear later are not filled. */
const lateMs = 30_000
const checkEveryMs = 100
/** The limit for a day, so that a demo with thousands of receivers also finishes within a minute. */
const maxChannelHours = 24 * 400

/** Resolves when the day is complete or the signal aborts. */
export async function playDay(venue: Venue, target: DayTarget, signal: AbortSignal): Promise<void> {
  const { seed, startedAt, devices } = venue
  const day = planDay(
    seed,
    devices.map(({ setup }) => setup),
  )
  const channelCount = devices.reduce((count, { setup }) => count + setup.channels.length, 0)
  const filledMs = Math.min(dayMs, (maxChannelHours / channelCount) * 3_600_000)
  const dayStart = Math.ceil((startedAt - filledMs) / 1000)
  const thread = startThread(new URL('./demo-day-worker.ts', import.meta.url))
  const groups: Group[] = []
  const recentStart = startedAt / 1000 - 3600
  let hasVenueEvents = false
  try {
    const lateAt = performance.now() + lateMs
    let played: PlayedBlock | null = null
    while (!signal.aborted) {
      addGroup(groups, { venue, day, channels: target.listChannels() })
      const group = joinNewest(groups)
      const hasMore = group !== undefined && group.to > dayStart
      if (!hasMore && played === null) {
        if (performance.now() > lateAt) break
        await pause(checkEveryMs, undefined, { signal })
        continue
      }
      // The thread plays a block while the previous one is stored.
      const [next]: readonly [PlayedBlock | null, unknown] = await Promise.all([
        hasMore ? playBlock(thread, group, startedAt, dayStart) : null,
        played === null ? undefined : storeBlock(played, { startedAt, dayStart, target }),
      ])
      if (!hasVenueEvents && played !== null && played.from <= recentStart) {
        hasVenueEvents = true
        await addVenueEvents(venue, day, { fromMs: dayStart * 1000, target })
      }
      played = next
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await thread.terminate()
  }
}

/** Channels that became known at the same time, or are filled to the same time. */
interface Group {
  /** Identifies the group in the thread. */
  readonly id: number
  readonly channels: readonly (PlayedChannel & { readonly receiverId: number })[]
  readonly events: readonly PlayedEvent[]
  /** Epoch seconds. Later seconds were played. */
  to: number
  /** True if the thread knows the channels. */
  isSent: boolean
  hasStates: boolean
}

let lastGroupId = 0

/** Returns the group with the fewest filled seconds. Groups that are filled to the same time are joined. */
function joinNewest(groups: Group[]): Group | undefined {
  const to = Math.max(...groups.map((group) => group.to))
  const [first, ...others] = groups.filter((group) => group.to === to)
  if (first === undefined || others.length === 0) return first
  const joined = {
    ...first,
    id: ++lastGroupId,
    channels: [first, ...others].flatMap(({ channels }) => channels),
    events: [first, ...others].flatMap(({ events }) => events),
    isSent: false,
  }
  groups.splice(0, groups.length, joined, ...groups.filter((group) => group.to !== to))
  return joined
}

/** Adds a group of the channels that have become known. */
function addGroup(
  groups: Group[],
  { venue, day, channels }: { venue: Venue; day: VenueDay; channels: readonly MonitoredChannel[] },
): void {
  const { startedAt, devices } = venue
  const known = new Set(groups.flatMap((group) => group.channels.map(({ id }) => id)))
  const added = channels.flatMap((channel) => {
    const device = known.has(channel.id) ? undefined : findDevice(devices, channel)
    const played = device && toPlayedChannel(device, day, channel)
    return played === undefined ? [] : [{ ...played, receiverId: channel.receiverId }]
  })
  if (added.length === 0) return
  const offline = new Map(added.map(({ receiverId, offline }): [number, readonly Period[]] => [receiverId, offline]))
  const knownReceivers = new Set(groups.flatMap((group) => group.channels.map(({ receiverId }) => receiverId)))
  groups.push({
    id: ++lastGroupId,
    channels: added,
    events: [
      ...added.flatMap((channel) => listChannelEvents(channel, channel.receiverId, startedAt)),
      ...[...offline]
        .filter(([receiverId]) => !knownReceivers.has(receiverId))
        .flatMap(([receiverId, periods]) => listReceiverEvents(periods, receiverId, startedAt)),
    ],
    to: Math.floor(Date.now() / 1000),
    isSent: false,
    hasStates: false,
  })
}

function findDevice(devices: readonly PlayedDevice[], channel: MonitoredChannel): PlayedDevice | undefined {
  const { manufacturer, deviceId } = channel
  if (deviceId === null) return undefined
  return devices.find((device) => device.manufacturer === manufacturer && device.reportedIds.includes(deviceId))
}

function toPlayedChannel(
  { setup, scale, mutedChannels }: PlayedDevice,
  day: VenueDay,
  { id, channel }: MonitoredChannel,
): PlayedChannel | undefined {
  const channelSetup = setup.channels.find((candidate) => candidate.channel === channel)
  const deviceDay = day.devices.get(setup.device.id)
  const channelDay = deviceDay?.channels.get(channel)
  if (channelSetup === undefined || deviceDay === undefined || channelDay === undefined) return undefined
  const isMuted = mutedChannels.includes(channel)
  return { id, setup: channelSetup, day: channelDay, offline: deviceDay.offline, scale, isMuted }
}

/** A block of a group that is not stored yet. */
interface PlayedBlock extends PlayResponse {
  readonly group: Group
  readonly from: number
  readonly to: number
  /** True if the states of the group's channels are stored with it. */
  readonly addsStates: boolean
}

/** Plays the newest block of a group that was not played yet. */
async function playBlock(thread: Worker, group: Group, startedAt: number, dayStart: number): Promise<PlayedBlock> {
  const { id, to, channels } = group
  const isRecent = to > startedAt / 1000 - 3600
  const span = isRecent ? recentSpan : earlierSpan
  const from = Math.max(dayStart, Math.floor((to - 1) / span) * span)
  const addsStates = !isRecent && !group.hasStates
  const range = { from, count: to - from }
  const played = play(thread, { group: id, ...(group.isSent ? {} : { channels }), startedAt, range })
  group.isSent = true
  group.hasStates = !isRecent
  group.to = from
  return { ...(await played), group, from, to, addsStates }
}

async function storeBlock(
  { group, from, to, addsStates, seconds, dropouts }: PlayedBlock,
  { startedAt, dayStart, target }: { startedAt: number; dayStart: number; target: DayTarget },
): Promise<void> {
  await target.importSeconds(seconds)
  const receiverIds = new Map(group.channels.map(({ id, receiverId }) => [id, receiverId]))
  const events = group.events.filter(({ time }) => from * 1000 <= time && time < to * 1000)
  const dropoutEvents = dropouts.map((dropout) => toDropoutEvent(dropout, receiverIds.get(dropout.channelId) ?? 0))
  await target.addEvents([...events, ...dropoutEvents].sort((a, b) => a.time - b.time))
  if (!addsStates) return
  const fromMs = dayStart * 1000 - startedAt
  await target.addStates(group.channels.flatMap((channel) => listStates(channel, startedAt, fromMs)))
}

async function play(thread: Worker, request: PlayRequest): Promise<PlayResponse> {
  thread.postMessage(request)
  const [response] = await once(thread, 'message')
  return response as PlayResponse
}

/** Adds the events of the whole venue. */
async function addVenueEvents(
  { startedAt, devices }: Venue,
  day: VenueDay,
  { fromMs, target }: { fromMs: number; target: DayTarget },
): Promise<void> {
  const channels = target.listChannels()
  const markers = listMarkers(day, startedAt, (showDeviceId, number) => {
    const device = devices.find(({ setup }) => setup.device.id === showDeviceId)
    return channels.find((channel) => channel.channel === number && findDevice(devices, channel) === device) ?? null
  })
  await target.addEvents(markers.filter(({ time }) => time >= fromMs))
  for (const { title, ...period } of day.shows) {
    const show = { title, startedAt: startedAt + period.fromMs, endedAt: startedAt + period.toMs }
    if (show.startedAt >= fromMs) await target.addShow(show)
  }
}
