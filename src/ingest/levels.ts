/**
 * Stores levels for other processes on the same database. Normally levels are stored only at the end of a polling cycle,
 * so other processes would see them late. With Redis, they are also published there (`report-publisher.ts`); without
 * Redis, they are stored every 250 ms.
 */

import { pause } from '../platform/wait.ts'
import type { SourceSubsystems } from '../sources/source-subsystems.ts'

/** Other processes read changes every half second, so they see pushed levels within a second. */
const saveEveryMs = 250

/** Stores unsaved levels, for example before the process ends. */
export async function saveLevels({ ingest, log, sourceRegistry }: SourceSubsystems): Promise<void> {
  for (const { code } of sourceRegistry.manufacturers()) {
    await ingest.ingest({ manufacturer: code, reports: [], endsCycle: true }).catch((error) => {
      log.error({ manufacturer: code, error: String(error) }, 'levels could not be stored')
    })
  }
}

/** Stores levels continuously while `isNeeded` returns true: see docs/decisions/0008-subscriptions.md. */
export async function keepSavingLevels(
  service: SourceSubsystems,
  isNeeded: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  while (await pause(saveEveryMs, signal)) if (isNeeded()) await saveLevels(service)
  await saveLevels(service)
}
