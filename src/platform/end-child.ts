import type { ChildProcess } from 'node:child_process'

/** Asks a child process to end, and kills it if it has not ended within this time. */
export function endChild(child: ChildProcess, killMs: number): void {
  child.kill()
  const timer = setTimeout(() => child.kill('SIGKILL'), killMs)
  child.once('close', () => clearTimeout(timer))
}
