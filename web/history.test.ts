import { describe, expect, it } from 'vitest'
import { createHistory, type History, sampleCount, sampleMs } from './history.ts'
import { rfShare } from './scale.ts'
import { initialState, type WatchedReceiver, type WatchState } from './state.ts'

function watchState(rf: number | null, audio: number | null): WatchState {
  const transmitter = rf === null ? null : { rf_level: rf, audio_level: audio }
  const receiver = { id: 1, channels: [{ id: 5, transmitter }] } as unknown as WatchedReceiver
  return { ...initialState(0), receivers: new Map([[1, receiver]]) }
}

const always = () => true

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
      history.look(watchState(rf, audio), always)
    history.advance(sampleMs)
    history.advance(2 * sampleMs)
    expect(last(history, 2)).toEqual({ rf: [dbm(-88), dbm(-52)], audio: [-4, -25] })
  })

  it('repeats unchanged values, and ends when the transmitter turns off', () => {
    const history = createHistory(0)
    const steady = watchState(-50, -30)
    history.look(steady, always)
    for (let at = 1; at <= 4; at++) {
      history.look(steady, always)
      history.advance(at * sampleMs)
    }
    history.look(watchState(null, null), always)
    history.advance(5 * sampleMs)
    history.advance(6 * sampleMs)
    expect(last(history, 3).rf).toEqual([dbm(-50), dbm(-50), Number.NaN])
  })

  it('stores percentages of equipment that reports no dBm', () => {
    const history = createHistory(0)
    const transmitter = { rf_level: null, audio_level: null }
    const channels = [{ id: 5, transmitter, details: { rf_percent: 75 } }]
    const receiver = { id: 1, channels } as unknown as WatchedReceiver
    history.look({ ...initialState(0), receivers: new Map([[1, receiver]]) }, always)
    history.advance(sampleMs)
    expect(last(history, 1).rf).toEqual([0.75])
  })

  it('stores nothing while values are stale', () => {
    const history = createHistory(0)
    const frozen = watchState(-50, -30)
    history.look(frozen, always)
    history.advance(sampleMs)
    history.look(frozen, () => false)
    history.advance(2 * sampleMs)
    history.advance(3 * sampleMs)
    expect(last(history, 1).rf).toEqual([Number.NaN])
  })

  it('leaves a gap for the time the page was suspended', () => {
    const history = createHistory(0)
    history.look(watchState(-50, -30), always)
    history.advance(sampleMs)
    history.advance(30 * sampleMs)
    expect(last(history, 3).rf).toEqual([Number.NaN, Number.NaN, Number.NaN])
    expect(last(history, 30).rf[0]).toBe(dbm(-50))
  })
})
