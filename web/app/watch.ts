import type { Summary } from '../../src/domain/conditions/summary.ts'
import { allStaleSince, bySlot, type ChannelFacts, describeChannel } from './channel-state.ts'
import type { RfTone } from './conditions.ts'
import { type ChannelLevels, createLevelTable } from './levels.ts'
import { recordOf } from './slot-records.ts'
import { summarize } from './summary.ts'
import { applyAll, initialState, type SnapshotData, type WatchEvent, type WatchState } from './watch-state.ts'

export interface Levels {
  /** dBm */
  readonly rf: number | null
  /** Percentage of the device's own scale, if it does not report dBm. */
  readonly rfPercent: number | null
  /** dBm at each antenna, if the equipment reports it. */
  readonly rfA: number | null
  readonly rfB: number | null
  /** Letters of the antennas in use; null if not reported. */
  readonly antennas: string | null
  /** Link quality in percent. */
  readonly quality: number | null
  /** dBFS */
  readonly audio: number | null
  /** dBFS, if reported in addition to the level. */
  readonly audioPeak: number | null
  readonly rfTone: RfTone
  readonly isLive: boolean
}

const noLevels: Levels = {
  ...{ rf: null, rfPercent: null, rfA: null, rfB: null, antennas: null, quality: null },
  ...{ audio: null, audioPeak: null, rfTone: 'good', isLive: false },
}

/** A hidden page queues at most this many events. */
const maxQueued = 256

/**
 * The browser's model: the watch state and the levels. Applies events once per frame and notifies subscribers. Objects
 * that it returns stay the same until something in them changes.
 */
export class Watch {
  #state: WatchState
  readonly #levelTable = createLevelTable()
  #receivedAt: number | null = null
  #waiting: WatchEvent[] = []
  #isScheduled = false
  readonly #listeners = new Set<() => void>()
  readonly #levelListeners = new Set<(channelIds: readonly number[]) => void>()
  #ordered: { readonly state: WatchState; readonly cards: readonly ChannelFacts[] }
  #summarized: { readonly read: readonly unknown[]; readonly summary: Summary } | null = null
  readonly #known = new Map<number, { state: WatchState; receiver: unknown; record: unknown; facts: ChannelFacts }>()
  readonly #knownLevels = new Map<number, { facts: ChannelFacts; entry: ChannelLevels | undefined; levels: Levels }>()

  constructor(now: number) {
    this.#state = initialState(now)
    this.#ordered = { state: this.#state, cards: [] }
  }

  get(): WatchState {
    return this.#state
  }

  facts(receiverId: number, channelId: number): ChannelFacts | null {
    const state = this.#state
    const before = this.#known.get(channelId)
    // Meters read the facts in every frame.
    if (before?.state === state && before.facts.receiverId === receiverId) return before.facts
    const receiver = state.receivers.get(receiverId)
    if (receiver === undefined) return null
    const record = recordOf(state.slotRecords, { kind: 'channel', id: channelId })
    const isUnchanged = before?.receiver === receiver && before.record === record && isSameState(before.state, state)
    if (isUnchanged) {
      before.state = state
      return before.facts
    }
    const channel = receiver.channels.find((channel) => channel.id === channelId)
    if (channel === undefined) return null
    const described = describeChannel(state, receiver, channel)
    const kept = before !== undefined && isSame(before.facts, described) ? before.facts : described
    this.#known.set(channelId, { state, receiver, record, facts: kept })
    return kept
  }

  /** All cards sorted by slot; updated once per second, so that cards do not jump. */
  readonly cards = (): readonly ChannelFacts[] => {
    const state = this.#state
    const before = this.#ordered
    const isCurrent = before.state.now === state.now && before.state.slotRecords === state.slotRecords
    if (isCurrent && isSameState(before.state, state)) return before.cards
    const all = [...state.receivers.values()]
      .flatMap(({ id, channels }) => channels.map((channel) => this.facts(id, channel.id)))
      .filter((card) => card !== null)
      .sort(bySlot)
    const isUnchanged = all.length === before.cards.length && all.every((card, index) => card === before.cards[index])
    this.#ordered = { state, cards: isUnchanged ? before.cards : all }
    return this.#ordered.cards
  }

