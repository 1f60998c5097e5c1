/** What an upstream's answers have wrong that is passed over, said once an hour and not once a poll. */

import type { DeviceProblem } from '../model/health.ts'
import type { Log } from './log.ts'

const againAfterMs = 60 * 60_000
/** Of one list so many are told. */
const maxAtOnce = 100
/** So many different ones are kept apart; a system that brings more is beyond telling one by one. */
const maxRemembered = 1000

export type LogProblems = (complaints: readonly DeviceProblem[]) => void

export function createLogLimiter(log: Log, source: string): LogProblems {
  const saidAt = new Map<string, number>()
  return (complaints) => {
    const now = performance.now()
    for (const { about, problem } of complaints.slice(0, maxAtOnce)) {
      const at = saidAt.get(about)
      if (at !== undefined ? now - at < againAfterMs : saidAt.size >= maxRemembered) continue
      saidAt.set(about, now)
      log.warn({ source }, `${about}: ${problem}`)
    }
  }
}
