/** Holds the house; collects what happens and applies it once a frame; tells whoever listens. */

import { bySlot, type ChannelFacts, describeChannel } from './channel-state.ts'
import { applyAll, emptyHouse, type House, type HouseEvent, rfPercentOf } from './state.ts'

export interface Store {
  get(): House
  /** The card of a channel; the same object as long as it says the same. */
  facts(receiverId: number, channelId: number): ChannelFacts | null
  /** All cards by slot; looked at afresh once a second, so that nothing jumps about under the eye. */
  cards(): readonly ChannelFacts[]
  /** What changes too often to be part of the facts. */
  levels(receiverId: number, channelId: number): Levels
  dispatch(event: HouseEvent): void
  subscribe(listener: () => void): () => void
}

export interface Levels {
  /** dBm */
  readonly rf: number | null
  /** Of gear that tells no dBm: percent of its own scale. */
  readonly rfPercent: number | null
  /** dBFS */
  readonly audio: number | null
  /** Meters may move. */
  readonly isLive: boolean
}

const noLevels: Levels = { rf: null, rfPercent: null, audio: null, isLive: false }

/** Events a page in the background may pile up before they are applied. */
const mostWaiting = 256

export function createStore(now: number): Store {
  let runtime = emptyHouse(now)
  let waiting: HouseEvent[] = []
  let isScheduled = false
  const listeners = new Set<() => void>()
  let ordered: { runtime: House; cards: readonly ChannelFacts[] } | null = null
  const known = new Map<number, { runtime: House; receiver: unknown; facts: ChannelFacts }>()

  function flush() {
    isScheduled = false
    if (waiting.length === 0) return
    const events = waiting
    waiting = []
    runtime = applyAll(runtime, events)
    for (const listener of listeners) listener()
  }

  function facts(receiverId: number, channelId: number): ChannelFacts | null {
    const receiver = runtime.receivers.get(receiverId)
    if (receiver === undefined) return null
    const before = known.get(channelId)
    if (before !== undefined && before.receiver === receiver && isSameHouse(before.runtime, runtime))
      return before.facts
    const channel = receiver.channels.find((one) => one.id === channelId)
    if (channel === undefined) return null
    const described = describeChannel(runtime, receiver, channel)
    const kept = before !== undefined && isSame(before.facts, described) ? before.facts : described
    known.set(channelId, { runtime, receiver, facts: kept })
    return kept
  }

  return {
    get: () => runtime,
    facts,
    cards() {
      if (ordered !== null && isSameHouse(ordered.runtime, runtime)) return ordered.cards
      const all: ChannelFacts[] = []
      for (const receiver of runtime.receivers.values()) {
        for (const channel of receiver.channels) {
          const one = facts(receiver.id, channel.id)
          if (one !== null) all.push(one)
        }
      }
      ordered = { runtime, cards: all.sort(bySlot) }
      return ordered.cards
    },
    levels(receiverId, channelId) {
      const receiver = runtime.receivers.get(receiverId)
      const channel = receiver?.channels.find((one) => one.id === channelId)
      const described = facts(receiverId, channelId)
      if (!channel?.transmitter || !described || !receiver?.is_active) return noLevels
      const { rf_level, audio_level } = channel.transmitter
      return { rf: rf_level, rfPercent: rfPercentOf(channel), audio: audio_level, isLive: described.isLive }
    },
    dispatch(event) {
      waiting.push(event)
      // A change of the link is shown at once, since frames do not come in a hidden page; and what is done to the groups
      // next starts from what was done before.
      if (event.type === 'link' || event.type === 'groups' || waiting.length >= mostWaiting) return flush()
      if (isScheduled) return
      isScheduled = true
      if (document.hidden) setTimeout(flush, 250)
      else requestAnimationFrame(flush)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** As far as cards are concerned. */
function isSameHouse(a: House, b: House): boolean {
  if (a.now !== b.now || a.health !== b.health || a.config !== b.config || a.client !== b.client) return false
  if (a.wearers !== b.wearers) return false
  return a.isFresh === b.isFresh && a.clockAheadMs === b.clockAheadMs && (a.isFresh || a.heardAt === b.heardAt)
}

function isSame(a: ChannelFacts, b: ChannelFacts): boolean {
  for (const key of Object.keys(b) as (keyof ChannelFacts)[]) {
    if (key !== 'marks' && !Object.is(a[key], b[key])) return false
  }
  return a.marks.length === b.marks.length && a.marks.every((mark, at) => mark === b.marks[at])
}
