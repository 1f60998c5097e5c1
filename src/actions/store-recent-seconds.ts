/** Makes the newest recorded levels readable. */

import type { History } from '../history/history.ts'
import { now } from '../platform/clock.ts'

/** The recorder holds seconds for at most this time before it stores them. */
const recorderDelayMs = 10_000

/** Stores the recorder's latest seconds if a range reaches the present. `to` and `time`, the present, are in epoch ms. */
export async function storeRecentSeconds(history: History, to: number, time = now()): Promise<void> {
  if (to < time - recorderDelayMs) return
  // Stored levels can be read while the disk is full. The recorder reports that it cannot write.
  await history.flush().catch(() => {})
}
