/**
 * The tiers of recorded levels. Every tier contains steps of one length; a coarser one summarizes the finer ones. A
 * request reads the finest tier that has few enough steps.
 */

import { RequestError } from '../errors.ts'
import { floorTo } from './steps.ts'

/** Seconds per step, finest tier first. Each is a multiple of the previous one. */
export const tierSteps = [1, 10, 60, 600, 3600] as const

/** Seconds per step. */
export type TierStep = (typeof tierSteps)[number]

/** Maximum number of channels in one response with levels. */
export const maxLevelChannels = 100

/** Maximum number of steps in one response with levels, all channels together. */
export const maxResponseSteps = 100_000

interface Choice {
  /** The tier to read. */
  readonly tier: TierStep
  /** Seconds: the step of the tier, or a multiple of an hour. */
  readonly step: number
  /** Start of the first step. */
  readonly from: number
  readonly points: number
}

/**
 * Chooses the finest existing tier that has at most `maxPoints` steps in the range. If none fits, hours are folded to
 * the smallest multiple that does. If nothing is recorded in the range, all tiers count as existing. Throws a
 * RequestError if no step fits.
 */
export function chooseTier(
  range: { readonly from: number; readonly to: number; readonly maxPoints: number },
  existing: readonly TierStep[],
): Choice {
  const { from, to, maxPoints } = range
  // Steps of every length begin and end at 0.
  if (maxPoints === 1 && from < 0 && to > 0) {
    const details = 'max_points: expected at least 2 for a range that contains 1970-01-01T00:00:00Z'
    throw new RequestError('bad_request', { details })
  }
  const choose = (tier: TierStep, step: number): Choice => {
    const start = floorTo(from, step)
    return { tier, step, from: start, points: Math.ceil((to - start) / step) }
  }
  const tiers = existing.length === 0 ? tierSteps : tierSteps.filter((step) => existing.includes(step))
  for (const tier of tiers) {
    const choice = choose(tier, tier)
    if (choice.points <= maxPoints) return choice
  }
  for (let step = Math.max(3600, Math.floor((to - from) / maxPoints / 3600) * 3600); ; step += 3600) {
    const choice = choose(3600, step)
    if (choice.points <= maxPoints) return choice
  }
}

/** Returns the tiers that `chooseTier` chooses from if all exist, finest first. */
export function stepsThatFit(range: Parameters<typeof chooseTier>[0]): readonly TierStep[] {
  const fitting = tierSteps.filter((step) => chooseTier(range, [step]).step === step)
  return fitting.length > 0 ? fitting : tierSteps.slice(-1)
}

/** Throws a RequestError if a response would have too many steps. */
export function checkResponseSize(channels: number, points: number): void {
  if (points * channels <= maxResponseSteps) return
  const details = `max_points: expected fewer; ${channels} channels with ${points} steps each are more than ${maxResponseSteps} steps`
  throw new RequestError('bad_request', { details })
}
