/**
 * Applies a cast list in one transaction: creates and changes performers, assigns their packs, and renames placeholders.
 */

import type { RecordChange } from '../../contract/imports.ts'
import { pictureText } from '../../contract/performers.ts'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { Assignment } from '../../domain/equipment/hardware.ts'
import { withMount } from '../../domain/equipment/picture.ts'
import type { Placeholder } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import type { CastRow } from '../../domain/imports/cast-columns.ts'
import { type CastPlan, type CastState, planCast, type Skipped } from '../../domain/imports/cast-plan.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { assignUnit, settleCast, unassign } from '../../storage/cast.ts'
import type { Tx } from '../../storage/database.ts'
import { insertPerformer, listAssignments, listPerformers, savePerformer } from '../../storage/hardware.ts'
import { lockPictures, removeUnusedPictures, savePictureText } from '../../storage/pictures.ts'
import { listChannelSlots, listPlaceholders, savePlaceholder } from '../../storage/slots.ts'
import { UndoRecorder } from '../../storage/undo.ts'
import { listUnits } from '../../storage/units.ts'

interface CastSource {
  /** The rows, or a function that makes other changes in the transaction first. */
  readonly rows: readonly CastRow[] | ((tx: Tx, revision: number, undo: UndoRecorder) => Promise<PreparedRows>)
  /** A preview makes the same changes and rolls them back. */
  readonly preview: boolean
  /** The action and its target, for the audit log and the undo record. */
  readonly action: AuditAction
  readonly target: string
  /** Returns the part of the request that a row comes from, for an error message. */
  describeRow(row: number): string
  /** Called in the transaction, at its end; not for a preview. */
  finish?(tx: Tx): Promise<void>
}

interface PreparedRows {
  readonly rows: readonly CastRow[]
  /** The changes that have been made. */
  readonly changes: readonly RecordChange[]
}

interface AppliedCast {
  readonly changes: readonly RecordChange[]
  readonly skipped: readonly Skipped[]
  /** Null for a preview, or if nothing changes. */
  readonly undo_id: number | null
}

export async function applyCast(
  service: Service,
  actor: Actor,
  { rows, preview, action, target, describeRow, finish }: CastSource,
): Promise<AppliedCast> {
  const { ingest, mount } = service
  let applied: AppliedCast | undefined
  try {
    await ingest.change(async (tx, revision) => {
      await lockPictures(tx)
      const undo = new UndoRecorder(tx, actor)
      const prepared = typeof rows === 'function' ? await rows(tx, revision, undo) : { rows, changes: [] }
      const state = await readState(tx)
      const plan = planCast(prepared.rows, state)
      if ('unknownSlot' in plan) {
        const details = `${describeRow(plan.row)}: there is no slot ${plan.unknownSlot}`
        throw new RequestError('bad_request', { details })
      }
      const work: Work = {
        tx,
        plan,
        state,
        now: now(),
        mount,
        preview,
        undo,
        changes: [...prepared.changes],
        renamed: [],
      }
      const performers = await applyPerformers(work)
      await settleCast(tx, { actor, time: work.now }, async () => {
        await applyAssignments(work, performers)
        await applyPlaceholders(work)
      })
      const changes = [...work.changes, ...(await listAssignmentChanges(work, performers)), ...work.renamed]
      const { skipped } = plan
      const undo_id = await undo.save(action, work.now)
      // The undo record keeps the pictures that it can restore.
      await removeUnusedPictures(tx)
      applied = { changes, skipped, undo_id: preview ? null : undo_id }
      if (preview) throw new PreviewRollback()
      await finish?.(tx)
      if (changes.length === 0) return
      const details = { changes: changes.length, skipped: skipped.length }
      await writeAudit(tx, { actor, action, target, result: 'ok', details })
    })
    await service.reload()
  } catch (error) {
    if (!(error instanceof PreviewRollback)) throw error
  }
  if (applied === undefined) throw new Error('Nothing was imported.')
  return applied
}

/** Thrown to roll back the transaction of a preview. */
class PreviewRollback extends Error {
  override readonly name = 'PreviewRollback'
}

async function readState(tx: Tx): Promise<CastState> {
  return {
    performers: await listPerformers(tx.query),
    assignments: await listAssignments(tx.query, { is_active: true }),
    units: await listUnits(tx.query),
    slots: new Map((await listChannelSlots(tx.query)).map(({ id, slot }) => [slot, id])),
    placeholders: new Map((await listPlaceholders(tx.query)).map((placeholder) => [placeholder.slot, placeholder])),
  }
}

interface Work {
  readonly tx: Tx
  readonly plan: CastPlan
  readonly state: CastState
  readonly now: number
  readonly mount: string
  readonly preview: boolean
  readonly undo: UndoRecorder
  readonly changes: RecordChange[]
  readonly renamed: RecordChange[]
}

interface NamedPerformer {
  readonly id: number
  readonly name: string
  readonly isNew: boolean
}

