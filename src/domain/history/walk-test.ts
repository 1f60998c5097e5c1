/** Evaluates a walk test from recorded seconds: the weakest RF and the loudest audio. */

import { noValue, type Steps, stateLetters } from './columns.ts'
import { isNextToOff } from './switched.ts'

export interface WalkLevels {
  /** The lowest RF level in dBm while a transmitter was on; null if none was recorded. */
  readonly lowest: number | null
  /** The highest audio peak in dBFS while it was on and not muted; null if none was recorded. */
  readonly loudest: number | null
}

export const noWalkLevels: WalkLevels = { lowest: null, loudest: null }

const [on, muted] = [stateLetters.indexOf('1'), stateLetters.indexOf('m')]

/** Adds the seconds of a channel, starting at `from` (epoch seconds). */
export function addSeconds(
  before: WalkLevels,
  { columns, ...steps }: Steps,
  channelId: number,
  from: number,
): WalkLevels {
  let lowest = before.lowest ?? Number.POSITIVE_INFINITY
  let loudest = before.loudest ?? Number.NEGATIVE_INFINITY
  const channel = steps.channelIds.indexOf(channelId)
  const start = channel * steps.count
  for (let step = Math.max(0, from - steps.from); step < steps.count; step += 1) {
    const index = start + step
    const state = columns.state[index]
    if (state !== on && state !== muted) continue
    const [rf = noValue, audio = noValue] = [columns.rf_min[index], columns.audio_max[index]]
    if (rf !== noValue && !isNextToOff({ columns, count: steps.count }, channel, index)) lowest = Math.min(lowest, rf)
    if (audio !== noValue && state === on) loudest = Math.max(loudest, audio)
  }
  return {
    lowest: Number.isFinite(lowest) ? lowest : null,
    loudest: Number.isFinite(loudest) ? loudest : null,
  }
}
