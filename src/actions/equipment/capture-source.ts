import type { CaptureBody } from '../../contract/captures.ts'
import type { Actor } from '../../domain/access/access.ts'
import { captureMinutes } from '../../domain/captures.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'

/** Throws a RequestError if there is no such source, or it cannot be captured now. */
export async function startCapture(
  { db, captures }: Service,
  actor: Actor,
  { address, minutes = captureMinutes.usual }: { readonly address: string; readonly minutes?: number },
  version: string,
): Promise<CaptureBody> {
  const capture = captures.start(address, minutes, version)
  const entry = { actor, action: 'capture.start', target: `source ${capture.address}`, result: 'ok' } as const
  await db.transaction((tx) => writeAudit(tx, { ...entry, details: { minutes } }))
  return capture
}
