/**
 * Plays the past: a time that stands still or runs, and what is loaded around it. It sends at most one request every two
 * seconds, always for what is needed next, so that a slider that is dragged does not cause a request at each position.
 */

import type { EventBody, EventListBody } from '../../src/contract/resources/events.ts'
import type { DataAtTimeBody, HistoryLevelsBody } from '../../src/contract/resources/history.ts'
import type { Api, ApiResponse, Problem } from '../api.ts'
import { type ChartSamples, sampleCount, sampleMs } from '../history.ts'
import {
  type Block,
  chartSamplesAt,
  createBlock,
  isPlayable,
  type Moment,
  momentAt,
  partsOf,
  setRecord,
} from './recording.ts'

export const speeds = [1, 10, 60] as const
export type Speed = (typeof speeds)[number]
export type Direction = 'previous' | 'next'

export interface ReplayState {
  /** The whole second that is shown, in epoch milliseconds of the service's clock. */
  readonly time: number
  readonly isPlaying: boolean
  readonly speed: Speed
  /** Null until it is loaded. */
  readonly moment: Moment | null
  /** Why the latest request failed. */
  readonly problem: Problem | null
  /** Whether the end of the recording is reached: the present. */
  readonly isAtEnd: boolean
  /** The loaded events of the hour that contains `time`, newest first. */
  readonly events: readonly EventBody[]
  /** Whether the next or previous event is being searched, or that there is none. */
  readonly search: 'idle' | 'searching' | 'none'
}

export interface ReplayPlayer {
  get(): ReplayState
  subscribe(listener: () => void): () => void
  seek(time: number): void
  /** Moves by this many milliseconds. */
  step(ms: number): void
  goToEvent(direction: Direction): void
  setPlaying(isPlaying: boolean): void
  setSpeed(speed: Speed): void
  /** Repeats the request that failed. */
  retry(): void
  charts(): ChartSamples
  close(): void
}

export interface PlayerOptions {
  readonly api: Pick<Api, 'read' | 'clockAheadMs'>
  readonly time: number
}

const requestIntervalMs = 2_000
/** A request that failed is repeated after this time, unless the service has refused it. */
const retryMs = 5_000
const frameMs = 250
const hourMs = 3_600_000
/** The least length of a block, and how far before a loaded block a block is loaded that ends there. */
const minBlockMs = 60_000
const maxBlocks = 12
const maxPoints = 1_000
/** The latest seconds are not recorded yet. */
const recordedAfterMs = 3_000
/** How far the next event is searched at a time. */
const searchSpans = [hourMs, 24 * hourMs, 14 * 24 * hourMs] as const

/** The events of one hour. */
interface Hour {
  events: readonly EventBody[]
  /** Path of the older events that are not loaded yet. */
  next: string | null
  /** When the events were read. */
  readAt: number
}

interface Search {
  readonly direction: Direction
  /** Index in `searchSpans`. */
  span: number
}

interface Request {
  send(): Promise<Problem | null>
}

