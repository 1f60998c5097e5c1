/** Measures for how long the connection to a site has been lost. */

/** Channels become stale when the connection has been lost for this time, so that a short interruption is not shown. */
const staleAfterMs = 8000

export interface Staleness {
  /** The receivers are current again. */
  connected(): void
  /** The connection was lost, or another attempt to connect has failed. */
  lost(): void
  stop(): void
}

/** `onStale` is called once for each loss, with its time (epoch ms). */
export function createStaleness(now: () => number, onStale: (lostAt: number) => void): Staleness {
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
  }
  return {
    connected: stop,
    stop,
    lost() {
      const lostAt = now()
      // An attempt to connect that fails is no new loss.
      timer ??= setTimeout(() => onStale(lostAt), staleAfterMs)
    },
  }
}
