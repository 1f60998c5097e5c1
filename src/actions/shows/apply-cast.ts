/**
 * Applies a cast list in one transaction: creates and changes performers, assigns them to slots, and adds placeholders.
 */

import type { CastImport, RecordChange } from '../../contract/imports.ts'
import { pictureText } from '../../contract/performers.ts'
import type { AuditAction, PlaceholderKind } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { Assignment } from '../../domain/equipment/hardware.ts'
import { type Picture, withMount } from '../../domain/equipment/picture.ts'
import { type EntryHolder, holderOf, type SlotFields } from '../../domain/equipment/slot-entry.ts'
import { describeHolder } from '../../domain/equipment/slots.ts'
import { slotKindOf } from '../../domain/equipment/unit-type.ts'
import { type CastRow, isWebAddress } from '../../domain/imports/cast-columns.ts'
import {
  type CastOptions,
  type CastPlan,
  type CastSlot,
  type CastState,
  type PlannedPerformer,
  planCast,
  type Skipped,
} from '../../domain/imports/cast-plan.ts'
import { now } from '../../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { assignUnit, settleCast } from '../../storage/cast.ts'
import type { Reader, Tx } from '../../storage/database.ts'
import { insertPerformer, listAssignments, listPerformers, savePerformer } from '../../storage/hardware.ts'
import { lockPictures, removeUnusedPictures, savePicture, savePictureText } from '../../storage/pictures.ts'
import { listSlotEntries, replaceSlotEntry } from '../../storage/slot-entries.ts'
import { insertPlaceholder, listChannelSlots, listPlaceholders } from '../../storage/slots.ts'
import { UndoRecorder } from '../../storage/undo.ts'
import { listUnits } from '../../storage/units.ts'
import { fieldsIn } from '../equipment/edit-slots.ts'
import { changeOrPreview } from '../preview.ts'

interface CastSource extends CastOptions {
  /** The rows, or a function that makes other changes in the transaction first. */
  readonly rows: readonly CastRow[] | ((tx: Tx, revision: number, undo: UndoRecorder) => Promise<PreparedRows>)
  /** A preview makes the same changes and rolls them back. */
  readonly preview: boolean
  /** The action and its target, for the audit log and the undo record. */
  readonly action: AuditAction
  readonly target: string
  /** By web address: the photo, or the reason that it could not be fetched. */
  readonly photos?: ReadonlyMap<string, Picture | string>
  /** Called in the transaction, at its end; not for a preview. */
  finish?(tx: Tx): Promise<void>
}

interface PreparedRows {
  readonly rows: readonly CastRow[]
  /** The changes that have been made. */
  readonly changes: readonly RecordChange[]
}

interface AppliedCast extends Pick<CastImport, 'changes' | 'skipped' | 'failures'> {
  /** Null for a preview, or if nothing changes. */
  readonly undo_id: number | null
}

export function applyCast(service: Service, actor: Actor, source: CastSource): Promise<AppliedCast> {
  const { rows, preview, action, target, photos = new Map(), finish } = source
  return changeOrPreview(service, preview, async (tx, revision) => {
    await lockPictures(tx)
    const undo = new UndoRecorder(tx, actor)
    const prepared = typeof rows === 'function' ? await rows(tx, revision, undo) : { rows, changes: [] }
    const state = await readCastState(service, tx.query)
    const plan = planCast(prepared.rows, state, source)
    const work: Work = {
      ...{ service, tx, actor, plan, state, time: now(), preview, undo, photos },
      ...{ changes: [...prepared.changes], skipped: [...plan.skipped], failures: [] },
    }
    const performers = await applyPerformers(work)
    await applySlots(work, performers)
    const { changes, skipped, failures } = work
    const undo_id = await undo.save(action, work.time)
    // The undo record keeps the pictures that it can restore.
    await removeUnusedPictures(tx)
    if (preview) return { changes, skipped, failures, undo_id: null }
    await finish?.(tx)
    if (changes.length > 0) {
      const details = { changes: changes.length, skipped: skipped.length }
      await writeAudit(tx, { actor, action, target, result: 'ok', details })
    }
    return { changes, skipped, failures, undo_id }
  })
}

interface StoredCast extends CastState {
  /** The active ones. */
  readonly assignments: readonly Assignment[]
}

export async function readCastState({ receiverStore }: Service, reader: Reader): Promise<StoredCast> {
  const entries = new Map((await listSlotEntries(reader)).map((entry) => [describeHolder(holderOf(entry)), entry]))
  const receivers = new Map(
    receiverStore.listAllFacts().flatMap((receiver) => receiver.channels.map(({ id }) => [id, receiver])),
  )
  const toSlot = (slot: number, holder: EntryHolder, kind: PlaceholderKind, site: string | null): CastSlot => {
    const { performer = null, role = null } = entries.get(describeHolder(holder)) ?? {}
    return { slot, holder, isInEar: kind === 'iem', performer, role, site }
  }
  const channels = (await listChannelSlots(reader)).map(({ id, slot }) => {
    const { device_type = '', origin } = receivers.get(id) ?? {}
    return toSlot(slot, { kind: 'channel', id }, slotKindOf(device_type), origin?.site.name ?? null)
  })
  const placeholders = (await listPlaceholders(reader)).map(({ id, slot, kind }) =>
    toSlot(slot, { kind: 'placeholder', id }, kind, null),
  )
  const slotOfChannel = new Map(channels.map(({ holder, slot }) => [holder.id, slot]))
  const units = (await listUnits(reader)).map(({ id, name, channel_id }) => ({
    ...{ id, name },
    slot: slotOfChannel.get(channel_id ?? 0) ?? null,
  }))
  const assignments = await listAssignments(reader, { is_active: true })
  return {
    performers: await listPerformers(reader),
    slots: new Map([...channels, ...placeholders].map((slot) => [slot.slot, slot])),
    units,
    wearers: new Map(assignments.map((assignment) => [assignment.wireless_unit, assignment])),
    assignments,
  }
}

