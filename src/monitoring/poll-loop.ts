/** Polls one source at fixed times, with back-off after failures. */

import { backoffMs, credentialsPauseMs, jitter, nextStart } from '../domain/access/rate-limit.ts'
import type { CycleOptions, CycleReport, PollDeps, Poller } from './poller.ts'
import { pause } from './wait.ts'

/** A change of the interval takes effect within this time. */
const recheckMs = 1000

/** Runs cycles until the signal aborts. */
export async function runPollLoop(
  deps: Pick<PollDeps, 'sourceRecords' | 'counters'> & { random(): number },
  poller: Pick<Poller, 'source' | 'devices' | 'poll' | 'wasAccessDenied'>,
  options: Omit<CycleOptions, 'intervalMs'> & {
    intervalMs(): number
    onCycle?(report: CycleReport): void
  },
): Promise<void> {
  const { signal, intervalMs, onCycle } = options
  while (!signal.aborted) {
    const startedAt = performance.now()
    const report = await poller.poll({ ...options, intervalMs: intervalMs() })
    if (signal.aborted) return
    onCycle?.(report)
    const endedAt = performance.now()
    const random = deps.random()
    const dueAt = () => nextCycle(report, { startedAt, endedAt, random }).at
    if (nextCycle(report, { startedAt, endedAt, random }).overran) {
      deps.counters.countOverrun(poller.source)
      deps.sourceRecords.recordOverrun(poller.source.id)
    }
    const hasReconnected = watchReconnection()
    // Recomputed regularly, because the interval may change during the wait.
    for (let waitMs = dueAt() - endedAt; waitMs > 0 && !hasReconnected(); waitMs = dueAt() - performance.now()) {
      if (!(await pause(Math.min(waitMs, recheckMs), signal))) return
    }
  }

  /**
   * Returns a function that determines whether to end the wait after a rejected poll: true once the subscription has
   * connected, which shows that the credentials are valid again.
   */
  function watchReconnection(): () => boolean {
    const before = poller.devices.connectedAt()
    return () => {
      const connectedAt = poller.devices.connectedAt()
      return (
        poller.wasAccessDenied && poller.source.client.holdMs === 0 && connectedAt !== null && connectedAt !== before
      )
    }
  }

  function nextCycle(
    report: CycleReport,
    { startedAt, endedAt, random }: { startedAt: number; endedAt: number; random: number },
  ): { at: number; overran: boolean } {
    const { id, client } = poller.source
    if (client.holdMs > 0) return { at: performance.now() + client.holdMs + 50, overran: false }
    const failures = deps.sourceRecords.get(id)?.consecutive_failures ?? 0
    if (report.error === null || failures === 0) return nextStart(startedAt, intervalMs(), endedAt)
    const waitMs = poller.wasAccessDenied ? credentialsPauseMs : jitter(backoffMs(intervalMs(), failures), random)
    return { at: startedAt + waitMs, overran: false }
  }
}
