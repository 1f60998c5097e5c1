/**
 * Immediate polls across processes. Only the holder of a source's lease polls it, so another process requests a poll by
 * writing a row to the database, and waits for the outcome. If no process holds the lease, the requesting process
 * acquires it for one cycle.
 */

import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { Log } from '../platform/log.ts'
import { pause } from '../platform/wait.ts'
import type { Database } from '../storage/database.ts'
import { leaseHolder } from '../storage/leases.ts'
import { completePolls, findPollOutcome, listRequestedPolls, requestPoll } from '../storage/sources.ts'
import type { AcquiredLease, LeaseManager } from './lease-manager.ts'
import { type CycleReport, failedCycle } from './poller.ts'

/** How often the polling process looks for requests, and the requesting process for the outcome. */
const checkRequestsEveryMs = 250
const checkOutcomeEveryMs = 100
/** A complete cycle of a large installation takes long. */
const timeoutMs = 120_000

interface PollRequest {
  readonly source: MonitoredSource
  readonly signal: AbortSignal
  /** Polls if this process holds the lease; otherwise returns undefined. */
  pollIfHeld(): Promise<CycleReport> | undefined
  /** Polls with a lease acquired for one cycle; null if a loop of this process is waiting for the lease. */
  readonly pollOnce: ((lease: AcquiredLease) => Promise<CycleReport>) | null
}

/**
 * Polls the source, or requests the poll from the lease holder. Does not throw. `leases` must be of another node than
 * the loops, so that a lease acquired for one cycle is not mistaken for a loop's lease.
 */
export async function pollOrRequest(
  db: Database,
  leases: LeaseManager,
  log: Log,
  request: PollRequest,
): Promise<CycleReport> {
  const { source, signal, pollOnce } = request
  const startedAt = performance.now()
  let requestNumber: number | undefined
  try {
    do {
      // Once a poll has been requested, `handlePollRequests` of the lease holder runs it, even if this process becomes
      // the holder. Polling here as well would poll the source twice.
      const polling = requestNumber === undefined ? request.pollIfHeld() : undefined
      if (polling !== undefined) return await polling
      const holder = await leaseHolder(db.read, source.id)
      if (holder === null) {
        const report = pollOnce && (await pollWithLease(leases, source, signal, pollOnce))
        if (report !== null && requestNumber !== undefined)
          await saveOutcome(db, log, { source: source.id, requestNumber, report })
        if (report !== null) return report
      } else {
        requestNumber ??= await db.transaction((tx) => requestPoll(tx, source.id))
        const outcome = await findPollOutcome(db.read, source.id, requestNumber)
        if (outcome !== undefined) return outcome as CycleReport
      }
    } while ((await pause(checkOutcomeEveryMs, signal)) && performance.now() - startedAt < timeoutMs)
  } catch (error) {
    return failedCycle(`the poll could not be requested: ${(error as Error).message}`, startedAt, 'store')
  }
  return failedCycle('the process that polls this source did not respond in time', startedAt)
}

async function pollWithLease(
  leases: LeaseManager,
  source: MonitoredSource,
  signal: AbortSignal,
  poll: (lease: AcquiredLease) => Promise<CycleReport>,
): Promise<CycleReport | null> {
  let report: CycleReport | null = null
  await leases.runOnce(source.id, 0, signal, async (lease) => {
    report = await poll(lease)
  })
  return report
}

/** Runs requested polls of the sources whose lease this process holds, until the signal aborts. */
export async function handlePollRequests(
  db: Database,
  log: Log,
  signal: AbortSignal,
  poll: (source: string) => Promise<CycleReport> | undefined,
): Promise<void> {
  const running = new Map<string, Promise<void>>()
  /**
   * The number of the last completed request, by source. It prevents a second poll for the same request: a list that was
   * read while the outcome was being stored still contains the request.
   */
  const completed = new Map<string, number>()
  while (await pause(checkRequestsEveryMs, signal)) {
    try {
      for (const { source, requestNumber } of await listRequestedPolls(db.read)) {
        if (running.has(source) || requestNumber <= (completed.get(source) ?? 0)) continue
        const polling = poll(source)
        if (polling === undefined) continue
        const handling = handle(source, requestNumber, polling).finally(() => running.delete(source))
        running.set(source, handling)
      }
    } catch (error) {
      log.debug({ error: String(error) }, 'poll requests could not be read')
    }
  }
  await Promise.all(running.values())

  async function handle(source: string, requestNumber: number, polling: Promise<CycleReport>): Promise<void> {
    const report = await polling
    // If the poll was interrupted, the next lease holder handles the request.
    if (signal.aborted) return
    if (await saveOutcome(db, log, { source, requestNumber, report })) completed.set(source, requestNumber)
  }
}

/**
 * Stores the outcome for all requests up to this number. Returns false if it could not be stored; a later check then
 * polls again.
 */
async function saveOutcome(
  db: Database,
  log: Log,
  outcome: { readonly source: string; readonly requestNumber: number; readonly report: CycleReport },
): Promise<boolean> {
  const { source, requestNumber, report } = outcome
  try {
    await db.transaction((tx) => completePolls(tx, source, requestNumber, report))
    return true
  } catch (error) {
    log.warn({ source, error: String(error) }, 'outcome of a requested poll could not be stored')
    return false
  }
}
