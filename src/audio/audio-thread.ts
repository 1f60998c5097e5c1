/** The worker thread that receives audio. It is started when it is needed, and again if it fails. */

import type { Worker } from 'node:worker_threads'
import type { HeldAudio } from '../domain/audio/held-sound.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { startThread } from '../platform/thread.ts'
import { Topic } from '../platform/topic.ts'
import { withTimeout } from '../platform/wait.ts'
import type { WorkerCall, WorkerEvent } from './worker-messages.ts'

/** The thread has another time than the service for at most this long after a step of the clock. */
const clockEveryMs = 500
const restartMs = 2000
const closeMs = 3000

export class AudioThread {
  readonly events = new Topic<Exclude<WorkerEvent, { type: 'read' | 'warning' }>>()
  /** The thread has started and knows nothing yet. */
  readonly started = new Topic()
  /** The thread has failed, and what it held is lost. */
  readonly failed = new Topic()
  readonly #log: Log
  #worker: Worker | null = null
  #restart: NodeJS.Timeout | undefined
  #lastRequest = 0
  readonly #requests = new Map<number, (audio: HeldAudio | null) => void>()

  constructor(log: Log) {
    this.#log = log
  }

  get isRunning(): boolean {
    return this.#worker !== null
  }

  start(): void {
    if (this.#worker !== null || this.#restart !== undefined) return
    const worker = startThread(new URL('./audio-worker.ts', import.meta.url))
    this.#worker = worker
    let failure = 'it ended'
    worker.on('error', (error) => {
      failure = String(error)
    })
    worker.on('message', (event: WorkerEvent) => this.#receive(event))
    const clock = setInterval(() => this.#postClock(), clockEveryMs)
    worker.once('exit', () => {
      clearInterval(clock)
      this.#exited(worker, failure)
    })
    this.#postClock()
    this.started.publish()
  }

  /** Does nothing while the thread does not run; `started` is published when it does again. */
  post(call: WorkerCall): void {
    this.#worker?.postMessage(call)
  }

  read(use: number, from: number, to: number): Promise<HeldAudio | null> {
    if (this.#worker === null) return Promise.resolve(null)
    const request = ++this.#lastRequest
    return new Promise((resolve) => {
      this.#requests.set(request, resolve)
      this.post({ type: 'read', request, use, from, to })
    })
  }

  /** Leaves all streams, and ends all programs. */
  async close(): Promise<void> {
    clearTimeout(this.#restart)
    this.#restart = undefined
    const worker = this.#worker
    if (worker === null) return
    this.#worker = null
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage({ type: 'close' } satisfies WorkerCall)
    if ((await withTimeout(exited, closeMs)) === 'late') await worker.terminate()
    this.#endRequests()
  }

  #postClock(): void {
    this.post({ type: 'clock', offset: now() - performance.now() })
  }

  #receive(event: WorkerEvent): void {
    if (event.type === 'read') {
      this.#requests.get(event.request)?.(event.audio)
      this.#requests.delete(event.request)
    } else if (event.type === 'warning') this.#log.warn({}, event.message)
    else this.events.publish(event)
  }

  #exited(worker: Worker, failure: string): void {
    if (this.#worker !== worker) return
    this.#worker = null
    this.#endRequests()
    this.#log.error({ error: failure }, 'receiving audio failed; restarting it')
    this.#restart = setTimeout(() => {
      this.#restart = undefined
      this.start()
    }, restartMs)
    this.failed.publish()
  }

  #endRequests(): void {
    for (const resolve of this.#requests.values()) resolve(null)
    this.#requests.clear()
  }
}