/** Creates and changes the performers. Returns them by their key in the plan. */
async function applyPerformers({
  tx,
  plan,
  mount,
  preview,
  undo,
  changes,
}: Work): Promise<Map<string, NamedPerformer>> {
  const performers = new Map<string, NamedPerformer>()
  for (const [key, { stored, name, note, photo }] of plan.performers) {
    const picture = photo === '' ? null : await savePictureText(tx, photo)
    if (picture === undefined) {
      throw new RequestError('bad_request', { details: `text: photo of ${name}: expected ${pictureText}` })
    }
    // The pictures of a preview are not stored, so it returns them as they were entered.
    const shownPicture = withMount({ picture: preview ? photo : picture }, mount)
    if (stored === null) {
      const { id } = await insertPerformer(tx, { name, notes: note, picture })
      undo.added('performers', id)
      const to = { name, notes: note, ...(picture === null ? { picture } : shownPicture) }
      changes.push({ what: 'performer', id: preview ? null : id, from: null, to })
      performers.set(key, { id, name, isNew: true })
      continue
    }
    performers.set(key, { id: stored.id, name: stored.name, isNew: false })
    const hasNewNotes = note !== '' && note !== stored.notes
    const hasNewPicture = picture !== null && picture !== stored.picture
    if (!hasNewNotes && !hasNewPicture) continue
    await undo.willChange('performers', stored.id)
    await savePerformer(tx, {
      ...stored,
      ...(hasNewNotes && { notes: note }),
      ...(hasNewPicture && { picture }),
    })
    changes.push({
      what: 'performer',
      id: stored.id,
      from: {
        ...(hasNewNotes && { notes: stored.notes }),
        ...(hasNewPicture && withMount({ picture: stored.picture }, mount)),
      },
      to: { ...(hasNewNotes && { notes: note }), ...(hasNewPicture && shownPicture) },
    })
  }
  return performers
}

async function applyAssignments(
  { tx, plan, now, undo }: Work,
  performers: ReadonlyMap<string, NamedPerformer>,
): Promise<void> {
  const edit = { time: now, undo }
  for (const assignment of plan.ended) await unassign(tx, assignment, edit)
  for (const { unit, performer: key, role } of plan.assigned) {
    const performer = performers.get(key)?.id
    if (performer !== undefined) await assignUnit(tx, unit, { performer, role }, edit)
  }
}

/** Call it after the cast was settled. */
async function listAssignmentChanges(
  { tx, plan, state, preview }: Work,
  performers: ReadonlyMap<string, NamedPerformer>,
): Promise<readonly RecordChange[]> {
  const names = new Map(state.performers.map(({ id, name }) => [id, name]))
  const active = await listAssignments(tx.query, { is_active: true })
  const idOf = new Map(active.map(({ id, wireless_unit }) => [wireless_unit, id]))
  const slotOf = createSlotFinder(state)
  const describe = ({
    performer: id,
    wireless_unit,
    role,
  }: Pick<Assignment, 'performer' | 'wireless_unit' | 'role'>) => ({
    slot: slotOf(wireless_unit),
    wireless_unit,
    performer: { id, name: names.get(id) ?? '' },
    role,
  })
  const ended = plan.ended.map((assignment) => {
    return { what: 'assignment', id: assignment.id, from: describe(assignment), to: null }
  })
  const assigned = plan.assigned.flatMap(({ unit, performer: key, role, changed }): RecordChange[] => {
    if (changed !== null) {
      return [{ what: 'assignment', id: changed.id, from: describe(changed), to: describe({ ...changed, role }) }]
    }
    const performer = performers.get(key)
    if (performer === undefined) return []
    const shownPerformer = { id: preview && performer.isNew ? null : performer.id, name: performer.name }
    const to = { ...describe({ performer: performer.id, wireless_unit: unit, role }), performer: shownPerformer }
    return [{ what: 'assignment', id: preview ? null : (idOf.get(unit) ?? null), from: null, to }]
  })
  return [...ended, ...assigned]
}

async function applyPlaceholders({ tx, plan, undo, renamed }: Work): Promise<void> {
  const describe = ({ slot, name, note }: Placeholder) => ({ slot, name, note })
  for (const { before, after } of plan.placeholders) {
    await undo.willChange('placeholders', before.id)
    await savePlaceholder(tx, after)
    renamed.push({ what: 'placeholder', id: before.id, from: describe(before), to: describe(after) })
  }
}

/** Creates a function that returns the slot of a unit; null if no channel receives it. */
function createSlotFinder({ units, slots }: CastState): (unit: number) => number | null {
  const slotByChannel = new Map([...slots].map(([slot, channel]) => [channel, slot]))
  const channelByUnit = new Map(units.map(({ id, channel_id }) => [id, channel_id]))
  return (unit) => slotByChannel.get(channelByUnit.get(unit) ?? 0) ?? null
}
