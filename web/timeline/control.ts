/** What the timeline shows: the range, the playhead and the selection. Not React state, because it changes per frame. */

import { clampSpan, containing, following, notAfter, pan, type TimeRange, zoom } from './range.ts'

export interface TimelineState {
  readonly range: TimeRange
  /** Whether the range moves with the present. */
  readonly isFollowing: boolean
  /** Epoch ms; null until the user sets it. */
  readonly playhead: number | null
  /** The channel that was selected last. */
  readonly channelId: number | null
  /** A selected range, for a marker. */
  readonly selected: { readonly from: number; readonly to: number } | null
}

export interface TimelineControl {
  /** Returns the current state, as the same object until something changes or time passes. */
  get(): TimelineState
  /** Shows a range, which does not move. */
  show(range: TimeRange): void
  /** Zooms around a share of the range; null: around the present while it is followed, otherwise the middle. */
  zoom(factor: number, anchor: number | null): void
  pan(ms: number): void
  /** Follows the present. */
  follow(span?: number): void
  /** Sets the playhead, and the channel if it is given. */
  point(at: number, channelId?: number | null): void
  /** Sets the playhead, and moves the range if it does not contain it. */
  jump(at: number, channelId?: number | null): void
  select(selected: TimelineState['selected']): void
  set(state: Partial<TimelineState>): void
  subscribe(listener: () => void): () => void
}

/** Zooming at the end of a range that follows the present does not stop it. */
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
