import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LiveMessage } from '../../src/contract/live-messages.ts'
import { defaultSettings } from '../../src/contract/settings.ts'
import { condition, receiver } from '../../test/support/browser/fake-service.ts'
import { createHistory, type History, keepHistory, peakOf, sampleCount, sampleMs } from './history.ts'
import { rfShare } from './scale.ts'
import { type Levels, Watch } from './watch.ts'

function levels(rf: number | null, audio: number | null): Levels {
  return {
    ...{ rf, rfPercent: null, rfA: null, rfB: null, antennas: null, quality: null },
    ...{ audio, audioPeak: null, rfTone: 'good', isLive: true },
  }
}

/** Values are repeated this long without a message. */
const limitMs = 8 * sampleMs

/** A level as the ring buffer stores it. */
const dbm = (level: number) => Math.fround(rfShare(level))

function last({ head, of }: History, count: number): { rf: number[]; audio: number[] } {
  const at = Array.from({ length: count }, (_, back) => (head - count + back + sampleCount) % sampleCount)
  const samples = of(5)
  return { rf: at.map((item) => samples?.rf[item] ?? 0), audio: at.map((item) => samples?.audio[item] ?? 0) }
}

describe('the last minutes', () => {
  it('stores the minimum of RF and the maximum of audio', () => {
    const history = createHistory(0)
    for (const [rf, audio] of [
      [-50, -30],
      [-88, -4],
      [-52, -25],
    ] as const)
      history.add(5, levels(rf, audio))
    history.advance(sampleMs, limitMs)
    history.advance(2 * sampleMs, limitMs)
    expect(last(history, 2)).toEqual({ rf: [dbm(-88), dbm(-52)], audio: [-4, -25] })
  })

  it('repeats unchanged values, and ends when the transmitter turns off', () => {
    const history = createHistory(0)
    const steady = levels(-50, -30)
    history.add(5, steady)
    for (let at = 1; at <= 4; at++) {
      history.add(5, steady)
      history.advance(at * sampleMs, limitMs)
    }
    history.add(5, { ...steady, isLive: false })
    history.advance(5 * sampleMs, limitMs)
    history.advance(6 * sampleMs, limitMs)
    expect(last(history, 3).rf).toEqual([dbm(-50), dbm(-50), Number.NaN])
  })

  it('stores percentages of equipment that reports no dBm', () => {
    const history = createHistory(0)
    history.add(5, { ...levels(null, null), rfPercent: 75 })
    history.advance(sampleMs, limitMs)
    expect(last(history, 1).rf).toEqual([0.75])
  })

  it('stores nothing while values are stale', () => {
    const history = createHistory(0)
    const frozen = levels(-50, -30)
    history.add(5, frozen)
    history.advance(sampleMs, limitMs)
    history.add(5, { ...frozen, isLive: false })
    history.advance(2 * sampleMs, limitMs)
    history.advance(3 * sampleMs, limitMs)
    expect(last(history, 1).rf).toEqual([Number.NaN])
  })

  it('erases what was repeated after the last sample', () => {
    const history = createHistory(0)
    history.add(5, levels(-50, -30))
    for (let at = 1; at <= 8; at++) history.advance(at * sampleMs, limitMs)
    history.erase(5, 2.5 * sampleMs)
    history.advance(9 * sampleMs, limitMs)
    expect(last(history, 7).rf).toEqual([dbm(-50), ...Array.from({ length: 6 }, () => Number.NaN)])
    expect(last(history, 7).audio.slice(1)).toEqual(Array.from({ length: 6 }, () => Number.NaN))
  })

  it('finds the latest of the highest audio levels, and its age', () => {
    const history = createHistory(0)
    expect(peakOf(history, 5)).toBeNull()
    for (const [index, audio] of [-30, -4, -20, -4, -25].entries()) {
      history.add(5, levels(-50, audio))
      history.advance((index + 1) * sampleMs, limitMs)
    }
    history.advance(6 * sampleMs, limitMs)
    expect(peakOf(history, 5)).toEqual({ level: -4, ageMs: sampleMs })
  })

  it('enters recorded seconds where nothing is known', () => {
    const history = createHistory(0)
    history.add(5, levels(-50, -30))
    history.advance(2 * sampleMs, limitMs)
    history.fill(5, -2 * sampleMs, { rf: [-60, -61, -62, null], audio: [-10, null, -12, -13] })
    const audio = [-10, Number.NaN, -30, -30]
    expect(last(history, 4)).toEqual({ rf: [dbm(-60), dbm(-61), dbm(-50), dbm(-50)], audio })
  })

  it('ignores recorded seconds before the first and after the last of the chart', () => {
    const history = createHistory(0)
    const seconds = Array.from({ length: 2 * sampleCount }, () => -60)
    history.fill(5, -1.5 * sampleCount * sampleMs, { rf: seconds, audio: seconds })
    expect(last(history, sampleCount).rf).toEqual(Array.from({ length: sampleCount }, () => dbm(-60)))
  })

  it('searches the highest audio level only in the last minute', () => {
    const history = createHistory(0)
    history.fill(5, -90 * sampleMs, { rf: [], audio: [] })
    history.fill(5, -90 * sampleMs, { rf: [-50, -50], audio: [-3, -3] })
    expect(peakOf(history, 5)).toBeNull()
    history.fill(5, -40 * sampleMs, { rf: [-50], audio: [-7] })
    expect(peakOf(history, 5)).toEqual({ level: -7, ageMs: 39 * sampleMs })
  })

  it('leaves a gap for the time the page was suspended', () => {
    const history = createHistory(0)
    history.add(5, levels(-50, -30))
    history.advance(sampleMs, limitMs)
    history.advance(30 * sampleMs, limitMs)
    expect(last(history, 3).rf).toEqual([Number.NaN, Number.NaN, Number.NaN])
    expect(last(history, 30).rf[0]).toBe(dbm(-50))
  })
})

