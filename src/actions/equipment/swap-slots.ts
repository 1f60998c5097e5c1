/** Exchanges the people or the equipment of two slots. */

import type { SlotRecord, SlotSwap } from '../../contract/slots.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { SlotFields } from '../../domain/equipment/slot-entry.ts'
import type { SlotHolder } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import { aboutChannel } from '../../domain/events/channel-events.ts'
import { aboutAll, draftEvent, type EventSubject } from '../../domain/events/event.ts'
import { isSameJson } from '../../domain/json.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { settleCast } from '../../storage/cast.ts'
import { insertEvents } from '../../storage/events.ts'
import { replaceSlotEntry } from '../../storage/slot-entries.ts'
import { placeHolders } from '../../storage/slots.ts'
import { UndoRecorder } from '../../storage/undo.ts'
import { requireLocal } from '../require-local.ts'
import { recordMoves } from '../shows/record-moves.ts'
import { fieldsIn, holderIn, notFound } from './edit-slots.ts'

interface SwappedSlot {
  readonly holder: SlotHolder
  readonly before: SlotFields
  /** Undefined for a placeholder. */
  readonly subject: EventSubject | undefined
}

/** Returns the undo id; null if nothing changed. */
export async function swapSlots(
  service: Service,
  actor: Actor,
  slot: number,
  { with: other, what }: SlotSwap,
  requireVersion: RequireVersion<SlotRecord>,
): Promise<number | null> {
  if (other === slot) throw new RequestError('bad_request', { details: 'with: expected another slot' })
  return service.ingest.change(async (tx, revision) => {
    const time = now()
    const undo = new UndoRecorder(tx, actor)
    const [a, b] = [findSlot(service, slot), findSlot(service, other, 'with')]
    requireVersion(service.slotRecords.find(slot) ?? null, `slot ${slot}`)
    const swapped = [
      { ...a, after: fieldsAfter(what, a.before, b.before), to: other },
      { ...b, after: fieldsAfter(what, b.before, a.before), to: slot },
    ]
    if (what === 'people' && swapped.every(({ before, after }) => isSameJson(before, after))) return null
    const moves = what === 'people' ? [] : swapped.map(({ holder, to }) => ({ holder, slot: to }))
    await settleCast(tx, { actor, time }, async () => {
      for (const { holder } of moves) await undo.willChange(`${holder.kind}s`, holder.id)
      for (const { holder, after } of swapped) {
        await undo.willChangeEntry(holder)
        await replaceSlotEntry(tx, holder, after)
      }
      await placeHolders(tx, revision, moves)
    })
    await recordMoves(tx, service, actor, moves)
    const data = { slot, with: other, what }
    await insertEvents(tx, [draftEvent('swapped', a.subject ?? b.subject ?? aboutAll, { time, by: actor.name, data })])
    const details = { with: other, what }
    await writeAudit(tx, { actor, action: 'slot.swap', target: `slot ${slot}`, result: 'ok', details })
    return undo.save('slot.swap', time)
  })
}

/** A swap of equipment exchanges all entries, because they move with the channel and must return to their slot. */
function fieldsAfter(what: SlotSwap['what'], own: SlotFields, other: SlotFields): SlotFields {
  if (what === 'equipment') return other
  const { performer, role, label, color } = other
  return { ...own, performer, role, label, color }
}

function findSlot(service: Service, slot: number, field?: string): SwappedSlot {
  const holder = holderIn(service, slot)
  if (holder === null) throw notFound(slot)
  const receiver = service.slotRecords.receiverIn(slot)
  if (receiver !== undefined) requireLocal(receiver, field)
  const subject = receiver && aboutChannel(receiver, holder)
  return { holder: { ...holder, slot }, before: fieldsIn(service, holder), subject }
}
