import type { CrossedValue } from '../../contract/values.ts'
import type { Transmitter } from '../equipment/receiver.ts'
import type { Thresholds } from './condition.ts'

export interface BatteryReading {
  readonly percent: number | null
  readonly minutes: number | null
  readonly isLow: boolean | null
}

/** A reading at or below any bound enters the row. */
interface BatteryBounds {
  readonly percent: number
  /** Null to ignore minutes. */
  readonly minutes: number | null
  /** True if the equipment's own warning enters the row. */
  readonly includesWarning: boolean
}

export const batteryRows = ['battery_critical', 'battery_low', 'battery_replace_soon'] as const
export type BatteryRow = (typeof batteryRows)[number]

/** The bounds that entered each row; null for a row that is not entered. */
export type BatteryEntries = Readonly<Record<BatteryRow, BatteryBounds | null>>

export const noEntries: BatteryEntries = { battery_critical: null, battery_low: null, battery_replace_soon: null }

/** A row is left this far above its bounds: percentage points, and minutes. */
const margin = 5

export function readBattery({ battery, details }: Transmitter): BatteryReading {
  return { percent: battery, minutes: details?.battery_minutes ?? null, isLow: details?.battery_low ?? null }
}

/** Minutes alone are a reading; a warning alone is not. */
export function isUnknown({ percent, minutes }: BatteryReading): boolean {
  return percent === null && minutes === null
}

export function batteryBounds(thresholds: Thresholds): Readonly<Record<BatteryRow, BatteryBounds>> {
  const { BATTERY_CRITICAL, MINUTES_CRITICAL, alert_battery_threshold, MINUTES_LOW, BATTERY_REPLACE_SOON } = thresholds
  return {
    battery_critical: { percent: BATTERY_CRITICAL, minutes: MINUTES_CRITICAL, includesWarning: false },
    battery_low: { percent: alert_battery_threshold, minutes: MINUTES_LOW, includesWarning: true },
    battery_replace_soon: { percent: BATTERY_REPLACE_SOON, minutes: null, includesWarning: false },
  }
}

/** Has no margin, unlike the row `battery_replace_soon`. */
export function mustBeReplacedSoon(battery: number | null, thresholds: Thresholds): boolean {
  return battery !== null && battery <= thresholds.BATTERY_REPLACE_SOON
}

/** The value or warning that crossed a bound, with the bound in percent or minutes. */
export interface Crossing {
  readonly crossed: CrossedValue
  readonly threshold: number | null
}

/**
 * Returns the value that keeps a reading in a row: at or below its bound, or not yet far enough above it. Minutes are
 * checked first, because they are more meaningful.
 */
export function findCrossing({ percent, minutes, isLow }: BatteryReading, bounds: BatteryBounds): Crossing | null {
  const ofMinutes = { crossed: 'minutes_left', threshold: bounds.minutes } as const
  const ofPercent = { crossed: 'battery', threshold: bounds.percent } as const
  for (const above of [0, margin - 1]) {
    if (minutes !== null && bounds.minutes !== null && minutes <= bounds.minutes + above) return ofMinutes
    if (percent !== null && percent <= bounds.percent + above) return ofPercent
    if (bounds.includesWarning && isLow === true) return { crossed: 'warning', threshold: null }
  }
  return null
}

interface BatteryInput {
  readonly reading: BatteryReading
  readonly thresholds: Thresholds
  readonly isSameTransmitter: boolean
}

/** Returns `before` itself if nothing changed. */
export function evaluateBattery(
  before: BatteryEntries,
  { reading, thresholds, isSameTransmitter }: BatteryInput,
): BatteryEntries {
  const bounds = batteryBounds(thresholds)
  const entries = { ...noEntries }
  for (const row of batteryRows) {
    entries[row] = evaluateRow(isSameTransmitter ? before[row] : null, reading, bounds[row])
  }
  return batteryRows.every((row) => areEqual(entries[row], before[row])) ? before : entries
}

/**
 * A row remains entered while the reading is unknown, and until every known value is 5 above its bound, so that
 * fluctuating readings do not toggle it. Changed bounds start afresh.
 */
function evaluateRow(
  entered: BatteryBounds | null,
  reading: BatteryReading,
  bounds: BatteryBounds,
): BatteryBounds | null {
  if (isAtOrUnder(reading, bounds)) return bounds
  return areEqual(entered, bounds) && !isWellAbove(reading, bounds) ? bounds : null
}

export function isAtOrUnder({ percent, minutes, isLow }: BatteryReading, bounds: BatteryBounds): boolean {
  if (percent !== null && percent <= bounds.percent) return true
  if (minutes !== null && bounds.minutes !== null && minutes <= bounds.minutes) return true
  return bounds.includesWarning && isLow === true
}

function isWellAbove({ percent, minutes, isLow }: BatteryReading, bounds: BatteryBounds): boolean {
  const hasMinutes = minutes !== null && bounds.minutes !== null
  const hasWarning = isLow !== null && bounds.includesWarning
  // A full battery is always well above any bound.
  if (percent !== null && percent < Math.min(100, bounds.percent + margin)) return false
  if (hasMinutes && minutes < (bounds.minutes ?? 0) + margin) return false
  return percent !== null || hasMinutes || hasWarning
}

function areEqual(a: BatteryBounds | null, b: BatteryBounds | null): boolean {
  if (a === null || b === null) return a === b
  return a.percent === b.percent && a.minutes === b.minutes && a.includesWarning === b.includesWarning
}