interface Work {
  readonly service: Service
  readonly tx: Tx
  readonly actor: Actor
  readonly plan: CastPlan
  readonly state: StoredCast
  readonly time: number
  readonly preview: boolean
  readonly undo: UndoRecorder
  readonly photos: ReadonlyMap<string, Picture | string>
  readonly changes: RecordChange[]
  readonly skipped: Skipped[]
  readonly failures: CastImport['failures'][number][]
}

interface NamedPerformer {
  readonly id: number
  readonly name: string
  readonly isNew: boolean
}

/** Creates and changes the performers. Returns them by their key in the plan. */
async function applyPerformers(work: Work): Promise<Map<string, NamedPerformer>> {
  const { tx, plan, service, preview, undo, changes } = work
  const performers = new Map<string, NamedPerformer>()
  for (const [key, planned] of plan.performers) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    const { stored, name, note, photo } = planned
    const picture = photo === '' ? null : await storePhoto(work, planned)
    // The pictures of a preview are not stored, so it returns them as they were entered.
    const shownPicture = withMount({ picture: preview ? photo : picture }, service.mount)
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
        ...(hasNewPicture && withMount({ picture: stored.picture }, service.mount)),
      },
      to: { ...(hasNewNotes && { notes: note }), ...(hasNewPicture && shownPicture) },
    })
  }
  return performers
}

/** Returns the address of the stored photo; null without one. */
async function storePhoto(
  { tx, photos, preview, skipped, failures }: Work,
  { name, photo, photoRow: row }: PlannedPerformer,
): Promise<string | null> {
  if (isWebAddress(photo)) {
    const fetched = photos.get(photo)
    if (typeof fetched === 'object') return savePicture(tx, fetched)
    if (fetched === undefined && preview) return photo
    failures.push({ row, name, address: photo, reason: fetched ?? 'The photo was not fetched.' })
    return null
  }
  const picture = await savePictureText(tx, photo)
  if (picture !== undefined) return picture
  skipped.push({ row, slot: null, name, reason: `The photo is not imported: expected ${pictureText}.` })
  return null
}

async function applySlots(work: Work, performers: ReadonlyMap<string, NamedPerformer>): Promise<void> {
  const { service, tx, actor, time, plan, undo, changes } = work
  const names = new Map<number, ShownPerformer>(work.state.performers.map(({ id, name }) => [id, { id, name }]))
  for (const { id, name, isNew } of performers.values()) names.set(id, { id: work.preview && isNew ? null : id, name })
  await settleCast(tx, { actor, time }, async () => {
    for (const { slot, before: known, performer: key, role } of plan.slots) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      const holder = known?.holder ?? (await addPlaceholder(work, slot))
      const before = fieldsIn(service, known?.holder ?? null)
      const after = { ...before, performer: performers.get(key ?? '')?.id ?? null, role }
      if (known !== null) await undo.willChangeEntry(holder)
      await replaceSlotEntry(tx, holder, after)
      const describe = ({ performer, role }: SlotFields) => ({
        slot,
        performer: names.get(performer ?? 0) ?? null,
        role,
      })
      changes.push({ what: 'slot', id: slot, from: known && describe(before), to: describe(after) })
    }
    for (const { unit, performer: key, role } of plan.units) {
      const performer = performers.get(key)
      if (performer !== undefined) await assignUnit(tx, unit, { performer: performer.id, role }, { time, undo })
    }
  })
  listAssignmentChanges(work, names, await listAssignments(tx.query, { is_active: true }))
}

async function addPlaceholder({ tx, time, preview, undo, changes }: Work, slot: number): Promise<EntryHolder> {
  const { id, kind, name, note } = await insertPlaceholder(tx, { slot, kind: 'wireless', created_at: time })
  undo.added('placeholders', id)
  changes.push({ what: 'placeholder', id: preview ? null : id, from: null, to: { slot, kind, name, note } })
  return { kind: 'placeholder', id }
}

interface ShownPerformer {
  /** Null for a performer that a preview would add. */
  readonly id: number | null
  readonly name: string
}

/** Adds the assignments that end, then those that begin or have another role. */
function listAssignmentChanges(
  { state, preview, changes }: Work,
  names: ReadonlyMap<number, ShownPerformer>,
  after: readonly Assignment[],
): void {
  const slotOf = new Map(state.units.map(({ id, slot }) => [id, slot]))
  const describe = ({ performer, wireless_unit, role }: Assignment) => ({
    ...{ slot: slotOf.get(wireless_unit) ?? null, wireless_unit },
    ...{ performer: names.get(performer) ?? { id: performer, name: '' }, role },
  })
  const remaining = new Set(after.map(({ id }) => id))
  for (const assignment of state.assignments) {
    if (remaining.has(assignment.id)) continue
    changes.push({ what: 'assignment', id: assignment.id, from: describe(assignment), to: null })
  }
  const known = new Map(state.assignments.map((assignment) => [assignment.id, assignment]))
  for (const assignment of after) {
    const from = known.get(assignment.id)
    if (from !== undefined && from.role === assignment.role) continue
    const id = preview && from === undefined ? null : assignment.id
    changes.push({ what: 'assignment', id, from: from ? describe(from) : null, to: describe(assignment) })
  }
}
