import { describe, expect, it } from 'vitest'
import { noValue, stateLetters } from './columns.ts'
import { findIdleNoise, noiseStep } from './idle-noise.ts'
import { createSteps, foldSteps } from './steps.ts'

const start = 1_800_000_000 // a multiple of 3600 s

/** The number of seconds, their state, RF level and battery. */
type Part = readonly [times: number, letter: string, rf?: number, battery?: number]

/** Returns the steps of 10 s of channels 1, 2 …, starting at `start`. */
function recorded(...channels: readonly (readonly Part[])[]) {
  const lengthOf = (parts: readonly Part[]) => parts.reduce((sum, [times]) => sum + times, 0)
  const count = Math.max(...channels.map(lengthOf))
  const seconds = createSteps(
    start,
    count,
    channels.map((_, index) => index + 1),
  )
  for (const [channel, parts] of channels.entries()) {
    let index = channel * count
    for (const [times, letter, rf = noValue, battery = noValue] of parts) {
      for (let time = 0; time < times; time++, index++) {
        seconds.columns.state[index] = (stateLetters as readonly string[]).indexOf(letter)
        seconds.columns.rf_max[index] = rf
        seconds.columns.battery[index] = battery
      }
    }
  }
  return foldSteps(seconds, 1, 10)
}

const noiseOf = (parts: readonly Part[], since = start) =>
  findIdleNoise(recorded(parts), 10, new Map([[1, since]]))[0] ?? null

// Conformance: C-15.36.
describe('the noise on idle channels', () => {
  it('is the median and the highest level while the transmitter was off, and when that was', () => {
    const parts: readonly Part[] = [
      [30, '0', -98],
      [5, '0', -71],
      [45, '0', -96],
    ]
    expect(noiseOf(parts)).toEqual({
      ...{ channelId: 1, seconds: 80, median: -96, highest: -71, highestAt: start + 30 },
    })
  })

  it.each<[string, readonly Part[]]>([
    ['a transmitter that is on', [[60, '1', -50, 80]]],
    ['a muted transmitter', [[60, 'm', -50, 80]]],
    ['an offline receiver', [[60, 'x']]],
    ['time that is not recorded', [[60, '-']]],
    ['a channel without an RF level', [[60, '0']]],
  ])('is unknown for %s', (_, parts) => {
    expect(noiseOf(parts)).toBeNull()
  })

  it('does not contain a transmitter that was on for a part of a step', () => {
    const parts: readonly Part[] = [
      [31, '0', -98],
      [3, '1', -45, 80],
      [66, '0', -98],
    ]
    expect(noiseOf(parts)).toMatchObject({ highest: -98, seconds: 90 })
  })

  it('leaves out the steps before and after a transmitter was on', () => {
    const parts: readonly Part[] = [
      [39, '0', -98],
      // The level of the transmitter arrives before the report that it is on.
      [1, '0', -45],
      [20, '1', -45],
      [1, '0', -45],
      [39, '0', -99],
    ]
    expect(noiseOf(parts)).toMatchObject({ highest: -98, seconds: 60 })
  })

  it('begins when the channel was tuned', () => {
    const parts: readonly Part[] = [
      [35, '0', -60],
      [65, '0', -99],
    ]
    expect(noiseOf(parts, start + 35)).toMatchObject({ highest: -99, seconds: 60 })
    expect(noiseOf(parts, start + 95)).toBeNull()
  })

  it('is found for each channel', () => {
    const steps = recorded([[40, '0', -90]], [[40, '1', -50]], [[40, '0', -80]])
    expect(findIdleNoise(steps, 10, new Map()).map(({ channelId, highest }) => [channelId, highest])).toEqual([
      ...[
        [1, -90],
        [3, -80],
      ],
    ])
  })

  it.each([
    [3600, 10],
    [24 * 3600, 60],
    [168 * 3600, 600],
  ])('is read from steps that suit %i s', (seconds, step) => {
    expect(noiseStep(seconds)).toBe(step)
  })
})
