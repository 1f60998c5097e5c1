import { expect, it } from 'vitest'
import { type ColumnName, columnNames, noValue, type StateLetter, stateLetters } from '../domain/history/columns.ts'
import type { History } from './history.ts'
import { WalkTests } from './walk-tests.ts'

interface Second {
  readonly letter: StateLetter
  readonly rf?: number
  readonly audio?: number
}

/** Creates a history with these seconds (by epoch second) on every channel, which counts the seconds that are read. */
function createHistory(seconds: ReadonlyMap<number, Second>) {
  const reads: [from: number, to: number][] = []
  return {
    reads,
    flush: async () => {},
    levels: {
      async read(channelIds: readonly number[], from: number, to: number) {
        reads.push([from, to])
        const count = to - from
        const columns = Object.fromEntries(
          columnNames.map((name) => [
            name,
            new Int32Array(count * channelIds.length).fill(name === 'state' ? 0 : noValue),
          ]),
        ) as Record<ColumnName, Int32Array>
        for (const index of columns.state.keys()) {
          const second = seconds.get(from + (index % count))
          if (second === undefined) continue
          columns.state[index] = stateLetters.indexOf(second.letter)
          columns.rf_min[index] = second.rf ?? noValue
          columns.audio_max[index] = second.audio ?? noValue
        }
        return { from, count, channelIds, columns }
      },
    },
  }
}

const read = async (tests: WalkTests, checks: Parameters<WalkTests['read']>[0], now: number) =>
  Object.fromEntries(await tests.read(checks, now, 'client'))

// Conformance: C-13.25.
it('reads what was received while a transmitter was on, from the first whole second of the check', async () => {
  const history = createHistory(
    new Map<number, Second>([
      [100, { letter: '1', rf: -99, audio: -1 }],
      [101, { letter: '1', rf: -60, audio: -30 }],
      [102, { letter: 'm', rf: -70, audio: -10 }],
      [103, { letter: '1', rf: -100, audio: -40 }],
      [104, { letter: '0', rf: -110, audio: -5 }],
      [105, { letter: 'x' }],
      [106, { letter: '1' }],
    ]),
  )
  const tests = new WalkTests(history as unknown as History)
  expect(await read(tests, [{ channelId: 7, beganAt: 100_200 }], 107_500)).toEqual({
    7: expect.objectContaining({ lowest: -70, loudest: -30 }),
  })
  expect(await read(tests, [{ channelId: 7, beganAt: 106_000 }], 107_500)).toEqual({
    7: expect.objectContaining({ lowest: null, loudest: null }),
  })
})

it('reads the seconds of the last time only, once it has read the others', async () => {
  const seconds = new Map<number, Second>([[150, { letter: '1', rf: -80 }]])
  const history = createHistory(seconds)
  const tests = new WalkTests(history as unknown as History)
  const checks = [
    { channelId: 7, beganAt: 100_000 },
    { channelId: 8, beganAt: 180_000 },
  ]
  expect(await read(tests, checks, 200_000)).toMatchObject({ 7: { lowest: -80 }, 8: { lowest: null } })
  seconds.set(198, { letter: '1', rf: -90 })
  history.reads.length = 0
  expect(await read(tests, checks, 202_000)).toMatchObject({ 7: { lowest: -90 }, 8: { lowest: -90 } })
  expect(history.reads.reduce((sum, [from, to]) => sum + to - from, 0)).toBeLessThanOrEqual(25)
})
