/** Hashes and verifies passwords one at a time in a worker thread with a short queue, in which clients take turns. */

import type { Worker } from 'node:worker_threads'
import { type HashResult, type HashTask, normalizePassword } from '../../domain/access/password.ts'
import { RequestError } from '../../domain/errors.ts'
import { callThread } from '../../platform/call-thread.ts'
import type { ClientKey } from '../../platform/concurrency.ts'
import { FairQueue } from '../../platform/concurrency.ts'
import { startThread } from '../../platform/thread.ts'

export interface Hasher {
  /** Hashes a password for a client. Throws a RequestError if too many wait, or too many of this client. */
  hash(password: string, client: ClientKey): Promise<string>
  /** Verifies a password. If `hash` is null, returns false after the same time as for a real hash. */
  verify(hash: string | null, password: string, client: ClientKey): Promise<boolean>
  close(): Promise<void>
}

/** Sign-ins that are verified or wait. */
const places = 17
const retryAfter = 2

/** A hash that no password matches. Verifying it takes as long as verifying a real hash. */
const dummyHash = '$argon2id$v=19$m=19456,t=2,p=1$bWljd2F0Y2gtbm9ib2R5IQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

export function createHasher(): Hasher {
  const queue = new FairQueue({ atOnce: 1, places, refuse: refuseSignIn })
  let worker: Worker | null = null
  let isClosed = false

  function start(): Worker {
    const started = startThread(new URL('./hash-worker.ts', import.meta.url))
    started.on('error', () => {})
    started.once('exit', () => {
      if (worker === started) worker = null
    })
    return started
  }

  async function work(task: HashTask): Promise<string | boolean> {
    if (isClosed) throw new RequestError('stopping')
    worker ??= start()
    const reply = callThread(worker, task) as Promise<HashResult>
    const result = await reply.catch((cause) => {
      throw new RequestError(isClosed ? 'stopping' : 'sign_in_busy', { cause })
    })
    if (!result.ok) throw new Error(`Cannot hash a password: ${result.error}`)
    return result.value
  }

  const run = (task: HashTask, client: ClientKey) => queue.run(client, () => work(task))

  return {
    hash: async (password, client) => String(await run({ password: normalizePassword(password) }, client)),
    async verify(hash, password, client) {
      const matches = await run({ password: normalizePassword(password), hash: hash ?? dummyHash }, client)
      return hash !== null && matches === true
    },
    async close() {
      isClosed = true
      await worker?.terminate()
    },
  }
}

function refuseSignIn(share: number): RequestError {
  return new RequestError('sign_in_busy', {
    retryAfter,
    details: `at most ${share} of one client are checked or wait at a time`,
  })
}
