/** A shared one-second clock for relative times on pages without live updates. */

import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** Returns the browser's current time in epoch milliseconds, updated every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribeToSeconds, () => now)
}

/** Calls the listener every second, the same second for all of them. */
export function subscribeToSeconds(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick() {
  now = Date.now()
  for (const listener of listeners) listener()
}
