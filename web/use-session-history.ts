/** Samples of one channel: loaded from session storage, extended every second, and saved when the page closes. */

import { useEffect, useState } from 'react'
import { allStaleSince } from './channel-state.ts'
import { useServices } from './context.ts'
import { addSample, eraseAfter, formatSamples, parseSamples, type Sample, unknownAt } from './session-history.ts'
import type { Store } from './store.ts'

const keepIntervalMs = 10_000

export function useSessionHistory(receiverId: number, channelId: number): readonly Sample[] {
  const { store } = useServices()
  const key = `micwatch.history.${channelId}`
  const [samples, setSamples] = useState<readonly Sample[]>(() => parseSamples(readTab(key)))
  useEffect(() => {
    let newest = parseSamples(readTab(key))
    const keep = () => writeTab(key, formatSamples(newest))
    const adding = setInterval(() => {
      const receivedAt = lastReceivedAt(store, receiverId, channelId)
      const known = receivedAt === null ? newest : eraseAfter(newest, receivedAt / 1_000)
      newest = addSample(known, sampleOf(store, receiverId, channelId))
      setSamples(newest)
    }, 1_000)
    const keeping = setInterval(keep, keepIntervalMs)
    addEventListener('pagehide', keep)
    return () => {
      clearInterval(adding)
      clearInterval(keeping)
      removeEventListener('pagehide', keep)
      keep()
    }
  }, [store, key, receiverId, channelId])
  return samples
}

/** Returns the time of the last value while the values are old, and null while they are current. */
function lastReceivedAt(store: Store, receiverId: number, channelId: number): number | null {
  const allStale = allStaleSince(store.get())
  if (allStale !== null) return allStale
  const state = store.facts(receiverId, channelId)?.state
  return state === 'stale' || state === 'receiver_offline' ? store.levelsReceivedAt(channelId) : null
}

function sampleOf(store: Store, receiverId: number, channelId: number): Sample {
  const facts = store.facts(receiverId, channelId)
  const { isLive, ...levels } = store.levels(receiverId, channelId)
  const at = Math.floor(Date.now() / 1_000)
  return isLive ? { at, ...levels, battery: facts?.battery ?? null } : unknownAt(at)
}

function readTab(key: string): string {
  try {
    return sessionStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

/** Stores a text for this tab. If the storage is full or access is denied, the samples do not survive a reload. */
function writeTab(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text)
  } catch {
    // The storage is full, or access to it was denied.
  }
}
