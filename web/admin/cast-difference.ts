/** Turns the changes of a cast import into rows that the page displays. */

import type { CastImport, RecordChange } from '../../src/contract/resources/imports.ts'
import { isRecord } from '../../src/domain/json.ts'

export interface Wearer {
  readonly name: string
  readonly role: string | null
}

/** A unit whose performer or role changes. */
export interface AssignmentRow {
  readonly unit: number
  readonly slot: number | null
  readonly before: Wearer | null
  readonly after: Wearer | null
}

export interface CastDifference {
  /** By slot. */
  readonly assignments: readonly AssignmentRow[]
  readonly added: readonly string[]
  /** Number of stored performers whose notes or pictures change. */
  readonly updated: number
}

export function toDifference(changes: CastImport['changes']): CastDifference {
  const rows = new Map<number, AssignmentRow>()
  const performers = changes.filter(({ what }) => what === 'performer')
  for (const change of changes.filter(({ what }) => what === 'assignment')) {
    const [from, to] = [toAssignment(change.from), toAssignment(change.to)]
    const unit = (to ?? from)?.unit
    if (unit === undefined) continue
    const row = rows.get(unit) ?? { unit, slot: (to ?? from)?.slot ?? null, before: null, after: null }
    // The assignment of the previous performer ends with a change of its own.
    rows.set(unit, { ...row, before: from?.wearer ?? row.before, after: to?.wearer ?? row.after })
  }
  return {
    assignments: [...rows.values()].toSorted((a, b) => (a.slot ?? Infinity) - (b.slot ?? Infinity) || a.unit - b.unit),
    added: performers.flatMap(({ from, to }) => (from === null && isRecord(to) ? [String(to.name)] : [])),
    updated: performers.filter(({ from }) => from !== null).length,
  }
}

function toAssignment(value: RecordChange['from']) {
  if (!isRecord(value) || !isRecord(value.performer)) return null
  const { slot, wireless_unit, performer, role } = value
  return {
    unit: Number(wireless_unit),
    slot: typeof slot === 'number' ? slot : null,
    wearer: { name: String(performer.name), role: typeof role === 'string' ? role : null },
  }
}

const columnSeparators = ['\t', ';', ',']

/** Returns the number of columns in the first line that is not empty: the most that any separator yields. */
export function countColumns(text: string): number {
  const line = text.split('\n').find((line) => line.trim() !== '') ?? ''
  return Math.max(...columnSeparators.map((separator) => line.split(separator).length))
}
