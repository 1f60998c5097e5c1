import { describe, expect, it } from 'vitest'
import { createHistory, type History, peakOf, sampleCount, sampleMs } from './history.ts'
import { rfShare } from './scale.ts'
import type { Levels } from './store.ts'

function levels(rf: number | null, audio: number | null): Levels {
  return {
    ...{ rf, rfPercent: null, rfA: null, rfB: null, antennas: null, quality: null },
    ...{ audio, audioPeak: null, rfTone: 'good', isLive: true },
  }
}

/** A level as the ring buffer stores it. */
const dbm = (level: number) => Math.fround(rfShare(level))

function last({ head, of }: History, count: number): { rf: number[]; audio: number[] } {
  const at = Array.from({ length: count }, (_, back) => (head - count + back + sampleCount) % sampleCount)
  const samples = of(5)
  return { rf: at.map((item) => samples?.rf[item] ?? 0), audio: at.map((item) => samples?.audio[item] ?? 0) }
}

describe('the last minute', () => {
  it('stores the minimum of RF and the maximum of audio', () => {
    const history = createHistory(0)
    for (const [rf, audio] of [
      [-50, -30],
      [-88, -4],
      [-52, -25],
    ] as const)
      history.add(5, levels(rf, audio))
    history.advance(sampleMs)
    history.advance(2 * sampleMs)
    expect(last(history, 2)).toEqual({ rf: [dbm(-88), dbm(-52)], audio: [-4, -25] })
  })

  it('repeats unchanged values, and ends when the transmitter turns off', () => {
    const history = createHistory(0)
    const steady = levels(-50, -30)
    history.add(5, steady)
    for (let at = 1; at <= 4; at++) {
      history.add(5, steady)
      history.advance(at * sampleMs)
    }
    history.add(5, { ...steady, isLive: false })
    history.advance(5 * sampleMs)
    history.advance(6 * sampleMs)
    expect(last(history, 3).rf).toEqual([dbm(-50), dbm(-50), Number.NaN])
  })

  it('stores percentages of equipment that reports no dBm', () => {
    const history = createHistory(0)
    history.add(5, { ...levels(null, null), rfPercent: 75 })
    history.advance(sampleMs)
    expect(last(history, 1).rf).toEqual([0.75])
  })

  it('stores nothing while values are stale', () => {
    const history = createHistory(0)
    const frozen = levels(-50, -30)
    history.add(5, frozen)
    history.advance(sampleMs)
    history.add(5, { ...frozen, isLive: false })
    history.advance(2 * sampleMs)
    history.advance(3 * sampleMs)
    expect(last(history, 1).rf).toEqual([Number.NaN])
  })

  it('erases what was repeated after the last sample', () => {
    const history = createHistory(0)
    history.add(5, levels(-50, -30))
    for (let at = 1; at <= 8; at++) history.advance(at * sampleMs)
    history.erase(5, 5.5 * sampleMs)
    history.advance(9 * sampleMs)
    expect(last(history, 7).rf).toEqual([dbm(-50), ...Array.from({ length: 6 }, () => Number.NaN)])
    expect(last(history, 7).audio.slice(1)).toEqual(Array.from({ length: 6 }, () => Number.NaN))
  })

  it('finds the latest of the highest audio levels, and its age', () => {
    const history = createHistory(0)
    expect(peakOf(history, 5)).toBeNull()
    for (const [index, audio] of [-30, -4, -20, -4, -25].entries()) {
      history.add(5, levels(-50, audio))
      history.advance((index + 1) * sampleMs)
    }
    history.advance(6 * sampleMs)
    expect(peakOf(history, 5)).toEqual({ level: -4, ageMs: sampleMs })
  })

  it('leaves a gap for the time the page was suspended', () => {
    const history = createHistory(0)
    history.add(5, levels(-50, -30))
    history.advance(sampleMs)
    history.advance(30 * sampleMs)
    expect(last(history, 3).rf).toEqual([Number.NaN, Number.NaN, Number.NaN])
    expect(last(history, 30).rf[0]).toBe(dbm(-50))
  })
})
