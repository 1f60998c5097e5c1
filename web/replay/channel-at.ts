/**
 * The last complete record, changed by the recorded steps and events since then. Other values stay as they were until
 * the next complete record.
 */

import type { ChannelBody, TransmitterBody } from '../../src/contract/channels.ts'
import type { EventBody } from '../../src/contract/history.ts'
import { conditionFlags } from '../../src/contract/values.ts'
import { type ConditionFlag, conditionTable } from '../../src/domain/conditions/condition.ts'
import { stretches } from '../../src/domain/conditions/level-watch.ts'
import type { StateLetter } from '../../src/domain/history/columns.ts'
import type { Condition } from '../app/conditions.ts'

export interface StepAt {
  readonly letter: StateLetter
  /** Epoch milliseconds since the channel has had this letter. */
  readonly since: number
  readonly battery: number | null
  readonly minutes: number | null
}

export interface ChannelAtOptions {
  readonly channel: ChannelBody
  /** Epoch milliseconds, like `at`. */
  readonly recordedAt: number
  readonly at: number
  /** Null if the step is not loaded. */
  readonly step: StepAt | null
  readonly events: readonly EventBody[]
  readonly hasMuteAttention: boolean
}

interface Rows {
  /** The rows that are true, with their start in epoch milliseconds. */
  readonly since: Map<ConditionFlag, number>
  endedAt: number
}

export function channelAt(options: ChannelAtOptions): ChannelBody {
  const { channel, step } = options
  const rows = rowsOf(channel.condition, options.recordedAt)
  const named = applyEvents(options, rows)
  const current = step === null ? named : applyStep(named, step, rows)
  const condition = conditionOf(rows, options)
  const isSame = current === channel && condition === channel.condition
  return isSame ? channel : { ...current, condition }
}

function rowsOf({ state, since, flags }: Condition, recordedAt: number): Rows {
  const rows = new Map(flags.map((flag) => [flag, recordedAt]))
  if (isRow(state)) rows.set(state, Date.parse(since))
  return { since: rows, endedAt: recordedAt }
}

function isRow(name: unknown): name is ConditionFlag {
  return (conditionFlags as readonly unknown[]).includes(name)
}

/** Events of these kinds last as long as the row of the same name. */
const spans: readonly string[] = ['interference', 'clipping', 'battery_low', 'battery_critical']

interface RowSpan {
  readonly row: ConditionFlag
  readonly began: number
  readonly ended: number | null
}

function rowSpanOf({ kind, time, until, data }: EventBody): RowSpan | null {
  const began = Date.parse(time)
  const ended = data.open === true ? null : Date.parse(until ?? time) + (until === null ? 1_000 : 0)
  if (spans.includes(kind) && isRow(kind)) return { row: kind, began, ended }
  if (kind !== 'rf_dropout') return null
  const { row, afterMs, holdMs } = stretches.weak
  if (ended !== null && ended - began < afterMs) return null
  return { row, began: began + afterMs, ended: ended === null ? null : ended + holdMs }
}

function applyEvents({ channel, recordedAt, at, events }: ChannelAtOptions, rows: Rows): ChannelBody {
  let current = channel
  for (const event of events) {
    const { kind, time, data } = event
    const began = Date.parse(time)
    const span = rowSpanOf(event)
    if (span !== null && span.ended !== null && span.ended <= at) {
      if (span.ended > recordedAt) end(rows, span.row, span.ended)
    } else if (span !== null && span.began > recordedAt && span.began <= at) add(rows, span.row, span.began)
    if (began <= recordedAt) continue
    if (kind === 'alert_raised' && isRow(data.kind)) add(rows, data.kind, began)
    if (kind === 'alert_cleared' && isRow(data.kind)) remove(rows, data.kind, began)
    if (kind === 'renamed') current = withText(current, 'name', data)
    if (kind === 'frequency_changed') current = withText(current, 'frequency', data)
  }
  return current
}

function add({ since }: Rows, row: ConditionFlag, at: number) {
  if (!since.has(row)) since.set(row, at)
}

function end(rows: Rows, row: ConditionFlag, at: number) {
  rows.since.delete(row)
  rows.endedAt = Math.max(rows.endedAt, at)
}

function remove(rows: Rows, row: ConditionFlag, at: number) {
  if (rows.since.has(row)) end(rows, row, at)
}

