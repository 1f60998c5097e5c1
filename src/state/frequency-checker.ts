/**
 * Checks carriers and suggests frequencies without delaying the event loop: small checks at once, everything else in
 * worker threads. Suggestions have a thread of their own, because they may take many seconds.
 */

import type { Worker } from 'node:worker_threads'
import { RequestError } from '../domain/errors.ts'
import type { Carrier } from '../domain/frequencies/carrier.ts'
import { type CheckOptions, checkCarriers } from '../domain/frequencies/check.ts'
import type { CheckResult } from '../domain/frequencies/conflict.ts'
import type { Suggestion, SuggestRequest } from '../domain/frequencies/suggest.ts'
import type { FrequencyTask, FrequencyTaskResult } from '../domain/frequencies/task.ts'
import { startThread } from '../platform/thread.ts'

/** A check of more carriers can take longer than 5 ms: the most conflicts are in sets with equal distances. */
const maxInlineCarriers = 40
/** How many tasks may wait for a thread. */
const maxWaiting = 16
const retryAfter = 2

export class FrequencyChecker {
  readonly #checks: TaskThread
  readonly #suggestions: TaskThread

  constructor(startWorker: () => Worker = () => startThread('frequency-worker')) {
    this.#checks = new TaskThread(startWorker)
    this.#suggestions = new TaskThread(startWorker)
  }

  async check(carriers: readonly Carrier[], options: CheckOptions): Promise<CheckResult> {
    if (carriers.length <= maxInlineCarriers) return checkCarriers(carriers, options)
    return this.#checks.run({ type: 'check', carriers, options }) as Promise<CheckResult>
  }

  /** After `timeoutMs`, returns the best suggestion so far. */
  suggest(request: SuggestRequest, timeoutMs: number): Promise<Suggestion> {
    return this.#suggestions.run({ type: 'suggest', request, timeoutMs }) as Promise<Suggestion>
  }

  async close(): Promise<void> {
    await Promise.all([this.#checks.close(), this.#suggestions.close()])
  }
}

interface Job {
  readonly task: FrequencyTask
  resolve(value: CheckResult | Suggestion): void
  reject(error: unknown): void
}

/** Runs tasks one after the other in a worker thread, which is started for the first one. */
class TaskThread {
  readonly #startWorker: () => Worker
  readonly #waiting: Job[] = []
  #worker: Worker | null = null
  #current: Job | null = null
  #isClosed = false

  constructor(startWorker: () => Worker) {
    this.#startWorker = startWorker
  }

  run(task: FrequencyTask): Promise<CheckResult | Suggestion> {
    if (this.#isClosed) return Promise.reject(new RequestError('stopping'))
    if (this.#waiting.length >= maxWaiting) return Promise.reject(new RequestError('frequencies_busy', { retryAfter }))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject })
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const job of this.#waiting.splice(0)) job.reject(new RequestError('stopping'))
    await this.#worker?.terminate()
  }

  #next(): void {
    if (this.#current !== null) return
    this.#current = this.#waiting.shift() ?? null
    if (this.#current === null) {
      this.#worker?.unref()
      return
    }
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(this.#current.task)
  }

  #start(): Worker {
    const worker = this.#startWorker()
    const fail = (error: unknown) => {
      if (this.#worker !== worker) return
      this.#worker = null
      const failed = this.#current
      this.#current = null
      failed?.reject(error)
      if (!this.#isClosed) this.#next()
    }
    worker.on('message', (result: FrequencyTaskResult) => {
      const done = this.#current
      this.#current = null
      if (result.ok) done?.resolve(result.value)
      else done?.reject(new Error(`Frequencies cannot be checked: ${result.error}`))
      this.#next()
    })
    worker.on('error', fail)
    worker.on('exit', () => fail(new RequestError('stopping')))
    return worker
  }
}
