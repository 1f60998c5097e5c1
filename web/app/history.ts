/** The last four minutes of every channel, one value per second, for the small charts. */

import { hasRow } from '../../src/domain/conditions/condition.ts'
import { allStaleSince, type ChannelFacts, silenceLimit } from './channel-state.ts'
import { rfShare, rfShareOf } from './scale.ts'
import { serviceNow } from './service-time.ts'
import type { Levels, Watch } from './watch.ts'

/** Ring buffers, written at `History.head`. NaN while the channel was not live. */
export interface Samples {
  /** Fraction of the scale. The minimum of every second, because dips matter. */
  readonly rf: Float32Array
  readonly audio: Float32Array
}

export interface ChartSamples {
  readonly head: number
  of(channelId: number): Samples | undefined
}

export interface History extends ChartSamples {
  add(channelId: number, levels: Levels): void
  /** Erases values that were repeated because their end was unknown. */
  erase(channelId: number, afterMs: number): void
  /** Recorded seconds from `fromMs` replace unknown values. */
  fill(channelId: number, fromMs: number, recorded: RecordedSeconds): void
  /** Finishes the seconds until `untilMs`. Values are unknown if the last call was more than `limitMs` ago. */
  advance(untilMs: number, limitMs: number): void
}

export interface RecordedSeconds {
  /** dBm */
  readonly rf: readonly (number | null)[]
  /** dBFS */
  readonly audio: readonly (number | null)[]
}

export const sampleCount = 240
export const sampleMs = 1_000

interface Track extends Samples {
  minRf: number
  maxAudio: number
  nowRf: number
  nowAudio: number
}

export function createHistory(startMs: number): History {
  const tracks = new Map<number, Track>()
  let head = 0
  let endedAt = startMs

  function write(isKnown: boolean) {
    for (const track of tracks.values()) {
      track.rf[head] = isKnown ? track.minRf : Number.NaN
      track.audio[head] = isKnown ? track.maxAudio : Number.NaN
      track.minRf = track.nowRf
      track.maxAudio = track.nowAudio
    }
    head = (head + 1) % sampleCount
  }

  return {
    get head() {
      return head
    },
    of: (channelId) => tracks.get(channelId),
    add: (channelId, levels) => note(trackOf(tracks, channelId), levels),
    erase(channelId, afterMs) {
      const track = trackOf(tracks, channelId)
      const count = Math.min(sampleCount, Math.floor((endedAt - afterMs) / sampleMs))
      for (let back = 1; back <= count; back++) {
        const at = (head - back + sampleCount) % sampleCount
        track.rf[at] = Number.NaN
        track.audio[at] = Number.NaN
      }
      Object.assign(track, unknown)
    },
    fill(channelId, fromMs, { rf, audio }) {
      const track = trackOf(tracks, channelId)
      for (let index = 0; index < rf.length; index++) {
        const middle = fromMs + (index + 0.5) * sampleMs
        const back = Math.floor((endedAt - middle) / sampleMs) + 1
        if (back < 1 || back > sampleCount) continue
        const at = (head - back + sampleCount) % sampleCount
        const [level, peak] = [rf[index] ?? null, audio[index] ?? null]
        if (level !== null && Number.isNaN(track.rf[at])) track.rf[at] = rfShare(level)
        if (peak !== null && Number.isNaN(track.audio[at])) track.audio[at] = peak
      }
    },
    advance(untilMs, limitMs) {
      // The clock may have been set back.
      endedAt = Math.min(endedAt, untilMs)
      const due = Math.floor((untilMs - endedAt) / sampleMs)
      endedAt += due * sampleMs
      for (let index = 0; index < Math.min(due, sampleCount); index++) write(due * sampleMs <= limitMs)
    },
  }
}

const unknown = { minRf: Number.NaN, maxAudio: Number.NaN, nowRf: Number.NaN, nowAudio: Number.NaN }

function emptyRing(): Float32Array {
  return new Float32Array(sampleCount).fill(Number.NaN)
}

function trackOf(tracks: Map<number, Track>, channelId: number): Track {
  let track = tracks.get(channelId)
  if (track === undefined) {
    track = { rf: emptyRing(), audio: emptyRing(), ...unknown }
    tracks.set(channelId, track)
  }
  return track
}

function note(track: Track, levels: Levels) {
  track.nowRf = levels.isLive ? (rfShareOf(levels) ?? Number.NaN) : Number.NaN
  track.nowAudio = levels.isLive ? (levels.audioPeak ?? levels.audio ?? Number.NaN) : Number.NaN
  track.minRf = least(track.minRf, track.nowRf)
  track.maxAudio = most(track.maxAudio, track.nowAudio)
}

export interface Peak {
  /** dBFS */
  readonly level: number
  readonly ageMs: number
}

const peakSeconds = 60

/** The latest of the highest levels of the last minute. */
export function peakOf({ head, of }: ChartSamples, channelId: number): Peak | null {
  const samples = of(channelId)?.audio
  let peak: Peak | null = null
  for (let back = 1; samples !== undefined && back <= peakSeconds; back++) {
    const level = samples[(head - back + sampleCount) % sampleCount] ?? Number.NaN
    if (level > (peak?.level ?? Number.NEGATIVE_INFINITY)) peak = { level, ageMs: (back - 1) * sampleMs }
  }
  return peak
}

/** Ignores NaN in `a`. */
function least(a: number, b: number): number {
  return Number.isNaN(a) || b < a ? b : a
}

function most(a: number, b: number): number {
  return Number.isNaN(a) || b > a ? b : a
}

type Source = Pick<
  Watch,
  'get' | 'cards' | 'levels' | 'receivedAt' | 'levelsReceivedAt' | 'subscribe' | 'subscribeLevels'
>

const writeIntervalMs = 250

/**
 * Levels are sent only when they change, so they are repeated until the latest message. If a channel's values turn
 * out to be older, the seconds since its last value are erased.
 */
export function keepHistory(watch: Source, history: History, signal: AbortSignal): void {
  const receiverOf = new Map<number, number>()
  const add = (channelId: number) => {
    const receiverId = receiverOf.get(channelId)
    if (receiverId !== undefined) history.add(channelId, watch.levels(receiverId, channelId))
  }
  const live = new Set<number>()
  const readCard = ({ receiverId, channelId, condition, isLive, since }: ChannelFacts) => {
    receiverOf.set(channelId, receiverId)
    add(channelId)
    if (isLive) live.add(channelId)
    else if (live.delete(channelId)) {
      // The service notices a silent source late.
      const endedAt = hasRow(condition, 'stale') ? watch.levelsReceivedAt(channelId) : (since?.at ?? null)
      if (endedAt !== null) history.erase(channelId, endedAt)
    }
  }
  let cards: readonly ChannelFacts[] = []
  const unsubscribe = watch.subscribe(() => {
    if (cards === watch.cards()) return
    const before = new Set(cards)
    cards = watch.cards()
    for (const card of cards) if (!before.has(card)) readCard(card)
  })
  const unsubscribeLevels = watch.subscribeLevels((channelIds) => channelIds.forEach(add))
  const writing = setInterval(() => {
    const watchState = watch.get()
    const until = allStaleSince(watchState) === null ? watch.receivedAt() : serviceNow()
    if (until !== null) history.advance(until, silenceLimit(watchState))
  }, writeIntervalMs)
  signal.addEventListener('abort', () => {
    unsubscribe()
    unsubscribeLevels()
    clearInterval(writing)
  })
}
