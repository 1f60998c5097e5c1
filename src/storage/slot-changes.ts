/**
 * Derives the changes to slots, the cast and the frequency plan in force, for the log of changes, from the rows that an
 * action changed.
 */

import { type RecordedChange, slotFields } from '../contract/values.ts'
import type { EntryHolder } from '../domain/equipment/slot-entry.ts'
import { type Change, insertChanges } from './changes.ts'
import type { Tx } from './database.ts'
import { inChunks } from './rows.ts'

/** Columns of a row. */
export type Values = Readonly<Record<string, string | number | null>>

/** A row that an action changed, as in an undo record. */
interface RowChange {
  readonly table: string
  readonly id: number
  /** Null if the row was added. */
  readonly before: Values | null
  /** Null if it was removed. */
  readonly after: Values | null
}

/** A channel or placeholder, with its slot and what is entered about it. */
interface Held extends EntryHolder {
  readonly slot: number
  readonly fields: Values
}

/** Must be called after the rows were changed. They may lack columns that have not changed. */
export async function recordSlotChanges(
  tx: Tx,
  { at, by }: Pick<Change, 'at' | 'by'>,
  rows: readonly RowChange[],
): Promise<void> {
  const after = await readHeld(tx, holdersOf(rows))
  const before = heldBefore(after, rows)
  const names = await readNames(tx, [...before, ...after], rows)
  const titleOf = ({ performer, label }: Values) => names(performer) ?? textOf(label)
  const edit = { at, by }
  const moves = listMoves(before, after).map(({ held, from, isWhole }): Change => {
    const what = isWhole ? 'moved' : 'equipment'
    const title = titleOf(held.fields)
    return { ...edit, what, target: held.id, slot: held.slot, title, before: from, after: held.slot }
  })
  const entries = listEntryChanges(before, after).flatMap(({ slot, target, was, is }) =>
    slotFields.flatMap((what): Change | [] => {
      const [from, to] = [was[what] ?? null, is[what] ?? null]
      if (from === to) return []
      const show = what === 'performer' ? names : (value: Values[string] | undefined) => shown(what, value)
      return { ...edit, what, target, slot, title: titleOf(is), before: show(from), after: show(to) }
    }),
  )
  const renamed = rows.flatMap(({ table, id, before: was, after: is }): Change | [] => {
    if (table !== 'performers' || was?.name === undefined || is?.name === undefined) return []
    const [from, to] = [textOf(was.name), textOf(is.name)]
    return { ...edit, what: 'name', target: id, slot: null, title: to, before: from, after: to }
  })
  const plan = (await listPlanChanges(tx, rows)).map((change): Change => ({ ...edit, ...change }))
  await insertChanges(tx, [...renamed, ...moves, ...entries, ...plan])
}

/** At most one: another plan is in force, or the plan in force was edited. */
async function listPlanChanges(
  { query }: Tx,
  rows: readonly RowChange[],
): Promise<readonly Omit<Change, 'at' | 'by'>[]> {
  const changed = new Map(rows.flatMap((row) => (row.table === 'frequency_plans' ? [[row.id, row.before]] : [])))
  if (changed.size === 0) return []
  const present: readonly Values[] = await query
    .selectFrom('frequency_plans')
    .select(['id', 'title', 'used_at'])
    .where(({ or, eb }) => or([eb('id', 'in', [...changed.keys()]), eb('used_at', 'is not', null)]))
    .execute()
  const others = present.filter(({ id }) => !changed.has(Number(id)))
  const edited = [...changed].flatMap(([id, before]): Values[] =>
    before === null ? [] : [{ id, ...present.find((plan) => plan.id === id), ...before }],
  )
  const [before, after] = [findInForce([...others, ...edited]), findInForce(present)]
  const target = Number((after ?? before)?.id ?? 0)
  if (before?.id === after?.id && !changed.has(target)) return []
  const titles = { before: textOf(before?.title), after: textOf(after?.title) }
  return [{ what: 'frequency_plan', target, slot: null, title: null, ...titles }]
}

function findInForce(plans: readonly Values[]): Values | undefined {
  const used = plans.filter(({ used_at }) => used_at != null)
  return used.sort((a, b) => Number(b.used_at) - Number(a.used_at))[0]
}

/** Exchanges the values, as an undo does. */
export function reversed({ before, after, ...row }: RowChange): RowChange {
  return { ...row, before: after, after: before }
}

const keyOf = ({ kind, id }: EntryHolder) => `${kind} ${id}`

function holdersOf(rows: readonly RowChange[]): readonly EntryHolder[] {
  const holders = rows.flatMap(({ table, id, before, after }): EntryHolder | [] => {
    if (table === 'channels') return { kind: 'channel', id }
    if (table === 'placeholders') return { kind: 'placeholder', id }
    return table === 'slot_entries' ? holderIn(after ?? before ?? {}) : []
  })
  return [...new Map(holders.map((holder) => [keyOf(holder), holder])).values()]
}

