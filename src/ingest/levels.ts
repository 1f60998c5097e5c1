/**
 * Stores levels for other processes on the same database. Normally levels are stored only at the end of a polling cycle,
 * so other processes would see them late. With Redis, they are also published there (`report-publisher.ts`); without
 * Redis, they are stored every 250 ms.
 */

import type { Log } from '../platform/log.ts'
import { pause } from '../platform/wait.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { Ingest } from './ingest.ts'

interface LevelDeps {
  readonly ingest: Ingest
  readonly sourceRegistry: SourceRegistry
  readonly log: Log
}

/** Other processes read changes every half second, so they see pushed levels within a second. */
const saveEveryMs = 250

/** Stores unsaved levels, for example before the process ends. */
export async function saveLevels({ ingest, log, sourceRegistry }: LevelDeps): Promise<void> {
  for (const { code } of sourceRegistry.manufacturers()) {
    await ingest.ingest({ manufacturer: code, reports: [], endsCycle: true }).catch((error) => {
      log.error({ manufacturer: code, error: String(error) }, 'levels could not be stored')
    })
  }
}

/** Stores levels continuously while `isNeeded` returns true: see docs/decisions/0008-subscriptions.md. */
export async function keepSavingLevels(deps: LevelDeps, isNeeded: () => boolean, signal: AbortSignal): Promise<void> {
  while (await pause(saveEveryMs, signal)) if (isNeeded()) await saveLevels(deps)
  await saveLevels(deps)
}
