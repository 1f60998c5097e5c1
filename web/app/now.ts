import { useSyncExternalStore } from 'react'
import { serviceNow } from './service-time.ts'

const listeners = new Set<() => void>()
let now = serviceNow()
let timer: ReturnType<typeof setInterval> | undefined

export function useNow(): number {
  return useSyncExternalStore(subscribeToSeconds, () => now)
}

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
  now = serviceNow()
  for (const listener of listeners) listener()
}
