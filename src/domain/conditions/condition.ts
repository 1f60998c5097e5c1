/** The condition of a channel, and the table of all states in order of precedence. */

import type { AlertKind } from '../../contract/alert-kinds.ts'
import { type Settings, type ThresholdKey, thresholdKinds } from '../../contract/settings.ts'
import type { conditionFlags, conditionStates, EventKind, evaluatedStates, Severity } from '../../contract/values.ts'
import { valueInForce } from '../settings.ts'

interface ConditionRow {
  readonly state: ConditionState
  readonly severity: 'ok' | Severity
  /** The severity if the channel was not in use when its receiver last reported. */
  readonly severityIfUnused?: Severity
  /** `in_use`: if the channel was in use. `on`: while a transmitter is on. `setting`: see `MUTE_ATTENTION`. */
  readonly attention: boolean | 'in_use' | 'on' | 'setting'
  /**
   * The data that the row needs:
   * - `levels`: current levels.
   * - `reception`: a receiver that is neither stale nor offline.
   * - `reading`: the last battery reading; the receiver is not offline.
   * - `memory`: nothing current.
   */
  readonly needs: 'memory' | 'reading' | 'reception' | 'levels'
}

/** The state of a channel is the first true row. `ok` and `unmonitored` are not evaluated. */
export const conditionTable = [
  {
    state: 'receiver_offline',
    severity: 'critical',
    severityIfUnused: 'warning',
    attention: 'in_use',
    needs: 'memory',
  },
  { state: 'stale', severity: 'warning', attention: true, needs: 'memory' },
  { state: 'no_levels', severity: 'warning', attention: 'on', needs: 'reception' },
  { state: 'encryption_error', severity: 'critical', attention: true, needs: 'reception' },
  { state: 'battery_critical', severity: 'critical', attention: true, needs: 'reading' },
  { state: 'battery_died', severity: 'critical', attention: true, needs: 'memory' },
  { state: 'interference', severity: 'warning', attention: true, needs: 'levels' },
  { state: 'rf_weak', severity: 'warning', attention: true, needs: 'levels' },
  { state: 'battery_low', severity: 'warning', attention: true, needs: 'reading' },
  { state: 'no_audio', severity: 'warning', attention: true, needs: 'levels' },
  { state: 'muted', severity: 'info', attention: 'setting', needs: 'reception' },
  { state: 'clipping', severity: 'info', attention: false, needs: 'levels' },
  { state: 'battery_replace_soon', severity: 'info', attention: false, needs: 'reading' },
  { state: 'charging', severity: 'ok', attention: false, needs: 'reception' },
  { state: 'tx_off', severity: 'info', attention: false, needs: 'reception' },
  { state: 'no_battery_data', severity: 'ok', attention: false, needs: 'reception' },
  { state: 'ok', severity: 'ok', attention: false, needs: 'memory' },
  { state: 'unmonitored', severity: 'ok', attention: false, needs: 'memory' },
] as const satisfies readonly ConditionRow[]

export type ConditionState = (typeof conditionStates)[number]
export type ConditionSeverity = (typeof conditionTable)[number]['severity']
/** The state is `ok` if none of these rows is true. */
export type EvaluatedState = (typeof evaluatedStates)[number]
/** The other true rows in the order of the table, then `rf_fair` and `rf_concealed`, which are never states. */
export type ConditionFlag = (typeof conditionFlags)[number]

interface TrueRows {
  readonly state: ConditionState
  readonly flags: readonly ConditionFlag[]
}

export interface Condition extends TrueRows {
  readonly severity: ConditionSeverity
  readonly attention: boolean
  /** The start of `state` in epoch milliseconds. Changes of flags do not move it. */
  readonly since: number
  /** False if the state may have started before `since`. */
  readonly since_known: boolean
  /** Epoch milliseconds of the last values of a stale or offline channel. */
  readonly values_at?: number
}

export interface LastTransmitter {
  readonly name: string | null
  readonly battery: number | null
  readonly minutes_left: number | null
  /** Epoch milliseconds. */
  readonly last_seen: number
}

/** The condition before the first evaluation. */
export const unknownCondition: Condition = {
  state: 'ok',
  severity: 'ok',
  attention: false,
  since: 0,
  since_known: false,
  flags: [],
}

export function unmonitoredCondition(since: number): Condition {
  return { state: 'unmonitored', severity: 'ok', attention: false, since, since_known: true, flags: [] }
}

export function hasRow({ state, flags }: TrueRows, row: ConditionFlag): boolean {
  return state === row || flags.includes(row)
}

/** True while nothing is received from the channel, so that changes of its state go unnoticed. */
export function isInterruption(condition: TrueRows): boolean {
  return hasRow(condition, 'stale') || condition.state === 'receiver_offline'
}

/** Returns the condition after one of its rows ends at `now` (epoch milliseconds). */
export function withoutRow(condition: Condition, row: ConditionFlag, now: number): Condition {
  const rest = condition.flags.filter((flag) => flag !== row)
  if (condition.state !== row) return { ...condition, flags: rest }
  const { state, severity, attention } =
    conditionTable.find((next) => rest.some((flag) => flag === next.state)) ?? unknownCondition
  const flags = rest.filter((flag) => flag !== state)
  return { ...condition, state, severity, attention: attention === true, since: now, since_known: true, flags }
}

export type Thresholds = Pick<Settings, ThresholdKey>
/** The values that one scope sets. */
export type ScopeThresholds = Partial<Thresholds>

const keys = Object.keys(thresholdKinds) as ThresholdKey[]

export function resolveThresholds(
  global: ScopeThresholds,
  manufacturer: ScopeThresholds,
  groups: readonly ScopeThresholds[],
): Thresholds {
  const scopes = { global, manufacturer, groups }
  const values = Object.fromEntries(keys.map((key) => [key, valueInForce(key, scopes)])) as unknown as Thresholds
  return {
    ...values,
    // A critical bound above the low bound counts as equal to it.
    BATTERY_CRITICAL: Math.min(values.BATTERY_CRITICAL, values.alert_battery_threshold),
    MINUTES_CRITICAL: Math.min(values.MINUTES_CRITICAL, values.MINUTES_LOW),
  }
}

/** `shows`: the running shows of the channel. */
export function needsMuteAttention({ MUTE_ATTENTION }: Thresholds, shows: readonly number[]): boolean {
  return MUTE_ATTENTION === 'always' || (MUTE_ATTENTION === 'during_shows' && shows.length > 0)
}

/** Returns the bound for alerts or events of this kind in percent, minutes or dBm, or null. */
export function boundOf(kind: AlertKind | EventKind, thresholds: Thresholds): number | null {
  switch (kind) {
    case 'battery_low':
      return thresholds.alert_battery_threshold
    case 'battery_critical':
    case 'battery_died':
      return thresholds.BATTERY_CRITICAL
    case 'rf_weak':
    case 'rf_dropout':
      return thresholds.RF_WEAK_DBM
    case 'interference':
      return thresholds.RF_NOISE_DBM
    case 'no_audio':
      return thresholds.NO_AUDIO_MINUTES
    default:
      return null
  }
}
