/** Icons are in parts/state-icon.tsx, texts in the catalogue, and colours in the style sheet. */

import type { ChannelBody } from '../../src/contract/channels.ts'
import { hasRow } from '../../src/domain/conditions/condition.ts'

export type Condition = ChannelBody['condition']
export type ConditionState = Condition['state']
export type ConditionFlag = Condition['flags'][number]

type Unexceptional = 'ok' | 'no_battery_data' | 'unmonitored'

/** Other states have no visible word. */
export function isException(state: ConditionState): state is Exclude<ConditionState, Unexceptional> {
  return state !== 'ok' && state !== 'no_battery_data' && state !== 'unmonitored'
}

export type BatteryLevel = 'critical' | 'low' | 'replace' | 'good' | 'unknown'

const batteryLevels: Partial<Record<ConditionState | ConditionFlag, BatteryLevel>> = {
  battery_critical: 'critical',
  battery_died: 'critical',
  battery_low: 'low',
  battery_replace_soon: 'replace',
}

/**
 * A battery has one flag at most, because a critical battery is also low. The battery itself shows that its level is
 * unknown.
 */
export function visibleFlags(state: ConditionState, flags: readonly ConditionFlag[]): readonly ConditionFlag[] {
  const battery = [state, ...flags].find((item) => batteryLevels[item] !== undefined)
  return flags.filter((flag) => flag !== 'no_battery_data' && (flag === battery || batteryLevels[flag] === undefined))
}

/** `good` without a row about the battery, `unknown` without a percentage. */
export function batteryLevel({ state, flags }: Condition, percent: number | null): BatteryLevel {
  const row = [state, ...flags].find((item) => batteryLevels[item] !== undefined)
  return (row && batteryLevels[row]) ?? (percent === null ? 'unknown' : 'good')
}

export type RfTone = 'weak' | 'fair' | 'good'

export function rfTone(condition: Condition): RfTone {
  if (hasRow(condition, 'rf_weak')) return 'weak'
  return hasRow(condition, 'rf_fair') ? 'fair' : 'good'
}

const severityOrder: Readonly<Record<Condition['severity'], number>> = { critical: 0, warning: 1, info: 2, ok: 3 }

/** Problems of the same severity that have lasted longer come first. */
export function compareConditions(a: Condition, b: Condition): number {
  const bySeverity = severityOrder[a.severity] - severityOrder[b.severity]
  if (bySeverity !== 0 || a.severity === 'ok') return bySeverity
  return Date.parse(a.since) - Date.parse(b.since)
}
