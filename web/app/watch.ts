/** Holds the watch state and the levels, applies events once per frame, and notifies subscribers. */

import type { Summary } from '../../src/domain/conditions/summary.ts'
import { allStaleSince, bySlot, type ChannelFacts, describeChannel } from './channel-state.ts'
import type { RfTone } from './conditions.ts'
import { type ChannelLevels, createLevelTable } from './levels.ts'
import { summarize } from './summary.ts'
import { applyAll, initialState, type SnapshotData, type WatchEvent, type WatchState } from './watch-state.ts'

export interface Watch {
  get(): WatchState
  /** Returns the state of a channel card, as the same object until something changes. */
  facts(receiverId: number, channelId: number): ChannelFacts | null
  /**
   * Returns all cards sorted by slot, as the same object until one of them changes; updated once per second, so that cards
   * do not jump.
   */
  cards(): readonly ChannelFacts[]
  /** Returns the numbers of the status line, as the same object until something changes. */
  summary(): Summary
  /**
   * Returns the values that change too often to be part of the facts, as the same object until something changes; also
   * those of a channel without a transmitter.
   */
  levels(receiverId: number, channelId: number): Levels
  /** Returns the time of the latest message; null before the first one. */
  receivedAt(): number | null
  /** Returns the levels of a channel that belong to its details. */
  detailLevels(channelId: number): ChannelLevels['details']
  /** Returns the time at which levels of a channel last arrived; null before the first ones. */
  levelsReceivedAt(channelId: number): number | null
  dispatch(event: WatchEvent): void
  /**
   * Calls the listener whenever the state changes. The state stays the same object when only levels change.
   */
  subscribe(listener: () => void): () => void
  /** Calls the listener whenever levels arrive, with the ids of their channels. */
  subscribeLevels(listener: (channelIds: readonly number[]) => void): () => void
}

export interface Levels {
  /** dBm */
  readonly rf: number | null
  /** Percentage of the device's own scale, if it does not report dBm. */
  readonly rfPercent: number | null
  /** dBm at each antenna, if the equipment reports it. */
  readonly rfA: number | null
  readonly rfB: number | null
  /** Letters of the antennas in use; null if the equipment does not report them. */
  readonly antennas: string | null
  /** Link quality in percent. */
  readonly quality: number | null
  /** dBFS */
  readonly audio: number | null
  /** dBFS, if the equipment reports it besides the level. */
  readonly audioPeak: number | null
  readonly rfTone: RfTone
  /** Whether meters may move. */
  readonly isLive: boolean
}

const noLevels: Levels = {
  ...{ rf: null, rfPercent: null, rfA: null, rfB: null, antennas: null, quality: null },
  ...{ audio: null, audioPeak: null, rfTone: 'good', isLive: false },
}

/** Maximum number of events that are queued on a hidden page. */
const maxQueued = 256

