/**
 * Replaces `src/platform/thread.ts` in the tests. Starts the worker threads and child processes of the build, because
 * compiling TypeScript in each of them takes several times the CPU time of starting it. `npm test` builds first.
 */

import { fork } from 'node:child_process'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type * as thread from '../../src/platform/thread.ts'

const builtFile = (source: URL) => new URL(`../../dist/${basename(source.pathname, '.ts')}.js`, import.meta.url)

export const startThread: typeof thread.startThread = (source, options) => new Worker(builtFile(source), options)

export const startProcess: typeof thread.startProcess = (source, args) =>
  fork(fileURLToPath(builtFile(source)), args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
