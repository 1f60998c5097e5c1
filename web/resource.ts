/** Hooks to read from the service, and to send requests. */

import { useCallback, useEffect, useRef, useState } from 'react'
import { pathOf } from '../src/domain/pages.ts'
import type { ApiResponse, Problem } from './api.ts'
import { useServices } from './context.ts'
import type { Address, Received, Shape } from './operations.ts'
import type { Topic, Topics } from './topics.ts'

export interface Resource<Body> {
  /** The latest response body; kept during a refresh, and also if the refresh fails. */
  readonly body: Body | null
  /** Error of the latest request; null on success. */
  readonly problem: Problem | null
  /** Whether `body` belongs to the previous path, because the response for the current one is pending. */
  readonly isChanging: boolean
  /** Browser time at which `body` was received. */
  readonly readAt: number | null
  reload(): Promise<void>
}

type State<Body> = Pick<Resource<Body>, 'body' | 'problem' | 'readAt'> & { readonly address: string | null }

/**
 * Reads `address` (`/api/…`) when it changes, after messages of the types in `topics`, and when the user returns to the
 * page. `topics` must be stable.
 */
export function useResource<const A extends Address<'GET'>, S extends Shape>(
  address: A,
  shape: S,
  topics?: readonly Topic[],
): Resource<Received<'GET', A, S>> {
  const { api, mount, topics: announced } = useServices()
  const [state, setState] = useState<State<Received<'GET', A, S>>>({
    body: null,
    problem: null,
    readAt: null,
    address: null,
  })
  const newest = useRef(0)
  const reload = useCallback(async () => {
    newest.current += 1
    const request = newest.current
    const response = await api.read(address, shape)
    if (request !== newest.current) return
    setState((before) => {
      const kept = before.address === address ? before : { body: null, readAt: null }
      if (!response.ok && response.problem.kind === 'sign_in' && kept.body === null) redirectToSignIn(mount)
      if (response.ok) return { body: response.body, problem: null, readAt: Date.now(), address }
      return { body: kept.body, readAt: kept.readAt, problem: response.problem, address }
    })
  }, [api, mount, address, shape])

  useEffect(() => {
    void reload()
    return () => {
      newest.current += 1
    }
  }, [reload])
  useEffect(
    () => (topics === undefined ? undefined : reloadOnChanges(reload, announced, topics)),
    [reload, announced, topics],
  )
  const { body, problem, readAt } = state
  return { body, problem, readAt, reload, isChanging: state.address !== address && state.address !== null }
}

/** Delay of a reload after a message, because messages often arrive in groups. */
const reloadDelayMs = 300
/** Minimum time between two reloads that messages cause. */
const reloadIntervalMs = 1_000

/** Calls `reload` after messages of these types, and when the user returns to the page. */
function reloadOnChanges(reload: () => Promise<void>, announced: Topics, topics: readonly Topic[]): () => void {
  const left = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let reloadedAt = performance.now()
  const unsubscribe = announced.subscribe(topics, schedule)
  document.addEventListener('visibilitychange', reloadNow, { signal: left.signal })
  window.addEventListener('focus', reloadNow, { signal: left.signal })
  return () => {
    left.abort()
    clearTimeout(timer)
    unsubscribe()
  }

  function schedule() {
    if (timer !== undefined) return
    timer = setTimeout(reloadNow, Math.max(reloadDelayMs, reloadedAt + reloadIntervalMs - performance.now()))
  }

  function reloadNow() {
    clearTimeout(timer)
    timer = undefined
    // A hidden page is read when it becomes visible.
    if (document.hidden) return
    reloadedAt = performance.now()
    void reload()
  }
}

/** Opens the sign-in page, which returns to this page afterwards. */
function redirectToSignIn(mount: string): void {
  location.replace(signInPath(mount))
}

export function signInPath(mount: string): string {
  const here = location.pathname + location.search
  return `${mount}${pathOf('sign_in')}?${new URLSearchParams({ next: here })}`
}

export interface RequestState {
  readonly isSending: boolean
  /** Error of the latest request. */
  readonly problem: Problem | null
  /** Sends one request at a time; resolves to null while another one is in progress. */
  send<Body>(write: () => Promise<ApiResponse<Body>>): Promise<ApiResponse<Body> | null>
  forget(): void
}

export function useRequest(): RequestState {
  const [state, setState] = useState<Pick<RequestState, 'isSending' | 'problem'>>({ isSending: false, problem: null })
  const isBusy = useRef(false)
  const send = useCallback(async <Body>(write: () => Promise<ApiResponse<Body>>): Promise<ApiResponse<Body> | null> => {
    if (isBusy.current) return null
    isBusy.current = true
    setState({ isSending: true, problem: null })
    const response = await write()
    isBusy.current = false
    setState({ isSending: false, problem: response.ok ? null : response.problem })
    return response
  }, [])
  const forget = useCallback(() => setState((before) => ({ ...before, problem: null })), [])
  return { ...state, send, forget }
}
