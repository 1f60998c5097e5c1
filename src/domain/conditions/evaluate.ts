/**
 * Evaluates the condition of a channel: a pure function of the stored record, the watch of its levels, the memory, the
 * thresholds and the time.
 *
 * There are two clocks. Intervals are monotonic milliseconds (`performance.now()`), which mean nothing after a restart.
 * Times that are shown or survive restarts are epoch milliseconds.
 *
 * Callers evaluate a channel after a report, after a sample for which `updateWatch` returned true, when other input
 * changed (reception, thresholds, shows), and at `dueAt`. They pass the current values to `updateWatch` first, but
 * never stored ones, so after a restart the watch changes only with the first report. When a channel becomes stale or
 * offline, they call `resetWatch(watch, null)`, which ends its stretches (times in which a level was beyond a limit).
 */

import { type Channel, isChannelMuted, type Receiver } from '../equipment/receiver.ts'
import { type BatteryEntries, evaluateBattery, isUnknown, noEntries, readBattery } from './battery.ts'
import type { Thresholds } from './condition.ts'
import {
  type Condition,
  type ConditionFlag,
  conditionTable,
  type EvaluatedState,
  hasRow,
  isInterruption,
  type LastTransmitter,
  needsMuteAttention,
  withoutRow,
} from './condition.ts'
import { isStretchTrue, type LevelWatch, nextStretchChange, stretches } from './level-watch.ts'
import {
  type ConditionMemory,
  diedUntil,
  getLastTransmitter,
  isSameTransmitter,
  noTransmitterMemory,
  rememberedUntil,
  rememberTransmitter,
  wasInUse,
} from './memory.ts'

/** When the sources of a receiver last sent anything, in monotonic milliseconds. */
export interface Reception {
  /** Null if nothing was received since this process began to watch. */
  readonly receivedAt: number | null
  /** True if the receiver has reported since this process began to watch it. */
  readonly hasReported: boolean
  /** When this process began to watch the receiver's sources. */
  readonly watchedSince: number
  readonly intervalMs: number
}

export interface Time {
  readonly monotonic: number
  /** Epoch milliseconds. */
  readonly wall: number
}

/** `lost`: none has arrived for too long. `unknown`: this process has received none and has not waited long enough. */
export type LevelsStatus = 'current' | 'lost' | 'unknown'

export interface EvaluationInput {
  readonly receiver: Pick<Receiver, 'is_active' | 'last_seen' | 'details'>
  readonly channel: Pick<Channel, 'transmitter' | 'details'>
  readonly reception: Reception
  readonly levels: LevelsStatus
  readonly watch: LevelWatch
  /** The memory that the previous evaluation returned; null for a new channel. */
  readonly memory: ConditionMemory | null
  /** True if this process computed `memory` and has seen every change since. */
  readonly isObserved: boolean
  readonly thresholds: Thresholds
  /** The ids of the running shows that include this channel. */
  readonly shows: readonly number[]
  readonly now: Time
}

export interface Evaluation {
  /** The previous object if nothing changed. */
  readonly condition: Condition
  /** Null while there is a transmitter. A new object each time: compare its fields. */
  readonly lastTransmitter: LastTransmitter | null
  /** The previous object if nothing changed, so that only changes are stored. */
  readonly memory: ConditionMemory
  /** The next monotonic time at which the result can change without a report or sample, or null. */
  readonly dueAt: number | null
}

type Availability = 'offline' | 'stale' | 'current'

/** True if an earlier process stored all that is known of a receiver, and a report may still arrive in time. */
export function isStored({
  receiver,
  reception,
  now,
}: Pick<EvaluationInput, 'receiver' | 'reception' | 'now'>): boolean {
  return receiver.is_active && !reception.hasReported && now.monotonic < staleAt(reception)
}

export function evaluateCondition(input: EvaluationInput): Evaluation {
  const { receiver, channel, memory: before } = input
  if (before !== null && isStored(input)) return keepStored(input, before)
  const availability = getAvailability(input)
  const battery = updateBattery(input)
  const transmitter = updateTransmitter(input, availability === 'current')
  const rows = { ...evaluateRows(input, battery, transmitter.died !== null), no_levels: hasLostLevels(input) }
  const isInUse = channel.transmitter !== null || wasInUse(transmitter, receiver.last_seen)
  const condition = toCondition(input, availability, rows, isInUse)
  return toEvaluation(input, availability, { condition, transmitter, battery })
}

