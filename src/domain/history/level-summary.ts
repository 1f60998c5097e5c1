/** Summarizes the recorded levels of channels over a range, such as a show or a walk test. All times are epoch seconds. */

import { noValue, type Steps, stateLetters } from './columns.ts'
import type { TierStep } from './tiers.ts'

/** The summary of one channel. Only time with a transmitter on counts, muted or not. */
export interface LevelSummary {
  readonly channelId: number
  /** Time with a transmitter on. */
  readonly secondsOn: number
  /** The first and the last battery level in percent. */
  readonly batteryStart: number | null
  readonly batteryEnd: number | null
  /** In dBm. */
  readonly rfLowest: number | null
  /** Lowest RF level of a second (dBm) -> number of seconds. Longer steps are not counted. */
  readonly rfSeconds: ReadonlyMap<number, number>
  /** The longest step that was used, where shorter ones are already deleted; null if nothing is recorded. */
  readonly stepSeconds: TierStep | null
}

/** Steps of one tier that include a range. */
export interface TierSteps {
  readonly tier: TierStep
  readonly steps: Steps
}

/** `to` is exclusive. */
interface TimeRange {
  readonly from: number
  readonly to: number
}

/** All steps of a block of a tier are deleted together, so the finest tier that has a block summarizes it. */
const blockSeconds = 600

/** All tiers, finest first, contain the same channels in the same order. */
export function summarizeLevels(tiers: readonly TierSteps[], range: TimeRange): LevelSummary[] {
  const channelIds = tiers[0]?.steps.channelIds ?? []
  return channelIds.map((channelId, channel) => {
    let summary = emptySummary(channelId)
    for (const block of listBlocks(range)) {
      const found = tiers.find((tier) => isRecorded(tier, channel, block))
      if (found !== undefined) summary = joinSummaries(summary, summarizeBlock(found, channel, block))
    }
    return summary
  })
}

/** True if every block of a range is recorded for every channel, so that coarser tiers add nothing. */
export function isComplete(tier: TierSteps, range: TimeRange): boolean {
  return tier.steps.channelIds.every((_, channel) =>
    listBlocks(range).every((block) => isRecorded(tier, channel, block)),
  )
}

/** Joins the summaries of two consecutive ranges of a channel. */
export function joinSummaries(earlier: LevelSummary, later: LevelSummary): LevelSummary {
  const rfSeconds = new Map(earlier.rfSeconds)
  for (const [level, seconds] of later.rfSeconds) rfSeconds.set(level, (rfSeconds.get(level) ?? 0) + seconds)
  return {
    channelId: earlier.channelId,
    secondsOn: earlier.secondsOn + later.secondsOn,
    batteryStart: earlier.batteryStart ?? later.batteryStart,
    batteryEnd: later.batteryEnd ?? earlier.batteryEnd,
    rfLowest: combined(Math.min, earlier.rfLowest, later.rfLowest),
    rfSeconds,
    stepSeconds: combined(Math.max, earlier.stepSeconds, later.stepSeconds) as TierStep | null,
  }
}

export function emptySummary(channelId: number): LevelSummary {
  return {
    channelId,
    secondsOn: 0,
    batteryStart: null,
    batteryEnd: null,
    rfLowest: null,
    rfSeconds: new Map(),
    stepSeconds: null,
  }
}

/**
 * Returns the lowest level that at least this share of the seconds do not exceed (nearest rank); null unless every
 * second is known.
 */
export function percentile({ rfSeconds, stepSeconds }: LevelSummary, share: number): number | null {
  if (stepSeconds !== 1) return null
  const total = [...rfSeconds.values()].reduce((sum, seconds) => sum + seconds, 0)
  let counted = 0
  for (const [level, seconds] of [...rfSeconds].sort(([a], [b]) => a - b)) {
    counted += seconds
    if (counted >= share * total) return level
  }
  return null
}

function combined(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return choose(a, b)
}

function listBlocks({ from, to }: TimeRange): TimeRange[] {
  const blocks: TimeRange[] = []
  for (let start = from; start < to; ) {
    const end = Math.min(to, (Math.floor(start / blockSeconds) + 1) * blockSeconds)
    blocks.push({ from: start, to: end })
    start = end
  }
  return blocks
}

/** Returns the indexes of the steps of a channel that overlap a range; `end` is exclusive. */
function indexesOf({ tier, steps }: TierSteps, channel: number, { from, to }: TimeRange) {
  const first = channel * steps.count
  const limit = (index: number) => first + Math.min(steps.count, Math.max(0, index))
  return {
    begin: limit(Math.floor((from - steps.from) / tier)),
    end: limit(Math.ceil((to - steps.from) / tier)),
    timeOf: (index: number) => steps.from + (index - first) * tier,
  }
}

function isRecorded(tierSteps: TierSteps, channel: number, block: TimeRange): boolean {
  const { begin, end } = indexesOf(tierSteps, channel, block)
  const { state } = tierSteps.steps.columns
  for (let index = begin; index < end; index++) if (state[index] !== 0) return true
  return false
}

const onStates = [stateLetters.indexOf('1'), stateLetters.indexOf('m')]

function summarizeBlock(tierSteps: TierSteps, channel: number, block: TimeRange): LevelSummary {
  const { tier, steps } = tierSteps
  const { begin, end, timeOf } = indexesOf(tierSteps, channel, block)
  const { state, rf_min, battery } = steps.columns
  const rfSeconds = new Map<number, number>()
  let [secondsOn, rfLowest, batteryStart, batteryEnd] = [0, noValue, noValue, noValue]
  for (let index = begin; index < end; index++) {
    if (!onStates.includes(state[index] as number)) continue
    secondsOn += Math.min(block.to, timeOf(index) + tier) - Math.max(block.from, timeOf(index))
    const level = rf_min[index] as number
    if (level !== noValue && !(tier === 1 && isNextToOff(steps, channel, index))) {
      if (rfLowest === noValue || level < rfLowest) rfLowest = level
      if (tier === 1) rfSeconds.set(level, (rfSeconds.get(level) ?? 0) + 1)
    }
    const percent = battery[index] as number
    if (percent === noValue) continue
    if (batteryStart === noValue) batteryStart = percent
    batteryEnd = percent
  }
  const known = (value: number) => (value === noValue ? null : value)
  return {
    channelId: steps.channelIds[channel] as number,
    secondsOn,
    batteryStart: known(batteryStart),
    batteryEnd: known(batteryEnd),
    rfLowest: known(rfLowest),
    rfSeconds,
    stepSeconds: tier,
  }
}

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

const off = stateLetters.indexOf('0')

/**
 * True if the transmitter of a channel is off in the previous or next second. The lowest RF level of such a second may
 * be noise from before the transmitter was switched on, or after it was switched off. `channel` is a position in the
 * steps, `index` a position in the columns.
 */
function isNextToOff({ columns, count }: Pick<Steps, 'columns' | 'count'>, channel: number, index: number): boolean {
  const { state } = columns
  const first = channel * count
  return (index > first && state[index - 1] === off) || (index + 1 < first + count && state[index + 1] === off)
}
