/** The line check of a show as a report, by slot. Checked channels have their values at the time of the check. */

import type { ChannelCheckBody, CheckedState } from '../../contract/checks.ts'
import type { CheckReport } from '../../contract/reports.ts'
import type { SlotRecord } from '../../contract/slots.ts'
import { type Check, type CheckState, notChecked } from '../checks.ts'
import { byteOrderMark, toCell, toLine } from '../csv.ts'
import type { Channel } from '../equipment/receiver.ts'
import { type Show, toShowBody } from '../shows.ts'
import { toTimestamp } from '../timestamp.ts'
import type { SlotOfShow } from './crew-sheet.ts'

export interface CheckReportState {
  readonly slots: readonly SlotOfShow[]
  /** By channel. */
  readonly states: ReadonlyMap<number, CheckState>
  /** Of channels without a result; empty after the show. */
  readonly readings: ReadonlyMap<number, Pick<ChannelCheckBody, 'sees'>>
}

type ReportedCheck = CheckReport['slots'][number]

export function toCheckReport(show: Show, { slots, states, readings }: CheckReportState): CheckReport {
  const present = new Set(slots.map(({ channel }) => channel?.id))
  const removed = [...states].flatMap(([id, { last }]) =>
    last === null || last.checked === null || present.has(id) ? [] : toChecked(last, last.checked),
  )
  // A removed channel leaves a placeholder.
  const left = new Set(removed.map(({ slot }) => slot))
  const listed = slots.filter(
    ({ record, channel }) => record.kind !== 'blank' && (channel !== null || !left.has(record.slot)),
  )
  const rows = listed.map(({ record, channel }) => {
    const id = channel?.id ?? 0
    const unknown = { ...nothingRead, slot: record.slot, title: record.title }
    const { last } = states.get(id) ?? notChecked
    if (last !== null) return toChecked(last, unknown)
    const reading = readings.get(id)
    const read = channel === null || reading === undefined ? unknown : toCheckedState(record, channel, reading)
    return { ...read, ...noResult }
  })
  return { show: toShowBody(show), slots: [...rows, ...removed].sort((a, b) => a.slot - b.slot) }
}

const nothingRead = { pack: null, battery: null, rf_lowest: null, dropouts: null }
const noResult = { result: null, by: null, at: null, note: null }

/** Returns the state of a channel that is stored with its check. */
export function toCheckedState(
  { slot, title }: Pick<SlotRecord, 'slot' | 'title'>,
  { transmitter, last_transmitter }: Channel,
  { sees: { battery, rf_lowest, dropouts } }: Pick<ChannelCheckBody, 'sees'>,
): CheckedState {
  return { slot, title, pack: (transmitter ?? last_transmitter)?.name ?? null, battery, rf_lowest, dropouts }
}

function toChecked({ checked, result, by, checked_at, note }: Check, unknown: CheckedState): ReportedCheck {
  return { ...(checked ?? unknown), result, by, at: checked_at === null ? null : toTimestamp(checked_at), note }
}

const columns = [
  ...(['slot', 'title', 'pack', 'battery', 'rf_lowest', 'dropouts'] as const),
  ...(['result', 'by', 'at', 'note'] as const),
]

export function toCheckReportCsv({ slots }: CheckReport): string {
  const lines = slots.map((row) => {
    const cells = { ...row, result: row.result ?? 'not checked' }
    return toLine(columns.map((column) => toCell(cells[column])))
  })
  return byteOrderMark + toLine(columns) + lines.join('')
}
