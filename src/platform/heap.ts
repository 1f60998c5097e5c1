/**
 * Tunes V8's heap for a service that runs for months beside other programs. By default, V8 lets the heap grow to several
 * times the live data and uses a young generation of 32 MB under load.
 */

import { setFlagsFromString } from 'node:v8'

/** How much the heap may grow beyond the live data before garbage is collected. */
const growthPercent = 30

/**
 * With at least this many receivers, the young generation may grow, because frequent collections of a small one would
 * cost too much time.
 */
const largeInstallation = 250
const adjustEveryMs = 10_000

/** Keeps the young generation at its current size of a few megabytes. Call it when the program has been loaded. */
export function limitYoungGeneration(): void {
  // V8 reads this flag at run time, unlike the size flags, which work only on the command line.
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Limits the growth of the heap, and lets the young generation grow in a large installation. Call it after the runtime
 * is open, because loading is faster without the limit.
 */
export function adjustHeapLimit(countReceivers: () => number, signal: AbortSignal): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
  const allowGrowth = () => {
    if (countReceivers() >= largeInstallation) setFlagsFromString('--semi-space-growth-factor=2')
  }
  allowGrowth()
  const timer = setInterval(allowGrowth, adjustEveryMs).unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
