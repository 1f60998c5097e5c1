/**
 * Stops receivers' real-time connections on purpose, and starts them again. Whoever keeps the links sees it in the store:
 * in this process at once, in another within half a second.
 */

import type { Actor } from '../model/access.ts'
import { applyConnectionEvent } from '../model/connection.ts'
import { type ReviewBody, throwIfAllFailed } from '../model/discovery-api.ts'
import type { Connections } from '../monitor/connections.ts'
import { writeAudit } from '../store/audit.ts'
import { findConnections, overrideConnections } from '../store/connections.ts'
import type { Database } from '../store/database.ts'
import { nextRevision } from '../store/revision.ts'

export interface SwitchDeps {
  readonly db: Database
  readonly connections: Pick<Connections, 'load'>
  now(): number
}

export type Switch = 'stop' | 'start'

const messages: Readonly<Record<Switch, (count: number) => string>> = {
  stop: (count) => `Stopped ${count} connection(s).`,
  start: (count) => `Started ${count} connection(s).`,
}

/** One that is stopped (or runs) already is no failure, and counts as not updated. */
export async function switchConnections(
  { db, connections, now }: SwitchDeps,
  actor: Actor,
  deed: Switch,
  ids: readonly number[],
): Promise<ReviewBody> {
  const wanted = [...new Set(ids)]
  const event = { type: deed === 'stop' ? 'stopped' : 'started', at: now() } as const
  const { updated, failed } = await db.transaction(async (tx) => {
    const revision = await nextRevision(tx, 'connections')
    const known = await findConnections(tx.query, wanted)
    const found = new Set(known.map(({ receiver }) => receiver))
    const changed = known.flatMap((before) => {
      const after = applyConnectionEvent(before, event)
      return after === before ? [] : [after]
    })
    await overrideConnections(tx, revision, changed)
    for (const { receiver } of changed) {
      await writeAudit(tx, { actor, action: `connection.${deed}`, target: `receiver ${receiver}`, result: 'ok' })
    }
    const missing = wanted.filter((id) => !found.has(id))
    return {
      updated: changed.length,
      failed: missing.map((id) => ({ id, error: `There is no real-time connection ${id}.` })),
    }
  })
  // It is done; what cannot be read at once is read a moment later.
  await connections.load().catch(() => {})
  throwIfAllFailed(wanted, failed)
  return { message: messages[deed](updated), updated, failed }
}
