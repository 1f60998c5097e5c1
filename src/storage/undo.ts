/**
 * An undo record lists the rows that an action added or changed, with their values before and after it. The action can
 * be undone as long as the rows have the values that it gave them.
 */

import { type RawBuilder, sql } from 'kysely'
import type { PlannedMove } from '../domain/equipment/slots.ts'
import { isNameAllowed } from '../domain/equipment/slots.ts'
import type { Tx } from './database.ts'
import { findActiveAssignment } from './hardware.ts'
import { nextRevision } from './revision.ts'
import { markShowOfScene } from './shows.ts'
import { countPlaceholderChange, findOccupiedSlot, placeHolders } from './slots.ts'

const retentionMs = 24 * 60 * 60 * 1000

/** The columns that are recorded, by table. */
const undoableColumns = {
  performers: ['name', 'notes', 'picture'],
  assignments: ['performer', 'wireless_unit', 'role', 'is_active', 'started_at', 'ended_at'],
  placeholders: ['slot', 'name', 'kind', 'frequency', 'note'],
  channels: ['slot'],
  groups: ['title', 'slots'],
  scenes: ['recalled_at'],
} as const

type UndoableTable = keyof typeof undoableColumns
type Values = Readonly<Record<string, string | number | null>>

interface RowChange {
  readonly table: UndoableTable
  readonly id: number
  /** The previous values of the changed columns; null if the row was added. */
  readonly before: Values | null
  /** The new values of the changed columns, or of all columns if the row was added. */
  readonly after: Values
}

export class UndoRecorder {
  readonly #tx: Tx
  /** The rows in the order of their first change, with their previous values; null for added rows. */
  readonly #rows: { readonly table: UndoableTable; readonly id: number; readonly before: Values | null }[] = []

  constructor(tx: Tx) {
    this.#tx = tx
  }

  /** Must be called after a row has been added. */
  added(table: UndoableTable, id: number): void {
    this.#rows.push({ table, id, before: null })
  }

  /** Must be called before a row is changed. */
  async willChange(table: UndoableTable, id: number): Promise<void> {
    if (this.#rows.some((row) => row.table === table && row.id === id)) return
    this.#rows.push({ table, id, before: (await findRow(this.#tx, table, id)) ?? null })
  }

  /** Stores the undo record, and removes those that have expired. Returns its id; null if nothing was changed. */
  async save(action: string, now: number): Promise<number | null> {
    const changes: RowChange[] = []
    for (const { table, id, before } of this.#rows) {
      const after = (await findRow(this.#tx, table, id)) ?? {}
      const names = Object.keys(after).filter((name) => before === null || before[name] !== after[name])
      if (names.length === 0) continue
      changes.push({ table, id, before: before && pick(before, names), after: pick(after, names) })
    }
    if (changes.length === 0) return null
    const { query } = this.#tx
    await query
      .deleteFrom('undo_records')
      .where('created_at', '<=', now - retentionMs)
      .execute()
    const { id } = await query
      .insertInto('undo_records')
      .values({ created_at: now, action, changes: JSON.stringify(changes) })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  }
}

export interface UndoRecord {
  readonly action: string
  readonly changes: readonly RowChange[]
}

/** Finds a record that has not expired, and prevents other transactions from using it. */
export async function findUndoRecord(tx: Tx, id: number, now: number): Promise<UndoRecord | undefined> {
  const row = await tx.query
    .selectFrom('undo_records')
    .select(['action', 'changes'])
    .where('id', '=', id)
    .where('created_at', '>', now - retentionMs)
    .$if(tx.dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
  return row && { action: row.action, changes: JSON.parse(row.changes) }
}

/**
 * Restores the rows in reverse order, and moves channels and placeholders back to their slots, all at once. Returns
 * these moves. If a row has changed since, returns its name, such as `performer 3`; roll back the transaction then. The
 * transaction must have incremented the revision, and hold the locks on pictures and units.
 */
export async function restoreRows(
  tx: Tx,
  revision: number,
  { changes }: UndoRecord,
): Promise<{ readonly moves: readonly PlannedMove[] } | { readonly changedSince: string }> {
  const moves: PlannedMove[] = []
  for (const { table, id, before, after } of changes.toReversed()) {
    const row = await findRow(tx, table, id)
    const isSame = row !== undefined && Object.entries(after).every(([name, value]) => row[name] === value)
    if (!isSame || (await hasConflict(tx, table, id, before && { ...row, ...before }))) {
      return { changedSince: `${table.slice(0, -1)} ${id}` }
    }
    if (table === 'placeholders') await countPlaceholderChange(tx)
    if (table === 'scenes') await markShowOfScene(tx, await nextRevision(tx, 'shows'), id)
    if (before === null) {
      await sql`delete from ${sql.table(table)} where id = ${id}`.execute(tx.query)
      continue
    }
    const { slot, ...values } = before
    if (slot !== undefined) {
      const kind = table === 'channels' ? 'channel' : 'placeholder'
      moves.push({ holder: { kind, id, slot: Number(row.slot) }, slot: Number(slot) })
    }
    if (Object.keys(values).length > 0) await updateOf(table, id, values).execute(tx.query)
  }
  const taken = await findOccupiedSlot(tx.query, moves)
  if (taken !== null) return { changedSince: `slot ${taken}` }
  if (moves.length > 0) await placeHolders(tx, revision, moves)
  return { moves }
}

/** Whether a later change prevents these values, or the removal of the row if they are null. */
async function hasConflict(tx: Tx, table: UndoableTable, id: number, values: Values | null): Promise<boolean> {
  if (table === 'performers') {
    if (values !== null) return false
    const assignments = tx.query.selectFrom('assignments').select('id').where('performer', '=', id)
    return (await assignments.executeTakeFirst()) !== undefined
  }
  if (table === 'placeholders') {
    return values !== null && !isNameAllowed({ kind: String(values.kind), name: String(values.name) })
  }
  if (table !== 'assignments' || values?.is_active !== 1) return false
  const active = await findActiveAssignment(tx.query, Number(values.wireless_unit))
  return active !== undefined && active.id !== id
}

function updateOf(table: UndoableTable, id: number, values: Values): RawBuilder<unknown> {
  const assignments = Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  return sql`update ${sql.table(table)} set ${sql.join(assignments)} where id = ${id}`
}

/** Reads the recorded columns of a row, and prevents other transactions from changing it. */
async function findRow(tx: Tx, table: UndoableTable, id: number): Promise<Values | undefined> {
  const columns = sql.join(undoableColumns[table].map((name) => sql.ref(name)))
  const lock = tx.dialect === 'postgres' ? sql`for update` : sql``
  const { rows } = await sql<Values>`select ${columns} from ${sql.table(table)} where id = ${id} ${lock}`.execute(
    tx.query,
  )
  return rows[0]
}

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]))
}
