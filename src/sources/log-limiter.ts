/**
 * Logs the tolerated problems in an upstream's responses: at most one an hour for each subject, such as a device,
 * instead of all problems at every poll.
 */

import type { DeviceProblem } from '../domain/equipment/health.ts'
import type { Log } from '../platform/log.ts'

const repeatAfterMs = 60 * 60_000
/** The maximum number of problems logged for one response. */
const maxPerResponse = 100
/** The maximum number of subjects that are tracked; problems of further subjects are not logged. */
const maxRemembered = 1000

export type LogProblems = (problems: readonly DeviceProblem[]) => void

export function createLogLimiter(log: Log, source: string): LogProblems {
  const loggedAt = new Map<string, number>()
  return (problems) => {
    const now = performance.now()
    for (const { subject: about, problem } of problems.slice(0, maxPerResponse)) {
      const last = loggedAt.get(about)
      if (last !== undefined ? now - last < repeatAfterMs : loggedAt.size >= maxRemembered) continue
      loggedAt.set(about, now)
      log.warn({ source }, `${about}: ${problem}`)
    }
  }
}
