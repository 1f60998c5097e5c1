/** Keeps `Watch` current over the live interface until `signal` is aborted. */

import type { HealthBody } from '../../src/contract/health.ts'
import type { LiveMessage } from '../../src/contract/live-messages.ts'
import type { Api, ApiResponse } from './api.ts'
import { silentMs } from './channel-state.ts'
import { serviceNow } from './service-time.ts'
import { openSocket, type SocketStatus } from './socket.ts'
import type { Topic, Topics } from './topics.ts'
import type { Watch } from './watch.ts'

/** While live updates are disabled in the settings. */
const pollIntervalMs = 5_000
/** Messages after which health may have changed. */
const healthTopics: readonly Topic[] = ['snapshot', 'resumed', 'source', 'settings']
/** Several sources often change at the same time. */
const healthDelayMs = 300

export interface LiveUpdateOptions {
  readonly watch: Watch
  readonly api: Api
  readonly socketUrl: string
  readonly topics: Topics
  readonly signal: AbortSignal
}

export type ShownLevels = readonly string[] | null
export type SweepMessage = Extract<LiveMessage, { type: 'sweep' }>

interface FollowedSweeps {
  readonly source: string
  receive(message: SweepMessage): void
}

/** All pages share this connection. */
export interface LiveUpdates {
  start(shown: ShownLevels): void
  /** Receives the sweeps of one source, until the returned function is called or another source is followed. */
  followSweeps(followed: FollowedSweeps): () => void
  retry(): void
}

/** A short look at another page does not end the levels. */
const keepLevelsMs = 60_000

export function createLiveUpdates(options: LiveUpdateOptions): LiveUpdates {
  const { signal } = options
  let updates: ReturnType<typeof startUpdates> | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let selected: ShownLevels = []
  let sweeps: FollowedSweeps | null = null
  signal.addEventListener('abort', () => clearTimeout(timer))
  const select = (shown: ShownLevels) => {
    if (String(shown) === String(selected)) return
    selected = shown
    updates?.selectLevels(shown)
  }
  return {
    start(shown) {
      clearTimeout(timer)
      if (shown?.length === 0) timer = setTimeout(() => select(shown), keepLevelsMs)
      else select(shown)
      updates ??= startUpdates(options, { levels: () => selected, sweeps: () => sweeps })
    },
    followSweeps(followed) {
      sweeps = followed
      updates?.selectSweeps(followed.source)
      return () => {
        if (sweeps !== followed) return
        sweeps = null
        updates?.selectSweeps(null)
      }
    },
    retry: () => updates?.retry(),
  }
}

type Lost = Extract<SocketStatus, { status: 'lost' }>

/** Requested again when a connection begins. */
interface Selected {
  levels(): ShownLevels
  sweeps(): FollowedSweeps | null
}

