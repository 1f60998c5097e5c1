/** Recalls a scene in one transaction. Equipment is not changed. */

import type { SceneRecall } from '../../contract/shows.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { SlotFields } from '../../domain/equipment/slot-entry.ts'
import type { Arranged, StoredScene } from '../../domain/scenes/arrangement.ts'
import { listChanges, planRecall, type RecallPlan } from '../../domain/scenes/plan-recall.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { assignUnit, settleCast, unassign } from '../../storage/cast.ts'
import type { Reader, Tx } from '../../storage/database.ts'
import { hasProfile } from '../../storage/frequencies.ts'
import { listAssignments, savePerformer } from '../../storage/hardware.ts'
import { lockPictures } from '../../storage/pictures.ts'
import { nextRevision } from '../../storage/revision.ts'
import { findRecalledScene, plannedFrequencies, saveRecallTime } from '../../storage/shows.ts'
import { replaceSlotEntry } from '../../storage/slot-entries.ts'
import { placeHolders, saveGroup, savePlaceholder } from '../../storage/slots.ts'
import { UndoRecorder } from '../../storage/undo.ts'
import { readArranged, sceneOf } from './edit-scenes.ts'
import { recordMoves } from './record-moves.ts'

/** Returns the changes that a recall would make. */
export async function previewRecall(service: Service, showId: number, id: number): Promise<SceneRecall> {
  const scene = await sceneOf(service.db.read, showId, id)
  const { plan, arranged } = await planFor(service, service.db.read, scene)
  return { changes: listChanges(plan, arranged), skipped: [...plan.skipped], undo_id: null }
}

export async function recallScene(service: Service, actor: Actor, showId: number, id: number): Promise<SceneRecall> {
  const { ingest } = service
  const recalled = await ingest.change(async (tx, revision) => {
    const showRevision = await nextRevision(tx, 'shows')
    await lockPictures(tx)
    const scene = await sceneOf(tx.query, showId, id)
    const { plan, arranged } = await planFor(service, tx.query, scene)
    const undo = new UndoRecorder(tx, actor)
    const time = now()
    await settleCast(tx, { actor, time }, async () => {
      await applyRecords(tx, revision, plan, undo)
      for (const { holder, after } of plan.entries) {
        await undo.willChangeEntry(holder)
        await replaceSlotEntry(tx, holder, await withKnownProfile(tx, after))
      }
      for (const assignment of plan.ended) await unassign(tx, assignment, { time, undo })
      for (const assignment of plan.assigned) await assignUnit(tx, assignment.unit, assignment, { time, undo })
    })
    const active = await listAssignments(tx.query, { is_active: true })
    const newIds = new Map(active.map(({ id, wireless_unit }) => [wireless_unit, id]))
    await recordMoves(tx, service, actor, plan.moves)
    const changes = listChanges(plan, arranged, newIds)
    const last = await findRecalledScene(tx.query, showId)
    if (changes.length > 0 || last?.id !== id) {
      await undo.willChange('scenes', id)
      // The system clock may have been set back.
      await saveRecallTime(tx, showRevision, scene, Math.max(time, (last?.recalled_at ?? 0) + 1))
    }
    const undo_id = changes.length === 0 ? null : await undo.save('scene.recall', time)
    const details = { show: showId, title: scene.title, changes: changes.length, skipped: plan.skipped.length }
    await writeAudit(tx, { actor, action: 'scene.recall', target: `scene ${id}`, result: 'ok', details })
    return { changes, skipped: [...plan.skipped], undo_id }
  })
  await service.reload()
  return recalled
}

async function planFor(
  service: Service,
  reader: Reader,
  { show_id, arrangement }: StoredScene,
): Promise<{ readonly plan: RecallPlan; readonly arranged: Arranged }> {
  const arranged = await readArranged(service, reader)
  return { plan: planRecall(arrangement, arranged, await plannedFrequencies(reader, show_id)), arranged }
}

async function withKnownProfile({ query }: Tx, fields: SlotFields): Promise<SlotFields> {
  const { profile } = fields.planned
  const isKnown = profile === null || (await hasProfile(query, profile))
  return isKnown ? fields : { ...fields, planned: { ...fields.planned, profile: null } }
}

/** Changes slots, groups, kinds of placeholders and names of performers. */
async function applyRecords(
  tx: Tx,
  revision: number,
  { groups, moves, placeholders, performers }: RecallPlan,
  undo: UndoRecorder,
): Promise<void> {
  for (const { after } of groups) {
    await undo.willChange('groups', after.id)
    await saveGroup(tx, after)
  }
  for (const { holder } of moves) await undo.willChange(`${holder.kind}s`, holder.id)
  for (const { after } of placeholders) await undo.willChange('placeholders', after.id)
  if (moves.length > 0) await placeHolders(tx, revision, moves)
  for (const { after } of placeholders) await savePlaceholder(tx, after)
  for (const { after } of performers) {
    await undo.willChange('performers', after.id)
    await savePerformer(tx, after)
  }
}
