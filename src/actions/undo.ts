/** Undoes an action on several records, unless one of them has been changed since. */

import type { Undone } from '../contract/imports.ts'
import type { Actor } from '../domain/access/access.ts'
import { RequestError } from '../domain/errors.ts'
import { now } from '../platform/clock.ts'
import type { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import { settleCast } from '../storage/cast.ts'
import { lockPictures, removeUnusedPictures } from '../storage/pictures.ts'
import { recordSlotChanges, reversed } from '../storage/slot-changes.ts'
import { findUndoRecord, markUndone, restoreRows } from '../storage/undo.ts'
import { recordMoves } from './shows/record-moves.ts'

export async function undo(service: Service, actor: Actor, id: number): Promise<Undone> {
  const { ingest } = service
  const undone = await ingest.change(async (tx, revision) => {
    await lockPictures(tx)
    const time = now()
    const record = await findUndoRecord(tx, id, time)
    if (record === undefined) throw new RequestError('not_found', { subject: `action to undo with the id ${id}` })
    const moves = await settleCast(tx, { actor, time, undone: record.created_at }, async () => {
      const restored = await restoreRows(tx, revision, record)
      if ('changedSince' in restored) throw new RequestError('changed_since', { subject: restored.changedSince })
      return restored.moves
    })
    await recordMoves(tx, service, actor, moves)
    await recordSlotChanges(tx, { at: time, by: actor.name }, record.changes.map(reversed))
    await markUndone(tx, id)
    await removeUnusedPictures(tx)
    const details = { action: record.action, records: record.changes.length }
    await writeAudit(tx, { actor, action: 'undo', target: `undo ${id}`, result: 'ok', details })
    return details
  })
  await service.reload()
  return undone
}
