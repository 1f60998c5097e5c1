/** Stores the events of channels that a user's action moves to other slots, whichever way it moves them. */

import type { Actor } from '../../domain/access/access.ts'
import type { PlannedMove } from '../../domain/equipment/slots.ts'
import { compareEdited } from '../../domain/events/edit-events.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { Tx } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'

interface RecordMovesDeps {
  /** As it was before the moves. */
  readonly receiverStore: Pick<ReceiverStore, 'listFacts'>
  now(): number
}

export async function recordMoves(
  tx: Tx,
  { receiverStore, now }: RecordMovesDeps,
  actor: Actor,
  moves: readonly PlannedMove[],
): Promise<void> {
  const moved = moves.filter(({ holder }) => holder.kind === 'channel')
  const slots = new Map(moved.map(({ holder, slot }) => [holder.id, slot]))
  const edit = { time: now(), by: actor.name, locationName: () => '' }
  const events = receiverStore
    .listFacts()
    .filter(({ channels }) => channels.some(({ id }) => slots.has(id)))
    .flatMap((before) => {
      const channels = before.channels.map((channel) => ({ ...channel, slot: slots.get(channel.id) ?? channel.slot }))
      return compareEdited(before, { ...before, channels }, edit)
    })
  await insertEvents(tx, events)
}
