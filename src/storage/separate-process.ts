/** Runs a program of this folder in a child process, for work that blocks, may never end or may crash. */

import { once } from 'node:events'
import { startProcess } from '../platform/thread.ts'

interface Limits {
  readonly limitMs: number
  readonly signal?: AbortSignal | undefined
}

/** Returns what the program sends. The process is killed on abort and at the time limit. `work` begins the message. */
export async function runSeparately<Result>(
  work: string,
  source: URL,
  args: readonly string[],
  { limitMs, signal }: Limits,
): Promise<Result> {
  signal?.throwIfAborted()
  const program = startProcess(source, args)
  const kill = () => void program.kill('SIGKILL')
  const limit = setTimeout(kill, limitMs)
  signal?.addEventListener('abort', kill)
  const results: Result[] = []
  program.on('message', (result: Result) => results.push(result))
  try {
    // The result has arrived when the channel is closed, which may be after the process has exited.
    const [[code, ending]] = await Promise.all([once(program, 'exit'), once(program, 'disconnect')])
    signal?.throwIfAborted()
    const [result] = results
    if (result !== undefined) return result
    if (program.killed) throw new Error(`${work} took longer than ${Math.ceil(limitMs / 1000)} s`)
    throw new Error(`${work} ended with ${ending ?? `exit code ${code}`}`)
  } finally {
    clearTimeout(limit)
    signal?.removeEventListener('abort', kill)
  }
}
