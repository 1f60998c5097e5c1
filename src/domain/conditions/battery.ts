/** The battery rows: when they are entered, and when they are left. */

import type { CrossedValue } from '../../contract/values.ts'
import type { Transmitter } from '../equipment/receiver.ts'
import type { Thresholds } from './thresholds.ts'

export interface BatteryReading {
  readonly percent: number | null
  readonly minutes: number | null
  /** The low-battery warning of the equipment, if it reports one. */
  readonly isLow: boolean | null
}

/** A row is entered at or under any of its bounds. */
interface BatteryBounds {
  readonly percent: number
  /** Null if minutes do not matter. */
  readonly minutes: number | null
  /** Whether the warning of the equipment enters the row too. */
  readonly includesWarning: boolean
}

export const batteryRows = ['battery_critical', 'battery_low', 'battery_replace_soon'] as const
export type BatteryRow = (typeof batteryRows)[number]

/** The bounds under which each row was entered; null if it is not entered. */
export type BatteryEntries = Readonly<Record<BatteryRow, BatteryBounds | null>>

export const noEntries: BatteryEntries = { battery_critical: null, battery_low: null, battery_replace_soon: null }

/** How far above its bounds a row is left: percentage points, and minutes. */
const margin = 5

export function readBattery({ battery, details }: Transmitter): BatteryReading {
  return { percent: battery, minutes: details?.battery_minutes ?? null, isLow: details?.battery_low ?? null }
}

/** Whether the transmitter has no battery reading. Minutes alone are a reading; a warning is not. */
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

/** What crossed its bound: the value, or the warning of the equipment, and the bound in percent or minutes. */
export interface Crossing {
  readonly crossed: CrossedValue
  readonly threshold: number | null
}

/**
 * Returns what keeps a reading in a row: a value at or under its bound, or one that has risen, but not far enough above
 * it. Minutes come first, because they say more. Null if the reading is unknown.
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
  /** Whether the reading is of the same transmitter as the one before. */
  readonly isSameTransmitter: boolean
}

/** Returns which rows are entered after a reading. Returns `before` itself if nothing changed. */
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
 * A row stays entered until every known value is 5 above its bound, so that a fluctuating reading does not change it,
 * and while the reading is unknown. Other bounds are a new start.
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
  // A full battery is always well above, whatever its bound is; one at the bound itself does not get here.
  if (percent !== null && percent < Math.min(100, bounds.percent + margin)) return false
  if (hasMinutes && minutes < (bounds.minutes ?? 0) + margin) return false
  return percent !== null || hasMinutes || hasWarning
}

function areEqual(a: BatteryBounds | null, b: BatteryBounds | null): boolean {
  if (a === null || b === null) return a === b
  return a.percent === b.percent && a.minutes === b.minutes && a.includesWarning === b.includesWarning
}
