/** What the recorded seconds of a channel say about a walk test: how weak RF was, and how loud the audio was. */

import { noValue, type Steps, stateLetters } from './columns.ts'

export interface WalkLevels {
  /** The lowest RF level in dBm while a transmitter was on; null if none was recorded. */
  readonly lowest: number | null
  /** The highest audio peak in dBFS while it was on and not muted; null if none was recorded. */
  readonly loudest: number | null
}

export const noWalkLevels: WalkLevels = { lowest: null, loudest: null }

const [on, muted, off] = [stateLetters.indexOf('1'), stateLetters.indexOf('m'), stateLetters.indexOf('0')]

/**
 * Adds the seconds of a channel from `from` to `to` (epoch seconds; `to` is exclusive). The steps also contain the second
 * before and the second after them, which show whether the transmitter was switched.
 */
export function addSeconds(
  before: WalkLevels,
  steps: Steps,
  channelId: number,
  { from, to }: { readonly from: number; readonly to: number },
): WalkLevels {
  const { columns, count } = steps
  let lowest = before.lowest ?? Number.POSITIVE_INFINITY
  let loudest = before.loudest ?? Number.NEGATIVE_INFINITY
  const channel = steps.channelIds.indexOf(channelId)
  const end = Math.min(count, to - steps.from)
  for (let step = Math.max(0, from - steps.from); step < end; step += 1) {
    const index = channel * count + step
    const state = columns.state[index]
    if (state !== on && state !== muted) continue
    const [rf = noValue, audio = noValue] = [columns.rf_min[index], columns.audio_max[index]]
    if (rf !== noValue && !isNextToOff(steps, channel, index)) lowest = Math.min(lowest, rf)
    if (audio !== noValue && state === on) loudest = Math.max(loudest, audio)
  }
  return {
    lowest: Number.isFinite(lowest) ? lowest : null,
    loudest: Number.isFinite(loudest) ? loudest : null,
  }
}

/**
 * Whether the transmitter is off in the second before or after this one. A receiver may report noise before it reports that
 * the transmitter is off, or until it receives the transmitter, so the lowest RF level of such a second may be noise.
 */
function isNextToOff({ columns: { state }, count }: Steps, channel: number, index: number): boolean {
  const first = channel * count
  return (index > first && state[index - 1] === off) || (index + 1 < first + count && state[index + 1] === off)
}
