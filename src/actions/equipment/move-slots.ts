/** Stores moves of channels and placeholders. A channel that is moved onto a placeholder takes over its entries. */

import type { SlotMove } from '../../contract/channels.ts'
import { findReceiverOf } from '../../domain/equipment/receiver.ts'
import { emptyFields, fieldsOf, isEmptyEntry, mergeFields } from '../../domain/equipment/slot-entry.ts'
import { listSlotHolders, type PlannedMove, planMoves, takesChannels } from '../../domain/equipment/slots.ts'
import type { Service } from '../../service.ts'
import { settleCast } from '../../storage/cast.ts'
import type { Tx } from '../../storage/database.ts'
import { replaceSlotEntry } from '../../storage/slot-entries.ts'
import { deletePlaceholder, placeHolders } from '../../storage/slots.ts'
import type { UndoRecorder } from '../../storage/undo.ts'
import { requireLocal } from '../require-local.ts'
import { recordMoves } from '../shows/record-moves.ts'
import type { Edit } from './edit-slots.ts'

/** Returns the moves that change a slot. */
export async function storeMoves(
  service: Service,
  tx: Tx,
  revision: number,
  moves: readonly SlotMove[],
  edit: Edit,
): Promise<readonly PlannedMove[]> {
  const { receiverStore, placeholderStore } = service
  const placeholders = placeholderStore.list()
  const mergeable = new Set(placeholders.filter(takesChannels).map(({ id }) => id))
  const planned = planMoves(moves, listSlotHolders(receiverStore.listAllFacts(), placeholders), mergeable)
  for (const { holder } of planned) await edit.undo.willChange(`${holder.kind}s`, holder.id)
  const merges = planned.flatMap(({ holder, merged }) =>
    merged === undefined ? [] : { channel: holder.id, placeholder: merged.id },
  )
  const store = async () => {
    for (const merged of merges) await merge(service, tx, merged, edit.undo)
    await placeHolders(tx, revision, planned)
  }
  await (merges.length > 0 ? settleCast(tx, edit, store) : store())
  await recordMoves(tx, service, edit.actor, planned)
  return planned
}

async function merge(
  service: Service,
  tx: Tx,
  { channel, placeholder }: { readonly channel: number; readonly placeholder: number },
  undo: UndoRecorder,
): Promise<void> {
  const { placeholderStore, receiverStore } = service
  const holder = { kind: 'channel', id: channel } as const
  const entered = placeholderStore.entryOf({ kind: 'placeholder', id: placeholder }) ?? emptyFields
  const { label, color, ...others } = fieldsOf(entered)
  const receiver = findReceiverOf(receiverStore.listAllFacts(), channel)
  if (receiver !== undefined && !isEmptyEntry({ ...emptyFields, ...others })) requireLocal(receiver, 'slot')
  await undo.willChange('placeholders', placeholder)
  await undo.willChangeEntry(holder)
  await deletePlaceholder(tx, placeholder)
  await replaceSlotEntry(tx, holder, mergeFields(entered, placeholderStore.entryOf(holder) ?? emptyFields))
}
