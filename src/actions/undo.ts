/** Undoes an action on several records, unless one of them has been changed since. */

import type { Undone } from '../contract/imports.ts'
import type { Actor } from '../domain/access/access.ts'
import { RequestError } from '../domain/errors.ts'
import { now } from '../platform/clock.ts'
import type { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import { lockUnits } from '../storage/hardware.ts'
import { lockPictures, removeUnusedPictures } from '../storage/pictures.ts'
import { findUndoRecord, markUndone, restoreRows } from '../storage/undo.ts'
import { recordAssignmentEvents, recordAssignments } from './equipment/record-assignments.ts'
import { recordMoves } from './shows/record-moves.ts'

export async function undo(service: Service, actor: Actor, id: number): Promise<Undone> {
  const { ingest } = service
  const undone = await ingest.change(async (tx, revision) => {
    await lockPictures(tx)
    await lockUnits(tx)
    const record = await findUndoRecord(tx, id, now())
    if (record === undefined) throw new RequestError('not_found', { subject: `action to undo with the id ${id}` })
    const restoresCast = record.changes.some(
      ({ table, before, after }) => table === 'slot_entries' && 'performer' in { ...before, ...after },
    )
    const recordChanges = restoresCast ? recordAssignmentEvents : recordAssignments
    const restored = await recordChanges(tx, { actor, time: now() }, () => restoreRows(tx, revision, record))
    if ('changedSince' in restored) throw new RequestError('changed_since', { subject: restored.changedSince })
    await recordMoves(tx, service, actor, restored.moves)
    await markUndone(tx, id)
    await removeUnusedPictures(tx)
    const details = { action: record.action, records: record.changes.length }
    await writeAudit(tx, { actor, action: 'undo', target: `undo ${id}`, result: 'ok', details })
    return details
  })
  await service.reload()
  return undone
}
