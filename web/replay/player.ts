/** Sends at most one request every two seconds, so that dragging a slider does not cause a request at each position. */

import type { DataAtTimeBody, EventBody, EventListBody, HistoryLevelsBody } from '../../src/contract/history.ts'
import type { Api, ApiResponse, Problem } from '../app/api.ts'
import { type ChartSamples, sampleCount, sampleMs } from '../app/history.ts'
import { serviceNow, toIso } from '../app/service-time.ts'
import {
  type Block,
  chartSamplesAt,
  createBlock,
  isPlayable,
  type Moment,
  momentAt,
  partsOf,
  recordAtEnd,
  setRecord,
} from './recording.ts'

export const speeds = [1, 10, 60] as const
export type Speed = (typeof speeds)[number]
export type Direction = 'previous' | 'next'

export interface ReplayState {
  readonly time: number
  readonly isPlaying: boolean
  readonly speed: Speed
  /** Null until it is loaded. */
  readonly moment: Moment | null
  readonly problem: Problem | null
  /** The end of the recording, which is the present. */
  readonly isAtEnd: boolean
  readonly events: readonly EventBody[]
  /** `none`: there is no next or previous event. */
  readonly search: 'idle' | 'searching' | 'none'
}

export interface ReplayPlayer {
  get(): ReplayState
  subscribe(listener: () => void): () => void
  seek(time: number): void
  step(ms: number): void
  goToEvent(direction: Direction): void
  setPlaying(isPlaying: boolean): void
  setSpeed(speed: Speed): void
  retry(): void
  charts(): ChartSamples
  close(): void
}

export interface PlayerOptions {
  readonly api: Pick<Api, 'read'>
  readonly time: number
}

const requestIntervalMs = 2_000
/** Unless the service has refused the request. */
const retryMs = 5_000
const frameMs = 250
const hourMs = 3_600_000
/** Minimum length of a block. A step back loads this much before a loaded block. */
const minBlockMs = 60_000
const maxBlocks = 12
const maxPoints = 1_000
/** The latest seconds are not recorded yet. */
const recordedAfterMs = 3_000
const searchSpans = [hourMs, 24 * hourMs, 14 * 24 * hourMs] as const

interface Hour {
  events: readonly EventBody[]
  next: string | null
  readAt: number
}

interface Search {
  readonly direction: Direction
  /** Index in `searchSpans`. */
  span: number
  page: string | null
  found: EventBody | undefined
}

interface Request {
  send(): Promise<Problem | null>
}

type PlayerApi = PlayerOptions['api']

export function createPlayer(options: PlayerOptions): ReplayPlayer {
  return new Player(options)
}

