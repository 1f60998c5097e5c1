/**
 * An undo record lists the rows that an action added or changed, with their values before and after it. The action can
 * be undone as long as the rows have the values that it gave them.
 */

import { type RawBuilder, sql } from 'kysely'
import { type AuditAction, slotFields } from '../contract/values.ts'
import type { Actor } from '../domain/access/access.ts'
import { type EntryHolder, isEmptyEntry } from '../domain/equipment/slot-entry.ts'
import type { PlannedMove } from '../domain/equipment/slots.ts'
import { now } from '../platform/clock.ts'
import type { Reader, Tx } from './database.ts'
import { findActiveAssignment, hasUnit } from './hardware.ts'
import { nextRevision } from './revision.ts'
import { inChunks } from './rows.ts'
import { findShow, markShow } from './shows.ts'
import { recordSlotChanges, type Values } from './slot-changes.ts'
import { countPlaceholderChange, findSlotEntry } from './slot-entries.ts'
import { findOccupiedSlot, placeHolders } from './slots.ts'
import { nextVersion } from './versions.ts'

const retentionMs = 24 * 60 * 60 * 1000

/** The columns that are recorded, by table. */
const undoableColumns = {
  performers: ['name', 'notes', 'picture'],
  assignments: ['performer', 'wireless_unit', 'role', 'is_active', 'started_at', 'ended_at'],
  placeholders: ['slot', 'kind', 'created_at'],
  slot_entries: ['channel_id', 'placeholder_id', ...slotFields],
  channels: ['slot'],
  groups: ['title', 'slots', 'hide_charts', 'zone', 'manufacturer'],
  scenes: ['show_id', 'title', 'created_at', 'actor', 'recalled_at', 'arrangement'],
  frequency_plans: [
    ...(['title', 'show_id', 'region', 'carriers', 'spares', 'options', 'conflicts', 'conflict_count'] as const),
    ...(['actor', 'created_at', 'used_at'] as const),
  ],
} as const

type UndoableTable = keyof typeof undoableColumns

/** Their rows have a version, which an undo must not set back. */
const versionedTables: readonly UndoableTable[] = ['performers', 'slot_entries', 'groups', 'scenes', 'frequency_plans']

interface RowChange {
  readonly table: UndoableTable
  readonly id: number
  /** The previous values of the changed columns, or of all columns if the row was removed; null if it was added. */
  readonly before: Values | null
  /** The new values of the changed columns, or of all columns if the row was added; null if it was removed. */
  readonly after: Values | null
}

/** The result of an edit, and the id to undo it with; null if nothing has changed. */
export interface Undoable<T> {
  readonly result: T
  readonly undoId: number | null
}

/** Runs an edit that records the rows which it changes. */
export async function recordUndo<T>(
  tx: Tx,
  actor: Actor,
  action: AuditAction,
  edit: (undo: UndoRecorder) => Promise<T>,
): Promise<Undoable<T>> {
  const undo = new UndoRecorder(tx, actor)
  const result = await edit(undo)
  return { result, undoId: await undo.save(action, now()) }
}

export class UndoRecorder {
  readonly #tx: Tx
  readonly #by: string
  /** The rows in the order of their first change, with their previous values; null for added rows. */
  readonly #rows = new Map<string, Pick<RowChange, 'table' | 'id' | 'before'>>()
  /** The holders of slots about which nothing had been entered. */
  readonly #withoutEntry: EntryHolder[] = []

  constructor(tx: Tx, { name }: Actor) {
    this.#tx = tx
    this.#by = name
  }

  /** Must be called after a row has been added. */
  added(table: UndoableTable, id: number): void {
    this.#rows.set(`${table} ${id}`, { table, id, before: null })
    if (table === 'placeholders') this.#withoutEntry.push({ kind: 'placeholder', id })
  }

