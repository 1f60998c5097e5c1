/** Creates the placeholders of blank places that were stored as mere slots of groups by earlier versions. */

import { listBlankSlots } from '../domain/equipment/slots.ts'
import { now } from '../platform/clock.ts'
import type { Database, Reader } from '../storage/database.ts'
import { nextRevision } from '../storage/revision.ts'
import { insertPlaceholder, listChannelSlots, listGroups, listPlaceholders } from '../storage/slots.ts'

/** Creates a blank placeholder in every slot from 65001 up that a group has and that is empty. */
export async function createBlankPlaceholders(db: Database): Promise<void> {
  if ((await findBlankSlots(db.read)).length === 0) return
  await db.transaction(async (tx) => {
    await nextRevision(tx)
    // Searched again, because another process may have created them.
    for (const slot of await findBlankSlots(tx.query)) {
      await insertPlaceholder(tx, { slot, kind: 'blank', created_at: now() })
    }
  })
}

async function findBlankSlots(reader: Reader): Promise<number[]> {
  const groups = await listGroups(reader)
  return listBlankSlots(groups, [...(await listChannelSlots(reader)), ...(await listPlaceholders(reader))])
}
