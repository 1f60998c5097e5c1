/** Keeps the store complete and current, from the WebSocket and the REST API, until `signal` is aborted. */

import type { Api } from './api.ts'
import { openSocket, retryDelayMs } from './socket.ts'
import type { Store } from './store.ts'

const healthIntervalMs = 10_000
/** Changed settings and removed receivers are not published, so a snapshot is loaded periodically. */
const snapshotIntervalMs = 60_000
const pollIntervalMs = 5_000
/** Minimum time between snapshots that are loaded because of updates about unknown receivers. */
const unknownReceiverIntervalMs = 5_000

export interface LiveUpdateOptions {
  readonly store: Store
  readonly api: Api
  readonly socketUrl: string
  readonly manufacturer: string | null
  readonly signal: AbortSignal
}

export interface Watch {
  /** Loads a new snapshot now. */
  retry(): void
}

export function startLiveUpdates({ store, api, socketUrl, manufacturer, signal }: LiveUpdateOptions): Watch {
  let failures = 0
  let snapshotAt = Number.NEGATIVE_INFINITY
  let snapshotDueAt = Number.POSITIVE_INFINITY
  let isSnapshotLoading = false
  let isSnapshotOutdated = false
  let snapshotTimer: ReturnType<typeof setTimeout> | undefined
  let healthTimer: ReturnType<typeof setTimeout> | undefined

  openSocket({
    url: socketUrl,
    signal,
    onMessage(message) {
      store.dispatch({ type: 'message', message, at: Date.now() })
      if (message.type === 'status_update') {
        scheduleHealth(Math.random() * 500)
        scheduleSnapshot(500 + Math.random() * 500)
      }
    },
    onStatus(change) {
      if (change.status === 'open') {
        store.dispatch({ type: 'connection', connection: 'open', at: Date.now() })
        scheduleHealth(0)
      } else if (isPolling()) {
        store.dispatch({ type: 'connection', connection: 'polling', at: Date.now() })
      } else {
        store.dispatch({ type: 'connection', connection: 'lost', nextTryAt: change.nextTryAt, at: Date.now() })
      }
      // A snapshot is also requested when the connection is lost: either the request fails with an error that can be
      // displayed, or the snapshot shows that live updates have been disabled.
      scheduleSnapshot(0)
    },
  })
  scheduleHealth(0)

  const ticking = setInterval(() => store.dispatch({ type: 'tick', at: Date.now() }), 1_000)
  const unsubscribe = store.subscribe(() => {
    if (!store.get().needsSnapshot || isSnapshotLoading) return
    const soonest = snapshotAt + unknownReceiverIntervalMs - performance.now()
    scheduleSnapshot(Math.max(soonest, 200 + Math.random() * 300))
  })
  signal.addEventListener('abort', () => {
    clearInterval(ticking)
    clearTimeout(snapshotTimer)
    clearTimeout(healthTimer)
    unsubscribe()
  })
  return { retry: () => scheduleSnapshot(0) }

  function isPolling(): boolean {
    const { config, phase } = store.get()
    return phase === 'ready' && !config.enable_websocket
  }

  /**
   * Loads a snapshot after `delayMs`, unless an earlier one is already scheduled. While one is loading, schedules
   * nothing, but may mark it as outdated, so that another one follows.
   */
  function scheduleSnapshot(delayMs: number) {
    if (signal.aborted) return
    if (isSnapshotLoading) {
      isSnapshotOutdated ||= delayMs < unknownReceiverIntervalMs
      return
    }
    const dueAt = performance.now() + delayMs
    if (dueAt >= snapshotDueAt) return
    clearTimeout(snapshotTimer)
    snapshotDueAt = dueAt
    snapshotTimer = setTimeout(loadSnapshot, delayMs)
  }

  async function loadSnapshot() {
    snapshotDueAt = Number.POSITIVE_INFINITY
    isSnapshotLoading = true
    isSnapshotOutdated = false
    store.dispatch({ type: 'snapshot_requested', at: Date.now() })
    const response = await api.data(manufacturer)
    isSnapshotLoading = false
    if (signal.aborted) return
    if (response.ok) {
      failures = 0
      snapshotAt = performance.now()
      store.dispatch({ type: 'snapshot', data: response.body, at: Date.now() })
      scheduleSnapshot(
        isSnapshotOutdated ? 0 : !response.body.config.enable_websocket ? pollIntervalMs : snapshotIntervalMs,
      )
    } else {
      store.dispatch({ type: 'snapshot_failed', problem: response.problem, at: Date.now() })
      scheduleSnapshot(retryDelayMs(failures, Math.random()))
      failures += 1
    }
  }

  function scheduleHealth(delayMs: number) {
    clearTimeout(healthTimer)
    if (!signal.aborted) healthTimer = setTimeout(loadHealth, delayMs)
  }

  async function loadHealth() {
    scheduleHealth(healthIntervalMs)
    const response = await api.health()
    if (!signal.aborted && response.ok) store.dispatch({ type: 'health', health: response.body, at: Date.now() })
  }
}
