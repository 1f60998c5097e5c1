/**
 * Checks carriers and suggests frequencies without delaying the event loop. Only small checks run on the main thread.
 * Suggestions have threads of their own, because they may take many seconds.
 */

import type { Worker } from 'node:worker_threads'
import { RequestError } from '../domain/errors.ts'
import type { Carrier } from '../domain/frequencies/carrier.ts'
import { type CheckOptions, checkCarriers } from '../domain/frequencies/check.ts'
import type { CheckResult } from '../domain/frequencies/conflict.ts'
import type { Suggestion, SuggestRequest } from '../domain/frequencies/suggest.ts'
import type { FrequencyTask, FrequencyTaskResult } from '../domain/frequencies/task.ts'
import { callThread } from '../platform/call-thread.ts'
import type { ClientKey } from '../platform/concurrency.ts'
import { FairQueue } from '../platform/concurrency.ts'
import { startThread } from '../platform/thread.ts'

/** Checks of more carriers can take longer than 5 ms. Sets with equal distances have the most conflicts. */
const maxInlineCarriers = 40
/** The peaks of more readings take longer to find. */
const maxInlinePoints = 50_000
/** Hundreds of carriers on a few close frequencies have too many conflicts to count, and other checks wait. */
const maxCheckMs = 30_000
/** One for each of four clients, so that a slow check delays only those of the same client. */
const maxThreads = 4
/** Maximum number of tasks that run or wait. */
const places = 20
const retryAfter = 2

export class FrequencyChecker {
  readonly #checks: TaskThreads
  readonly #suggestions: TaskThreads

  constructor(
    startWorker: () => Worker = () => startThread(new URL('./frequency-worker.ts', import.meta.url)),
    limitMs = maxCheckMs,
  ) {
    this.#checks = new TaskThreads(startWorker, limitMs)
    this.#suggestions = new TaskThreads(startWorker, null)
  }

  async check(carriers: readonly Carrier[], options: CheckOptions, client: ClientKey): Promise<CheckResult> {
    if (carriers.length <= maxInlineCarriers && countPoints(options) <= maxInlinePoints)
      return checkCarriers(carriers, options)
    return this.#checks.run({ type: 'check', carriers, options }, client) as Promise<CheckResult>
  }

  /** After `timeoutMs`, returns the best suggestion so far. */
  suggest(request: SuggestRequest, timeoutMs: number, client: ClientKey): Promise<Suggestion> {
    return this.#suggestions.run({ type: 'suggest', request, timeoutMs }, client) as Promise<Suggestion>
  }

  async close(): Promise<void> {
    await Promise.all([this.#checks.close(), this.#suggestions.close()])
  }
}

function countPoints({ measured = null }: CheckOptions): number {
  return measured?.scans.reduce((sum, { khz }) => sum + khz.length, 0) ?? 0
}

/** Runs tasks in worker threads, one task of each client at a time. Threads are started when they are needed. */
class TaskThreads {
  readonly #startWorker: () => Worker
  /** Null if there is no limit. */
  readonly #limitMs: number | null
  readonly #queue = new FairQueue({ atOnce: maxThreads, places, refuse: refuseTask })
  readonly #workers = new Set<Worker>()
  /** A thread that is kept for the next task. */
  #idle: Worker | null = null
  #isClosed = false

  constructor(startWorker: () => Worker, limitMs: number | null) {
    this.#startWorker = startWorker
    this.#limitMs = limitMs
  }

  run(task: FrequencyTask, client: ClientKey): Promise<CheckResult | Suggestion> {
    return this.#queue.run(client, async () => {
      if (this.#isClosed) throw new RequestError('stopping')
      const worker = this.#idle ?? this.#start()
      this.#idle = null
      const result = await this.#perform(worker, task)
      this.#release(worker)
      if (!result.ok) throw new Error(`Frequencies cannot be checked: ${result.error}`)
      return result.value
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#workers].map((worker) => worker.terminate()))
  }

  /** Ends the thread if the task fails, or runs too long. */
  async #perform(worker: Worker, task: FrequencyTask): Promise<FrequencyTaskResult> {
    const limit = this.#limitMs === null ? undefined : AbortSignal.timeout(this.#limitMs)
    try {
      return (await callThread(worker, task, limit)) as FrequencyTaskResult
    } catch (error) {
      void worker.terminate()
      if (this.#isClosed) throw new RequestError('stopping')
      throw limit?.aborted ? new RequestError('frequencies_slow') : error
    }
  }

  #start(): Worker {
    const worker = this.#startWorker()
    this.#workers.add(worker)
    worker.on('error', () => {})
    worker.once('exit', () => {
      this.#workers.delete(worker)
      if (this.#idle === worker) this.#idle = null
    })
    return worker
  }

  /** Keeps one thread; the others end when they have nothing to do. */
  #release(worker: Worker): void {
    if (this.#idle === null && !this.#isClosed) this.#idle = worker
    else void worker.terminate()
  }
}

function refuseTask(share: number): RequestError {
  return new RequestError('frequencies_busy', {
    retryAfter,
    details: `at most ${share} of one client are made or wait at a time`,
  })
}
