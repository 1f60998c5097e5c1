import { pause } from '../../platform/wait.ts'
import type { Analyser } from './analyser.ts'
import type { SweepSender } from './sweep-sender.ts'

const reconnectMs = 2000

interface Run {
  readonly open: (signal: AbortSignal) => Promise<Analyser>
  readonly sender: SweepSender
  readonly signal: AbortSignal
  readonly report: (text: string) => void
  readonly onSweep: (points: number, seconds: number) => void
}

/** Measures and sends until the signal aborts. Throws if the first attempt fails. */
export async function runAnalyser({ open, sender, signal, report, onSweep }: Run): Promise<void> {
  let name: string | null = null
  let isAway = false
  while (!signal.aborted) {
    let analyser: Analyser | null = null
    try {
      analyser = await open(signal)
      if (name === null) report(`${analyser.name} is connected. Ctrl+C ends the scan.`)
      else if (isAway) report(`${analyser.name} is connected again.`)
      isAway = false
      name = analyser.name
      await measure(analyser)
    } catch (error) {
      if (signal.aborted) break
      if (name === null) throw error
      if (!isAway) report(`${error instanceof Error ? error.message : error}. Waiting for the analyser.`)
      isAway = true
    } finally {
      await analyser?.release()
    }
    await pause(reconnectMs, signal)
  }

  async function measure(analyser: Analyser): Promise<void> {
    let isCut = false
    while (!signal.aborted) {
      const startedAt = performance.now()
      const sweep = await analyser.sweep()
      if (sweep === null) {
        if (!isCut)
          report(`${analyser.name} ended a sweep early, as it does when its screen is touched. It is left out.`)
        isCut = true
        continue
      }
      sender.offer(sweep)
      onSweep(sweep.dbm.length, (performance.now() - startedAt) / 1000)
    }
  }
}
