/** Starts the programs that run in a thread of their own. */

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Built, the thread's program lies beside ours; unbuilt, it is TypeScript as we are, and is told how to read that. */
export function startThread(name: 'hash-worker' | 'checkpoint-worker', options?: WorkerOptions): Worker {
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL(`./${name}.js`, import.meta.url), options)
  const loader = createRequire(import.meta.url).resolve('tsx/cjs/api')
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const [tsx, path] = [JSON.stringify(loader), JSON.stringify(program)]
  return new Worker(`require(${tsx}).register(); require(${path})`, { ...options, eval: true })
}
