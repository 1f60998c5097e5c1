/** What a page reads from the service and keeps fresh, and what it sends there. */

import { useCallback, useEffect, useRef, useState } from 'react'
import { pathOf } from '../src/model/pages.ts'
import type { Answer, Problem, Shape } from './api.ts'
import { useSurroundings } from './context.ts'

export interface Reading<Body> {
  /** The last that was read; stays while it is read again, and when that fails. */
  readonly body: Body | null
  /** Why the last try failed; null when it did not. */
  readonly problem: Problem | null
  /** What is shown was asked under another address: a filter has changed, and its answer is on the way. */
  readonly isChanging: boolean
  /** When it was read, on this device's clock. */
  readonly readAt: number | null
  reload(): Promise<void>
}

type State<Body> = Pick<Reading<Body>, 'body' | 'problem' | 'readAt'> & { readonly path: string | null }

/**
 * Reads `path` (`/api/…`), again whenever it changes, and each `everyMs` while the page can be seen. `isBody` has to be
 * the same function every time.
 */
export function useReading<Body>(path: string, isBody: Shape<Body>, everyMs?: number): Reading<Body> {
  const { api, mount } = useSurroundings()
  const [state, setState] = useState<State<Body>>({ body: null, problem: null, readAt: null, path: null })
  const newest = useRef(0)
  const reload = useCallback(async () => {
    newest.current += 1
    const asked = newest.current
    const answer = await api.read(path, isBody)
    if (asked !== newest.current) return
    setState((before) => {
      const kept = before.path === path ? before : { body: null, readAt: null }
      if (!answer.ok && answer.problem.kind === 'sign_in' && kept.body === null) leadToSignIn(mount)
      if (answer.ok) return { body: answer.body, problem: null, readAt: Date.now(), path }
      return { body: kept.body, readAt: kept.readAt, problem: answer.problem, path }
    })
  }, [api, mount, path, isBody])

  useEffect(() => {
    void reload()
    return () => {
      newest.current += 1
    }
  }, [reload])
  useEffect(() => (everyMs === undefined ? undefined : whileVisible(reload, everyMs)), [reload, everyMs])
  const { body, problem, readAt } = state
  return { body, problem, readAt, reload, isChanging: state.path !== path && state.path !== null }
}

/** The next call begins when the one before has ended. A page that comes to the front again asks at once. */
function whileVisible(call: () => Promise<void>, everyMs: number): () => void {
  const left = new AbortController()
  let timer = setTimeout(again, everyMs)
  document.addEventListener('visibilitychange', again, { signal: left.signal })
  return () => {
    left.abort()
    clearTimeout(timer)
  }

  async function again() {
    clearTimeout(timer)
    if (document.hidden) return
    await call()
    if (!left.signal.aborted) timer = setTimeout(again, everyMs)
  }
}

/** And back here afterwards. */
function leadToSignIn(mount: string): void {
  location.replace(signInPath(mount))
}

export function signInPath(mount: string): string {
  const here = location.pathname + location.search
  return `${mount}${pathOf('sign_in')}?${new URLSearchParams({ next: here })}`
}

export interface Sending {
  readonly isSending: boolean
  /** Why the last one was refused. */
  readonly problem: Problem | null
  /** One at a time: null while another one is under way. */
  send<Body>(write: () => Promise<Answer<Body>>): Promise<Answer<Body> | null>
  forget(): void
}

export function useSending(): Sending {
  const [state, setState] = useState<Pick<Sending, 'isSending' | 'problem'>>({ isSending: false, problem: null })
  const isBusy = useRef(false)
  const send = useCallback(async <Body>(write: () => Promise<Answer<Body>>): Promise<Answer<Body> | null> => {
    if (isBusy.current) return null
    isBusy.current = true
    setState({ isSending: true, problem: null })
    const answer = await write()
    isBusy.current = false
    setState({ isSending: false, problem: answer.ok ? null : answer.problem })
    return answer
  }, [])
  const forget = useCallback(() => setState((before) => ({ ...before, problem: null })), [])
  return { ...state, send, forget }
}
