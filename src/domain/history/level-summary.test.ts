import { describe, expect, it } from 'vitest'
import { noValue, stateLetters } from './columns.ts'
import {
  emptySummary,
  isComplete,
  joinSummaries,
  percentile,
  summarizeLevels,
  type TierSteps,
} from './level-summary.ts'
import { createSteps, foldSteps } from './steps.ts'

const start = 1_800_000_000 // a multiple of 3600 s

/** The number of seconds, their state, lowest RF level and battery. */
type Part = readonly [times: number, letter: string, rf?: number, battery?: number]

/** Returns seconds of one channel, starting at `start`. */
function seconds(...parts: readonly Part[]) {
  const count = parts.reduce((sum, [times]) => sum + times, 0)
  const steps = createSteps(start, count, [7])
  let index = 0
  for (const [times, letter, rf = noValue, battery = noValue] of parts) {
    for (let time = 0; time < times; time++, index++) {
      steps.columns.state[index] = (stateLetters as readonly string[]).indexOf(letter)
      steps.columns.rf_min[index] = rf
      steps.columns.battery[index] = battery
    }
  }
  return steps
}

const summaryOf = (steps: ReturnType<typeof seconds>, range = { from: start, to: start + steps.count }) =>
  summarizeLevels([{ tier: 1, steps }], range)[0] ?? emptySummary(0)

describe('the summary of recorded levels', () => {
  // Conformance: C-13.40.
  it.each([
    ['a channel that was on all the time', [[60, '1', -50, 80]], { secondsOn: 60, rfLowest: -50 }],
    [
      'a muted channel, which is on',
      [
        [10, '1', -50],
        [5, 'm', -60],
      ],
      { secondsOn: 15, rfLowest: -60 },
    ],
    [
      'noise without a transmitter, which does not count',
      [
        [10, '1', -50],
        [5, '0', -101],
        [5, 'x'],
        [5, '-'],
      ],
      { secondsOn: 10, rfLowest: -50 },
    ],
    [
      'noise in the seconds in which a transmitter was switched on or off, which does not count',
      [
        [5, '0', -101],
        [1, '1', -101],
        [10, '1', -50],
        [1, '1', -99],
        [5, '0', -101],
      ],
      { secondsOn: 12, rfLowest: -50 },
    ],
    [
      'batteries that are known for a part of the time',
      [
        [3, '1', -50],
        [3, '1', -50, 90],
        [3, '0'],
        [3, '1', -50, 40],
        [3, '1', -50],
      ],
      { secondsOn: 12, batteryStart: 90, batteryEnd: 40 },
    ],
    ['a channel that was never on', [[20, '0', -100]], { secondsOn: 0, rfLowest: null, stepSeconds: 1 }],
    ['a channel of which nothing is recorded', [[20, '-']], { secondsOn: 0, batteryStart: null, stepSeconds: null }],
  ] as const)('counts %s', (_, parts, expected) => {
    expect(summaryOf(seconds(...parts))).toMatchObject(expected)
  })

  // Conformance: C-13.40.
  it('contains only the seconds of the range', () => {
    const steps = seconds([700, '1', -50], [700, '1', -80], [700, '1', -90])
    expect(summaryOf(steps, { from: start + 650, to: start + 1300 })).toMatchObject({ secondsOn: 650, rfLowest: -80 })
    expect(summaryOf(steps, { from: start + 1400, to: start + 1401 })).toMatchObject({ secondsOn: 1, rfLowest: -90 })
  })

  // Conformance: C-13.41.
  it.each<[readonly Part[], number | null]>([
    [[[100, '1', -50]], -50],
    [
      [
        [1, '1', -90],
        [99, '1', -50],
      ],
      -90,
    ],
    [
      [
        [1, '1', -90],
        [100, '1', -50],
      ],
      -50,
    ],
    [
      [
        [1, '1', -90],
        [1, '1', -80],
        [148, '1', -50],
      ],
      -80,
    ],
    [
      [
        [50, '0', -100],
        [50, '1', -50],
      ],
      -50,
    ],
    [[[50, '0', -100]], null],
  ])('has the first percentile of the lowest levels of %j', (parts, expected) => {
    expect(percentile(summaryOf(seconds(...parts)), 0.01)).toBe(expected)
  })

  // Conformance: C-13.42.
  it('uses the finest tier that still has a block', () => {
    const all = seconds([600, '1', -50, 80], [600, '1', -90, 70], [600, '0', -100])
    const kept = seconds([600, '-'], [600, '1', -90, 70], [600, '-'])
    const tier = (step: 1 | 10 | 60 | 600 | 3600, steps = all): TierSteps => ({
      tier: step,
      steps: step === 1 ? steps : foldSteps(steps, 1, step),
    })
    const range = { from: start + 30, to: start + 1800 }
    const [mixed] = summarizeLevels([tier(1, kept), tier(10)], range)
    expect(mixed).toMatchObject({ secondsOn: 1170, rfLowest: -90, batteryStart: 80, batteryEnd: 70, stepSeconds: 10 })
    expect([...(mixed?.rfSeconds ?? [])]).toEqual([[-90, 600]])
    expect(mixed && percentile(mixed, 0.01)).toBeNull()
    expect(summarizeLevels([tier(1, kept), tier(60)], range)[0]).toMatchObject({ secondsOn: 1170, stepSeconds: 60 })
    // Most of the hour is on, so all of it counts.
    expect(summarizeLevels([tier(3600)], range)[0]).toMatchObject({ secondsOn: 1770, stepSeconds: 3600 })
    expect(isComplete(tier(1), range)).toBe(true)
    expect(isComplete(tier(1, kept), range)).toBe(false)
    expect(isComplete(tier(1, kept), { from: start + 600, to: start + 1200 })).toBe(true)
  })

  it('is joined from consecutive parts', () => {
    const steps = seconds([600, '1', -50, 80], [10, '0'], [600, '1', -70, 60], [10, '1', -95])
    const parts = [
      { from: start, to: start + 605 },
      { from: start + 605, to: start + 1000 },
      { from: start + 1000, to: start + 1220 },
    ].map((range) => summaryOf(steps, range))
    expect(parts.reduce(joinSummaries)).toEqual(summaryOf(steps))
  })
})
