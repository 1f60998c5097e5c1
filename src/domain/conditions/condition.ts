/** The condition of a channel, and the table of all states in order of precedence. */

import type { conditionFlags, conditionStates, evaluatedStates, Severity } from '../../contract/values.ts'

interface ConditionRow {
  readonly state: ConditionState
  readonly severity: 'ok' | Severity
  /** The severity if the channel was not in use when its receiver was last received. */
  readonly severityIfUnused?: Severity
  /** `in_use`: if the channel was in use. `on`: while a transmitter is on. `setting`: as `MUTE_ATTENTION` says. */
  readonly attention: boolean | 'in_use' | 'on' | 'setting'
  /**
   * What the row is evaluated from. `levels`: current levels, so not while they are lost. `reception`: current data, so
   * not while the receiver is stale or offline. `reading`: the last reading of the battery, so not while the receiver is
   * offline. `memory`: none of these.
   */
  readonly needs: 'memory' | 'reading' | 'reception' | 'levels'
}

/** The state of a channel is the first row that is true. `ok` and `unmonitored` are not evaluated. */
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
  { state: 'tx_off', severity: 'info', attention: false, needs: 'reception' },
  { state: 'no_battery_data', severity: 'ok', attention: false, needs: 'reception' },
  { state: 'ok', severity: 'ok', attention: false, needs: 'memory' },
  { state: 'unmonitored', severity: 'ok', attention: false, needs: 'memory' },
] as const satisfies readonly ConditionRow[]

export type ConditionState = (typeof conditionStates)[number]
export type ConditionSeverity = (typeof conditionTable)[number]['severity']
/** The rows that are evaluated; the state is `ok` if none is true. */
export type EvaluatedState = (typeof evaluatedStates)[number]
/** The other rows that are true, in the order of the table, and then `rf_fair` and `rf_concealed`, which are never states. */
export type ConditionFlag = (typeof conditionFlags)[number]

export interface Condition {
  readonly state: ConditionState
  readonly severity: ConditionSeverity
  readonly attention: boolean
  /** Since when `state` is what it is, in epoch milliseconds. Nothing else moves it. */
  readonly since: number
  /** False if the state may have started before `since`. */
  readonly since_known: boolean
  /** When the values of a channel that is stale or offline were last received, in epoch milliseconds. */
  readonly values_at?: number
  readonly flags: readonly ConditionFlag[]
}

/** The transmitter that a channel without one last received. */
export interface LastTransmitter {
  readonly name: string | null
  readonly battery: number | null
  readonly minutes_left: number | null
  /** Epoch milliseconds. */
  readonly last_seen: number
}

/** Stands for the condition of a channel that was not evaluated yet. */
export const unknownCondition: Condition = {
  state: 'ok',
  severity: 'ok',
  attention: false,
  since: 0,
  since_known: false,
  flags: [],
}

/** The condition of a placeholder, which stands for equipment without telemetry. */
export function unmonitoredCondition(since: number): Condition {
  return { state: 'unmonitored', severity: 'ok', attention: false, since, since_known: true, flags: [] }
}

/** Whether the state or a flag of the condition is `row`. */
export function hasRow({ state, flags }: Pick<Condition, 'state' | 'flags'>, row: ConditionFlag): boolean {
  return state === row || flags.includes(row)
}

/** True while changes of the channel's state go unnoticed, because nothing is received from it. */
export function isInterruption(condition: Pick<Condition, 'state' | 'flags'>): boolean {
  return hasRow(condition, 'stale') || condition.state === 'receiver_offline'
}

/** Returns the condition that follows when one of its rows ends at `now`, in epoch milliseconds. */
export function withoutRow(condition: Condition, row: ConditionFlag, now: number): Condition {
  const rest = condition.flags.filter((flag) => flag !== row)
  if (condition.state !== row) return { ...condition, flags: rest }
  const { state, severity, attention } =
    conditionTable.find((next) => rest.some((flag) => flag === next.state)) ?? unknownCondition
  const flags = rest.filter((flag) => flag !== state)
  return { ...condition, state, severity, attention: attention === true, since: now, since_known: true, flags }
}