export function createPlayer({ api, time }: PlayerOptions): ReplayPlayer {
  const listeners = new Set<() => void>()
  const blocks: Block[] = []
  const hours = new Map<number, Hour>()
  let state: ReplayState = {
    ...{ time: toSecond(time), isPlaying: false, speed: 1, moment: null, problem: null, isAtEnd: false },
    ...{ events: [], search: 'idle' },
  }
  /** The time while playing, with fractions of a second. */
  let position = state.time
  let playedAt = performance.now()
  let playing: ReturnType<typeof setInterval> | undefined
  let search: Search | null = null
  let isRequesting = false
  let requestedAt = Number.NEGATIVE_INFINITY
  let retryAt = Number.NEGATIVE_INFINITY
  let pumping: ReturnType<typeof setTimeout> | undefined
  let isClosed = false

  seek(state.time)

  function set(change: Partial<ReplayState>) {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }

  function lastRecorded(): number {
    return toSecond(Date.now() + api.clockAheadMs() - recordedAfterMs)
  }

  /** Returns the block with the latest record that contains a time. */
  function blockAt(at: number): Block | undefined {
    return blocks.findLast(({ from, to }) => at >= from && at < to)
  }

  function seek(at: number) {
    position = toSecond(at)
    search = null
    retryAt = Number.NEGATIVE_INFINITY
    if (blockAt(position) === undefined) {
      const after = blocks.find(
        ({ from, record }) => record !== null && position < from && from - position <= minBlockMs,
      )
      // A step back loads what leads to the loaded block, so that further steps back need no request.
      if (after === undefined) addBlock(position, position + blockMs())
      else addBlock(after.from - minBlockMs, after.from)
    }
    show({ problem: null, search: 'idle', isAtEnd: false })
    pump()
  }

  function addBlock(from: number, to: number): Block {
    const block = createBlock(from, Math.max(from + 1_000, Math.min(to, lastRecorded())))
    // What was skipped need not be loaded.
    for (const other of blocks.filter(({ record }) => record === null)) blocks.splice(blocks.indexOf(other), 1)
    blocks.push(block)
    if (blocks.length > maxBlocks) blocks.shift()
    return block
  }

  /** Blocks are longer at higher speeds, so that one is loaded before the one before it ends. */
  function blockMs(): number {
    const parts = blocks.at(-1)?.levels.length ?? 1
    const needed = state.speed * (parts + 3) * requestIntervalMs
    return Math.max(minBlockMs, Math.ceil(needed / minBlockMs) * minBlockMs)
  }

  /** Shows what is known about the current time. */
  function show(change: Partial<ReplayState> = {}) {
    const at = toSecond(position)
    const block = blockAt(at)
    const record = block?.record ?? null
    const moment = block === undefined || record === null ? null : momentAt(block, record, eventsAround(at), at)
    set({ time: at, moment, events: hours.get(hourOf(at))?.events ?? [], ...change })
  }

  function eventsAround(at: number): readonly EventBody[] {
    return [...(hours.get(hourOf(at))?.events ?? []), ...(hours.get(hourOf(at) - hourMs)?.events ?? [])]
  }

  function play() {
    const now = performance.now()
    // While the page was suspended, the time stood still.
    const elapsed = Math.min(1_000, now - playedAt)
    playedAt = now
    const current = blockAt(toSecond(position))
    if (current === undefined || !isPlayable(current)) return pump()
    let next = position + elapsed * state.speed
    if (next >= current.to) {
      const following = blockAfter(current)
      if (following === undefined) return end(current)
      if (!isPlayable(following)) return pump()
      next = Math.min(next, following.to - 1)
    }
    position = next
    if (toSecond(position) !== state.time) show()
    pump()
  }

  /** Stops where the recording ends. */
  function end({ to }: Block) {
    position = to - 1
    setPlaying(false)
    show({ isAtEnd: true })
  }

  /** Returns the block that follows; adds it if there is none, and if enough is recorded for one. */
  function blockAfter({ to }: Block): Block | undefined {
    const next = blocks.find((block) => to >= block.from && to < block.to)
    if (next !== undefined) return next
    const least = to - position < 5_000 ? minBlockMs / 6 : minBlockMs
    return to + least <= lastRecorded() ? addBlock(to, to + blockMs()) : undefined
  }

  function setPlaying(isPlaying: boolean) {
    clearInterval(playing)
    playedAt = performance.now()
    if (isPlaying) playing = setInterval(play, frameMs)
    if (isPlaying !== state.isPlaying) set({ isPlaying })
    pump()
  }

  /** Sends the next request once it may be sent. */
  function pump() {
    if (isRequesting || isClosed) return
    const request = nextRequest()
    if (request === null) return
    const wait = Math.max(requestedAt + requestIntervalMs, retryAt) - performance.now()
    clearTimeout(pumping)
    if (wait > 0) pumping = setTimeout(pump, Math.min(wait, retryMs))
    else void run(request)
  }

  async function run({ send }: Request) {
    isRequesting = true
    requestedAt = performance.now()
    const problem = await send()
    isRequesting = false
    if (isClosed) return
    if (problem !== null) {
      const isRefused = problem.kind !== 'unreachable'
      retryAt = isRefused ? Number.POSITIVE_INFINITY : performance.now() + retryMs
      if (isRefused) setPlaying(false)
    }
    show({ problem })
    pump()
  }

  /** Returns the request for what is needed most; null if nothing is. */
  function nextRequest(): Request | null {
    if (retryAt === Number.POSITIVE_INFINITY) return null
    if (search !== null) return searchRequest(search)
    const at = toSecond(position)
    const block = blockAt(at)
    if (block === undefined) return null
    const hour = hours.get(hourOf(at))
    const needsEvents =
      hour === undefined || hour.next !== null || Math.min(block.to, hourOf(at) + hourMs) > hour.readAt
    const hasLevels = block.levels.some((part) => part !== null)
    return (
      recordRequest(block) ??
      (hasLevels ? null : levelsRequest(block)) ??
      (needsEvents ? eventsRequest(hourOf(at)) : null) ??
      levelsRequest(block) ??
      (state.isPlaying ? aheadRequest(blockAfter(block)) : null)
    )
  }

  function aheadRequest(block: Block | undefined): Request | null {
    return block === undefined ? null : (recordRequest(block) ?? levelsRequest(block))
  }

  function recordRequest(block: Block): Request | null {
    if (block.record !== null) return null
    return request<DataAtTimeBody>(
      () => api.read(`/api/history/at/?${new URLSearchParams({ time: toIso(block.from) })}`, 'object'),
      (record) => setRecord(block, record),
    )
  }

  function levelsRequest(block: Block): Request | null {
    const part = block.levels.indexOf(null)
    if (part === -1 || block.record === null) return null
    const isContinued = blocks.some(({ to, levels }) => to === block.from && levels.length > 0)
    const from = isContinued ? block.from : block.from - sampleCount * sampleMs
    const query = new URLSearchParams({
      channels: (partsOf(block.record)[part] ?? []).join(),
      from: toIso(from),
      to: toIso(block.to),
      max_points: String(Math.min(maxPoints, (block.to - from) / 1_000)),
    })
    return request<HistoryLevelsBody>(
      () => api.read(`/api/history/levels/?${query}`, 'object'),
      (levels) => {
        block.levels[part] = levels
      },
    )
  }

  function eventsRequest(from: number): Request {
    const known = hours.get(from)
    const query = new URLSearchParams({ from: toIso(from), to: toIso(from + hourMs - 1), limit: '1000' })
    const next = known?.next as `/api/events/?${string}` | null | undefined
    const readAt = next ? (known?.readAt ?? 0) : lastRecorded() + recordedAfterMs
    return request<EventListBody>(
      () => api.read(next ?? `/api/events/?${query}`, 'object'),
      (body) => {
        const events = next ? [...(known?.events ?? []), ...body.results] : body.results
        hours.set(from, { events, next: body.next, readAt })
      },
    )
  }

  function searchRequest(current: Search): Request {
    const { direction, span } = current
    const at = toSecond(position)
    const length = searchSpans[span] ?? hourMs
    const query: Record<string, string> =
      direction === 'previous'
        ? { to: toIso(at - 1), limit: '1' }
        : { from: toIso(at + 1_000), to: toIso(at + length), limit: '1000' }
    return request<EventListBody>(
      () => api.read(`/api/events/?${new URLSearchParams(query)}`, 'object'),
      ({ results }) => {
        if (search !== current) return
        const found =
          direction === 'previous' ? results[0] : results.findLast(({ time }) => Date.parse(time) > at + 999)
        const isEnded = direction === 'previous' || span + 1 === searchSpans.length || at + length > lastRecorded()
        if (found !== undefined) seek(Date.parse(found.time))
        else if (!isEnded) current.span += 1
        else {
          search = null
          set({ search: 'none' })
        }
      },
    )
  }

  function goToEvent(direction: Direction) {
    const found = eventIn(hours.get(hourOf(state.time)), direction, state.time)
    if (found !== undefined) return seek(Date.parse(found.time))
    search = { direction, span: 0 }
    retryAt = Number.NEGATIVE_INFINITY
    set({ search: 'searching', problem: null })
    pump()
  }

  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    seek,
    step: (ms) => seek(Math.min(state.time + ms, Math.max(state.time, lastRecorded()))),
    goToEvent,
    setPlaying,
    setSpeed: (speed) => set({ speed }),
    retry() {
      retryAt = Number.NEGATIVE_INFINITY
      pump()
    },
    charts: () => chartSamplesAt(blocks, state.time),
    close() {
      isClosed = true
      clearInterval(playing)
      clearTimeout(pumping)
      listeners.clear()
    },
  }
}

/** Returns the event before or after a second. `events` are newest first. */
function eventIn(hour: Hour | undefined, direction: Direction, at: number): EventBody | undefined {
  const within = hour?.events.filter(({ time }) => hourOf(Date.parse(time)) === hourOf(at)) ?? []
  return direction === 'previous'
    ? within.find(({ time }) => Date.parse(time) < at)
    : within.findLast(({ time }) => Date.parse(time) >= at + 1_000)
}

function request<Body>(read: () => Promise<ApiResponse<Body>>, apply: (body: Body) => unknown): Request {
  return {
    async send() {
      const response = await read()
      if (!response.ok) return response.problem
      apply(response.body)
      return null
    },
  }
}

export function hourOf(at: number): number {
  return Math.floor(at / hourMs) * hourMs
}

function toSecond(at: number): number {
  return Math.floor(at / 1_000) * 1_000
}

/** Formats a whole second as `2026-05-01T18:00:00Z`, and other times with milliseconds. */
export function toIso(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z')
}