function holderIn({ channel_id = null, placeholder_id = null }: Values): EntryHolder {
  return channel_id === null
    ? { kind: 'placeholder', id: Number(placeholder_id) }
    : { kind: 'channel', id: Number(channel_id) }
}

async function readHeld({ query }: Tx, holders: readonly EntryHolder[]): Promise<Held[]> {
  const held: Held[] = []
  for (const kind of ['channel', 'placeholder'] as const) {
    const ids = holders.filter((holder) => holder.kind === kind).map(({ id }) => id)
    await inChunks(ids, async (chunk) => {
      const table = `${kind}s` as const
      const rows = await query.selectFrom(table).select(['id', 'slot']).where('id', 'in', chunk).execute()
      const entries = await query.selectFrom('slot_entries').selectAll().where(`${kind}_id`, 'in', chunk).execute()
      const fields = new Map(entries.map((entry) => [entry[`${kind}_id`], fieldsOf(entry)]))
      held.push(...rows.map(({ id, slot }) => ({ kind, id, slot, fields: fields.get(id) ?? fieldsOf({}) })))
    })
  }
  return held
}

/** JSON. */
const noSpares = '[]'

function fieldsOf(entry: Values): Values {
  return Object.fromEntries(slotFields.map((name) => [name, entry[name] === noSpares ? null : (entry[name] ?? null)]))
}

function heldBefore(after: readonly Held[], rows: readonly RowChange[]): readonly Held[] {
  const present = new Map(after.map((held) => [keyOf(held), held]))
  const moved = new Map(rows.map((row) => [`${row.table} ${row.id}`, row]))
  const entries = new Map(
    rows.flatMap((row) =>
      row.table === 'slot_entries' ? [[keyOf(holderIn(row.after ?? row.before ?? {})), row.before]] : [],
    ),
  )
  return holdersOf(rows).flatMap((holder): Held | [] => {
    const known = present.get(keyOf(holder))
    const row = moved.get(`${holder.kind}s ${holder.id}`)
    const isAdded = row !== undefined && row.before === null
    const slot = row?.before?.slot ?? known?.slot
    if (isAdded || slot === undefined) return []
    const entry = entries.get(keyOf(holder))
    const fields = entry === undefined ? (known?.fields ?? {}) : entry === null ? {} : { ...known?.fields, ...entry }
    return { ...holder, slot: Number(slot), fields: fieldsOf(fields) }
  })
}

interface Move {
  readonly held: Held
  readonly from: number
  /** False if what was entered stayed in its slot. */
  readonly isWhole: boolean
}

function listMoves(before: readonly Held[], after: readonly Held[]): readonly Move[] {
  const known = new Map(before.map((held) => [keyOf(held), held]))
  return after.flatMap((held): Move | [] => {
    const was = known.get(keyOf(held))
    if (was === undefined || was.slot === held.slot) return []
    return { held, from: was.slot, isWhole: slotFields.every((name) => was.fields[name] === held.fields[name]) }
  })
}

interface EntryChange {
  readonly slot: number
  readonly target: number
  readonly was: Values
  readonly is: Values
}

/** Compares what is entered by slot. Entries that moved with their holder have not changed. */
function listEntryChanges(before: readonly Held[], after: readonly Held[]): readonly EntryChange[] {
  const moved = new Set(listMoves(before, after).flatMap(({ held, isWhole }) => (isWhole ? keyOf(held) : [])))
  const bySlot = (list: readonly Held[]) =>
    new Map(list.flatMap((held) => (moved.has(keyOf(held)) ? [] : [[held.slot, held]])))
  const [was, is] = [bySlot(before), bySlot(after)]
  const slots = [...new Set([...was.keys(), ...is.keys()])].sort((a, b) => a - b)
  return slots.map((slot) => ({
    slot,
    target: (is.get(slot) ?? was.get(slot))?.id ?? 0,
    was: was.get(slot)?.fields ?? {},
    is: is.get(slot)?.fields ?? {},
  }))
}

type ShowValue = (value: Values[string] | undefined) => string | null

/** Returns a function that names performers. The name of a removed one is in its row. */
async function readNames({ query }: Tx, held: readonly Held[], rows: readonly RowChange[]): Promise<ShowValue> {
  const ids = new Set(held.flatMap(({ fields }) => (fields.performer == null ? [] : Number(fields.performer))))
  const names = new Map<number, string>()
  for (const { table, id, before } of rows) {
    if (table === 'performers' && before?.name != null) names.set(id, String(before.name))
  }
  await inChunks([...ids], async (chunk) => {
    const found = await query.selectFrom('performers').select(['id', 'name']).where('id', 'in', chunk).execute()
    for (const { id, name } of found) names.set(id, name)
  })
  return (id) => (id == null ? null : (names.get(Number(id)) ?? null))
}

function shown(what: RecordedChange, value: Values[string] | undefined): string | null {
  const text = textOf(value)
  return what === 'spares' && text !== null ? JSON.parse(text).join(', ') : text
}

function textOf(value: Values[string] | undefined): string | null {
  return value == null || value === '' ? null : String(value)
}
