/** Not React state, because it changes per frame. */

import { clampSpan, containing, following, notAfter, pan, type TimeRange, zoom } from './range.ts'

export interface TimelineState {
  readonly range: TimeRange
  readonly isFollowing: boolean
  readonly playhead: number | null
  readonly channelId: number | null
  readonly selected: { readonly from: number; readonly to: number } | null
}

/** The range ends at the present, and no other time is selected. */
export function isPresent({ isFollowing, playhead }: TimelineState): boolean {
  return isFollowing && playhead === null
}

export interface TimelineControl {
  get(): TimelineState
  show(range: TimeRange): void
  /** `anchor`: a share of the range. Null: the present while it is followed, otherwise the middle. */
  zoom(factor: number, anchor: number | null): void
  pan(ms: number): void
  follow(span?: number): void
  point(at: number, channelId?: number | null): void
  jump(at: number, channelId?: number | null): void
  select(selected: TimelineState['selected']): void
  set(state: Partial<TimelineState>): void
  subscribe(listener: () => void): () => void
}

/** Zooming this close to the end of a followed range does not stop it. */
const presentShare = 0.85

export function createControl(initial: TimelineState, now: () => number): TimelineControl {
  let state = initial
  const listeners = new Set<() => void>()

  function set(next: Partial<TimelineState>) {
    state = { ...state, ...next }
    for (const listener of listeners) listener()
  }

  function get(): TimelineState {
    if (!state.isFollowing) return state
    const range = following(state.range.span, now())
    if (range.from !== state.range.from) state = { ...state, range }
    return state
  }

  const show = (range: TimeRange) => set({ range: notAfter(range, now()), isFollowing: false })

  return {
    get,
    set,
    show,
    zoom(factor, anchor) {
      const { range, isFollowing } = get()
      const isAtPresent = anchor === null || anchor >= presentShare
      if (isFollowing && isAtPresent) set({ range: following(clampSpan(range.span * factor), now()) })
      else show(zoom(range, factor, anchor ?? 0.5))
    },
    pan: (ms) => show(pan(get().range, ms)),
    follow: (span = state.range.span) => set({ range: following(clampSpan(span), now()), isFollowing: true }),
    point: (at, channelId) => set({ playhead: at, ...(channelId !== undefined && { channelId }) }),
    jump(at, channelId) {
      const { range, isFollowing } = get()
      const next = containing(range, at)
      const isMoved = next !== range
      set({
        playhead: at,
        range: next,
        isFollowing: isFollowing && !isMoved,
        ...(channelId !== undefined && { channelId }),
      })
    },
    select: (selected) => set({ selected }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
