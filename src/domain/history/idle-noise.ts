/**
 * Noise on channels: the RF levels that receivers measured while their transmitters were off. All times are epoch
 * seconds.
 */

import { type ColumnName, noValue, type Steps, stateLetters } from './columns.ts'
import { type TierStep, tierSteps } from './tiers.ts'

/** Levels are in dBm. */
export interface IdleNoise {
  readonly channelId: number
  /** Duration of the measurement. */
  readonly seconds: number
  /** The median of the highest levels of the steps. */
  readonly median: number
  readonly highest: number
  /** The start of the last step that contains the highest level. */
  readonly highestAt: number
}

/** Steps to read per channel. */
const maxSteps = 1500

/** Returns the length of the steps to read for a range of `seconds`. */
export function noiseStep(seconds: number): TierStep {
  return tierSteps.find((tier) => tier > 1 && seconds / tier <= maxSteps) ?? 3600
}

/**
 * Returns the noise on each channel since its own start time, for instance since it was tuned. Omits channels without a
 * measurement.
 */
export function findIdleNoise(steps: Steps, tier: TierStep, since: ReadonlyMap<number, number>): IdleNoise[] {
  return steps.channelIds.flatMap((channelId, channel) => {
    const from = since.get(channelId) ?? steps.from
    const first = Math.max(0, Math.ceil((from - steps.from) / tier))
    const levels: number[] = []
    let [highest, highestAt] = [noValue, 0]
    for (let step = first; step < steps.count; step++) {
      const level = steps.columns.rf_max[channel * steps.count + step] as number
      if (level === noValue || !isIdle(steps, channel, step)) continue
      levels.push(level)
      if (level >= highest) [highest, highestAt] = [level, steps.from + step * tier]
    }
    if (levels.length === 0) return []
    return [{ channelId, seconds: levels.length * tier, median: medianOf(levels), highest, highestAt }]
  })
}

/** Receivers report these values only for transmitters. */
const transmitterColumns: readonly ColumnName[] = ['audio_max', 'quality_min', 'battery', 'minutes']
const [off, muted, on] = (['0', 'm', '1'] as const).map((letter) => stateLetters.indexOf(letter))

/**
 * True if the transmitter was off during the whole step. The state of a step is only the most frequent one. In the
 * steps before and after a transmitter is on, the receiver may already receive it, or still receive it.
 */
function isIdle({ columns, count }: Steps, channel: number, step: number): boolean {
  const index = channel * count + step
  if (columns.state[index] !== off) return false
  if (transmitterColumns.some((name) => columns[name][index] !== noValue)) return false
  const isOn = (neighbour: number) => {
    const state = neighbour < 0 || neighbour >= count ? off : columns.state[channel * count + neighbour]
    return state === on || state === muted
  }
  return !isOn(step - 1) && !isOn(step + 1)
}

function medianOf(levels: number[]): number {
  levels.sort((a, b) => a - b)
  return levels[Math.floor((levels.length - 1) / 2)] as number
}
