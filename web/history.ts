/** The last minute of every channel's RF and audio, four values a second, for the charts. */

import { rfShareOf } from './scale.ts'
import { type House, rfPercentOf, type WatchedChannel } from './state.ts'
import type { Store } from './store.ts'

/** Rings, written at `History.head`; NaN where nothing was live. */
export interface Samples {
  /** Share of its scale: the least of each quarter second, since it is the dips that matter. */
  readonly rf: Float32Array
  /** dBFS: the most of each. */
  readonly audio: Float32Array
}

export interface History {
  /** Where the next value goes. */
  readonly head: number
  of(channelId: number): Samples | undefined
  /** What the house says now counts towards the present quarter second. */
  look(runtime: House, isLive: (receiverId: number, channelId: number) => boolean): void
  /** Ends as many quarter seconds as have passed since the last call. */
  advance(nowMs: number): void
}

export const sampleCount = 240
export const sampleMs = 250
/** A page that slept longer does not know what happened. */
const mostGuessed = 8

interface Track extends Samples {
  /** Of the present quarter second. */
  leastRf: number
  mostAudio: number
  /** As of the last look. */
  nowRf: number
  nowAudio: number
}

export function createHistory(nowMs: number): History {
  const tracks = new Map<number, Track>()
  let seen: House['receivers'] = new Map()
  let head = 0
  let endedAt = nowMs

  function write(isKnown: boolean) {
    for (const track of tracks.values()) {
      track.rf[head] = isKnown ? track.leastRf : Number.NaN
      track.audio[head] = isKnown ? track.mostAudio : Number.NaN
      track.leastRf = track.nowRf
      track.mostAudio = track.nowAudio
    }
    head = (head + 1) % sampleCount
  }

  return {
    get head() {
      return head
    },
    of: (channelId) => tracks.get(channelId),
    look(runtime, isLive) {
      for (const [id, receiver] of runtime.receivers) {
        const isSame = seen.get(id) === receiver
        for (const channel of receiver.channels) {
          const live = isLive(id, channel.id)
          if (!isSame || !live) note(trackOf(tracks, channel.id), channel, live)
        }
      }
      seen = runtime.receivers
    },
    advance(now) {
      const due = Math.floor((now - endedAt) / sampleMs)
      endedAt += due * sampleMs
      for (let at = 0; at < Math.min(due, sampleCount); at++) write(due <= mostGuessed)
    },
  }
}

function trackOf(tracks: Map<number, Track>, channelId: number): Track {
  let track = tracks.get(channelId)
  if (track === undefined) {
    const empty = () => new Float32Array(sampleCount).fill(Number.NaN)
    const unknown = { leastRf: Number.NaN, mostAudio: Number.NaN, nowRf: Number.NaN, nowAudio: Number.NaN }
    track = { rf: empty(), audio: empty(), ...unknown }
    tracks.set(channelId, track)
  }
  return track
}

function note(track: Track, channel: WatchedChannel, isLive: boolean) {
  const { transmitter } = channel
  const rf = rfShareOf({ rf: transmitter?.rf_level ?? null, rfPercent: rfPercentOf(channel) })
  track.nowRf = isLive ? (rf ?? Number.NaN) : Number.NaN
  track.nowAudio = isLive ? (transmitter?.audio_level ?? Number.NaN) : Number.NaN
  track.leastRf = least(track.leastRf, track.nowRf)
  track.mostAudio = most(track.mostAudio, track.nowAudio)
}

/** Of what is known. */
function least(a: number, b: number): number {
  return Number.isNaN(a) || b < a ? b : a
}

function most(a: number, b: number): number {
  return Number.isNaN(a) || b > a ? b : a
}

/** Looks at every change and writes four times a second, until `signal`. */
export function keepHistory(store: Store, history: History, signal: AbortSignal): void {
  const isLive = (receiverId: number, channelId: number) => store.facts(receiverId, channelId)?.isLive === true
  const unsubscribe = store.subscribe(() => history.look(store.get(), isLive))
  const writing = setInterval(() => history.advance(performance.now()), sampleMs)
  signal.addEventListener('abort', () => {
    unsubscribe()
    clearInterval(writing)
  })
}