/** Stored values are not evaluated as if they had just arrived. Only `battery_died` may end over time. */
function keepStored(input: EvaluationInput, before: ConditionMemory): Evaluation {
  const transmitter = updateTransmitter(input, false)
  const hasDeathEnded = transmitter.died === null && before.transmitter.died !== null
  const condition = hasDeathEnded ? withoutRow(before.condition, 'battery_died', input.now.wall) : before.condition
  return toEvaluation(input, 'current', { condition, transmitter, battery: before.battery })
}

function toEvaluation(input: EvaluationInput, availability: Availability, after: ConditionMemory): Evaluation {
  const { transmitter } = input.channel
  const memory = keepIfEqual(input.memory, after)
  const lastTransmitter = transmitter === null ? getLastTransmitter(after.transmitter, input.now.wall) : null
  const dueAt = getDueAt(input, availability, memory, lastTransmitter)
  return { condition: after.condition, lastTransmitter, memory, dueAt }
}

function keepIfEqual(before: ConditionMemory | null, after: ConditionMemory): ConditionMemory {
  const isSame =
    before !== null &&
    before.condition === after.condition &&
    before.transmitter === after.transmitter &&
    before.battery === after.battery
  return isSame ? before : after
}

function getAvailability({ receiver, reception, now }: EvaluationInput): Availability {
  if (!receiver.is_active) return 'offline'
  return now.monotonic >= staleAt(reception) ? 'stale' : 'current'
}

function staleAt({ receivedAt, watchedSince, intervalMs }: Reception): number {
  return (receivedAt ?? watchedSince) + Math.max(3 * intervalMs, 30_000)
}

function updateTransmitter(input: EvaluationInput, isCurrent: boolean) {
  const { receiver, channel, memory, shows, thresholds, now } = input
  return rememberTransmitter(memory?.transmitter ?? noTransmitterMemory, {
    transmitter: channel.transmitter,
    isCurrent,
    lastSeen: receiver.last_seen,
    shows,
    thresholds,
    now: now.wall,
  })
}

function updateBattery({ channel, memory, thresholds }: EvaluationInput): BatteryEntries {
  const before = memory?.battery ?? noEntries
  const { transmitter } = channel
  if (transmitter === null) return before
  return evaluateBattery(before, {
    reading: readBattery(transmitter),
    thresholds,
    isSameTransmitter: isSameTransmitter(memory?.transmitter ?? noTransmitterMemory, transmitter),
  })
}

function hasLostLevels({ levels, memory }: EvaluationInput): boolean {
  if (levels !== 'unknown') return levels === 'lost'
  return memory !== null && hasRow(memory.condition, 'no_levels')
}

type Rows = Readonly<
  Record<Exclude<EvaluatedState, 'receiver_offline' | 'stale'> | 'rf_fair' | 'rf_concealed', boolean>
>

/** Evaluates every row, whatever the availability of the receiver. */
function evaluateRows(input: EvaluationInput, battery: BatteryEntries, hasDied: boolean): Omit<Rows, 'no_levels'> {
  const { transmitter, details } = input.channel
  const isOn = transmitter !== null
  const isMuted = isChannelMuted(input.channel)
  const isHeld = (name: keyof typeof stretches) =>
    !isScanning(input.receiver) && isStretchTrue(input.watch, stretches[name], input.now.monotonic)
  return {
    encryption_error: isOn && details?.encryption === 'error',
    battery_critical: isOn && battery.battery_critical !== null,
    battery_died: hasDied,
    interference: isHeld('noise') || isHeld('reportedInterference'),
    rf_weak: isOn && isHeld('weak'),
    battery_low: isOn && battery.battery_low !== null,
    no_audio: isOn && isSilent(input),
    muted: isOn && isMuted,
    clipping: isOn && (isHeld('peak') || isHeld('reportedOverload')),
    battery_replace_soon: isOn && battery.battery_replace_soon !== null,
    charging: !isOn && (details?.charging ?? null) !== null,
    tx_off: !isOn,
    no_battery_data: isOn && isUnknown(readBattery(transmitter)),
    rf_fair: isHeld('fair'),
    rf_concealed: isOn && details?.rf_concealed === true,
  }
}

/** The levels of a receiver that scans the spectrum are those of other frequencies. */
export function isScanning({ details }: Pick<Receiver, 'details'>): boolean {
  return details?.scanning != null
}

function isSilent({ watch, thresholds, now }: EvaluationInput): boolean {
  return thresholds.NO_AUDIO_MINUTES > 0 && isStretchTrue(watch, silence(thresholds), now.monotonic)
}

const fixedStretches = Object.values(stretches).filter((stretch) => stretch !== stretches.silent)