export function createWatch(now: number): Watch {
  let watchState = initialState(now)
  const levelTable = createLevelTable()
  /** When the latest message arrived. */
  let receivedAt: number | null = null
  let waiting: WatchEvent[] = []
  let isScheduled = false
  const listeners = new Set<() => void>()
  const levelListeners = new Set<(channelIds: readonly number[]) => void>()
  let ordered: { watchState: WatchState; cards: readonly ChannelFacts[] } = { watchState, cards: [] }
  let summarized: { read: readonly unknown[]; summary: Summary } | null = null
  const known = new Map<number, { watchState: WatchState; receiver: unknown; facts: ChannelFacts }>()
  const knownLevels = new Map<number, { facts: ChannelFacts; entry: ChannelLevels | undefined; levels: Levels }>()

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
    waiting.push({ type: 'received', at: receivedAt })
  }

  function readLevels(event: WatchEvent) {
    if (event.type !== 'message' && event.type !== 'polled') return
    receivedAt = event.at
    const changed =
      event.type === 'polled' ? readPolled(event.data, event.at) : levelTable.read(event.message, event.at)
    if (changed.length > 0) for (const listener of levelListeners) listener(changed)
  }

  function readPolled({ receivers }: SnapshotData, at: number): readonly number[] {
    const channels = receivers.flatMap((receiver) => receiver.channels)
    for (const channel of channels) levelTable.set(channel, at)
    return channels.map(({ id }) => id)
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
      if (ordered.watchState.now === watchState.now && isSameState(ordered.watchState, watchState)) return ordered.cards
      const all: ChannelFacts[] = []
      for (const receiver of watchState.receivers.values()) {
        for (const channel of receiver.channels) {
          const card = facts(receiver.id, channel.id)
          if (card !== null) all.push(card)
        }
      }
      all.sort(bySlot)
      const isUnchanged =
        all.length === ordered.cards.length && all.every((card, index) => card === ordered.cards[index])
      ordered = { watchState, cards: isUnchanged ? ordered.cards : all }
      return ordered.cards
    },
    summary() {
      const { receivers, sources, placeholders, alerts } = watchState
      const read = [receivers, sources, placeholders, alerts]
      if (summarized === null || read.some((value, index) => value !== summarized?.read[index])) {
        summarized = { read, summary: summarize(watchState) }
      }
      return summarized.summary
    },
    levels(receiverId, channelId) {
      const described = facts(receiverId, channelId)
      if (described === null || watchState.receivers.get(receiverId)?.is_active !== true) return noLevels
      const entry = levelTable.get(channelId)
      const isLive = described.isLive && watchState.behindSeconds === 0
      const before = knownLevels.get(channelId)
      if (before?.facts === described && before.entry === entry && before.levels.isLive === isLive) return before.levels
      const levels = levelsOf(described, entry, isLive)
      knownLevels.set(channelId, { facts: described, entry, levels })
      return levels
    },
    receivedAt: () => receivedAt,
    detailLevels: (channelId) => levelTable.get(channelId)?.details ?? {},
    levelsReceivedAt: (channelId) => levelTable.get(channelId)?.receivedAt ?? null,
    dispatch(event) {
      readLevels(event)
      waiting.push(event)
      const isRecovering = event.type === 'message' && watchState.isFresh && allStaleSince(watchState) !== null
      if (isRecovering || ['tick', 'health', 'connection'].includes(event.type)) queueReceived()
      // Own edits are applied at once, because the next edit depends on them, and a full queue, because the browser may
      // delay the timers of a hidden page.
      if (event.type === 'connection' || event.type === 'edited' || waiting.length >= maxQueued) return flush()
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

function levelsOf({ rfTone }: ChannelFacts, entry: ChannelLevels | undefined, isLive: boolean): Levels {
  const { rf = null, audio = null, details = {} } = entry ?? {}
  return {
    rf,
    rfPercent: rf === null ? (details.rf_percent ?? null) : null,
    rfA: details.rf_a ?? null,
    rfB: details.rf_b ?? null,
    antennas: details.antennas ?? null,
    quality: details.quality ?? null,
    audio,
    audioPeak: details.audio_peak ?? null,
    rfTone,
    isLive,
  }
}

/** Whether everything that affects the cards, except for their receivers, is unchanged. */
function isSameState(a: WatchState, b: WatchState): boolean {
  if (a === b) return true
  if (a.performers !== b.performers || a.assignments !== b.assignments || a.alerts !== b.alerts) return false
  return allStaleSince(a) === allStaleSince(b)
}

function isSame(a: ChannelFacts, b: ChannelFacts): boolean {
  for (const key of Object.keys(b) as (keyof ChannelFacts)[]) {
    if (key !== 'flags' && key !== 'since' && !Object.is(a[key], b[key])) return false
  }
  if (a.since?.at !== b.since?.at || a.since?.isKnown !== b.since?.isKnown) return false
  return a.flags.length === b.flags.length && a.flags.every((flag, index) => flag === b.flags[index])
}
