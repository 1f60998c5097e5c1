/**
 * Long work lets others have their turn. All of it shares what is left of this turn of the event loop, so that loops that
 * follow each other, or go on side by side, hold it no longer than one would.
 */

/** For so long at a time nothing else runs. */
const sliceMs = 6

/** Of `performance.now()`; null until somebody works in this turn. */
let sliceEndsAt: number | null = null
let isTurnEnding = false
const resting: (() => void)[] = []

/** Long enough has been worked without a break. */
export function isTimeSliceUsed(): boolean {
  const now = performance.now()
  if (sliceEndsAt !== null) return now >= sliceEndsAt
  sliceEndsAt = now + sliceMs
  endTurn()
  return false
}

/** Lets others have their turn. For long work: between its steps, `if (isBreathDue()) await breathe()`. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    resting.push(resolve)
    endTurn()
  })
}

function endTurn(): void {
  if (isTurnEnding) return
  isTurnEnding = true
  setImmediate(beginTurn)
}

/** One at a time goes on: each has a slice of its own. */
function beginTurn(): void {
  isTurnEnding = false
  sliceEndsAt = null
  resting.shift()?.()
  if (resting.length > 0) endTurn()
}
