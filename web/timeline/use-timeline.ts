import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { EventBody } from '../../src/contract/history.ts'
import type { Api, Problem } from '../app/api.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { RefusedRequest } from '../app/query-client.ts'
import { toIso } from '../app/service-time.ts'
import { defaultView } from '../app/view.ts'
import { decodeSlots, useVisibleSlots } from '../parts/channels/visible-slots.ts'
import { type KindFilter, kindsOf, mergeEvents, overlaps } from '../parts/events.ts'
import type { TimelineControl, TimelineState } from './control.ts'
import { defaultSpan, following, listIds, rangeOf, type TimelineAddress, type TimeRange } from './range.ts'

const settleMs = 200
const followMs = 1_000

export function useSettled(control: TimelineControl): TimelineState {
  const [state, setState] = useState(control.get)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const update = () => {
      clearTimeout(timer)
      const next = control.get()
      setState(next)
      if (next.isFollowing) timer = setTimeout(update, followMs)
    }
    const unsubscribe = control.subscribe(() => {
      clearTimeout(timer)
      timer = setTimeout(update, settleMs)
    })
    update()
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [control])
  return state
}

export function stateOf(address: TimelineAddress, now: number): TimelineState {
  const range = rangeOf(address)
  const [channelId = null, another] = listIds(address.channel ?? '')
  return {
    range: range ?? following(Number(address.span ?? defaultSpan / 1_000) * 1_000, now),
    isFollowing: range === null,
    playhead: address.at === undefined ? null : Date.parse(address.at),
    channelId: another === undefined ? channelId : null,
    selected: null,
  }
}

/** Times are rounded, so that the address stays short. */
function addressOf({
  range,
  isFollowing,
  playhead,
}: TimelineState): Record<'from' | 'to' | 'span' | 'at', string | null> {
  const { from, span } = range
  const round = span < 120_000 ? 100 : 1_000
  const iso = (at: number) => toIso(Math.round(at / round) * round)
  return {
    from: isFollowing ? null : iso(from),
    to: isFollowing ? null : iso(from + span),
    span: isFollowing && span !== defaultSpan ? String(Math.round(span / 1_000)) : null,
    at: playhead === null ? null : iso(playhead),
  }
}

/**
 * Keeps the address and the control equal. Returns a function that runs an action with a history entry of its own.
 * All other changes replace the entry.
 */
export function useAddress(control: TimelineControl, address: TimelineAddress, now: () => number) {
  const navigate = useNavigate()
  const written = useRef(keyOf(addressOf(control.get())))
  const write = useCallback(
    (replace: boolean) => {
      const values = addressOf(control.get())
      if (keyOf(values) === written.current) return
      written.current = keyOf(values)
      const search = (before: object): Record<string, unknown> => ({ ...before, ...values })
      void navigate({ to: '.', search, replace, resetScroll: false })
    },
    [control, navigate],
  )
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const unsubscribe = control.subscribe(() => {
      clearTimeout(timer)
      timer = setTimeout(() => write(true), settleMs)
    })
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [control, write])
  const { from = null, to = null, span = null, at = null } = address
  useEffect(() => {
    const key = keyOf({ from, to, span, at })
    if (key === written.current) return
    written.current = key
    const { range, isFollowing, playhead } = stateOf(
      { ...(from && to && { from, to }), ...(span && { span }), ...(at && { at }) },
      now(),
    )
    control.set({ range, isFollowing, playhead })
  }, [control, from, to, span, at, now])
  return useCallback(
    (action: () => void) => {
      write(true)
      action()
      write(false)
    },
    [write],
  )
}

function keyOf({ from, to, span, at }: Record<'from' | 'to' | 'span' | 'at', string | null>): string {
  return [from, to, span, at].join(' ')
}

/** `receiverId` is null for a channel that was removed. */
export interface Row {
  readonly channelId: number
  readonly receiverId: number | null
}

export function useRows({ channel = '', group = null, q = '', state = 'all' }: TimelineAddress): readonly Row[] {
  const slots = useVisibleSlots({ ...defaultView, group, q, state })
  // Encoded, so that the rows stay the same until they differ.
  const listed = useWatchState(({ receivers }) =>
    listIds(channel)
      .map((channelId) => {
        const found = [...receivers.values()].find(({ channels }) => channels.some(({ id }) => id === channelId))
        return `${channelId} ${found?.id ?? ''}`
      })
      .join(),
  )
  return useMemo(() => {
    if (listed !== '') {
      return listed.split(',').map((text) => {
        const [channelId, receiverId = ''] = text.split(' ')
        return { channelId: Number(channelId), receiverId: receiverId === '' ? null : Number(receiverId) }
      })
    }
    return decodeSlots(slots).flatMap((slot) =>
      slot.kind === 'channel' ? [{ channelId: slot.channelId, receiverId: slot.receiverId }] : [],
    )
  }, [slots, listed])
}

export interface TimelineEvents {
  readonly events: readonly EventBody[]
  readonly problem: Problem | null
  readonly isLoading: boolean
  /** Older events of the range are missing, because there are too many. */
  readonly isIncomplete: boolean
  reload(): Promise<unknown>
}

const pageLimit = 1_000
const maxPages = 5

interface EventPages {
  readonly events: readonly EventBody[]
  readonly isIncomplete: boolean
}

async function readEvents(api: Api, address: `/api/events/?${string}`, page = 1): Promise<EventPages> {
  const response = await api.read(address, 'object')
  if (!response.ok) throw new RefusedRequest(response.problem)
  const { results, next } = response.body
  if (next === null || page === maxPages) return { events: results, isIncomplete: next !== null }
  const rest = await readEvents(api, next as typeof address, page + 1)
  return { ...rest, events: [...results, ...rest.events] }
}

/** Includes some time before and after the range, so that a small pan needs no request. */
export function requestedTime({ from, span }: TimeRange): { readonly start: number; readonly end: number } {
  const length = 2 ** Math.ceil(Math.log2(span))
  return { start: Math.floor(from / length) * length, end: Math.ceil((from + span) / length) * length }
}

export function useEvents(range: TimeRange, filter: KindFilter): TimelineEvents {
  const { api } = useServices()
  const changes = useWatchState((watchState) => watchState.eventChanges)
  const { start, end } = requestedTime(range)
  const query = useQuery<EventPages, RefusedRequest>({
    queryKey: ['timeline events', start, end, filter],
    queryFn: async () => {
      const kinds = kindsOf(filter)
      const values = {
        from: toIso(start),
        to: toIso(end),
        limit: String(pageLimit),
        ...(kinds && { kind: kinds.join() }),
      }
      return readEvents(api, `/api/events/?${new URLSearchParams(values)}`)
    },
    // A new connection may have missed messages.
    meta: { topics: ['resumed'] },
    placeholderData: keepPreviousData,
  })
  const { data, error, isFetching, refetch } = query
  const events = useMemo(() => {
    const kinds = kindsOf(filter)
    return mergeEvents(
      data?.events ?? [],
      changes,
      (event) => overlaps(event, { start, end }) && (kinds === null || kinds.includes(event.kind)),
    )
  }, [data, changes, filter, start, end])
  return {
    events,
    problem: error?.problem ?? null,
    isLoading: isFetching && data === undefined,
    isIncomplete: data?.isIncomplete ?? false,
    reload: refetch,
  }
}
