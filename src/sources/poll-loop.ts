/** Polls one source at fixed times, with back-off after failures. */

import { backoffMs, credentialsPauseMs, jitter, nextStart } from '../domain/access/limits.ts'
import type { CycleOptions, CycleReport, Poller } from './poller.ts'
import type { Schedule } from './schedule.ts'
import type { SourceSubsystems } from './source-subsystems.ts'

/** Runs cycles until the signal aborts. */
export async function runPollLoop(
  { sourceRecords, counters }: SourceSubsystems,
  schedule: Schedule,
  poller: Poller,
  options: Omit<CycleOptions, 'intervalMs'> & {
    intervalMs(): number
    /** Runs a cycle; by default `poller.poll`. */
    runCycle?(cycle: CycleOptions): Promise<CycleReport>
    onCycle?(report: CycleReport): void
  },
): Promise<void> {
  const { signal, intervalMs, onCycle, runCycle = (cycle) => poller.poll(cycle) } = options
  while (!signal.aborted) {
    const startedAt = performance.now()
    poller.progress.started()
    const report = await runCycle({ ...options, intervalMs: intervalMs() })
    if (signal.aborted) return
    onCycle?.(report)
    const endedAt = performance.now()
    const random = Math.random()
    if (nextCycle(report, { startedAt, endedAt, random }).overran) {
      counters.countOverrun(poller.source)
      sourceRecords.recordOverrun(poller.source.id)
    }
    const hasReconnected = watchReconnection()
    // Computed again during the wait, because the interval may change.
    const dueAt = () => (hasReconnected() ? performance.now() : nextCycle(report, { startedAt, endedAt, random }).at)
    poller.progress.waiting(dueAt)
    if (!(await schedule.wait(dueAt, signal))) return
  }

  /**
   * Returns a function that ends the wait after a rejected poll. It returns true once the subscription has connected,
   * because the credentials are then valid again.
   */
  function watchReconnection(): () => boolean {
    const before = poller.devices.connectedAt()
    return () => {
      if (!poller.wasAccessDenied || poller.source.client.holdMs > 0) return false
      const connectedAt = poller.devices.connectedAt()
      return connectedAt !== null && connectedAt !== before
    }
  }

  function nextCycle(
    report: CycleReport,
    { startedAt, endedAt, random }: { startedAt: number; endedAt: number; random: number },
  ): { at: number; overran: boolean } {
    const { id, client } = poller.source
    if (client.holdMs > 0) return { at: performance.now() + client.holdMs + 50, overran: false }
    const failures = sourceRecords.get(id)?.consecutive_failures ?? 0
    if (report.error === null || failures === 0) return nextStart(startedAt, intervalMs(), endedAt)
    const waitMs = poller.wasAccessDenied ? credentialsPauseMs : jitter(backoffMs(intervalMs(), failures), random)
    return { at: startedAt + waitMs, overran: false }
  }
}
