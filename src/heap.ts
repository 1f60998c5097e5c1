/**
 * A service that runs for months beside other programs should hold little more memory than it uses. V8 is made for pages:
 * it lets the dead become several times as many as the living, and takes 32 MB for newcomers as soon as it is busy.
 */

import { setFlagsFromString } from 'node:v8'

/** How much the heap may grow beyond what lives before it is collected. */
const growthPercent = 30

/** From so many receivers on newcomers get more room: they come so fast that collecting them costs more than it saves. */
const largeHouse = 250
const fitEveryMs = 10_000

/** Call once the program is loaded: the room for newcomers stays as large as that took, a few megabytes. */
export function limitYoungGeneration(): void {
  // Looked at whenever V8 decides, unlike its sizes, which count only on the command line.
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Call once the house is open: reading it in goes faster with a heap that may grow. A house may grow, too. */
export function adjustHeapLimit(countReceivers: () => number, signal: AbortSignal): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
  const giveRoom = () => {
    if (countReceivers() >= largeHouse) setFlagsFromString('--semi-space-growth-factor=2')
  }
  giveRoom()
  const fitting = setInterval(giveRoom, fitEveryMs).unref()
  signal.addEventListener('abort', () => clearInterval(fitting), { once: true })
}
