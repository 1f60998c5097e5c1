/** Hashes and verifies passwords one at a time in a worker thread with a short queue. */

import type { Worker } from 'node:worker_threads'
import { type HashResult, type HashTask, normalizePassword } from '../domain/access/password.ts'
import { RequestError } from '../domain/errors.ts'
import { startThread } from '../platform/thread.ts'

export interface Hasher {
  /** Hashes a password. Throws a RequestError when the queue is full. */
  hash(password: string): Promise<string>
  /** Verifies a password. If `hash` is null, returns false after the same time as for a real hash. */
  verify(hash: string | null, password: string): Promise<boolean>
  close(): Promise<void>
}

const maxWaiting = 16
const retryAfter = 2

/** A hash that no password matches. Verifying it takes as long as verifying a real hash. */
const dummyHash = '$argon2id$v=19$m=19456,t=2,p=1$bWljd2F0Y2gtbm9ib2R5IQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

interface Job {
  readonly task: HashTask
  resolve(value: string | boolean): void
  reject(error: unknown): void
}

export function createHasher(): Hasher {
  const queue: Job[] = []
  let worker: Worker | null = null
  let current: Job | null = null
  let isClosed = false

  function next(): void {
    if (current !== null) return
    current = queue.shift() ?? null
    if (current === null) {
      worker?.unref()
      return
    }
    worker ??= start()
    worker.ref()
    worker.postMessage(current.task)
  }

  function start(): Worker {
    const started = startThread('hash-worker')
    const fail = (error: unknown) => {
      if (worker !== started) return
      worker = null
      const failed = current
      current = null
      failed?.reject(error)
      if (!isClosed) next()
    }
    started.on('message', (result: HashResult) => {
      const done = current
      current = null
      if (result.ok) done?.resolve(result.value)
      else done?.reject(new Error(`Cannot hash a password: ${result.error}`))
      next()
    })
    started.on('error', fail)
    started.on('exit', () => fail(new RequestError(isClosed ? 'stopping' : 'sign_in_busy')))
    return started
  }

  function run(task: HashTask): Promise<string | boolean> {
    if (isClosed) return Promise.reject(new RequestError('stopping'))
    if (queue.length >= maxWaiting) return Promise.reject(new RequestError('sign_in_busy', { retryAfter }))
    return new Promise((resolve, reject) => {
      queue.push({ task, resolve, reject })
      next()
    })
  }

  return {
    hash: async (password) => String(await run({ password: normalizePassword(password) })),
    async verify(hash, password) {
      const matches = await run({ password: normalizePassword(password), hash: hash ?? dummyHash })
      return hash !== null && matches === true
    },
    async close() {
      isClosed = true
      for (const job of queue.splice(0)) job.reject(new RequestError('stopping'))
      await worker?.terminate()
    },
  }
}
