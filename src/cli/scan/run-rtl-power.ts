/** Runs `rtl_power` and sends its rows. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { AnalyserError } from '../../domain/frequencies/analysers/span.ts'
import { endChild } from '../../platform/end-child.ts'
import { pause } from '../../platform/wait.ts'
import type { RowSender } from './row-sender.ts'

const program = 'rtl_power'
const restartMs = 5000
/** It ends after its current pass over the range, which can take long. */
const endMs = 1500

interface Run {
  readonly args: readonly string[]
  readonly sender: RowSender
  readonly signal: AbortSignal
  readonly report: (text: string) => void
  readonly onRows: (count: number) => void
}

/** Resolves when the signal aborts, or when the program ends without an error. Throws if it fails before its first row. */
export async function runRtlPower({ args, sender, signal, report, onRows }: Run): Promise<void> {
  let hasRows = false
  let isAway = false
  while (!signal.aborted) {
    const { code, lastError } = await runOnce(args, signal, (rows, count) => {
      if (!hasRows) report(`${program} is running. Ctrl+C ends the scan.`)
      else if (isAway) report(`${program} is running again.`)
      hasRows = true
      isAway = false
      sender.send(rows)
      onRows(count)
    })
    if (signal.aborted || code === 0) return
    const reason = `${program} ended with exit code ${code}${lastError === '' ? '' : `: ${lastError}`}`
    if (!hasRows) throw new AnalyserError(`${reason.replace(/\.$/, '')}.`)
    if (!isAway) report(`${reason.replace(/\.$/, '')}. It is started again every ${restartMs / 1000} s.`)
    isAway = true
    await pause(restartMs, signal)
  }
}

async function runOnce(
  args: readonly string[],
  signal: AbortSignal,
  onRows: (rows: string, count: number) => void,
): Promise<{ readonly code: number | null; readonly lastError: string }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true })
  const ended = once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'ENOENT' ? 'is not installed. Install the package rtl-sdr' : `cannot be started: ${error.message}`
    throw new AnalyserError(`${program} ${reason}.`)
  })
  const stop = () => endChild(child, endMs)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  let lastError = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    lastError = text.trim().split(/\r?\n/).at(-1) || lastError
  })
  let unfinished = ''
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    const lines = (unfinished + text).split('\n')
    unfinished = lines.pop() ?? ''
    if (lines.length > 0) onRows(lines.map((line) => `${line}\n`).join(''), lines.length)
  })
  try {
    const [code] = await ended
    return { code, lastError: lastError.slice(0, 200) }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