  readonly summary = (): Summary => {
    const { receivers, sources, placeholders, alerts } = this.#state
    const read = [receivers, sources, placeholders, alerts]
    const before = this.#summarized
    if (before !== null && read.every((value, index) => value === before.read[index])) return before.summary
    const summary = summarize(this.#state)
    this.#summarized = { read, summary }
    return summary
  }

  /** The values that change too often to be part of the facts. A channel without a transmitter has them too. */
  levels(receiverId: number, channelId: number): Levels {
    const facts = this.facts(receiverId, channelId)
    if (facts === null || this.#state.receivers.get(receiverId)?.is_active !== true) return noLevels
    const entry = this.#levelTable.get(channelId)
    const isLive = facts.isLive && this.#state.behindSeconds === 0
    const before = this.#knownLevels.get(channelId)
    if (before?.facts === facts && before.entry === entry && before.levels.isLive === isLive) return before.levels
    const levels = levelsOf(facts, entry, isLive)
    this.#knownLevels.set(channelId, { facts, entry, levels })
    return levels
  }

  /** Time of the latest message; null before the first one. */
  receivedAt(): number | null {
    return this.#receivedAt
  }

  /** The levels of a channel that only its own page shows. */
  detailLevels(channelId: number): ChannelLevels['details'] {
    return this.#levelTable.get(channelId)?.details ?? {}
  }

  levelsReceivedAt(channelId: number): number | null {
    return this.#levelTable.get(channelId)?.receivedAt ?? null
  }

  dispatch(event: WatchEvent): void {
    this.#readLevels(event)
    this.#waiting.push(event)
    const isRecovering = event.type === 'message' && this.#state.isFresh && allStaleSince(this.#state) !== null
    if (isRecovering || ['tick', 'health', 'connection'].includes(event.type)) this.#queueReceived()
    // Own edits are applied at once, because the next edit depends on them. So is a full queue, because the browser
    // may delay the timers of a hidden page.
    const isUrgent = event.type === 'connection' || event.type === 'edited' || this.#waiting.length >= maxQueued
    if (isUrgent) this.#flush()
    if (isUrgent || this.#isScheduled) return
    this.#isScheduled = true
    if (document.hidden) setTimeout(() => this.#flush(), 250)
    else requestAnimationFrame(() => this.#flush())
  }

  /** Calls the listener when the state changes. Levels do not change the state. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls the listener when levels arrive, with the ids of their channels. */
  readonly subscribeLevels = (listener: (channelIds: readonly number[]) => void): (() => void) => {
    this.#levelListeners.add(listener)
    return () => this.#levelListeners.delete(listener)
  }

  #flush(): void {
    this.#isScheduled = false
    if (this.#waiting.length === 0) return
    const events = this.#waiting
    this.#waiting = []
    const before = this.#state
    this.#state = applyAll(before, events)
    if (this.#state === before) return
    for (const listener of this.#listeners) listener()
  }

  /** Passes the time of the latest message to the state, which does not change with every message. */
  #queueReceived(): void {
    if (this.#receivedAt !== null) this.#waiting.push({ type: 'received', at: this.#receivedAt })
  }

  #readLevels(event: WatchEvent): void {
    if (event.type !== 'message' && event.type !== 'polled') return
    this.#receivedAt = event.at
    const changed =
      event.type === 'polled' ? this.#readPolled(event.data, event.at) : this.#levelTable.read(event.message, event.at)
    if (changed.length > 0) for (const listener of this.#levelListeners) listener(changed)
  }

  #readPolled({ receivers }: SnapshotData, at: number): readonly number[] {
    const channels = receivers.flatMap((receiver) => receiver.channels)
    for (const channel of channels) this.#levelTable.set(channel, at)
    return channels.map(({ id }) => id)
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

/** Compares everything that affects the cards, except for their receivers and records. */
function isSameState(a: WatchState, b: WatchState): boolean {
  return a === b || (a.alerts === b.alerts && allStaleSince(a) === allStaleSince(b))
}

function isSame(a: ChannelFacts, b: ChannelFacts): boolean {
  for (const key of Object.keys(b) as (keyof ChannelFacts)[]) {
    if (key !== 'flags' && key !== 'since' && !Object.is(a[key], b[key])) return false
  }
  if (a.since?.at !== b.since?.at || a.since?.isKnown !== b.since?.isKnown) return false
  return a.flags.length === b.flags.length && a.flags.every((flag, index) => flag === b.flags[index])
}