function startUpdates({ watch, api, socketUrl, topics, signal }: LiveUpdateOptions, selected: Selected) {
  let healthTimer: ReturnType<typeof setTimeout> | undefined
  let pollTimer: ReturnType<typeof setTimeout> | undefined
  const validating = import.meta.env.DEV ? import('./validate-message.ts') : null

  const connection = openSocket({
    // Levels are requested later, so that another page needs no new connection.
    url: `${socketUrl}?${new URLSearchParams({ ack: '1', levels: 'false' })}`,
    signal,
    silentMs,
    onMessage(message: LiveMessage) {
      void validating?.then(({ validateMessage }) => validateMessage(message))
      watch.dispatch({ type: 'message', message, at: serviceNow() })
      if (message.type === 'sweep') receiveSweep(message)
      else topics.publish(message.type)
    },
    onStatus,
    onDelay: (seconds) => watch.dispatch({ type: 'delay', seconds, at: serviceNow() }),
    onSilence: () => watch.dispatch({ type: 'tick', at: serviceNow() }),
  })
  topics.subscribe((topic) => {
    if (!healthTopics.includes(topic)) return
    clearTimeout(healthTimer)
    healthTimer = setTimeout(readHealth, healthDelayMs)
  })
  const ticking = setInterval(() => watch.dispatch({ type: 'tick', at: serviceNow() }), 1_000)
  signal.addEventListener('abort', () => {
    clearInterval(ticking)
    clearTimeout(healthTimer)
    clearTimeout(pollTimer)
  })
  return {
    selectLevels,
    selectSweeps,
    retry() {
      connection.retry()
      if (watch.get().phase === 'failed') void findProblem(false)
    },
  }

  function selectLevels(shown: ShownLevels) {
    const isNone = shown?.length === 0
    connection.send({
      type: 'select_levels',
      levels: isNone ? 'false' : 'full',
      ...(shown !== null && { sites: shown }),
    })
  }

  function selectSweeps(source: string | null) {
    connection.send({ type: 'select_sweeps', source })
  }

  /** A message of the source before may still be on the way. */
  function receiveSweep(message: SweepMessage) {
    const followed = selected.sweeps()
    if (followed?.source === message.source) followed.receive(message)
  }

  function onStatus(change: SocketStatus) {
    if (change.status === 'open') {
      clearTimeout(pollTimer)
      watch.dispatch({ type: 'connection', connection: 'open', at: serviceNow() })
      const shown = selected.levels()
      if (shown?.length !== 0) selectLevels(shown)
      const followed = selected.sweeps()
      if (followed !== null) selectSweeps(followed.source)
      return
    }
    if (change.isSignedOut) void endSession(change)
    else lose(change)
  }

  function lose({ nextTryAt, wasOpen }: Lost) {
    if (watch.get().connection !== 'polling') {
      watch.dispatch({ type: 'connection', connection: 'lost', nextTryAt, at: serviceNow() })
    }
    void findProblem(wasOpen)
  }

  /** Continues with the current session: a changed password begins a new one, and a local client needs none. */
  async function endSession(change: Lost) {
    const [before, after] = [await api.session(), await api.session(true)]
    if (signal.aborted) return
    if (!after.ok) {
      watch.dispatch({ type: 'failed', problem: after.problem, at: serviceNow() })
      lose(change)
      return
    }
    const isSame = before.ok && before.body.name === after.body.name && before.body.role === after.body.role
    if (!isSame) watch.dispatch({ type: 'session_ended', at: serviceNow() })
    connection.retry()
  }

  /**
   * A browser gives no reason for a lost connection: the service may be down, or the session may have ended. If the service
   * responds but accepts no connection, live updates may be disabled.
   */
  async function findProblem(wasOpen: boolean) {
    const response = await readHealth()
    if (signal.aborted || watch.get().connection === 'open') return
    if (!response.ok) watch.dispatch({ type: 'failed', problem: response.problem, at: serviceNow() })
    else if (!wasOpen) await poll()
  }

  /** Repeats while live updates are disabled. */
  async function poll() {
    clearTimeout(pollTimer)
    const response = await api.data()
    if (signal.aborted || watch.get().connection === 'open') return
    const isEnabled = response.ok && response.body.config.enable_websocket
    const isPolling = watch.get().connection === 'polling'
    if (response.ok && !isEnabled && !isPolling) {
      watch.dispatch({ type: 'connection', connection: 'polling', at: serviceNow() })
    }
    if (response.ok) watch.dispatch({ type: 'polled', data: response.body, at: serviceNow() })
    else watch.dispatch({ type: 'failed', problem: response.problem, at: serviceNow() })
    if (isEnabled && isPolling) connection.retry()
    if (!isEnabled && watch.get().connection === 'polling') pollTimer = setTimeout(poll, pollIntervalMs)
  }

  async function readHealth(): Promise<ApiResponse<HealthBody>> {
    const response = await api.health()
    if (!signal.aborted && response.ok) {
      reloadIfOutdated(response.body.version)
      watch.dispatch({ type: 'health', health: response.body, at: serviceNow() })
    }
    return response
  }
}

const storageKey = 'micwatch.reloaded-for'

/** Reloads the page at most once for each version of the service, so that a cached old page does not reload forever. */
function reloadIfOutdated(version: string | undefined): void {
  if (version === undefined || version === __MICWATCH_VERSION__) return
  try {
    if (sessionStorage.getItem(storageKey) === version) return
    sessionStorage.setItem(storageKey, version)
  } catch {
    // Without session storage, the page could not detect that it was already reloaded.
    return
  }
  location.reload()
}
