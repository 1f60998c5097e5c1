import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import type { Api, ApiResponse, Problem } from './api.ts'
import { useServices } from './context.ts'
import type { Address, Received, Shape } from './operations.ts'
import { RefusedRequest } from './query-client.ts'
import type { Topic } from './topics.ts'

export interface Resource<Body> {
  /** Kept during a refresh, and if it fails. */
  readonly body: Body | null
  readonly problem: Problem | null
  /** `body` belongs to the previous path until the response arrives. */
  readonly isChanging: boolean
  readonly readAt: number | null
  reload(): Promise<void>
}

/**
 * Reads when `address` changes, after messages in `topics`, and when the user returns to the page. `intervalMs` is
 * for lists whose changes no message announces. A hidden page does not read them.
 */
export function useResource<const A extends Address<'GET'>, S extends Shape>(
  address: A,
  shape: S,
  topics: readonly Topic[] = [],
  intervalMs?: number,
): Resource<Received<'GET', A, S>> {
  const { api, mount } = useServices()
  const query = useQuery({
    ...resourceQuery(api, { address, shape, topics, intervalMs }),
    placeholderData: keepPreviousData,
  })
  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = query
  const problem = error?.problem ?? null
  const isSignedOut = problem?.kind === 'sign_in' && data === undefined
  useEffect(() => {
    if (isSignedOut) redirectToSignIn(mount)
  }, [isSignedOut, mount])
  const reload = useCallback(async () => {
    await refetch()
  }, [refetch])
  return {
    body: data ?? null,
    problem,
    isChanging: isPlaceholderData,
    readAt: data === undefined ? null : dataUpdatedAt,
    reload,
  }
}

interface ResourceQuery<A, S> {
  readonly address: A
  readonly shape: S
  readonly topics: readonly Topic[]
  readonly intervalMs?: number | undefined
}

/** For hooks that read several resources, or one only with permission. */
export function resourceQuery<const A extends Address<'GET'>, S extends Shape>(
  api: Api,
  { address, shape, topics, intervalMs }: ResourceQuery<A, S>,
) {
  return queryOptions<Received<'GET', A, S>, RefusedRequest>({
    queryKey: [address, shape],
    queryFn: async () => {
      const response = await api.read(address, shape)
      if (response.ok) return response.body
      throw new RefusedRequest(response.problem)
    },
    meta: { topics },
    refetchOnWindowFocus: topics.length > 0,
    refetchInterval: intervalMs ?? false,
  })
}

/** The sign-in page returns to this page. */
function redirectToSignIn(mount: string): void {
  location.replace(signInPath(mount))
}

export function signInPath(mount: string): string {
  const here = location.pathname + location.search
  return `${mount}${pathOf('sign_in')}?${new URLSearchParams({ next: here })}`
}

export interface RequestState {
  readonly isSending: boolean
  readonly problem: Problem | null
  /** Resolves to null while another request is in progress. */
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
