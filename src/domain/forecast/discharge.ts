/**
 * Records the discharge of a battery: when its level first reached each step, measured in time with the transmitter on.
 * A rise by 20 or more, or another transmitter, means another battery.
 */

import type { Transmitter } from '../equipment/receiver.ts'

/** A level in percent, and how long the transmitter had been on when it first reported it, in milliseconds. */
export type DischargeStep = readonly [percent: number, onMs: number]

/** The common properties of comparable batteries. */
export interface BatteryKind {
  readonly manufacturer: string
  /** The transmitter's model, else the receiver's. */
  readonly model: string | null
  readonly batteryType: string | null
}

export interface DischargeCurve {
  /** Levels in descending order. */
  readonly steps: readonly DischargeStep[]
  /** Time with the transmitter on and this battery. */
  readonly onMs: number
}

export interface Discharge extends BatteryKind, DischargeCurve {
  /** When the battery was first received, in epoch milliseconds. */
  readonly startedAt: number
  /** The name of the transmitter. */
  readonly name: string | null
  /** The last reported level, which may have risen slightly. */
  readonly percent: number
  readonly isOn: boolean
  /** Time of the last observation, in epoch milliseconds. */
  readonly observedAt: number
}

/** The values of a transmitter that is on. */
export interface BatteryObservation extends BatteryKind {
  readonly name: string | null
  readonly percent: number
}

/** A larger change within a minute is a new reading of the gauge, not a discharge. */
const largestChange = 15
const largestChangeWithinMs = 60_000
/** Equipment with few steps reports these levels. */
const coarseGauges = [
  [100, 80, 60, 40, 20, 0],
  [100, 75, 50, 25, 0],
  [100, 70, 30, 0],
  [100, 67, 33, 0],
]

/** A rise by this much means another battery. */
const riseOfAnother = 20
/** An unchanged battery is recorded this often; its receiver may report it many times a second. */
const unchangedEveryMs = 10_000
/** Longer times without an observation do not count as discharge. */
const longestUnobservedMs = 30 * 60_000

/** Returns null for a transmitter that reports no battery level. */
export function toObservation(
  { name, battery, details }: Transmitter,
  receiver: { readonly manufacturer: string; readonly model: string | null },
): BatteryObservation | null {
  if (battery === null) return null
  const model = details?.model ?? receiver.model
  return {
    manufacturer: receiver.manufacturer,
    model,
    batteryType: details?.battery_type ?? null,
    name,
    percent: battery,
  }
}

/**
 * Adds an observation. Returns the discharge of the current battery, which is a new one if `before` has ended. Returns
 * `before` itself if nothing changed, and for 10 s after a repeated observation.
 */
export function observe(
  before: Discharge | null,
  observation: BatteryObservation | null,
  now: number,
): Discharge | null {
  if (observation === null) {
    if (before === null || !before.isOn) return before
    return { ...before, onMs: before.onMs + observedMs(before, now), isOn: false, observedAt: now }
  }
  if (before === null || isAnother(before, observation, now)) return start(observation, now)
  if (isUnchanged(before, observation) && Math.abs(now - before.observedAt) < unchangedEveryMs) return before
  const onMs = before.onMs + (before.isOn ? observedMs(before, now) : 0)
  const lowest = before.steps.at(-1)?.[0] ?? 100
  const { percent, name } = observation
  const steps: readonly DischargeStep[] = percent < lowest ? [...before.steps, [percent, onMs]] : before.steps
  return { ...before, name, steps, percent, onMs, isOn: true, observedAt: now }
}

function start({ percent, ...kind }: BatteryObservation, now: number): Discharge {
  return { startedAt: now, steps: [[percent, 0]], percent, onMs: 0, isOn: true, observedAt: now, ...kind }
}

function isAnother(before: Discharge, after: BatteryObservation, now: number): boolean {
  if (after.percent - before.percent >= riseOfAnother || isNewReading(before, after, now)) return true
  const isOtherKind =
    before.manufacturer !== after.manufacturer ||
    before.model !== after.model ||
    (before.batteryType !== null && after.batteryType !== null && before.batteryType !== after.batteryType)
  if (isOtherKind) return true
  // A transmitter that is on may be renamed. After it was off, another name is another transmitter.
  if (!before.isOn) return before.name !== null && after.name !== null && before.name !== after.name
  // The discharge time of a battery that drained unobserved is unknown.
  return now - before.observedAt > longestUnobservedMs
}

function isNewReading(before: Discharge, { percent }: BatteryObservation, now: number): boolean {
  if (Math.abs(percent - before.percent) <= largestChange) return false
  if (now - before.observedAt > largestChangeWithinMs) return false
  const levels = [...before.steps.map(([level]) => level), before.percent, percent]
  return !coarseGauges.some((gauge) => {
    if (!levels.every((level) => gauge.includes(level))) return false
    return Math.abs(gauge.indexOf(percent) - gauge.indexOf(before.percent)) === 1
  })
}

/** Returns the discharge rate in percent per hour. */
export function rateOf({ steps, onMs }: DischargeCurve): number {
  const [first] = steps[0] ?? [0]
  const [last] = steps.at(-1) ?? [0]
  return (first - last) / (onMs / 3_600_000)
}

function isUnchanged({ isOn, name, percent }: Discharge, observation: BatteryObservation): boolean {
  return isOn && name === observation.name && percent === observation.percent
}

/** Returns the time since the last observation if it counts as discharge. */
function observedMs({ observedAt }: Discharge, now: number): number {
  const ms = now - observedAt
  return ms < 0 || ms > longestUnobservedMs ? 0 : ms
}

/** True if a discharge can be compared with others: at least 20 minutes and two levels. */
export function isComparable({ onMs, steps }: DischargeCurve): boolean {
  return onMs >= 20 * 60_000 && steps.length >= 2
}

/** True if a battery was used until it was empty: to 10%, or to the lowest step of equipment with few steps. */
export function isUsedUp({ steps }: Pick<Discharge, 'steps'>): boolean {
  const last = steps.at(-1)?.[0] ?? 100
  const before = steps.at(-2)?.[0] ?? 100
  return last <= 10 || (last <= 20 && before - last >= 10)
}

/** Identifies comparable batteries. */
export function kindKey({ manufacturer, model, batteryType }: BatteryKind): string {
  return JSON.stringify([manufacturer, model, batteryType])
}
