import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

const isBuilt = !import.meta.url.endsWith('.ts')

/**
 * Starts a worker thread. `source` is its TypeScript file; a build starts the file of the same name beside this one.
 */
export function startThread(source: URL, options?: WorkerOptions): Worker {
  if (isBuilt) return new Worker(builtProgram(source), options)
  const loader = createRequire(import.meta.url).resolve('tsx/cjs/api')
  const [tsx, path] = [JSON.stringify(loader), JSON.stringify(fileURLToPath(source))]
  return new Worker(`require(${tsx}).register(); require(${path})`, { ...options, eval: true })
}

/**
 * Starts a child process for work that may never end. Unlike a thread, it can be killed during a synchronous call.
 * `source` is its TypeScript file, as for `startThread`.
 */
export function startProcess(source: URL, args: readonly string[]): ChildProcess {
  const execArgv = isBuilt ? [] : ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]
  const program = isBuilt ? builtProgram(source) : source
  return fork(fileURLToPath(program), args, { execArgv, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
}

function builtProgram(source: URL): URL {
  return new URL(`./${basename(source.pathname, '.ts')}.js`, import.meta.url)
}
