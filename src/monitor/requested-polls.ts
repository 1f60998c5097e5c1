/**
 * A poll now, whoever polls: at most one process polls a source at a time, so one that does not hold the source's lease
 * asks the one that does, by a row in the database, and waits for what came of it. Where nobody polls, it takes the lease
 * for this one cycle.
 */

import type { MonitoredSource } from '../manufacturers/sources.ts'
import { leaseHolder } from '../store/leases.ts'
import { answerPoll, findPollOutcome, listRequestedPolls, requestPoll } from '../store/polls.ts'
import { type AcquiredLease, type LeaseDeps, withLease } from './lease-manager.ts'
import { type CycleReport, failedCycle } from './poller.ts'
import { pause } from './wait.ts'

/** How soon whoever polls sees that it is asked, and the asker the answer. */
const lookEveryMs = 250
const askEveryMs = 100
/** A cycle that waits for the identities of a whole house may take long. */
const patienceMs = 120_000

interface Asking {
  readonly source: MonitoredSource
  readonly signal: AbortSignal
  /** Polls if this process holds the lease; undefined when it does not. */
  pollOwn(): Promise<CycleReport> | undefined
  /** Polls with a lease for once; null where a loop of this process waits for the lease anyway. */
  readonly pollOnce: ((ownership: AcquiredLease) => Promise<CycleReport>) | null
}

/** Polls where this process may, else has whoever holds the lease poll. Does not throw. */
export async function pollOrRequest(deps: LeaseDeps, asking: Asking): Promise<CycleReport> {
  const { db } = deps
  const { source, signal, pollOnce } = asking
  const startedAt = performance.now()
  let asked: number | undefined
  try {
    do {
      // Once it is asked for it is answered, if need be by this process itself; polled here as well, it would be twice.
      const own = asked === undefined ? asking.pollOwn() : undefined
      if (own !== undefined) return await own
      const holder = await leaseHolder(db.read, source.id)
      if (holder === null) {
        const report = pollOnce && (await takeTurn(deps, source, signal, pollOnce))
        if (report !== null && asked !== undefined) await settle(deps, source.id, asked, report)
        if (report !== null) return report
      } else {
        asked ??= await db.transaction((tx) => requestPoll(tx, source.id))
        const outcome = await findPollOutcome(db.read, source.id, asked)
        if (outcome !== undefined) return outcome as CycleReport
      }
    } while ((await pause(askEveryMs, signal)) && performance.now() - startedAt < patienceMs)
  } catch (error) {
    return failedCycle(`the poll could not be asked for: ${(error as Error).message}`, startedAt, 'store')
  }
  return failedCycle('the process that polls this source did not answer in time', startedAt)
}

async function takeTurn(
  deps: LeaseDeps,
  source: MonitoredSource,
  signal: AbortSignal,
  poll: (ownership: AcquiredLease) => Promise<CycleReport>,
): Promise<CycleReport | null> {
  let report: CycleReport | null = null
  await withLease(deps, source.id, 0, signal, async (ownership) => {
    report = await poll(ownership)
  })
  return report
}

/** Answers those who ask, for the sources whose lease this process holds, until the signal aborts. */
export async function answerPollRequests(
  deps: LeaseDeps,
  signal: AbortSignal,
  poll: (source: string) => Promise<CycleReport> | undefined,
): Promise<void> {
  const { db, log } = deps
  const underWay = new Map<string, Promise<void>>()
  /** A list that was read while an answer was on its way still names what it answers. */
  const answered = new Map<string, number>()
  while (await pause(lookEveryMs, signal)) {
    try {
      for (const { source, asked } of await listRequestedPolls(db.read)) {
        if (underWay.has(source) || asked <= (answered.get(source) ?? 0)) continue
        const polling = poll(source)
        if (polling === undefined) continue
        const answering = answer(source, asked, polling).finally(() => underWay.delete(source))
        underWay.set(source, answering)
      }
    } catch (error) {
      log.debug({ error: String(error) }, 'it cannot be read who asks for a poll')
    }
  }
  await Promise.all(underWay.values())

  async function answer(source: string, asked: number, polling: Promise<CycleReport>): Promise<void> {
    const report = await polling
    // Interrupted: whoever polls next answers.
    if (!signal.aborted && (await settle(deps, source, asked, report))) answered.set(source, asked)
  }
}

/** Tells all who asked up to that number; false where that is left to a later cycle. */
async function settle({ db, log }: LeaseDeps, source: string, asked: number, report: CycleReport): Promise<boolean> {
  try {
    await db.transaction((tx) => answerPoll(tx, source, asked, report))
    return true
  } catch (error) {
    log.warn({ source, error: String(error) }, 'a poll that was asked for could not be answered')
    return false
  }
}
