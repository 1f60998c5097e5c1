/**
 * Splits long work into time slices. All callers share one slice per turn of the event loop, so that consecutive or
 * concurrent loops together block it no longer than a single loop would.
 */

// Imported, so that a test that replaces the global function cannot cause a turn that never ends.
import { setImmediate } from 'node:timers'

/** The maximum time that work blocks the event loop. */
const sliceMs = 6

/** A `performance.now()` time; null until the first work in this turn. */
let sliceEndsAt: number | null = null
let isTurnEnding = false
const yielded: (() => void)[] = []

export function isTimeSliceUsed(): boolean {
  const now = performance.now()
  if (sliceEndsAt !== null) return now >= sliceEndsAt
  sliceEndsAt = now + sliceMs
  endTurn()
  return false
}

/**
 * Waits for the next turn of the event loop. Call it between the steps of long work: `if (isTimeSliceUsed()) await
 * yieldToEventLoop()`.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    yielded.push(resolve)
    endTurn()
  })
}

function endTurn(): void {
  if (isTurnEnding) return
  isTurnEnding = true
  setImmediate(beginTurn)
}

/** Resumes one caller per turn, each with a full slice. */
function beginTurn(): void {
  isTurnEnding = false
  sliceEndsAt = null
  yielded.shift()?.()
  if (yielded.length > 0) endTurn()
}
