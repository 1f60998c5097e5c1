/**
 * The recorded levels of channels of sites. They are not recorded here: missing ranges are requested from the other installation,
 * and kept as received. Failed requests are retried when the installation can be reached.
 */

import type { SiteReference } from '../contract/schema.ts'
import type { Steps } from '../domain/history/columns.ts'
import type { FollowedSteps, LevelQuery } from '../domain/history/level-history.ts'
import { decodeSteps, encodeSteps } from '../domain/history/step-format.ts'
import { ceilTo, createSteps, floorTo, foldSteps, type MutableSteps, mergeSteps } from '../domain/history/steps.ts'
import type { TierStep } from '../domain/history/tiers.ts'
import { checkResponseSize, chooseTier, stepsThatFit } from '../domain/history/tiers.ts'
import {
  blockSpan,
  blocksIn,
  type FollowedReading,
  findLacking,
  type Interrupted,
  type LevelRequest,
  parseFollowedLevels,
  planRequests,
  type ReceivedLevels,
  replaceSteps,
  type SiteLevels,
  type TimeRange,
} from '../domain/sites/followed-levels.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { type ClientKey, ClientShares, Semaphore } from '../platform/concurrency.ts'
import type { Log } from '../platform/log.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { withTimeout } from '../platform/wait.ts'
import type { SourceRecords } from '../sources/source-records.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { Database } from '../storage/database.ts'
import { listFollowedLevels, type StoredBlock, saveFollowedLevels } from '../storage/followed-sites.ts'

/** Levels of channels of one site. */
interface Site {
  readonly reference: SiteReference
  /** Code of the record with which it is followed. */
  readonly record: string
  /** The ids of the channels there, by those here. */
  readonly idsThere: ReadonlyMap<number, number>
}

/** Requests for levels to one site. */
interface Line {
  readonly semaphore: Semaphore
  /** Requests that are queued or sent. */
  readonly pending: Map<string, Promise<boolean>>
  /** Those of clients. */
  readonly places: ClientShares
  /** Failed requests to retry. */
  readonly failed: Map<string, LevelRequest>
  /** How far the clock of the other installation is ahead. */
  aheadMs: number
}

/** A response waits this long for a site. Its requests continue, and their levels are kept. */
const waitMs = 10_000
const requestsAtOnce = 2
const maxPending = 500
const maxFailed = 500
const retryEveryMs = 5000
/** The last seconds may not be recorded yet, so they are asked for again. */
const unsettledSeconds = 30
/** The other installation rejects ranges that end later. */
const maxAheadSeconds = 30

export class SiteHistory implements SiteLevels {
  readonly #db: Database
  readonly #receiverStore: ReceiverStore
  readonly #sourceRegistry: SourceRegistry
  readonly #sourceRecords: SourceRecords
  readonly #log: Log
  readonly #lines = new Map<string, Line>()
  readonly #lifetime = new AbortController()
  #retryTimer: NodeJS.Timeout | undefined
  #isRetrying = false

  constructor(
    db: Database,
    receiverStore: ReceiverStore,
    sourceRegistry: SourceRegistry,
    sourceRecords: SourceRecords,
    log: Log,
  ) {
    this.#db = db
    this.#receiverStore = receiverStore
    this.#sourceRegistry = sourceRegistry
    this.#sourceRecords = sourceRecords
    this.#log = log
  }

