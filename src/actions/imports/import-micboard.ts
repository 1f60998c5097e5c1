/** Imports micboard's config.json: slots, extended names as performers, placeholders, and groups. */

import type { MicboardImport, RecordChange } from '../../contract/imports.ts'
import type { Actor } from '../../domain/access/access.ts'
import { listSlotHolders, type Placeholder } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import { type MicboardPlan, planMicboard, readMicboardConfig } from '../../domain/imports/micboard.ts'
import { findJsonExcess } from '../../domain/json-limits.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import type { Tx } from '../../storage/database.ts'
import {
  insertGroup,
  insertPlaceholder,
  listGroups,
  listPlaceholders,
  placeHolders,
  saveGroup,
  savePlaceholder,
} from '../../storage/slots.ts'
import type { UndoRecorder } from '../../storage/undo.ts'
import { applyCast } from '../shows/apply-cast.ts'
import { recordMoves } from '../shows/record-moves.ts'

/** 10,000 slots, each with its fields. */
const maxValues = 200_000

interface MicboardRequest {
  readonly text: string
  readonly preview?: boolean
}

export async function importMicboard(
  service: Service,
  actor: Actor,
  { text, preview = false }: MicboardRequest,
): Promise<MicboardImport> {
  const excess = findJsonExcess(Buffer.from(text), maxValues)
  if (excess !== null) throw new RequestError('bad_request', { details: `text: ${excess.message}` })
  const config = readMicboardConfig(text)
  if (typeof config === 'string') throw new RequestError('bad_request', { details: `text: ${config}` })
  const { receiverStore, placeholderStore } = service
  let skippedSlots: MicboardPlan['skipped'] = []
  const applied = await applyCast(service, actor, {
    preview,
    action: 'micboard.import',
    target: 'micboard',
    allowsRepeatedNames: true,
    async rows(tx, revision, undo) {
      const receivers = receiverStore.listFacts()
      const holders = listSlotHolders(receivers, placeholderStore.list())
      const plan = planMicboard(config, { receivers, holders, groups: await listGroups(tx.query) })
      skippedSlots = plan.skipped
      await recordMoves(tx, service, actor, plan.moves)
      const work = { tx, undo, preview }
      const changes = [
        ...(await applyMoves(work, revision, plan.moves)),
        ...(await applyPlaceholders(work, await listPlaceholders(tx.query), plan.placeholders)),
        ...(await applyGroups(work, plan.groups)),
      ]
      return { rows: plan.rows, changes }
    },
  })
  // The number of a row is its slot.
  const skippedRows = applied.skipped.map(({ row, name, reason }) => ({ slot: row, name, reason }))
  return { changes: [...applied.changes], skipped: [...skippedSlots, ...skippedRows], undo_id: applied.undo_id }
}

interface Work {
  readonly tx: Tx
  readonly undo: UndoRecorder
  readonly preview: boolean
}

async function applyMoves({ tx, undo }: Work, revision: number, moves: MicboardPlan['moves']): Promise<RecordChange[]> {
  for (const { holder } of moves) await undo.willChange(`${holder.kind}s`, holder.id)
  if (moves.length > 0) await placeHolders(tx, revision, moves)
  return moves.map(({ holder: { kind, id, slot: from }, slot }) => {
    return { what: `${kind}_slot`, id, from: { slot: from }, to: { slot } }
  })
}

/** Adds placeholders, and renames those that exist. */
async function applyPlaceholders(
  { tx, undo, preview }: Work,
  stored: readonly Placeholder[],
  placeholders: MicboardPlan['placeholders'],
): Promise<RecordChange[]> {
  const changes: RecordChange[] = []
  const bySlot = new Map(stored.map((placeholder) => [placeholder.slot, placeholder]))
  for (const fields of placeholders) {
    const before = bySlot.get(fields.slot)
    if (before === undefined) {
      const { id } = await insertPlaceholder(tx, { ...fields, kind: 'wireless', created_at: now() })
      undo.added('placeholders', id)
      changes.push({ what: 'placeholder', id: preview ? null : id, from: null, to: fields })
      continue
    }
    const { id, slot, name, note } = before
    const to = { ...fields, note: fields.note || note }
    if (name === to.name && note === to.note) continue
    await undo.willChange('placeholders', id)
    await savePlaceholder(tx, { ...before, ...to })
    changes.push({ what: 'placeholder', id, from: { slot, name, note }, to })
  }
  return changes
}

async function applyGroups({ tx, undo, preview }: Work, groups: MicboardPlan['groups']): Promise<RecordChange[]> {
  const changes: RecordChange[] = []
  for (const { before, after } of groups) {
    const { title, slots, hide_charts } = after
    if (before === null) {
      const { id } = await insertGroup(tx, after)
      undo.added('groups', id)
      changes.push({ what: 'group', id: preview ? null : id, from: null, to: { title, slots, hide_charts } })
      continue
    }
    await undo.willChange('groups', before.id)
    await saveGroup(tx, { ...after, id: before.id })
    changes.push({ what: 'group', id: before.id, from: { title, slots: before.slots }, to: { title, slots } })
  }
  return changes
}
