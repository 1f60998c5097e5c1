/** Holds the watch state and the levels, applies events once per frame, and notifies subscribers. */

import { allStaleSince, bySlot, type ChannelFacts, describeChannel } from './channel-state.ts'
import { type ChannelLevels, createLevelTable } from './levels.ts'
import { applyAll, initialState, type WatchEvent, type WatchState } from './state.ts'

export interface Store {
  get(): WatchState
  /** Returns the state of a channel card, as the same object until something changes. */
  facts(receiverId: number, channelId: number): ChannelFacts | null
  /** Returns all cards sorted by slot; updated once per second, so that cards do not jump. */
  cards(): readonly ChannelFacts[]
  /** Returns the values that change too often to be part of the facts. */
  levels(receiverId: number, channelId: number): Levels
  /** Returns the levels of a channel that belong to its details. */
  detailLevels(channelId: number): ChannelLevels['details']
  dispatch(event: WatchEvent): void
  /**
   * Calls the listener whenever the state changes. The state stays the same object when levels change without crossing a
   * limit.
   */
  subscribe(listener: () => void): () => void
  /** Calls the listener whenever levels arrive, with the ids of their channels. */
  subscribeLevels(listener: (channelIds: readonly number[]) => void): () => void
}

export interface StoreOptions {
  readonly now: number
  /** Manufacturer filter of the page; null for all. */
  readonly manufacturer: string | null
  /** Whether the connection contains all levels. */
  readonly hasAllLevels: boolean
}

export interface Levels {
  /** dBm */
  readonly rf: number | null
  /** Percentage of the device's own scale, if it does not report dBm. */
  readonly rfPercent: number | null
  /** dBFS */
  readonly audio: number | null
  /** Whether meters may move. */
  readonly isLive: boolean
}

const noLevels: Levels = { rf: null, rfPercent: null, audio: null, isLive: false }

/** Maximum number of events that are queued on a hidden page. */
const maxQueued = 256

export function createStore({ now, manufacturer, hasAllLevels }: StoreOptions): Store {
  let watchState = initialState(now, manufacturer)
  const levelTable = createLevelTable(hasAllLevels)
  /** When the latest message arrived. */
  let receivedAt: number | null = null
  let waiting: WatchEvent[] = []
  let isScheduled = false
  const listeners = new Set<() => void>()
  const levelListeners = new Set<(channelIds: readonly number[]) => void>()
  let ordered: { watchState: WatchState; cards: readonly ChannelFacts[] } | null = null
  const known = new Map<number, { watchState: WatchState; receiver: unknown; facts: ChannelFacts }>()

  function flush() {
    isScheduled = false
    if (waiting.length === 0) return
    const events = waiting
    waiting = []
    const before = watchState
    watchState = applyAll(before, events)
    if (watchState === before) return
    for (const listener of listeners) listener()
  }

  /** Passes the time of the latest message to the state, which does not change with every message. */
  function queueReceived() {
    if (receivedAt === null) return
    const timeOf = (channelId: number) => levelTable.get(channelId)?.receivedAt ?? null
    waiting.push({ type: 'received', receivedAt: timeOf, at: receivedAt })
  }

  function readLevels(event: WatchEvent) {
    if (event.type === 'polled') {
      receivedAt = event.at
      for (const { channels } of event.data.receivers) for (const channel of channels) levelTable.set(channel, event.at)
    }
    if (event.type !== 'message') return
    receivedAt = event.at
    const changed = levelTable.read(event.message, event.at)
    if (changed.length > 0) for (const listener of levelListeners) listener(changed)
  }

  function facts(receiverId: number, channelId: number): ChannelFacts | null {
    const receiver = watchState.receivers.get(receiverId)
    if (receiver === undefined) return null
    const before = known.get(channelId)
    if (before !== undefined && before.receiver === receiver && isSameState(before.watchState, watchState))
      return before.facts
    const channel = receiver.channels.find((channel) => channel.id === channelId)
    if (channel === undefined) return null
    const described = describeChannel(watchState, receiver, channel)
    const kept = before !== undefined && isSame(before.facts, described) ? before.facts : described
    known.set(channelId, { watchState, receiver, facts: kept })
    return kept
  }

  return {
    get: () => watchState,
    facts,
    cards() {
      if (ordered !== null && isSameState(ordered.watchState, watchState)) return ordered.cards
      const all: ChannelFacts[] = []
      for (const receiver of watchState.receivers.values()) {
        for (const channel of receiver.channels) {
          const card = facts(receiver.id, channel.id)
          if (card !== null) all.push(card)
        }
      }
      ordered = { watchState, cards: all.sort(bySlot) }
      return ordered.cards
    },
    levels(receiverId, channelId) {
      const receiver = watchState.receivers.get(receiverId)
      const channel = receiver?.channels.find((channel) => channel.id === channelId)
      const described = facts(receiverId, channelId)
      if (!channel?.transmitter || !described || !receiver?.is_active) return noLevels
      const { rf = null, audio = null, details = {} } = levelTable.get(channelId) ?? {}
      return { rf, rfPercent: rf === null ? (details.rf_percent ?? null) : null, audio, isLive: described.isLive }
    },
    detailLevels: (channelId) => levelTable.get(channelId)?.details ?? {},
    dispatch(event) {
      readLevels(event)
      waiting.push(event)
      const isRecovering = event.type === 'message' && watchState.isFresh && allStaleSince(watchState) !== null
      if (isRecovering || ['tick', 'health', 'connection'].includes(event.type)) queueReceived()
      // Group edits are applied at once, because the next edit depends on them, and a full queue, because the browser
      // may delay the timers of a hidden page.
      if (event.type === 'connection' || event.type === 'groups' || waiting.length >= maxQueued) return flush()
      if (isScheduled) return
      isScheduled = true
      if (document.hidden) setTimeout(flush, 250)
      else requestAnimationFrame(flush)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    subscribeLevels(listener) {
      levelListeners.add(listener)
      return () => levelListeners.delete(listener)
    },
  }
}

/** Whether everything that affects the cards is unchanged. */
function isSameState(a: WatchState, b: WatchState): boolean {
  if (a.now !== b.now || a.health !== b.health || a.config !== b.config || a.connection !== b.connection) return false
  if (a.performers !== b.performers || a.assignments !== b.assignments || a.pictures !== b.pictures) return false
  return a.isFresh === b.isFresh && a.clockAheadMs === b.clockAheadMs && (a.isFresh || a.receivedAt === b.receivedAt)
}

function isSame(a: ChannelFacts, b: ChannelFacts): boolean {
  for (const key of Object.keys(b) as (keyof ChannelFacts)[]) {
    if (key !== 'flags' && !Object.is(a[key], b[key])) return false
  }
  return a.flags.length === b.flags.length && a.flags.every((flag, index) => flag === b.flags[index])
}
