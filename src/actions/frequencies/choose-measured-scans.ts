/** Chooses the scans that checks and the list of frequencies consider by default. */

import type { MeasuredBody } from '../../contract/frequencies.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import type { MeasuredOptions } from '../../frequencies/measured-scans.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { findMeasured, saveMeasured } from '../../storage/frequencies.ts'

export async function chooseMeasuredScans(
  service: Service,
  actor: Actor,
  options: MeasuredOptions,
  requireVersion: RequireVersion<MeasuredBody>,
): Promise<MeasuredBody> {
  service.measuredScans.requireScans(options.scan_ids, 'scan_ids')
  await service.db.transaction(async (tx) => {
    requireVersion(await findMeasured(tx.query), 'measured')
    await saveMeasured(tx, options)
    const details = { ...options }
    await writeAudit(tx, { actor, action: 'scan.choose', target: 'measured scans', result: 'ok', details })
  })
  await service.reload()
  return service.measuredScans.defaults()
}