class Player implements ReplayPlayer {
  readonly #api: PlayerApi
  readonly #listeners = new Set<() => void>()
  readonly #blocks: Block[] = []
  readonly #hours = new Map<number, Hour>()
  #state: ReplayState
  #position: number
  #playedAt = performance.now()
  #playing: ReturnType<typeof setInterval> | undefined
  #search: Search | null = null
  #isRequesting = false
  #requestedAt = Number.NEGATIVE_INFINITY
  #retryAt = Number.NEGATIVE_INFINITY
  #pumping: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor({ api, time }: PlayerOptions) {
    this.#api = api
    this.#position = toSecond(time)
    this.#state = {
      ...{ time: this.#position, isPlaying: false, speed: 1, moment: null, problem: null, isAtEnd: false },
      ...{ events: [], search: 'idle' },
    }
    this.seek(time)
  }

  readonly get = (): ReplayState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly retry = (): void => {
    this.#retryAt = Number.NEGATIVE_INFINITY
    this.#pump()
  }

  seek(at: number): void {
    this.#position = toSecond(at)
    this.#search = null
    this.#retryAt = Number.NEGATIVE_INFINITY
    if (this.#blockAt(this.#position) === undefined) this.#addBlockAround(this.#position)
    this.#show({ problem: null, search: 'idle', isAtEnd: false })
    this.#pump()
  }

  step(ms: number): void {
    const { time } = this.#state
    this.seek(Math.min(time + ms, Math.max(time, this.#lastRecorded())))
  }

  goToEvent(direction: Direction): void {
    const { time } = this.#state
    const found = eventIn(this.#hours.get(hourOf(time)), direction, time)
    if (found !== undefined) {
      this.seek(Date.parse(found.time))
      return
    }
    this.#search = { direction, span: 0, page: null, found: undefined }
    this.#retryAt = Number.NEGATIVE_INFINITY
    this.#set({ search: 'searching', problem: null })
    this.#pump()
  }

  setPlaying(isPlaying: boolean): void {
    clearInterval(this.#playing)
    this.#playedAt = performance.now()
    if (isPlaying) this.#playing = setInterval(() => this.#play(), frameMs)
    if (isPlaying !== this.#state.isPlaying) this.#set({ isPlaying })
    this.#pump()
  }

  setSpeed(speed: Speed): void {
    this.#set({ speed })
  }

  charts(): ChartSamples {
    return chartSamplesAt(this.#blocks, this.#state.time)
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#playing)
    clearTimeout(this.#pumping)
    this.#listeners.clear()
  }

  #set(change: Partial<ReplayState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }

  #show(change: Partial<ReplayState> = {}): void {
    const at = toSecond(this.#position)
    const block = this.#blockAt(at)
    const moment = block === undefined ? null : momentAt(block, this.#eventsAround(at), at)
    this.#set({ time: at, moment, events: this.#hours.get(hourOf(at))?.events ?? [], ...change })
  }

  #eventsAround(at: number): readonly EventBody[] {
    const eventsOf = (hour: number) => this.#hours.get(hour)?.events ?? []
    return [...eventsOf(hourOf(at)), ...eventsOf(hourOf(at) - hourMs)]
  }

  #lastRecorded(): number {
    return toSecond(serviceNow() - recordedAfterMs)
  }

  #play(): void {
    const now = performance.now()
    // While the page was suspended, the time stood still.
    const elapsed = Math.min(1_000, now - this.#playedAt)
    this.#playedAt = now
    const next = this.#nextPosition(this.#position + elapsed * this.#state.speed)
    if (next !== null) {
      this.#position = next
      if (toSecond(next) !== this.#state.time) this.#show()
    }
    this.#pump()
  }

  #nextPosition(next: number): number | null {
    const current = this.#blockAt(toSecond(this.#position))
    if (current === undefined || !isPlayable(current)) return null
    if (next < current.to) return next
    const following = this.#blockAfter(current)
    if (following === undefined) this.#end(current)
    return following !== undefined && isPlayable(following) ? Math.min(next, following.to - 1) : null
  }

  #end({ to }: Block): void {
    this.#position = to - 1
    this.setPlaying(false)
    this.#show({ isAtEnd: true })
  }

  #blockAt(at: number): Block | undefined {
    return this.#blocks.findLast(({ from, to }) => at >= from && at < to)
  }

  #addBlockAround(at: number): void {
    const after = this.#blocks.find(({ from, record }) => record !== null && at < from && from - at <= minBlockMs)
    // Loads up to the next loaded block, so stepping further back needs no request.
    if (after === undefined) this.#addBlock(at, at + this.#blockMs())
    else this.#addBlock(after.from - minBlockMs, after.from)
  }

  #addBlock(from: number, to: number): Block {
    const blocks = this.#blocks
    const block = createBlock(from, Math.max(from + 1_000, Math.min(to, this.#lastRecorded())))
    // Skipped blocks need not be loaded.
    for (const other of blocks.filter(({ record }) => record === null)) blocks.splice(blocks.indexOf(other), 1)
    blocks.push(block)
    if (blocks.length > maxBlocks) blocks.shift()
    return block
  }

  /** Longer at higher speeds, so that the next block is loaded in time. */
  #blockMs(): number {
    const parts = this.#blocks.at(-1)?.levels.length ?? 1
    const needed = this.#state.speed * (parts + 3) * requestIntervalMs
    return Math.max(minBlockMs, Math.ceil(needed / minBlockMs) * minBlockMs)
  }

  #blockAfter({ to }: Block): Block | undefined {
    const next = this.#blocks.find((block) => to >= block.from && to < block.to)
    if (next !== undefined) return next
    const least = to - this.#position < 5_000 ? minBlockMs / 6 : minBlockMs
    return to + least <= this.#lastRecorded() ? this.#addBlock(to, to + this.#blockMs()) : undefined
  }

  #pump(): void {
    if (this.#isRequesting || this.#isClosed) return
    const request = this.#nextRequest()
    if (request === null) return
    const wait = Math.max(this.#requestedAt + requestIntervalMs, this.#retryAt) - performance.now()
    clearTimeout(this.#pumping)
    if (wait > 0) this.#pumping = setTimeout(() => this.#pump(), Math.min(wait, retryMs))
    else void this.#run(request)
  }

  async #run({ send }: Request): Promise<void> {
    this.#isRequesting = true
    this.#requestedAt = performance.now()
    const problem = await send()
    this.#isRequesting = false
    if (this.#isClosed) return
    if (problem !== null) {
      const isRefused = problem.kind !== 'unreachable'
      this.#retryAt = isRefused ? Number.POSITIVE_INFINITY : performance.now() + retryMs
      if (isRefused) this.setPlaying(false)
    }
    this.#show({ problem })
    this.#pump()
  }

  #nextRequest(): Request | null {
    if (this.#retryAt === Number.POSITIVE_INFINITY) return null
    if (this.#search !== null) return this.#searchRequest(this.#search)
    const block = this.#blockAt(toSecond(this.#position))
    if (block === undefined) return null
    if (block.record === null) return this.#recordRequest(block)
    const hasLevels = block.levels.some((part) => part !== null)
    return (
      (hasLevels ? null : this.#levelsRequest(block)) ??
      this.#eventsRequest(block) ??
      this.#levelsRequest(block) ??
      (this.#state.isPlaying ? this.#aheadRequest(block) : null)
    )
  }

  /** The next block starts with the data at the end of this one. */
  #aheadRequest(block: Block): Request | null {
    const next = this.#blockAfter(block)
    if (next === undefined) return null
    const record = recordAtEnd(block, this.#eventsAround(block.to - 1))
    if (next.record === null && record !== null) setRecord(next, record, block.to - 1)
    return this.#levelsRequest(next)
  }

  /** Once after a seek. */
  #recordRequest(block: Block): Request {
    return request<DataAtTimeBody>(
      () => this.#api.read(`/api/history/at/?${new URLSearchParams({ time: toIso(block.from) })}`, 'object'),
      (record) => setRecord(block, record, block.from),
    )
  }

  #levelsRequest(block: Block): Request | null {
    const part = block.levels.indexOf(null)
    if (part === -1 || block.record === null) return null
    const isContinued = this.#blocks.some(({ to, levels }) => to === block.from && levels.length > 0)
    const from = isContinued ? block.from : block.from - sampleCount * sampleMs
    const query = new URLSearchParams({
      channels: (partsOf(block.record)[part] ?? []).join(),
      from: toIso(from),
      to: toIso(block.to),
      max_points: String(Math.min(maxPoints, (block.to - from) / 1_000)),
    })
    return request<HistoryLevelsBody>(
      () => this.#api.read(`/api/history/levels/?${query}`, 'object'),
      (levels) => {
        block.levels[part] = levels
      },
    )
  }

  #eventsRequest({ to }: Block): Request | null {
    for (let from = hourOf(this.#position); from < to; from += hourMs) {
      const hour = this.#hours.get(from)
      if (hour === undefined || hour.next !== null || Math.min(to, from + hourMs) > hour.readAt)
        return this.#hourRequest(from, hour)
    }
    return null
  }

  #hourRequest(from: number, known: Hour | undefined): Request {
    const query = new URLSearchParams({ from: toIso(from), to: toIso(from + hourMs - 1), limit: '1000' })
    const next = known?.next ?? null
    const readAt = next === null ? this.#lastRecorded() + recordedAfterMs : (known?.readAt ?? 0)
    return this.#requestEvents(next ?? `/api/events/?${query}`, (body) => {
      const events = next === null ? body.results : [...(known?.events ?? []), ...body.results]
      this.#hours.set(from, { events, next: body.next, readAt })
    })
  }

  #searchRequest(search: Search): Request {
    const { direction, span, page } = search
    const at = toSecond(this.#position)
    const length = searchSpans[span] ?? hourMs
    const query: Record<string, string> =
      direction === 'previous'
        ? { to: toIso(at - 1), limit: '1' }
        : { from: toIso(at + 1_000), to: toIso(at + length), limit: '1000' }
    return this.#requestEvents(page ?? `/api/events/?${new URLSearchParams(query)}`, ({ results, next }) => {
      if (this.#search !== search) return
      const found = direction === 'previous' ? results[0] : results.findLast(({ time }) => Date.parse(time) > at + 999)
      search.found = found ?? search.found
      // The newest events are listed first, so the next one is on the last page.
      search.page = direction === 'previous' ? null : next
      if (search.page !== null) return
      const isLast = direction === 'previous' || span + 1 === searchSpans.length || at + length > this.#lastRecorded()
      if (search.found !== undefined) this.seek(Date.parse(search.found.time))
      else if (!isLast) search.span += 1
      else {
        this.#search = null
        this.#set({ search: 'none' })
      }
    })
  }

  #requestEvents(path: string, apply: (body: EventListBody) => void): Request {
    return request<EventListBody>(() => this.#api.read(path as `/api/events/?${string}`, 'object'), apply)
  }
}

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
