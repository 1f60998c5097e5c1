/**
 * Replaces `src/platform/thread.ts` in the tests: starts the worker threads and child processes of the build, because
 * compiling TypeScript in each of them takes several times the CPU time of starting it. `npm test` builds first.
 */

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type * as thread from '../src/platform/thread.ts'

const builtFile = (name: string) => new URL(`../dist/${name}.js`, import.meta.url)

export const startThread: typeof thread.startThread = (name, options) => new Worker(builtFile(name), options)

export const startProcess: typeof thread.startProcess = (name, args) =>
  fork(fileURLToPath(builtFile(name)), args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
