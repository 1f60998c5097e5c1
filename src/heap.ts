/**
 * A service that runs for months beside other programs should hold little more memory than it uses. V8 is made for pages:
 * it lets the dead become several times as many as the living, and takes 32 MB for newcomers as soon as it is busy.
 */

import { setFlagsFromString } from 'node:v8'

/** How much the heap may grow beyond what lives before it is collected. */
const growthPercent = 30

/** Call once the program is loaded: the room for newcomers stays as large as that took, a few megabytes. */
export function keepHeapSmall(): void {
  // Both are looked at whenever V8 decides, unlike its sizes, which count only on the command line.
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