describe('the history of a live channel', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    // The watch of a hidden page does not wait for frames.
    vi.stubGlobal('document', { hidden: true })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  /** Starts the history of a channel, five seconds after its only levels. A message arrives every second. */
  function startHistory() {
    const watch = new Watch(Date.now())
    const history = createHistory(Date.now())
    const ending = new AbortController()
    keepHistory(watch, history, ending.signal)
    const send = (message: unknown) =>
      watch.dispatch({ type: 'message', message: message as LiveMessage, at: Date.now() })
    watch.dispatch({ type: 'connection', connection: 'open', at: Date.now() })
    const lists = { groups: [], placeholders: [], slot_records: [], queue: { pending: 0 } }
    const data = { receivers: [receiver(1, [{}])], config: defaultSettings, ...lists }
    send({ type: 'snapshot', seq: 1, epoch: 'a', data })
    let isSilent = false
    const ticks = setInterval(() => {
      if (!isSilent) send({ type: 'tick', at: new Date().toISOString() })
      watch.dispatch({ type: 'tick', at: Date.now() })
    }, 1_000)
    ending.signal.addEventListener('abort', () => clearInterval(ticks))
    vi.advanceTimersByTime(5_000)
    const countKnown = () => history.of(1)?.rf.filter((value) => !Number.isNaN(value)).length ?? 0
    return { history, send, countKnown, silence: () => (isSilent = true), end: () => ending.abort() }
  }

  it('ends at the latest message, also before the values are stale', () => {
    const { history, countKnown, silence, end } = startHistory()
    vi.advanceTimersByTime(500)
    const [known, { head }] = [countKnown(), history]
    expect(known).toBeGreaterThanOrEqual(4)
    silence()
    vi.advanceTimersByTime(1_500)
    expect(countKnown()).toBe(known)
    expect(history.head).toBe(head)
    vi.advanceTimersByTime(3_000)
    expect(countKnown()).toBe(known)
    expect(history.head).toBeGreaterThan(head)
    end()
  })

  it('erases what was repeated since the last levels when the service reports that they are stale', () => {
    const { send, countKnown, end } = startHistory()
    send({ type: 'channel', seq: 2, id: 1, receiver_id: 1, condition: condition('stale') })
    vi.advanceTimersByTime(1_500)
    expect(countKnown()).toBeLessThanOrEqual(1)
    end()
  })
})
