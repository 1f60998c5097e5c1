/** Joins socket, REST and store: keeps the picture of the house whole and fresh until `signal` says stop. */

import type { Api } from './api.ts'
import { listen, retryDelayMs } from './socket.ts'
import type { Store } from './store.ts'

const healthEveryMs = 10_000
/** Settings and removed receivers are announced to nobody; a full picture brings them. */
const pictureEveryMs = 60_000
const readingEveryMs = 5_000
/** An update nobody can explain must not become a flood of pictures. */
const explainEveryMs = 5_000

export interface WatchOptions {
  readonly store: Store
  readonly api: Api
  readonly socketUrl: string
  readonly manufacturer: string | null
  readonly signal: AbortSignal
}

export interface Watch {
  /** Ask for the full picture again, now. */
  retry(): void
}

export function watchHouse({ store, api, socketUrl, manufacturer, signal }: WatchOptions): Watch {
  let failures = 0
  let pictureAt = Number.NEGATIVE_INFINITY
  let pictureDueAt = Number.POSITIVE_INFINITY
  let isPictureUnderWay = false
  let isPictureStale = false
  let pictureTimer: ReturnType<typeof setTimeout> | undefined
  let healthTimer: ReturnType<typeof setTimeout> | undefined

  listen({
    url: socketUrl,
    signal,
    onMessage(message) {
      store.dispatch({ type: 'message', message, at: Date.now() })
      if (message.type === 'status_update') {
        planHealth(Math.random() * 500)
        planPicture(500 + Math.random() * 500)
      }
    },
    onLink(link) {
      if (link.status === 'open') {
        store.dispatch({ type: 'link', client: 'open', at: Date.now() })
        planHealth(0)
      } else if (isReading()) {
        store.dispatch({ type: 'link', client: 'reading', at: Date.now() })
      } else {
        store.dispatch({ type: 'link', client: 'lost', nextTryAt: link.nextTryAt, at: Date.now() })
      }
      // After a loss too: it tells why, and what there is to see in a house that has no live updates.
      planPicture(0)
    },
  })
  planHealth(0)

  const ticking = setInterval(() => store.dispatch({ type: 'tick', at: Date.now() }), 1_000)
  const unsubscribe = store.subscribe(() => {
    if (!store.get().needsPicture || isPictureUnderWay) return
    const soonest = pictureAt + explainEveryMs - performance.now()
    planPicture(Math.max(soonest, 200 + Math.random() * 300))
  })
  signal.addEventListener('abort', () => {
    clearInterval(ticking)
    clearTimeout(pictureTimer)
    clearTimeout(healthTimer)
    unsubscribe()
  })
  return { retry: () => planPicture(0) }

  function isReading(): boolean {
    const { config, phase } = store.get()
    return phase === 'ready' && !config.enable_websocket
  }

  /** The earlier of two plans holds. */
  function planPicture(delayMs: number) {
    if (signal.aborted) return
    if (isPictureUnderWay) {
      isPictureStale ||= delayMs < explainEveryMs
      return
    }
    const dueAt = performance.now() + delayMs
    if (dueAt >= pictureDueAt) return
    clearTimeout(pictureTimer)
    pictureDueAt = dueAt
    pictureTimer = setTimeout(takePicture, delayMs)
  }

  async function takePicture() {
    pictureDueAt = Number.POSITIVE_INFINITY
    isPictureUnderWay = true
    isPictureStale = false
    store.dispatch({ type: 'picture_asked', at: Date.now() })
    const answer = await api.data(manufacturer)
    isPictureUnderWay = false
    if (signal.aborted) return
    if (answer.ok) {
      failures = 0
      pictureAt = performance.now()
      store.dispatch({ type: 'picture', data: answer.body, at: Date.now() })
      planPicture(isPictureStale ? 0 : !answer.body.config.enable_websocket ? readingEveryMs : pictureEveryMs)
    } else {
      store.dispatch({ type: 'picture_failed', problem: answer.problem, at: Date.now() })
      planPicture(retryDelayMs(failures, Math.random()))
      failures += 1
    }
  }

  function planHealth(delayMs: number) {
    clearTimeout(healthTimer)
    if (!signal.aborted) healthTimer = setTimeout(takeHealth, delayMs)
  }

  async function takeHealth() {
    planHealth(healthEveryMs)
    const answer = await api.health()
    if (!signal.aborted && answer.ok) store.dispatch({ type: 'health', health: answer.body, at: Date.now() })
  }
}