/** Changes the transmitter or the channel, whichever had the value before the event. */
function withText(channel: ChannelBody, field: 'name' | 'frequency', { from, to }: EventBody['data']): ChannelBody {
  if (typeof to !== 'string') return channel
  const change = <Kind extends Pick<ChannelBody, 'name' | 'frequency'>>(record: Kind): Kind =>
    record[field] === from ? { ...record, [field]: to } : record
  return { ...change(channel), transmitter: channel.transmitter && change(channel.transmitter) }
}

function applyStep(channel: ChannelBody, step: StepAt, rows: Rows): ChannelBody {
  const { letter, since } = step
  switch (letter) {
    case '-':
      removeRows(rows, ['levels', 'reception'], since)
      add(rows, 'stale', since)
      return channel
    case 'x':
      removeRows(rows, ['levels', 'reception', 'reading'], since)
      remove(rows, 'stale', since)
      add(rows, 'receiver_offline', since)
      return channel
    case '0':
      for (const row of ['receiver_offline', 'stale'] as const) remove(rows, row, since)
      if (channel.transmitter !== null) removeRows(rows, ['levels', 'reception', 'reading'], since)
      if (!rows.since.has('battery_died')) add(rows, 'tx_off', since)
      return withoutTransmitter(channel, since)
    default:
      for (const row of ['receiver_offline', 'stale', 'tx_off', 'battery_died'] as const) remove(rows, row, since)
      if (letter === 'm') add(rows, 'muted', since)
      else end(rows, 'muted', since)
      return withTransmitter(channel, step)
  }
}

type Need = (typeof conditionTable)[number]['needs']

function removeRows(rows: Rows, needs: readonly Need[], at: number) {
  for (const { state, needs: input } of conditionTable) {
    if (needs.includes(input) && isRow(state)) remove(rows, state, at)
  }
  if (needs.includes('reception')) remove(rows, 'rf_fair', at)
}

function withoutTransmitter(channel: ChannelBody, lastSeen: number): ChannelBody {
  const { transmitter } = channel
  if (transmitter === null) return channel
  const { name, battery, details } = transmitter
  const last_seen = new Date(lastSeen).toISOString()
  const last_transmitter = { name, battery, minutes_left: details?.battery_minutes ?? null, last_seen }
  return { ...channel, transmitter: null, last_transmitter }
}

function withTransmitter(channel: ChannelBody, { battery, minutes }: StepAt): ChannelBody {
  const { slot, name, frequency, last_transmitter: last } = channel
  const unknown: TransmitterBody = {
    ...{ slot, upstream_slot: null, name: last?.name ?? name, frequency },
    ...{ battery: last?.battery ?? null, forecast: null, audio_level: null, rf_level: null },
  }
  const before = channel.transmitter ?? unknown
  const left = before.details?.battery_minutes ?? null
  const isSame = (battery ?? before.battery) === before.battery && (minutes ?? left) === left
  if (channel.transmitter !== null && isSame) return channel
  const details = minutes === null ? before.details : { ...before.details, battery_minutes: minutes }
  const { last_transmitter: _, ...rest } = channel
  return {
    ...rest,
    transmitter: {
      ...before,
      battery: battery ?? before.battery,
      forecast: minutes === null ? null : { minutes_left: minutes, source: 'device', low: minutes, high: minutes },
      ...(details !== undefined && { details }),
    },
  }
}

/** The recorded condition if it has the same rows. */
function conditionOf({ since, endedAt }: Rows, { channel, recordedAt, hasMuteAttention }: ChannelAtOptions): Condition {
  const recorded = channel.condition
  const row = conditionTable.find(({ state }) => isRow(state) && since.has(state))
  const state = row?.state ?? (recorded.state === 'unmonitored' ? 'unmonitored' : 'ok')
  const flags = conditionFlags.filter((flag) => since.has(flag) && flag !== state)
  const hasEnded = !isRow(state) && endedAt > recordedAt
  if (state === recorded.state && !hasEnded) {
    return flags.join() === recorded.flags.join() ? recorded : { ...recorded, flags }
  }
  const isInUse = channel.transmitter !== null
  const attentions = { in_use: isInUse, on: isInUse, setting: hasMuteAttention } as const
  const attention = row?.attention ?? false
  const at = (isRow(state) ? since.get(state) : null) ?? endedAt
  return {
    state,
    severity: state === 'receiver_offline' && !isInUse ? 'warning' : (row?.severity ?? 'ok'),
    attention: typeof attention === 'string' ? attentions[attention] : attention,
    since: new Date(at).toISOString(),
    // A state from before the recording may have started at any time.
    since_known: at > recordedAt || (state === recorded.state && recorded.since_known),
    flags,
  }
}
