/** Writes down levels that were pushed, for other processes on the same database, and before leaving. */

import type { Ingest } from './ingest.ts'
import type { Log } from './log.ts'
import { pause } from './wait.ts'

interface LevelDeps {
  readonly ingest: Pick<Ingest, 'take'>
  readonly log: Log
  manufacturers(): readonly { readonly code: string }[]
}

/** With the half second in which others look for changes: what is pushed here is seen there within a second. */
const saveEveryMs = 250

export async function saveLevels({ ingest, log, manufacturers }: LevelDeps): Promise<void> {
  for (const { code } of manufacturers()) {
    await ingest.take({ manufacturer: code, observations: [], endsCycle: true }).catch((error) => {
      log.error({ manufacturer: code, error: String(error) }, 'the last levels could not be stored')
    })
  }
}

/** For a process that serves nobody itself: see docs/decisions/0008-links.md. */
export async function saveLevelsForever(deps: LevelDeps, signal: AbortSignal): Promise<void> {
  while (await pause(saveEveryMs, signal)) await saveLevels(deps)
  await saveLevels(deps)
}
