/**
 * Estimates the remaining time of a battery. Every earlier discharge of a comparable battery is stretched to the pace
 * of this one, and yields the time that was left at the same point. Percentages are never extrapolated, because no
 * gauge is linear and many have only a few steps; only times between steps are compared.
 */

import type { BatteryKind, DischargeCurve, DischargeStep } from './discharge.ts'

/** An earlier discharge: when each level was first reached, until the battery was empty. */
export interface Reference {
  readonly steps: readonly DischargeStep[]
  /** The time until the battery was empty, in milliseconds. */
  readonly endMs: number
  /** True if it is not measured: its shape counts, but not its length. */
  readonly isTypical: boolean
}

interface Estimate {
  readonly minutes_left: number
  /** 80% of the comparable batteries lasted between `low` and `high`. */
  readonly low: number
  readonly high: number
}

const minuteMs = 60_000
/** The minimum known part of a battery's own discharge. */
const leastOwnMs = 20 * minuteMs
/** Weight of the assumption that this battery drains as fast as earlier ones, as discharge time. */
const usualPaceMs = 60 * minuteMs
/** A battery that begins at this level began full. */
const fullFrom = 95
/** Fewer earlier discharges say too little about the spread between batteries. */
const manyReferences = 10
/** The assumed differences between batteries in that case. */
const assumedSpread = [0.8, 0.9, 1, 1.1, 1.2]
/** Assumes this battery varies as much as each earlier one, independently, so the spread grows by √2. */
const ownDeviation = Math.SQRT2
/** A few coarse steps do not show where a battery is on a typical curve. */
const leastStepsOfTypical = 6
/** Possible positions within a step, if the time at which the battery reached it is unknown. */
const positionsInStep = [0.1, 0.3, 0.5, 0.7, 0.9]

interface OwnDischarge extends DischargeCurve {
  readonly batteryType: BatteryKind['batteryType']
}

/** Returns the remaining time of a battery that is like the references; null without a basis. */
export function estimate(own: DischargeCurve, references: readonly Reference[]): Estimate | null {
  if (own.onMs < leastOwnMs) return null
  const compared = references.map((reference) => remainingTimes(own, reference))
  const times = compared.filter((remaining) => remaining !== null).flat()
  if (times.length === 0) return null
  const measured = references.filter(({ isTypical }) => !isTypical).length
  const spread = measured < manyReferences ? times.flatMap((ms) => assumedSpread.map((factor) => factor * ms)) : times
  // Batteries that would be empty by now are not like this one.
  const possible = spread.filter((ms) => ms > 0).sort((a, b) => a - b)
  const middle = quantile(possible, 0.5)
  const toMinutes = (ms: number) => Math.round(Math.max(0, ms) / minuteMs)
  const widened = (share: number) => toMinutes(middle + ownDeviation * (quantile(possible, share) - middle))
  return { minutes_left: toMinutes(middle), low: widened(0.1), high: widened(0.9) }
}

/**
 * Returns the remaining time if the battery is like the reference: one time, or several if its position within a step
 * is unknown. Null if the two cannot be compared.
 */
function remainingTimes({ steps, onMs }: DischargeCurve, reference: Reference): number[] | null {
  const [percent, reachedMs] = steps.at(-1) as DischargeStep
  const reached = timeAt(reference, percent)
  if (reached === null) return null
  const left = timeBelow(reference, percent)
  const sinceStep = onMs - reachedMs
  const first = steps.findIndex(([level], index) => isEdge(steps, index) && timeAt(reference, level) !== null)
  if (reference.isTypical && steps.length < leastStepsOfTypical) return null
  if (first === -1) {
    const inStep = Math.max(0, left - reached - sinceStep)
    return positionsInStep.map((position) => reference.endMs - left + position * inStep)
  }
  const [firstPercent, firstMs] = steps[first] as DischargeStep
  const comparedFrom = timeAt(reference, firstPercent) ?? 0
  const usual = reference.isTypical ? 0 : usualPaceMs
  const paceTo = (ownMs: number, referenceMs: number) => (ownMs + usual) / (referenceMs + usual)
  const known = reached - comparedFrom
  if (known + usual <= 0) return null
  const pace = paceTo(reachedMs - firstMs, known)
  // A step that lasts longer than in the reference shows a slower pace.
  const slower = left > comparedFrom ? paceTo(onMs - firstMs, left - comparedFrom) : pace
  if (slower > pace) return [slower * (reference.endMs - left)]
  return [Math.max(pace * (reference.endMs - left), pace * (reference.endMs - reached) - sinceStep)]
}

