/**
 * Stops real-time connections on request, and starts them again. The process that holds the subscriptions
 * reads the change from the database: immediately if it is this process, otherwise within half a second.
 */

import type { ReviewBody } from '../../contract/schema.ts'
import type { Actor } from '../../domain/access/access.ts'
import { applyConnectionEvent } from '../../domain/equipment/connection.ts'
import { throwIfAllFailed } from '../../domain/errors.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { findConnections, overrideConnections } from '../../storage/connections.ts'
import { nextRevision } from '../../storage/revision.ts'

export type Switch = 'stop' | 'start'

const messages: Readonly<Record<Switch, (count: number) => string>> = {
  stop: (count) => `Stopped ${count} connection(s).`,
  start: (count) => `Started ${count} connection(s).`,
}

/**
 * Stops or starts connections. A connection that is already in the requested state is counted neither as updated nor as
 * failed.
 */
export async function switchConnections(
  { db, connections }: Service,
  actor: Actor,
  action: Switch,
  ids: readonly number[],
): Promise<ReviewBody> {
  const uniqueIds = [...new Set(ids)]
  const event = { type: action === 'stop' ? 'stopped' : 'started', at: now() } as const
  const { updated, failed } = await db.transaction(async (tx) => {
    const revision = await nextRevision(tx, 'connections')
    const known = await findConnections(tx.query, uniqueIds)
    const found = new Set(known.map(({ id }) => id))
    const changed = known.flatMap((before) => {
      const after = applyConnectionEvent(before, event)
      return after === before ? [] : [after]
    })
    await overrideConnections(tx, revision, changed)
    for (const { receiver, manufacturer } of changed) {
      const target = receiver === null ? `manufacturer ${manufacturer}` : `receiver ${receiver}`
      await writeAudit(tx, { actor, action: `connection.${action}`, target, result: 'ok' })
    }
    const missing = uniqueIds.filter((id) => !found.has(id))
    return {
      updated: changed.length,
      failed: missing.map((id) => ({ id, error: `There is no real-time connection ${id}.` })),
    }
  })
  // The change is stored. If loading fails now, the next periodic load picks it up.
  await connections.load().catch(() => {})
  throwIfAllFailed(uniqueIds, failed)
  return { message: messages[action](updated), updated, failed }
}
