/** A few requests at a time, visible levels first, cancelled when they are no longer needed. */

import type { HistoryLevelsBody } from '../../src/contract/history.ts'
import type { ApiResponse, Problem } from '../app/api.ts'
import { toIso } from '../app/service-time.ts'
import { type BlockCache, createBlockCache, readBlocks } from './level-blocks.ts'
import { type Demand, type LevelRequest, planRequests, refreshMs } from './level-plan.ts'

export interface LevelLoader {
  readonly cache: BlockCache
  /** Null after a successful request. */
  problem(): Problem | null
  interruptedSites(): readonly string[]
  isLoading(): boolean
  request(demand: Demand): void
  retry(): void
  close(): void
}

type Address = `/api/history/levels/?${string}`

interface LevelLoaderOptions {
  read(address: Address, cancel: AbortSignal): Promise<ApiResponse<HistoryLevelsBody>>
  now(): number
  onLevels(channelIds: readonly number[]): void
  onStatus(): void
}

const maxInFlight = 3
/** While the user zooms or pans, requests would be cancelled at once. */
const settleMs = 80
const retryMs = 5_000

export function createLevelLoader({ read, now, onLevels, onStatus }: LevelLoaderOptions): LevelLoader {
  const cache = createBlockCache()
  const inFlight = new Map<LevelRequest, AbortController>()
  let demand: Demand | null = null
  let problem: Problem | null = null
  let interruptedSites: readonly string[] = []
  let isLoading = false
  let isClosed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  function schedule(delayMs: number) {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(update, delayMs)
  }

  function update() {
    if (demand === null) return
    const plan = planRequests(demand, cache, now())
    const needed = new Set(plan.flatMap(partsOf))
    for (const [request, controller] of inFlight) {
      if (partsOf(request).some((part) => needed.has(part))) continue
      inFlight.delete(request)
      controller.abort()
    }
    const requested = new Set([...inFlight.keys()].flatMap(partsOf))
    for (const request of plan) {
      if (inFlight.size >= maxInFlight) break
      const channelIds = request.channelIds.filter((id) => !requested.has(partOf(request, id)))
      if (channelIds.length > 0) void send({ ...request, channelIds })
    }
    setStatus(inFlight.size > 0, problem)
    if (inFlight.size === 0) schedule(refreshMs(demand))
  }

  async function send(request: LevelRequest) {
    const controller = new AbortController()
    inFlight.set(request, controller)
    const response = await read(addressOf(request), controller.signal)
    // A cancelled request is no longer listed.
    if (isClosed || !inFlight.delete(request)) return
    if (response.ok) {
      const { interrupted_sites: interrupted = [] } = response.body
      const blocks = readBlocks(response.body, now())
      for (const [channelId, block] of blocks) cache.put(channelId, request.key, block)
      onLevels([...blocks.keys()])
      interruptedSites = interrupted.map(({ name }) => name)
      setStatus(interrupted.length === 0 ? isLoading : inFlight.size > 0, null)
      // An interrupted site is requested again later.
      if (interrupted.length > 0) schedule(retryMs)
      else update()
    } else {
      setStatus(inFlight.size > 0, response.problem)
      schedule(retryMs)
    }
  }

  function setStatus(nextLoading: boolean, nextProblem: Problem | null) {
    if (nextLoading === isLoading && nextProblem === problem) return
    isLoading = nextLoading
    problem = nextProblem
    onStatus()
  }

  return {
    cache,
    problem: () => problem,
    interruptedSites: () => interruptedSites,
    isLoading: () => isLoading,
    request(next) {
      if (demand !== null && isSame(demand, next)) return
      demand = next
      if (problem === null) schedule(settleMs)
    },
    retry: () => schedule(0),
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const controller of inFlight.values()) controller.abort()
    },
  }
}

function addressOf({ channelIds, from, to, maxPoints }: LevelRequest): Address {
  const times = { from: toIso(from * 1_000), to: toIso(to * 1_000) }
  return `/api/history/levels/?${new URLSearchParams({ channels: channelIds.join(), ...times, max_points: String(maxPoints) })}`
}

function partsOf(request: LevelRequest): string[] {
  return request.channelIds.map((id) => partOf(request, id))
}

function partOf({ key }: LevelRequest, channelId: number): string {
  return `${channelId} ${key.step} ${key.from}`
}

function isSame(a: Demand, b: Demand): boolean {
  if (a.range.from !== b.range.from || a.range.span !== b.range.span || a.msPerPixel !== b.msPerPixel) return false
  return a.channelIds === b.channelIds || a.channelIds.join() === b.channelIds.join()
}
