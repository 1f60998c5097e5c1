/** Stores the events of assignments that a user's action begins and ends, whichever way it changes them. */

import type { Actor } from '../../domain/access/access.ts'
import { compareAssignments } from '../../domain/events/event-drafts.ts'
import type { Tx } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'
import { listActiveAssignments } from '../../storage/hardware.ts'

/** Runs `work`, and then stores the events in the same transaction. */
export async function recordAssignments<T>(
  tx: Tx,
  { actor, time }: { readonly actor: Actor; readonly time: number },
  work: () => Promise<T>,
): Promise<T> {
  const before = await listActiveAssignments(tx.query)
  const result = await work()
  const after = await listActiveAssignments(tx.query)
  await insertEvents(tx, compareAssignments(before, after, { time, by: actor.name }))
  return result
}
