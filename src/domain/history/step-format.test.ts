import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ColumnName, columnNames, noValue } from './columns.ts'
import { decodeStates, decodeSteps, encodeSteps } from './step-format.ts'
import { createSteps } from './steps.ts'

const ids = fc
  .uniqueArray(fc.integer({ min: 1, max: 2 ** 31 }), { maxLength: 20 })
  .map((list) => list.sort((a, b) => a - b))

describe('the stored form of steps', () => {
  it('returns exactly what was stored', () => {
    const value = fc.oneof(
      fc.constant(noValue),
      fc.integer({ min: -100, max: 0 }),
      fc.integer({ min: -32_767, max: 32_767 }),
      fc.integer({ min: 0, max: 3_600_000 }),
    )
    const example = fc.tuple(ids, fc.nat(40), fc.infiniteStream(value))
    fc.assert(
      fc.property(example, ([channelIds, count, values]) => {
        const steps = createSteps(1_777_658_400, count, channelIds)
        for (const name of columnNames) {
          for (let at = 0; at < steps.columns[name].length; at++)
            steps.columns[name][at] = values.next().value as number
        }
        const bytes = encodeSteps(steps)
        expect(decodeSteps(bytes, steps.from)).toEqual(steps)
        expect(decodeStates(bytes, steps.from).columns.state).toEqual(steps.columns.state)
      }),
      { numRuns: 40 },
    )
  })

  it('needs three bytes or less for a channel with constant values', () => {
    const steps = createSteps(
      0,
      600,
      Array.from({ length: 16 }, (_, index) => index + 16),
    )
    const off: Partial<Record<ColumnName, number>> = { state: 2, rf_min: -99, rf_max: -97, weak_ms: 0 }
    for (const [name, value] of Object.entries(off)) steps.columns[name as ColumnName].fill(value)
    expect(encodeSteps(steps).length / 16).toBeLessThanOrEqual(3)
    expect(decodeSteps(encodeSteps(steps), 0)).toEqual(steps)
  })

  it('stores a level that drifts at ten samples a second in 2.2 bytes for each second', () => {
    const steps = createSteps(
      0,
      600,
      Array.from({ length: 16 }, (_, index) => index + 16),
    )
    for (const name of columnNames) steps.columns[name].fill(0)
    const random = createRandom()
    for (const channel of steps.channelIds.keys()) {
      let [rf, audio] = [-60, -30]
      for (let at = channel * 600; at < (channel + 1) * 600; at++) {
        const samples = Array.from({ length: 10 }, () => {
          rf = drift(rf, random(-2, 2), -90, -30)
          audio = drift(audio, random(-6, 6), -60, 0)
          return { rf, audio }
        })
        steps.columns.rf_min[at] = Math.min(...samples.map((sample) => sample.rf))
        steps.columns.rf_max[at] = Math.max(...samples.map((sample) => sample.rf))
        steps.columns.audio_max[at] = Math.max(...samples.map((sample) => sample.audio))
        steps.columns.audio_last[at] = audio - random(8, 14)
      }
    }
    expect(encodeSteps(steps).length / 16 / 600).toBeLessThan(2.2)
  })

  it('rejects a format of a newer version', () => {
    expect(() => decodeSteps(Uint8Array.of(2, 0, 0), 0)).toThrow('unknown format 2')
  })
})

function drift(value: number, change: number, min: number, max: number): number {
  const next = value + change
  return next < min ? 2 * min - next : next > max ? 2 * max - next : next
}

/** Returns whole numbers between two limits, the same in every run. */
function createRandom(): (min: number, max: number) => number {
  let state = 1
  return (min, max) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39)
    return min + (((mixed ^ (mixed >>> 15)) >>> 0) % (max - min + 1))
  }
}
