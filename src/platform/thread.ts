/** Starts worker threads and child processes. */

import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

const workers = new URL('../workers/', import.meta.url)

/**
 * Starts a worker thread. In a build, the worker is a JavaScript file in the same folder; without one, it is TypeScript
 * in `folder` and loads tsx first.
 */
export function startThread(
  name: 'hash-worker' | 'checkpoint-worker' | 'history-worker' | 'frequency-worker' | 'scan-worker' | 'demo-day-worker',
  options?: WorkerOptions,
  folder: URL = workers,
): Worker {
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL(`./${name}.js`, import.meta.url), options)
  const loader = createRequire(import.meta.url).resolve('tsx/cjs/api')
  const program = fileURLToPath(new URL(`${name}.ts`, folder))
  const [tsx, path] = [JSON.stringify(loader), JSON.stringify(program)]
  return new Worker(`require(${tsx}).register(); require(${path})`, { ...options, eval: true })
}

/**
 * Starts a child process for work that may never end: unlike a thread, a process can be killed during a synchronous
 * call.
 */
export function startProcess(name: 'backup-reader', args: readonly string[]): ChildProcess {
  const isBuilt = !import.meta.url.endsWith('.ts')
  const program = fileURLToPath(new URL(isBuilt ? `./${name}.js` : `../workers/${name}.ts`, import.meta.url))
  const execArgv = isBuilt ? [] : ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]
  return fork(program, args, { execArgv, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
}