  /** Must be called before a row is changed or removed. */
  async willChange(table: UndoableTable, id: number): Promise<void> {
    const name = `${table} ${id}`
    if (this.#rows.has(name)) return
    // Rows are restored in reverse order, a placeholder before its entry.
    if (table === 'placeholders') await this.willChangeEntry({ kind: 'placeholder', id })
    const before = (await findRow(this.#tx, table, id)) ?? null
    const settings = table === 'groups' && { settings: JSON.stringify(await listSettings(this.#tx, id)) }
    this.#rows.set(name, { table, id, before: before && { ...before, ...settings } })
  }

  /** Must be called before what was entered about a slot is changed or removed. */
  async willChangeEntry(holder: EntryHolder): Promise<void> {
    const entry = await findSlotEntry(this.#tx.query, holder)
    if (entry === undefined) this.#withoutEntry.push(holder)
    else await this.willChange('slot_entries', entry.id)
  }

  /** Stores the undo record, and removes those that have expired. Returns its id; null if nothing was changed. */
  async save(action: AuditAction, now: number): Promise<number | null> {
    const { query } = this.#tx
    for (const holder of this.#withoutEntry) {
      const entry = await findSlotEntry(query, holder)
      // Only its version may have changed.
      if (entry === undefined || isEmptyEntry(entry) || this.#rows.has(`slot_entries ${entry.id}`)) continue
      this.added('slot_entries', entry.id)
    }
    const present = await findRows(query, [...this.#rows.values()])
    const rows = [...this.#rows].map(([name, row]): RowChange => ({ ...row, after: present.get(name) ?? null }))
    const changes = rows.flatMap((row) => toChange(row) ?? [])
    if (changes.length === 0) return null
    await query
      .deleteFrom('undo_records')
      .where('created_at', '<=', now - retentionMs)
      .execute()
    await recordSlotChanges(this.#tx, { at: now, by: this.#by }, changes)
    const slots = JSON.stringify(await slotsOf(this.#tx, rows))
    const { id } = await query
      .insertInto('undo_records')
      .values({ created_at: now, action, changes: JSON.stringify(changes), actor: this.#by, slots })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  }
}

/** Null if nothing has changed. */
function toChange({ table, id, before, after }: RowChange): RowChange | null {
  if (before === null || after === null) return before === after ? null : { table, id, before, after }
  const changed = Object.keys(after).filter((name) => before[name] !== after[name])
  // The holder of an entry names it.
  const names = table === 'slot_entries' ? [...new Set([...changed, 'channel_id', 'placeholder_id'])] : changed
  return changed.length === 0 ? null : { table, id, before: pick(before, names), after: pick(after, names) }
}

/** Returns the slots that the changes concern, in ascending order. */
async function slotsOf({ query }: Tx, rows: readonly RowChange[]): Promise<readonly number[]> {
  const idsIn = (table: UndoableTable, name: string): number[] =>
    rows.flatMap(({ table: other, before, after }) => (other === table ? Number((after ?? before)?.[name] ?? 0) : []))
  const moved = rows.flatMap(({ before, after }) => [before?.slot, after?.slot]).filter((slot) => slot != null)
  const inGroups = rows.flatMap(({ before, after }): number[] =>
    [before?.slots, after?.slots].flatMap((slots) => (typeof slots === 'string' ? JSON.parse(slots) : [])),
  )
  const ofUnits = await query
    .selectFrom('units')
    .innerJoin('channels', 'channels.id', 'units.channel_id')
    .select('slot')
    .where('units.id', 'in', [0, ...idsIn('assignments', 'wireless_unit')])
    .execute()
  const ofChannels = await query
    .selectFrom('channels')
    .select('slot')
    .where('id', 'in', [0, ...idsIn('slot_entries', 'channel_id')])
    .execute()
  const ofPlaceholders = await query
    .selectFrom('placeholders')
    .select('slot')
    .where('id', 'in', [0, ...idsIn('slot_entries', 'placeholder_id')])
    .execute()
  const found = [...ofUnits, ...ofChannels, ...ofPlaceholders].map(({ slot }) => slot)
  return [...new Set([...moved.map(Number), ...inGroups, ...found])].sort((a, b) => a - b)
}

export interface UndoRecord {
  readonly created_at: number
  readonly action: string
  readonly changes: readonly RowChange[]
}

export interface ListedUndo {
  readonly id: number
  readonly created_at: number
  readonly actor: string
  readonly action: string
  readonly slots: readonly number[]
}

/** The actor of records from before the upgrade. They name columns that no longer exist. */
const recordedBefore = ''

/** Returns the records that have not expired and whose rows have not been changed since, newest first. */
export async function listUndoRecords(reader: Reader, now: number): Promise<ListedUndo[]> {
  const rows = await reader
    .selectFrom('undo_records')
    .select(['id', 'created_at', 'actor', 'action', 'slots', 'changes'])
    .where('created_at', '>', now - retentionMs)
    .where('is_undone', '=', 0)
    .where('actor', '<>', recordedBefore)
    .orderBy('id', 'desc')
    .execute()
  const records = rows.map(({ slots, changes, ...row }) => ({
    listed: { ...row, slots: JSON.parse(slots) },
    changes: JSON.parse(changes) as readonly RowChange[],
  }))
  const present = await findRows(
    reader,
    records.flatMap(({ changes }) => changes),
  )
  return records.flatMap(({ listed, changes }) => {
    const canUndo = changes.every(({ table, id, after }) => isUnchanged(present.get(`${table} ${id}`), after))
    return canUndo ? listed : []
  })
}

function isUnchanged(row: Values | undefined, after: Values | null): boolean {
  if (after === null || row === undefined) return after === null && row === undefined
  return Object.entries(after).every(([name, value]) => row[name] === value)
}

export async function markUndone({ query }: Tx, id: number): Promise<void> {
  await query.updateTable('undo_records').set({ is_undone: 1 }).where('id', '=', id).execute()
}

/** Finds a record that has not expired, and prevents other transactions from using it. */
export async function findUndoRecord(tx: Tx, id: number, now: number): Promise<UndoRecord | undefined> {
  const row = await tx.query
    .selectFrom('undo_records')
    .select(['created_at', 'action', 'changes'])
    .where('id', '=', id)
    .where('created_at', '>', now - retentionMs)
    .where('actor', '<>', recordedBefore)
    .$if(tx.dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
  return row && { ...row, changes: JSON.parse(row.changes) }
}

/**
 * Restores the rows in reverse order, and moves channels and placeholders back to their slots, all at once. Returns
 * these moves. If a row has changed since, returns its name, such as `performer 3`; roll back the transaction then. The
 * transaction must have incremented the revision, and hold the lock on pictures. Call it in `settleCast`.
 */
export async function restoreRows(
  tx: Tx,
  revision: number,
  { changes }: UndoRecord,
): Promise<{ readonly moves: readonly PlannedMove[] } | { readonly changedSince: string }> {
  const moves: PlannedMove[] = []
  for (const { table, id, before, after } of changes.toReversed()) {
    const row = await findRow(tx, table, id)
    if (!isUnchanged(row, after) || (await hasConflict(tx, table, id, before && { ...row, ...before }))) {
      return { changedSince: describe(table, id, after ?? before ?? {}) }
    }
    if (table === 'placeholders' || table === 'slot_entries') await countPlaceholderChange(tx)
    if (table === 'frequency_plans') await nextRevision(tx, 'plans')
    if (table === 'scenes') await markShow(tx, await nextRevision(tx, 'shows'), Number((row ?? before)?.show_id))
    if (before === null) {
      if (table === 'slot_entries') await clearEntry(tx, id)
      else await sql`delete from ${sql.table(table)} where id = ${id}`.execute(tx.query)
      continue
    }
    const { slot, settings = '[]', ...values } = before
    const isRemoved = row === undefined
    // No other row has this slot.
    const present = isRemoved ? -id : Number(row.slot)
    if (slot !== undefined) {
      const kind = table === 'channels' ? 'channel' : 'placeholder'
      moves.push({ holder: { kind, id, slot: present }, slot: Number(slot) })
    }
    const restored = versionedTables.includes(table) ? { ...values, version: await nextVersion(tx) } : values
    if (isRemoved) await insertRow(table, { id, ...restored, ...(slot !== undefined && { slot: present }) }, tx)
    else if (Object.keys(restored).length > 0) await updateOf(table, id, restored).execute(tx.query)
    if (isRemoved && settings !== '[]') {
      await tx.query
        .insertInto('group_settings')
        .values(JSON.parse(String(settings)))
        .execute()
    }
  }
  const taken = await findOccupiedSlot(tx.query, moves)
  if (taken !== null) return { changedSince: `slot ${taken}` }
  if (moves.length > 0) await placeHolders(tx, revision, moves)
  return { moves }
}

/** The entry stays, so that its version does not return to an earlier one. */
async function clearEntry(tx: Tx, id: number): Promise<void> {
  const { channel_id: _, placeholder_id: __, ...empty } = pick({ spares: '[]' }, undoableColumns.slot_entries)
  await updateOf('slot_entries', id, { ...empty, version: await nextVersion(tx) }).execute(tx.query)
}

function describe(table: UndoableTable, id: number, { channel_id = null, placeholder_id = null }: Values): string {
  if (channel_id !== null) return `channel ${channel_id}`
  return placeholder_id === null ? `${table.slice(0, -1).replace('_', ' ')} ${id}` : `placeholder ${placeholder_id}`
}

/** True if a later change prevents these values, or the removal of the row if they are null. */
async function hasConflict(tx: Tx, table: UndoableTable, id: number, values: Values | null): Promise<boolean> {
  if (table === 'performers') return values === null && (await isInCast(tx, id))
  if (table === 'groups') {
    return values === null ? (await listSettings(tx, id)).length > 0 : !(await hasManufacturer(tx, values))
  }
  if (table === 'scenes') return values !== null && (await findShow(tx.query, Number(values.show_id))) === undefined
  if (table === 'frequency_plans') {
    const show = values?.show_id ?? null
    return show !== null && (await findShow(tx.query, Number(show))) === undefined
  }
  if (table === 'slot_entries') return values !== null && (await refersToRemoved(tx, values))
  if (table !== 'assignments' || values === null) return false
  if (!(await hasUnit(tx.query, Number(values.wireless_unit))) || (await refersToRemoved(tx, values))) return true
  if (values.is_active !== 1) return false
  const active = await findActiveAssignment(tx.query, Number(values.wireless_unit))
  return active !== undefined && active.id !== id
}

/** Returns the settings of a group, which are removed with it. */
function listSettings({ query }: Tx, group: number) {
  return query.selectFrom('group_settings').selectAll().where('group_id', '=', group).orderBy('key').execute()
}

/** Also true for a group that belongs to no manufacturer. */
async function hasManufacturer({ query }: Tx, { manufacturer }: Values): Promise<boolean> {
  if (manufacturer === null) return true
  const rows = query.selectFrom('manufacturers').select('code').where('code', '=', String(manufacturer))
  return (await rows.executeTakeFirst()) !== undefined
}

/** True if the performer is in a slot, or has a unit that is in no slot. */
async function isInCast({ query }: Tx, performer: number): Promise<boolean> {
  const entry = query.selectFrom('slot_entries').select('id').where('performer', '=', performer)
  const assignment = query
    .selectFrom('assignments')
    .innerJoin('units', 'units.id', 'wireless_unit')
    .select('assignments.id')
    .where('performer', '=', performer)
    .where('is_active', '=', 1)
    .where((where) => where.or([where('api_device_id', 'is not', null), where('channel_id', 'is', null)]))
  return [await entry.executeTakeFirst(), await assignment.executeTakeFirst()].some((row) => row !== undefined)
}

async function refersToRemoved(tx: Tx, { channel_id, placeholder_id, performer }: Values): Promise<boolean> {
  const references = { channels: channel_id, placeholders: placeholder_id, performers: performer } as const
  for (const [table, id] of Object.entries(references) as [keyof typeof references, Values[string] | undefined][]) {
    if (id != null && (await findRow(tx, table, Number(id))) === undefined) return true
  }
  return false
}

async function insertRow(table: UndoableTable, values: Values, { query }: Tx): Promise<void> {
  const names = sql.join(Object.keys(values).map((name) => sql.ref(name)))
  await sql`insert into ${sql.table(table)} (${names}) values (${sql.join(Object.values(values))})`.execute(query)
}

function updateOf(table: UndoableTable, id: number, values: Values): RawBuilder<unknown> {
  const assignments = Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  return sql`update ${sql.table(table)} set ${sql.join(assignments)} where id = ${id}`
}

/** Reads the recorded columns of a row, and prevents other transactions from changing it. */
async function findRow(tx: Tx, table: UndoableTable, id: number): Promise<Values | undefined> {
  const lock = tx.dialect === 'postgres' ? sql`for update` : sql``
  const { rows } =
    await sql<Values>`select ${columnsOf(table)} from ${sql.table(table)} where id = ${id} ${lock}`.execute(tx.query)
  return rows[0]
}

/** Returns the recorded columns of rows, by `<table> <id>`. */
async function findRows(
  reader: Reader,
  rows: readonly Pick<RowChange, 'table' | 'id'>[],
): Promise<ReadonlyMap<string, Values>> {
  const found = new Map<string, Values>()
  for (const table of Object.keys(undoableColumns) as UndoableTable[]) {
    const ids = new Set(rows.flatMap((row) => (row.table === table ? [row.id] : [])))
    await inChunks([...ids], async (chunk) => {
      const present =
        await sql<Values>`select id, ${columnsOf(table)} from ${sql.table(table)} where id in (${sql.join(chunk)})`.execute(
          reader,
        )
      for (const { id, ...values } of present.rows) found.set(`${table} ${id}`, values as Values)
    })
  }
  return found
}

function columnsOf(table: UndoableTable): RawBuilder<unknown> {
  return sql.join(undoableColumns[table].map((name) => sql.ref(name)))
}

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]))
}
