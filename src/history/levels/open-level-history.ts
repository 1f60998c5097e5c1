/** Recorded levels for the main thread: passes all calls to a worker thread. */

import type { Worker } from 'node:worker_threads'
import { RequestError } from '../../domain/errors.ts'
import { listCsvParts } from '../../domain/history/formats.ts'
import type { IdleNoise } from '../../domain/history/idle-noise.ts'
import { type LevelHistory, type LevelReader, refuseHistoryRead } from '../../domain/history/level-history.ts'
import { emptySummary, joinSummaries, type LevelSummary } from '../../domain/history/level-summary.ts'
import { floorTo } from '../../domain/history/steps.ts'
import { type TierStep, tierSteps } from '../../domain/history/tiers.ts'
import { FairQueue, type Place } from '../../platform/concurrency.ts'
import { startThread } from '../../platform/thread.ts'
import { StoreBusyError, StoreDownError } from '../../storage/errors.ts'
import { sqlitePath } from '../../storage/sqlite-file.ts'
import { historyPath } from './sqlite-tables.ts'
import { groupOf, groupsOf } from './tables.ts'
import type {
  Arguments,
  HistoryCall,
  HistoryLocation,
  HistoryMethod,
  HistoryReply,
  Result,
  TransferredError,
} from './worker-messages.ts'

interface Options {
  /** The database of the installation: `sqlite:<path>` or `postgres://…` */
  readonly url: string
  /** Receives messages for the log. */
  readonly onWarning?: (message: string) => void
}

/** The thread is started by the first call, and again if it has ended unexpectedly. */
export function openLevelHistory({ url, onWarning = () => {} }: Options): LevelHistory {
  const path = sqlitePath(url)
  const thread = new HistoryThread(path === null ? { url } : { path: historyPath(path) }, onWarning)
  const queue = new FairQueue({ atOnce: readsAtOnce, places, refuse: refuseHistoryRead })
  return {
    ...createReader(thread, () => ownPlace),
    ofClient: (client) => createReader(thread, () => queue.enter(client)),
    append: (seconds) => thread.call('append', seconds),
    importSeconds: (seconds) => thread.call('importSeconds', seconds),
    stats: () => thread.call('stats'),
    size: () => thread.call('size'),
    prune: (retention) => thread.call('prune', retention),
    close: () => thread.close(),
  }
}

/** Calls of clients that the thread has at once; the recorder waits for no more. */
const readsAtOnce = 4
/** Requests of clients that read or wait. A screen with many charts makes some of them at once. */
const places = 256

/** The service's own reads neither wait nor count. */
const ownPlace: Place = { run: (work) => work(), leave: () => {} }

/** Every method enters once, so that what has begun is not refused, and takes turns with others between its calls. */
function createReader(thread: HistoryThread, enter: () => Place): LevelReader {
  const inPlace = (place: Place): HistoryThread['call'] => {
    return (method, ...args) => place.run(() => thread.call(method, ...args))
  }
  async function enterFor<T>(work: (call: HistoryThread['call']) => Promise<T>): Promise<T> {
    const place = enter()
    try {
      return await work(inPlace(place))
    } finally {
      place.leave()
    }
  }
  return {
    query: (query, followed = null) => enterFor((call) => call('query', query, followed)),
    async *exportCsv(request, loadFollowed) {
      const place = enter()
      try {
        const call = inPlace(place)
        for (const part of listCsvParts(request)) {
          yield call('readCsv', request, part, (await loadFollowed?.(part)) ?? null)
        }
      } finally {
        place.leave()
      }
    },
    at: (time) => enterFor((call) => call('at', time)),
    range: () => enterFor((call) => call('range')),
    read: (channelIds, from, to, step) => enterFor((call) => call('read', channelIds, from, to, step)),
    summarize: (channelIds, from, to) =>
      enterFor((call) => summarizeInParts((...part) => call('summarize', ...part), channelIds, { from, to })),
    findIdleNoise: (since, from, to) =>
      enterFor(async (call) => {
        const found: IdleNoise[] = []
        // A group is read at a time, so that the recorder does not wait long for the thread.
        for (const group of groupsOf([...since.keys()])) {
          const ofGroup = new Map([...since].filter(([id]) => groupOf(id) === group))
          found.push(...(await call('findIdleNoise', ofGroup, from, to)))
        }
        return found
      }),
  }
}

