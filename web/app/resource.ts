/** Hooks to read from the service, and to send requests. */

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import type { Api, ApiResponse, Problem } from './api.ts'
import { useServices } from './context.ts'
import type { Address, Received, Shape } from './operations.ts'
import { RefusedRequest } from './query-client.ts'
import type { Topic } from './topics.ts'

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

/**
 * Reads `address` (`/api/…`) when it changes, after messages of the types in `topics`, and when the user returns to the
 * page. Without topics, it is read only once while the page is open. `intervalMs`: for lists whose changes no message
 * announces; a hidden page does not read them.
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

/** Returns the query of a resource, for hooks that read several resources, or one only if the user may read it. */
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
