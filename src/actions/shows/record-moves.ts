/** Stores the events of channels that a user's action moves to other slots, whichever way it moves them. */

import type { Actor } from '../../domain/access/access.ts'
import type { TitleOf } from '../../domain/equipment/slot-record.ts'
import type { PlannedMove } from '../../domain/equipment/slots.ts'
import { compareSlots } from '../../domain/events/event-drafts.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import type { Tx } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'

export async function recordMoves(
  tx: Tx,
  { receiverStore, slotRecords }: Service,
  actor: Actor,
  moves: readonly PlannedMove[],
): Promise<void> {
  const moved = moves.filter(({ holder }) => holder.kind === 'channel')
  const slots = new Map(moved.map(({ holder, slot }) => [holder.id, slot]))
  const titleOf: TitleOf = (receiver, channel) => slotRecords.titleOf(receiver, channel)
  const edit = { time: now(), by: actor.name, titleOf }
  const events = receiverStore
    .listFacts()
    .filter(({ channels }) => channels.some(({ id }) => slots.has(id)))
    .flatMap((before) => {
      const channels = before.channels.map((channel) => ({ ...channel, slot: slots.get(channel.id) ?? channel.slot }))
      return compareSlots(before, { ...before, channels }, edit)
    })
  await insertEvents(tx, events)
}