/**
 * True if the time at which the level was reached is known. That of the first level is known only if the battery began
 * full.
 */
function isEdge(steps: readonly DischargeStep[], index: number): boolean {
  return index > 0 || (steps[0]?.[0] ?? 0) >= fullFrom
}

/** Returns when this or a lower level was reached; null if the reference began below it. */
function timeAt({ steps }: Reference, percent: number): number | null {
  const index = steps.findIndex(([level]) => level <= percent)
  if (index > 0) return (steps[index] as DischargeStep)[1]
  if (index === -1) return null
  const level = (steps[0] as DischargeStep)[0]
  return percent >= fullFrom && level >= fullFrom ? 0 : null
}

function timeBelow({ steps, endMs }: Reference, percent: number): number {
  return steps.find(([level]) => level < percent)?.[1] ?? endMs
}

function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return 0
  // Of n earlier values and a new one, each is equally likely to be the lowest.
  const position = Math.min(sorted.length - 1, Math.max(0, share * (sorted.length + 1) - 1))
  const below = Math.floor(position)
  const [from = 0, to = from] = [sorted[below], sorted[below + 1]]
  return from + (to - from) * (position - below)
}

/** Typical discharge curves without measurements: the level after each tenth of the time. */
const typicalLevels = [
  { type: /alkaline|^cells$/i, levels: [100, 84, 71, 61, 52, 42, 33, 24, 16, 9, 4] },
  { type: /nimh/i, levels: [100, 82, 75, 68, 64, 60, 55, 51, 46, 29, 4] },
  { type: /lithium|rechargeable|pack/i, levels: [100, 91, 81, 72, 62, 53, 43, 34, 24, 14, 4] },
]

/** Any duration works, because a typical reference is stretched to the pace of the battery. */
function toTypicalReference(levels: readonly number[]): Reference {
  const tenthMs = 60 * minuteMs
  const steps = levels.slice(1).flatMap((to, index): DischargeStep[] => {
    const from = levels[index] ?? to
    return Array.from({ length: from - to }, (_, fallen) => [from - fallen, (index + fallen / (from - to)) * tenthMs])
  })
  return { steps, endMs: 10 * tenthMs, isTypical: true }
}

const typicalReferences = typicalLevels.map(({ type, levels }) => ({ type, reference: toTypicalReference(levels) }))

const fewReferences = 3

/**
 * Forecasts a battery from earlier discharges of its kind and, if these are few, from the typical one of its type; null
 * without a basis.
 */
export function forecastBattery(own: OwnDischarge, measured: readonly Reference[]): Estimate | null {
  const typical = typicalReferences.filter(({ type }) => own.batteryType !== null && type.test(own.batteryType))
  if (measured.length === 0 && typical.length === 0) return estimateOfAnyType(own)
  const added = measured.length >= fewReferences ? [] : typical.map(({ reference }) => reference)
  return estimate(own, [...measured, ...added])
}

/** If neither the type nor an earlier discharge is known, the range covers all types. */
function estimateOfAnyType(own: OwnDischarge): Estimate | null {
  const estimates = typicalReferences.map(({ reference }) => estimate(own, [reference]))
  const known = estimates.filter((found) => found !== null)
  if (known.length === 0) return null
  const middles = known.map(({ minutes_left }) => minutes_left).sort((a, b) => a - b)
  return {
    minutes_left: Math.round(quantile(middles, 0.5)),
    low: Math.min(...known.map(({ low }) => low)),
    high: Math.max(...known.map(({ high }) => high)),
  }
}

/** Converts a discharge that ended with an empty battery. */
export function toReference({ steps, onMs }: DischargeCurve): Reference {
  return { steps, endMs: onMs, isTypical: false }
}
