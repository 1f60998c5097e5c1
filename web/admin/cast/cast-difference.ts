import type { CastImport, RecordChange } from '../../../src/contract/imports.ts'
import { isRecord } from '../../../src/domain/json.ts'
import { t } from '../../app/i18n.ts'

/** The performer of a slot or a unit, or a placeholder. */
export interface Label {
  /** Empty for a blank placeholder without a name. */
  readonly name: string
  /** The role of the performer, or the note of the placeholder. */
  readonly detail: string | null
}

export interface DifferenceRow {
  readonly kind: 'slot' | 'unit' | 'placeholder' | 'move' | 'group'
  readonly id: number
  readonly slot: number | null
  readonly before: Label | null
  readonly after: Label | null
}

export interface CastDifference {
  readonly rows: readonly DifferenceRow[]
  readonly added: readonly string[]
  /** Stored performers whose notes or pictures change. */
  readonly updated: number
  readonly createdSlots: ReadonlySet<number>
}

export function toDifference(changes: CastImport['changes']): CastDifference {
  const ofKind = (kind: string) => changes.filter(({ what }) => what === kind)
  const performers = ofKind('performer')
  const slotRows = ofKind('slot').flatMap(toSlotRow)
  const slots = new Set(slotRows.map(({ slot }) => slot))
  const placeholders = toPlaceholderRows(ofKind('placeholder'))
  const rows = [
    ...slotRows,
    // The performer of a slot has the pack that is received there.
    ...toUnitRows(ofKind('assignment')).filter(({ slot }) => !slots.has(slot)),
    ...placeholders.filter(({ slot }) => !slots.has(slot)),
    ...toMoveRows([...ofKind('channel_slot'), ...ofKind('placeholder_slot')]),
    ...ofKind('group').flatMap(toGroupRow),
  ]
  return {
    rows: rows.toSorted((a, b) => (a.slot ?? Infinity) - (b.slot ?? Infinity) || a.id - b.id),
    added: performers.flatMap(({ from, to }) => (from === null && isRecord(to) ? [String(to.name)] : [])),
    updated: performers.filter(({ from }) => from !== null).length,
    createdSlots: new Set(placeholders.flatMap(({ before, slot }) => (before === null && slot !== null ? [slot] : []))),
  }
}

function toSlotRow({ id, from, to }: RecordChange): DifferenceRow[] {
  const labelOf = (value: RecordChange['from']) =>
    isRecord(value) && isRecord(value.performer) ? toPerformer(value.performer, value.role) : null
  return id === null ? [] : [{ kind: 'slot', id, slot: id, before: labelOf(from), after: labelOf(to) }]
}

function toPerformer({ name }: Record<string, unknown>, role: unknown): Label {
  return { name: String(name), detail: typeof role === 'string' ? role : null }
}

function toUnitRows(changes: readonly RecordChange[]): DifferenceRow[] {
  const rows = new Map<number, DifferenceRow>()
  for (const change of changes) {
    const [from, to] = [toAssignment(change.from), toAssignment(change.to)]
    const id = (to ?? from)?.unit
    if (id === undefined) continue
    const row = rows.get(id) ?? { kind: 'unit', id, slot: (to ?? from)?.slot ?? null, before: null, after: null }
    // The assignment of the previous performer ends with a change of its own.
    rows.set(id, { ...row, before: from?.label ?? row.before, after: to?.label ?? row.after })
  }
  return [...rows.values()]
}

function toAssignment(value: RecordChange['from']) {
  if (!isRecord(value) || !isRecord(value.performer)) return null
  const { slot, wireless_unit, performer, role } = value
  return {
    unit: Number(wireless_unit),
    slot: typeof slot === 'number' ? slot : null,
    label: toPerformer(performer, role),
  }
}

/** The slot identifies a placeholder, because it may not be stored yet. */
function toPlaceholderRows(changes: readonly RecordChange[]): DifferenceRow[] {
  return changes.flatMap(({ from, to }) => {
    if (!isRecord(to)) return []
    const slot = Number(to.slot)
    const before = isRecord(from) ? toPlaceholder(from) : null
    return [{ kind: 'placeholder', id: slot, slot, before, after: toPlaceholder(to) }]
  })
}

function toPlaceholder({ name, note }: Record<string, unknown>): Label {
  return { name: String(name), detail: String(note) || null }
}

function toMoveRows(changes: readonly RecordChange[]): DifferenceRow[] {
  const labelOf = ({ slot }: Record<string, unknown>) => ({
    name: t('cast.slot', { slot: String(slot) }),
    detail: null,
  })
  return changes.flatMap(({ id, from, to }) => {
    if (id === null || !isRecord(from) || !isRecord(to)) return []
    return [{ kind: 'move', id, slot: Number(to.slot), before: labelOf(from), after: labelOf(to) }]
  })
}

/** Identified by its position, because the group may not be stored yet. */
function toGroupRow({ from, to }: RecordChange, index: number): DifferenceRow[] {
  const labelOf = (value: RecordChange['from']) =>
    isRecord(value) && Array.isArray(value.slots)
      ? { name: t('cast.group', { title: String(value.title) }), detail: value.slots.join(', ') }
      : null
  return [{ kind: 'group', id: index, slot: null, before: labelOf(from), after: labelOf(to) }]
}

const columnSeparators = ['\t', ';', ',']

/** The maximum that any separator yields in the first line that is not empty. */
export function countColumns(text: string): number {
  const line = text.split('\n').find((line) => line.trim() !== '') ?? ''
  return Math.max(...columnSeparators.map((separator) => line.split(separator).length))
}
