/**
 * Worker thread that hashes passwords. The calls are synchronous on purpose: the asynchronous ones share a pool with
 * name lookups, and many sign-ins would delay the polling of every manufacturer.
 */

import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'
import type { HashResult, HashTask } from '../../domain/access/password.ts'

const parameters = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

parentPort?.on('message', (task: HashTask) => {
  parentPort?.postMessage(work(task))
})

function work(task: HashTask): HashResult {
  try {
    if (task.hash === undefined) return { ok: true, value: hashSync(task.password, parameters) }
    return { ok: true, value: verifySync(task.hash, task.password) }
  } catch (error) {
    return { ok: false, error: String(error) }
  }
}
