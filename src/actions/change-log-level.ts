/** Changes the log level of this process for some minutes. */

import type { LogLevelBody } from '../contract/health.ts'
import type { Actor } from '../domain/access/access.ts'
import type { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'

export async function changeLogLevel(
  { db, logLevel }: Service,
  actor: Actor,
  { level, minutes }: { readonly level: string; readonly minutes: number },
): Promise<LogLevelBody> {
  const details = { before: logLevel.body().level, level, minutes }
  await db.transaction((tx) =>
    writeAudit(tx, { actor, action: 'log_level.change', target: 'log', result: 'ok', details }),
  )
  logLevel.change(level, minutes)
  return logLevel.body()
}
