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
/**
 * A check that takes longer is ended, because others wait for it. Hundreds of carriers on a few close frequencies have
 * more conflicts than can be counted.
 */
const maxCheckMs = 30_000
/** How many tasks may wait for a thread. */
const maxWaiting = 16
const retryAfter = 2

export class FrequencyChecker {
  readonly #checks: TaskThread
  readonly #suggestions: TaskThread

  constructor(startWorker: () => Worker = () => startThread('frequency-worker'), limitMs = maxCheckMs) {
    this.#checks = new TaskThread(startWorker, limitMs)
    this.#suggestions = new TaskThread(startWorker, null)
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
  /** How long a task may run; null if there is no limit. */
  readonly #limitMs: number | null
  readonly #waiting: Job[] = []
  #worker: Worker | null = null
  #current: Job | null = null
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(startWorker: () => Worker, limitMs: number | null) {
    this.#startWorker = startWorker
    this.#limitMs = limitMs
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
    clearTimeout(this.#timer)
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
    if (this.#limitMs !== null) this.#timer = setTimeout(() => this.#end(), this.#limitMs)
  }

  /** Ends the running task together with its thread. */
  #end(): void {
    const worker = this.#worker
    this.#fail(worker, new RequestError('frequencies_slow'))
    void worker?.terminate()
  }

  #fail(worker: Worker | null, error: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = null
    this.#take()?.reject(error)
    if (!this.#isClosed) this.#next()
  }

  /** Returns the task that was running. */
  #take(): Job | null {
    clearTimeout(this.#timer)
    const job = this.#current
    this.#current = null
    return job
  }

  #start(): Worker {
    const worker = this.#startWorker()
    worker.on('message', (result: FrequencyTaskResult) => {
      if (this.#worker !== worker) return
      const done = this.#take()
      if (result.ok) done?.resolve(result.value)
      else done?.reject(new Error(`Frequencies cannot be checked: ${result.error}`))
      this.#next()
    })
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new RequestError('stopping')))
    return worker
  }
}