function silence({ NO_AUDIO_MINUTES }: Thresholds) {
  return { ...stretches.silent, afterMs: NO_AUDIO_MINUTES * 60_000 }
}

type Row = (typeof conditionTable)[number]

/** Returns the previous condition itself if nothing changed. */
function toCondition(input: EvaluationInput, availability: Availability, rows: Rows, isInUse: boolean): Condition {
  const { memory } = input
  const trueRows = conditionTable.filter((row) => isRowTrue(row, availability, rows))
  const stateRow = findStateRow(trueRows)
  const { state } = stateRow
  const flags = trueRows.map((row) => row.state as ConditionFlag).filter((flag) => flag !== state)
  const hasLevels = availability === 'current' && !rows.no_levels
  if (hasLevels && rows.rf_fair && state !== 'rf_weak') flags.push('rf_fair')
  if (hasLevels && rows.rf_concealed) flags.push('rf_concealed')
  const before = memory?.condition
  const { since, since_known } = before?.state === state ? before : toBeginning(input, state)
  const severity = 'severityIfUnused' in stateRow && !isInUse ? stateRow.severityIfUnused : stateRow.severity
  const attention = needsAttention(stateRow, input, isInUse)
  const values = availability === 'current' ? {} : { values_at: input.receiver.last_seen }
  const after: Condition = { state, severity, attention, since, since_known, ...values, flags }
  return before !== undefined && areEqual(before, after) ? before : after
}

/** A state that follows an interruption may have begun during it. */
function toBeginning({ memory, isObserved, now }: EvaluationInput, state: Row['state']) {
  const isSeen =
    memory !== null && isObserved && (!isInterruption(memory.condition) || isInterruption({ state, flags: [] }))
  return { since: now.wall, since_known: isSeen }
}

function isRowTrue({ state, needs }: Row, availability: Availability, rows: Rows): boolean {
  switch (state) {
    case 'receiver_offline':
      return availability === 'offline'
    case 'stale':
      return availability === 'stale'
    case 'ok':
    case 'unmonitored':
      return false
    default:
      return availableData[availability].includes(needs) && (needs !== 'levels' || !rows.no_levels) && rows[state]
  }
}

const availableData: Readonly<Record<Availability, readonly Row['needs'][]>> = {
  offline: ['memory'],
  stale: ['memory', 'reading'],
  current: ['memory', 'reading', 'reception', 'levels'],
}

/** Returns the first row. Stale data and lost levels do not hide a critical battery. */
function findStateRow(trueRows: readonly Row[]): Row {
  const [first = okRow] = trueRows
  if (first.state !== 'stale' && first.state !== 'no_levels') return first
  return trueRows.find(({ state }) => state === 'battery_critical') ?? first
}

const okRow: Row = { state: 'ok', severity: 'ok', attention: false, needs: 'memory' }

function needsAttention(
  { attention }: Row,
  { channel, thresholds, shows }: EvaluationInput,
  isInUse: boolean,
): boolean {
  switch (attention) {
    case 'in_use':
      return isInUse
    case 'on':
      return channel.transmitter !== null
    case 'setting':
      return needsMuteAttention(thresholds, shows)
    default:
      return attention
  }
}

function areEqual(a: Condition, b: Condition): boolean {
  return (
    a.state === b.state &&
    a.severity === b.severity &&
    a.attention === b.attention &&
    a.values_at === b.values_at &&
    a.flags.length === b.flags.length &&
    a.flags.every((flag, index) => flag === b.flags[index])
  )
}

function getDueAt(
  { watch, reception, thresholds, now }: EvaluationInput,
  availability: Availability,
  { transmitter }: ConditionMemory,
  lastTransmitter: LastTransmitter | null,
): number | null {
  const toMonotonic = (wall: number) => now.monotonic + (wall - now.wall)
  let next = Number.POSITIVE_INFINITY
  if (availability === 'current') {
    next = staleAt(reception)
    for (const stretch of fixedStretches) next = Math.min(next, nextStretchChange(watch, stretch, now.monotonic))
    if (thresholds.NO_AUDIO_MINUTES > 0) {
      next = Math.min(next, nextStretchChange(watch, silence(thresholds), now.monotonic))
    }
  }
  if (transmitter.died !== null) next = Math.min(next, toMonotonic(diedUntil(transmitter)))
  if (lastTransmitter !== null) next = Math.min(next, toMonotonic(rememberedUntil(transmitter)))
  return next === Number.POSITIVE_INFINITY ? null : next
}
