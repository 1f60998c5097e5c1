/** Undoes an action on several records, unless one of them has been changed since. */

import type { Undone } from '../contract/imports.ts'
import type { Actor } from '../domain/access/access.ts'
import { RequestError } from '../domain/errors.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import { writeAudit } from '../storage/audit.ts'
import { lockUnits } from '../storage/hardware.ts'
import { lockPictures, removeUnusedPictures } from '../storage/pictures.ts'
import { findUndoRecord, restoreRows } from '../storage/undo.ts'
import { recordAssignments } from './equipment/record-assignments.ts'
import { recordMoves } from './shows/record-moves.ts'

export interface UndoDeps {
  readonly ingest: Pick<Ingest, 'change'>
  readonly receiverStore: Pick<ReceiverStore, 'listFacts'>
  /** Loads the stored changes immediately. */
  reload(): Promise<void>
  now(): number
}

export async function undo(deps: UndoDeps, actor: Actor, id: number): Promise<Undone> {
  const { ingest, reload, now } = deps
  const undone = await ingest.change(async (tx, revision) => {
    await lockPictures(tx)
    await lockUnits(tx)
    const record = await findUndoRecord(tx, id, now())
    if (record === undefined) throw new RequestError('not_found', { subject: `action to undo with the id ${id}` })
    const restored = await recordAssignments(tx, { actor, time: now() }, () => restoreRows(tx, revision, record))
    if ('changedSince' in restored) throw new RequestError('changed_since', { subject: restored.changedSince })
    await recordMoves(tx, deps, actor, restored.moves)
    await removeUnusedPictures(tx)
    const details = { action: record.action, records: record.changes.length }
    await writeAudit(tx, { actor, action: 'undo', target: `undo ${id}`, result: 'ok', details })
    return details
  })
  await reload()
  return undone
}
