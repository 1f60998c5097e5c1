/** Finds receivers of which no report has arrived for `offlineAfterMs`, and which are therefore offline. */

import type { ReceiverStore } from '../ingest/receiver-store.ts'

/** The minimum time without a report before a receiver is marked as offline. */
const minOfflineAfterMs = 60_000

/** Returns how long a receiver may go without a report before it is marked as offline. */
export function offlineAfterMs(intervalMs: number): number {
  return Math.max(3 * intervalMs, minOfflineAfterMs)
}

export function findSilent(receiverStore: ReceiverStore, manufacturer: string, intervalMs: number): number[] {
  const offlineBefore = performance.now() - offlineAfterMs(intervalMs)
  const receivers = receiverStore.listFacts(manufacturer)
  return receivers
    .filter(({ id, is_active }) => is_active && receiverStore.lastReceivedAt(id) < offlineBefore)
    .map(({ id }) => id)
}
