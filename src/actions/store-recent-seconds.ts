/** Makes the newest recorded levels readable. */

/** The recorder holds seconds for at most this time before it stores them. */
const recorderDelayMs = 10_000

export interface RecordingHistory {
  /** Stores the finished seconds that the recorder still holds. */
  flush(): Promise<void>
}

/** Stores what the recorder still holds if a range reaches the present. `to` is in epoch milliseconds. */
export async function storeRecentSeconds(
  { history, now }: { readonly history: RecordingHistory; now(): number },
  to: number,
): Promise<void> {
  if (to < now() - recorderDelayMs) return
  // What is stored can be read while the disk is full; the recorder itself reports that it cannot write.
  await history.flush().catch(() => {})
}
