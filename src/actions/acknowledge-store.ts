/** Acknowledges that the database or its log was missing or damaged when the service started. */

import type { Acknowledged } from '../contract/health.ts'
import type { Actor } from '../domain/access/access.ts'
import { describeIncident, repairDescriptions } from '../domain/equipment/health.ts'
import type { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import { findIncident, forgetIncident } from '../storage/repair.ts'

export async function acknowledgeStore(service: Service, actor: Actor): Promise<Acknowledged> {
  const incident = await service.db.transaction(async (tx) => {
    const found = await findIncident(tx.query)
    if (found === null) return null
    await forgetIncident(tx)
    const details = { what: repairDescriptions[found.cause], ...found }
    await writeAudit(tx, { actor, action: 'store.acknowledge', target: 'database', result: 'ok', details })
    return found
  })
  if (incident === null) return { acknowledged: false, message: 'There is no database incident to acknowledge.' }
  await service.reload()
  return { acknowledged: true, message: describeIncident(incident) }
}