/** A part is read at a time, so that the recorder does not wait long for the thread. */
const partSeconds = 3600
/** In longer ranges of many channels, longer steps are summed up. */
const maxSummarizedSteps = 20_000_000

async function summarizeInParts(
  summarize: (...part: Arguments<'summarize'>) => Promise<readonly LevelSummary[]>,
  channelIds: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly LevelSummary[]> {
  const stepsOf = (tier: TierStep) => ((to - from) / tier) * channelIds.length
  const finest = tierSteps.find((tier) => stepsOf(tier) <= maxSummarizedSteps) ?? 3600
  const part = partSeconds * finest
  const summaries = new Map<number, LevelSummary>()
  for (const group of groupsOf(channelIds)) {
    const ids = channelIds.filter((id) => groupOf(id) === group)
    for (let start = from; start < to; start = floorTo(start, part) + part) {
      const end = Math.min(to, floorTo(start, part) + part)
      for (const summary of await summarize(ids, start, end, finest)) {
        const before = summaries.get(summary.channelId)
        summaries.set(summary.channelId, before === undefined ? summary : joinSummaries(before, summary))
      }
    }
  }
  return channelIds.map((id) => summaries.get(id) ?? emptySummary(id))
}

/** The thread finishes earlier calls first. */
const closeWithinMs = 10_000

interface PendingCall {
  resolve(value: unknown): void
  reject(error: Error): void
}

class HistoryThread {
  readonly #location: HistoryLocation
  readonly #onWarning: (message: string) => void
  readonly #pending = new Map<number, PendingCall>()
  #worker: Worker | null = null
  #lastId = 0
  #isClosed = false

  constructor(location: HistoryLocation, onWarning: (message: string) => void) {
    this.#location = location
    this.#onWarning = onWarning
  }

  call<Method extends HistoryMethod>(method: Method, ...args: Arguments<Method>): Promise<Result<Method>> {
    if (this.#isClosed) return Promise.reject(new RequestError('stopping'))
    return this.#send(method, args) as Promise<Result<Method>>
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const worker = this.#worker
    if (worker === null) return
    const timer = setTimeout(() => {
      this.#onWarning(
        `The thread of the recorded levels did not respond within ${closeWithinMs / 1000} s. Levels that it was storing may be missing. Check the disk or the database.`,
      )
      // Not terminated, because that would abort the whole process if the thread is inside of SQLite. It ends after it has
      // closed its database, or with the process.
      worker.unref()
      this.#end(worker, new Error('its thread did not respond'))
    }, closeWithinMs)
    await this.#send('close', []).catch(() => {})
    clearTimeout(timer)
    if (this.#worker === worker) await worker.terminate()
  }

  #send(method: HistoryCall['method'], args: readonly unknown[]): Promise<unknown> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      // A process may end while the thread is idle.
      worker.ref()
      worker.postMessage({ id, method, args } satisfies HistoryCall)
    })
  }

  #start(): Worker {
    const worker = startThread(new URL('./history-worker.ts', import.meta.url), { workerData: this.#location })
    worker.on('message', (reply: HistoryReply) => this.#receive(reply))
    worker.on('error', (error) => this.#end(worker, error))
    worker.on('exit', () => this.#end(worker, new Error('its thread has ended')))
    return worker
  }

  #receive(reply: HistoryReply): void {
    if ('warning' in reply) {
      this.#onWarning(reply.warning)
      return
    }
    const call = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if (this.#pending.size === 0) this.#worker?.unref()
    if ('error' in reply) call?.reject(toError(reply.error))
    else call?.resolve(reply.value)
  }

  #end(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = null
    const reason = error instanceof Error ? error.message : String(error)
    const failure = new StoreDownError(`The history cannot be used: ${reason}.`, { cause: error })
    for (const call of this.#pending.values()) call.reject(failure)
    this.#pending.clear()
  }
}

function toError({ name, message, details }: TransferredError): Error {
  if (name === 'StoreDownError') return new StoreDownError(message)
  if (name === 'StoreBusyError') return new StoreBusyError(message)
  if (name === 'RequestError') return new RequestError('bad_request', { details })
  return new Error(message)
}