  async load(query: Omit<LevelQuery, 'series'>, client: string): Promise<FollowedSteps | null> {
    const sites = this.#findSites(query.channelIds)
    if (sites.length === 0) return null
    const interrupted: Interrupted = new Map()
    const reading = { client, interrupted }
    let tiers = stepsThatFit(query)
    for (;;) {
      const found = await Promise.all(sites.map((site) => this.#loadFinest(site, query, tiers, reading)))
      const coarsest = found.reduce<TierStep>((step, { step: other }) => (other > step ? other : step), 1)
      if (found.every(({ step }) => step === coarsest)) return combine(found, coarsest, interrupted)
      tiers = tiers.filter((step) => step >= coarsest)
    }
  }

  async loadSteps(
    channelIds: readonly number[],
    range: TimeRange,
    step: TierStep,
    reading: FollowedReading,
  ): Promise<FollowedSteps | null> {
    const sites = this.#findSites(channelIds)
    if (sites.length === 0) return null
    const found = await Promise.all(sites.map((site) => this.#loadTier(site, range, step, reading)))
    return combine(found, step, reading.interrupted)
  }

  /** Sends requests again that failed. To be called when a source may have recovered. */
  retry(): void {
    clearTimeout(this.#retryTimer)
    this.#retryTimer = undefined
    if (!this.#isRetrying) void this.#retryFailed()
  }

  async close(): Promise<void> {
    clearTimeout(this.#retryTimer)
    this.#lifetime.abort()
    await Promise.all([...this.#lines.values()].flatMap(({ pending }) => [...pending.values()]))
  }

  #findSites(channelIds: readonly number[]): readonly Site[] {
    const wanted = new Set(channelIds)
    const sites = new Map<string, Site & { readonly idsThere: Map<number, number> }>()
    for (const { origin, channels } of this.#receiverStore.listAllFacts()) {
      if (origin === undefined) continue
      for (const channel of channels) {
        if (!wanted.has(channel.id) || channel.origin === undefined) continue
        const { code } = origin.site
        const site = sites.get(code) ?? { reference: origin.site, record: origin.record, idsThere: new Map() }
        site.idsThere.set(channel.id, channel.origin.id)
        sites.set(code, site)
      }
    }
    return [...sites.values()]
  }

  /** Loads the finest of these tiers that the other installation has. Without one, that of which anything is kept. */
  async #loadFinest(
    site: Site,
    query: Omit<LevelQuery, 'series'>,
    tiers: readonly TierStep[],
    reading: FollowedReading,
  ): Promise<LoadedTier> {
    let first: LoadedTier | null = null
    for (const step of tiers) {
      checkResponseSize(query.channelIds.length, chooseTier(query, [step]).points)
      const loaded = await this.#loadTier(site, query, step, reading)
      first ??= loaded
      if (loaded.isFound) return loaded
    }
    if (first === null) throw new Error('no tier fits')
    return first
  }

  async #loadTier(site: Site, range: TimeRange, step: TierStep, reading: FollowedReading): Promise<LoadedTier> {
    const { client, interrupted } = reading
    const channelIds = [...site.idsThere.keys()]
    const blocks = { step, from: blocksIn(range, step)[0] ?? 0, to: range.to }
    let kept = await listFollowedLevels(this.#db.read, channelIds, blocks)
    const requests = planRequests(this.#findLacking(channelIds, range, step, kept), step)
    const { code } = site.reference
    if (requests.length > 0 && !interrupted.has(code)) {
      const asking = Promise.all(requests.map((request) => this.#ask(site, request, client)))
      const received = await withTimeout(asking, waitMs)
      if (received === 'late' || received.includes(false)) interrupted.set(code, site.reference)
      kept = await listFollowedLevels(this.#db.read, channelIds, blocks)
    }
    return toSteps(channelIds, range, step, kept)
  }

  #findLacking(channelIds: readonly number[], range: TimeRange, step: TierStep, kept: readonly StoredBlock[]) {
    const lacking = new Map<number, TimeRange>()
    for (const id of channelIds) {
      const ofChannel = kept.filter(({ channelId }) => channelId === id)
      const found = findLacking(range, step, new Map(ofChannel.map(({ start, until }) => [start, until])))
      if (found !== null) lacking.set(id, found)
    }
    return lacking
  }

  #line({ code }: SiteReference): Line {
    const known = this.#lines.get(code)
    if (known !== undefined) return known
    const line: Line = {
      ...{ semaphore: new Semaphore(requestsAtOnce), pending: new Map(), places: new ClientShares(maxPending) },
      ...{ failed: new Map(), aheadMs: 0 },
    }
    this.#lines.set(code, line)
    return line
  }

  /** Asks for levels and stores them. Returns whether they were received completely; if not, they are asked for later. */
  #ask(site: Site, request: LevelRequest, client: ClientKey): Promise<boolean> {
    const line = this.#line(site.reference)
    const { to } = request
    const key = keyOf(request)
    const pending = line.pending.get(`${key} ${to}`)
    if (pending !== undefined) return pending
    const remember = () => {
      const later = Math.max(to, line.failed.get(key)?.to ?? to)
      // The newest are at the end.
      line.failed.delete(key)
      line.failed.set(key, { ...request, to: later })
      const [oldest] = line.failed.keys()
      if (line.failed.size > maxFailed && oldest !== undefined) line.failed.delete(oldest)
      this.#retrySoon()
      return false
    }
    const source = this.#findSource(site.record)
    const release = line.places.take(client)
    const canBeAsked = source !== undefined && !this.#sourceRecords.isFailing(source.id) && release !== null
    if (!canBeAsked || this.#lifetime.signal.aborted) {
      release?.()
      return Promise.resolve(remember())
    }
    const asking = line.semaphore
      .run(async () => !this.#sourceRecords.isFailing(source.id) && this.#fetch(source, site, request, line))
      .catch((error) => {
        this.#log.debug({ site: site.reference.code, error: String(error) }, 'recorded levels were not received')
        return false
      })
      .then((isReceived) => {
        release()
        line.pending.delete(`${key} ${to}`)
        if (!isReceived) return remember()
        if ((line.failed.get(key)?.to ?? 0) <= to) line.failed.delete(key)
        return true
      })
    line.pending.set(`${key} ${to}`, asking)
    return asking
  }

  #findSource(record: string): MonitoredSource | undefined {
    return this.#sourceRegistry
      .sources()
      .find(({ manufacturer, adapter }) => manufacturer === record && adapter.follow !== undefined)
  }

  async #fetch({ client }: MonitoredSource, site: Site, request: LevelRequest, line: Line): Promise<boolean> {
    const idsHere = new Map(request.channelIds.map((id) => [site.idsThere.get(id) ?? 0, id]))
    // A range is rejected if the clock of the other installation is behind, which is known after its first response.
    for (let attempt = 1; attempt <= 2; attempt++) {
      const nowThere = Math.floor((now() + line.aheadMs) / 1000)
      const range = { ...request, to: Math.min(request.to, nowThere + maxAheadSeconds) }
      if (range.to <= range.from) return true
      const { status, headers, body } = await client.request('GET', toPath(range, [...idsHere.keys()]), {
        headers: { 'accept-encoding': 'gzip' },
        kind: 'site',
        accept: [400],
        signal: this.#lifetime.signal,
      })
      const dateThere = Date.parse(headers.date ?? '')
      if (Number.isFinite(dateThere)) line.aheadMs = dateThere - now()
      if (status === 400) continue
      const received = parseFollowedLevels(body, idsHere, range)
      if (received === null) return false
      const settledUntil = Math.floor((now() + line.aheadMs) / 1000) - unsettledSeconds
      await this.#store(range, received, settledUntil)
      return !received.isInterrupted
    }
    return false
  }

  /** Blocks are complete until `settledUntil` at most. */
  async #store(request: LevelRequest, received: ReceivedLevels, settledUntil: number): Promise<void> {
    const { step, channelIds, from, to } = request
    const hasTier = received.step <= step
    const steps = received.step < step ? foldSteps(received.steps, received.step, step) : received.steps
    const starts = blocksIn(request, step)
    await this.#db.transaction(async (tx) => {
      const kept = await listFollowedLevels(tx.query, channelIds, { step, from: starts[0] ?? 0, to })
      const blocks: StoredBlock[] = []
      for (const channelId of channelIds) {
        for (const start of starts) {
          if (isTimeSliceUsed()) await yieldToEventLoop()
          const before = kept.find((block) => block.channelId === channelId && block.start === start)
          const complete = Math.min(floorTo(Math.min(to, settledUntil), step), start + blockSpan(step))
          const isContinued = !received.isInterrupted && from <= (before?.until ?? start)
          blocks.push({
            channelId,
            start,
            until: Math.max(before?.until ?? start, isContinued ? complete : start),
            levels: hasTier ? replaceLevels(before, start, step, channelId, steps) : (before?.levels ?? null),
          })
        }
      }
      await saveFollowedLevels(tx, blocks, { step, now: now() })
    })
  }

  #retrySoon(): void {
    if (this.#isRetrying || this.#lifetime.signal.aborted) return
    this.#retryTimer ??= setTimeout(() => this.retry(), retryEveryMs)
    this.#retryTimer.unref()
  }

  /** Sends one failed request of each site, and the others if it succeeds. */
  async #retryFailed(): Promise<void> {
    this.#isRetrying = true
    await Promise.all([...this.#lines].map(([code, line]) => this.#retryLine(code, line)))
    this.#isRetrying = false
    if ([...this.#lines.values()].some(({ failed }) => failed.size > 0)) this.#retrySoon()
  }

  async #retryLine(code: string, line: Line): Promise<void> {
    const [first, ...others] = [...line.failed.values()]
    if (first === undefined) return
    const askAgain = async (request: LevelRequest) => {
      line.failed.delete(keyOf(request))
      // Some channels may have been removed.
      const site = this.#findSites(request.channelIds).find(({ reference }) => reference.code === code)
      return site === undefined || this.#ask(site, { ...request, channelIds: [...site.idsThere.keys()] }, null)
    }
    if (await askAgain(first)) await Promise.all(others.map(askAgain))
  }
}

/** Identifies requests that differ at most in their end. */
function keyOf({ step, from, channelIds }: LevelRequest): string {
  return `${step} ${from} ${channelIds.join()}`
}

interface LoadedTier {
  readonly step: TierStep
  readonly steps: MutableSteps
  /** True if anything in steps of this length is kept. */
  readonly isFound: boolean
}

async function toSteps(
  channelIds: readonly number[],
  range: TimeRange,
  step: TierStep,
  kept: readonly StoredBlock[],
): Promise<LoadedTier> {
  const from = floorTo(range.from, step)
  const steps = createSteps(from, (ceilTo(range.to, step) - from) / step, channelIds)
  let isFound = false
  for (const { start, levels } of kept) {
    if (levels === null) continue
    if (isTimeSliceUsed()) await yieldToEventLoop()
    isFound = true
    mergeSteps(steps, decodeSteps(levels, start), step)
  }
  return { step, steps, isFound }
}

function combine(found: readonly LoadedTier[], step: TierStep, interrupted: Interrupted): FollowedSteps {
  const [first, ...others] = found
  if (first === undefined) throw new Error('nothing to combine')
  const { from, count } = first.steps
  const channelIds = found.flatMap(({ steps }) => steps.channelIds)
  const steps = others.length === 0 ? first.steps : createSteps(from, count, channelIds)
  if (others.length > 0) for (const part of found) mergeSteps(steps, part.steps, step)
  return { step, steps, interrupted: [...interrupted.values()] }
}

function replaceLevels(
  before: StoredBlock | undefined,
  start: number,
  step: TierStep,
  channelId: number,
  received: Steps,
): Uint8Array {
  const steps = createSteps(start, blockSpan(step) / step, [channelId])
  if (before?.levels != null) mergeSteps(steps, decodeSteps(before.levels, start), step)
  replaceSteps(steps, received, channelId, step)
  return encodeSteps(steps)
}

function toPath({ from, to, step }: LevelRequest, idsThere: readonly number[]): string {
  const query = new URLSearchParams({
    channels: idsThere.join(),
    from: new Date(from * 1000).toISOString(),
    to: new Date(to * 1000).toISOString(),
    max_points: String(Math.ceil((to - from) / step)),
  })
  return `/api/history/levels/?${query}`
}
