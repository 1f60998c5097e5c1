/**
 * Sends the recorded levels to a Prometheus remote-write receiver. They are read from the history, so nothing waits for
 * the receiver; after an outage, the missed data is sent in small requests. One process of an installation sends.
 */

import type { RemoteWriteConfig } from '../config.ts'
import type { LevelHistory } from '../domain/history/level-history.ts'
import {
  addWeak,
  type ChannelLabels,
  encodeChannelLabels,
  type SentChannel,
  seriesPerChannel,
  startOfDay,
  stepOf,
  toTimeSeries,
  type WeakTotals,
} from '../domain/history/remote-write.ts'
import { compressSnappy, encodeWriteRequest } from '../domain/history/write-request.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { SlotRecords } from '../lists/slot-records.ts'
import type { Outbound } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { type Counters, createRemoteWriteCounters, type RemoteWriteCounters } from '../platform/counters.ts'
import type { Log } from '../platform/log.ts'
import { pause } from '../platform/wait.ts'
import type { LeaseHandle, LeaseManager } from '../sources/lease-manager.ts'
import type { Database } from '../storage/database.ts'
import { findAcknowledged, saveAcknowledged } from '../storage/meta.ts'
import { createWriteClient, type WriteClient } from '../upstream/write-client.ts'
import type { History } from './history.ts'

interface Subsystems {
  readonly db: Database
  readonly history: History
  readonly receiverStore: ReceiverStore
  readonly slotRecords: SlotRecords
  readonly outbound: Outbound
  readonly leaseManager: LeaseManager
  readonly counters: Counters
  /** The value of the label `installation`. */
  readonly installationName: string
  readonly log: Log
}

const leaseName = 'remote_write'
/** Seconds after which every process has stored a second. */
const storedAfterSeconds = 10
const maxBacklogSeconds = 86_400
const maxSamples = 5_000
const maxIntervals = 360
/** Pause after each request, so that catching up leaves time for everything else. */
const pauseMs = 50
const checkEveryMs = 1_000
const saveEveryMs = 5_000
const firstRetryMs = 1_000
const maxRetryMs = 60_000
/** At the end, a request in flight has this time to be answered, so that the next process does not send it again. */
const lastResponseMs = 2_000

/** Seconds whose samples are sent together. */
interface Span {
  readonly from: number
  readonly to: number
}

interface SenderLifetime {
  /** Aborts when this process must not begin another request. */
  readonly signal: AbortSignal
  /** Aborts requests in flight. */
  readonly sending: AbortSignal
}

export class RemoteWriter {
  readonly #intervalSeconds: number
  readonly #subsystems: Subsystems
  readonly #wallClock: () => number
  readonly #client: WriteClient
  readonly #counters: RemoteWriteCounters
  readonly #step: ReturnType<typeof stepOf>
  readonly #labels = new Map<string, ChannelLabels>()
  #error: string | null = null

  constructor(config: RemoteWriteConfig, subsystems: Subsystems, wallClock = now) {
    const { outbound, counters } = subsystems
    this.#intervalSeconds = config.interval_seconds
    this.#subsystems = subsystems
    this.#wallClock = wallClock
    this.#client = createWriteClient(config, outbound.destinations, wallClock)
    this.#counters = createRemoteWriteCounters(counters)
    this.#step = stepOf(config.interval_seconds)
  }

  /** Describes why levels are not sent; null if they are, or if another process sends them. */
  get problem(): string | null {
    return this.#error === null ? null : `Remote write: ${this.#error}.`
  }

  /** Sends while this process holds the lease, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { db, leaseManager, log } = this.#subsystems
    await leaseManager.runWhileHeld(leaseName, signal, async (held) => {
      const position = new Position(db, held.guard)
      const sending = abortLater(held.signal, lastResponseMs)
      while (!held.signal.aborted) {
        await this.#sendFrom(position, { signal: held.signal, sending }).catch(async (error) => {
          if (held.signal.aborted) return
          log.warn({ error: String(error) }, 'recorded levels could not be read for remote write')
          await pause(maxRetryMs, held.signal)
        })
      }
      await position.save().catch(() => {})
      this.#error = null
    })
    await this.#client.close()
  }

  async #sendFrom(position: Position, lifetime: SenderLifetime): Promise<void> {
    const { signal } = lifetime
    let sentUntil = this.#align(await position.load(this.#available()))
    let totals = await this.#loadTotals(sentUntil)
    while (!signal.aborted) {
      const span = await this.#nextSpan(sentUntil)
      if (span === null) {
        await pause(checkEveryMs, signal)
        continue
      }
      totals = await this.#sendSpan(span, totals, lifetime)
      sentUntil = span.to
      await position.move(sentUntil)
      await pause(pauseMs, signal)
    }
  }

  get #levels(): LevelHistory {
    return this.#subsystems.history.levels
  }

  #listChannels(): readonly SentChannel[] {
    const { receiverStore, slotRecords } = this.#subsystems
    return receiverStore.listFacts().flatMap((receiver) =>
      receiver.channels.map((channel): SentChannel => {
        const { id, channel: number, slot } = channel
        const { title: name } = slotRecords.titleOf(receiver, channel)
        return { id, channel: number, slot, name, receiver: receiver.name, manufacturer: receiver.manufacturer }
      }),
    )
  }

  #now(): number {
    return Math.floor(this.#wallClock() / 1000)
  }

  #align(time: number): number {
    return Math.floor(time / this.#intervalSeconds) * this.#intervalSeconds
  }

  /** Returns the end of the last interval that every process has stored. */
  #available(): number {
    return this.#align(this.#now() - storedAfterSeconds)
  }

  /** Returns the next intervals, all of which begin in one day; null if there are none yet. */
  async #nextSpan(sentUntil: number): Promise<Span | null> {
    const intervalSeconds = this.#intervalSeconds
    const now = this.#now()
    const available = this.#available()
    if (available <= sentUntil) return null
    const recorded = await this.#levels.range()
    const from = Math.max(sentUntil, this.#align(now - maxBacklogSeconds), this.#align(recorded?.first ?? available))
    const last = Math.min(available, from + intervalSeconds * this.#intervalsPerRequest())
    const nextDay = startOfDay(from) + maxBacklogSeconds
    const to = from + Math.ceil((Math.min(last, nextDay) - from) / intervalSeconds) * intervalSeconds
    return to <= from ? null : { from, to: Math.min(to, available) }
  }

  #intervalsPerRequest(): number {
    const perInterval = Math.max(1, this.#listChannels().length) * seriesPerChannel
    return Math.min(maxIntervals, Math.max(1, Math.floor(maxSamples / perInterval)))
  }

  /** Sends the samples of all channels. Returns the totals after them. Throws if the signal aborts before the end. */
  async #sendSpan({ from, to }: Span, totals: WeakTotals, lifetime: SenderLifetime): Promise<WeakTotals> {
    const intervalSeconds = this.#intervalSeconds
    const channels = this.#listChannels()
    const perRequest = Math.max(1, Math.floor(maxSamples / seriesPerChannel))
    const step = this.#step
    let next: WeakTotals = { day: startOfDay(from), ms: startOfDay(from) === totals.day ? totals.ms : new Map() }
    for (let first = 0; first < channels.length; first += perRequest) {
      lifetime.signal.throwIfAborted()
      const part = channels.slice(first, first + perRequest)
      const labels = new Map(part.map((channel) => [channel.id, this.#labelsOf(channel)]))
      const steps = await this.#levels.read([...labels.keys()], from, to, step)
      const series = toTimeSeries(steps, { step, intervalSeconds }, labels, totals)
      const samples = series.reduce((count, one) => count + one.samples.length, 0)
      if (samples > 0)
        await this.#sendUntilAnswered(compressSnappy(encodeWriteRequest(series)), samples, { to, lifetime })
      next = addWeak(next, steps)
    }
    return next
  }

  #labelsOf(channel: SentChannel): ChannelLabels {
    const key = JSON.stringify(channel)
    const known = this.#labels.get(key)
    if (known !== undefined) return known
    // Names change rarely; forgetting all now and then keeps the map small.
    if (this.#labels.size > 20_000) this.#labels.clear()
    const labels = encodeChannelLabels(channel, this.#subsystems.installationName)
    this.#labels.set(key, labels)
    return labels
  }

  /** Sends a request again until it is accepted or rejected, or too old. Throws if the signal aborts before that. */
  async #sendUntilAnswered(
    request: Uint8Array,
    samples: number,
    { to, lifetime: { signal, sending } }: { readonly to: number; readonly lifetime: SenderLifetime },
  ): Promise<void> {
    const { log } = this.#subsystems
    for (let retryMs = firstRetryMs; ; retryMs = Math.min(maxRetryMs, 2 * retryMs)) {
      const result = await this.#client.send(request, sending)
      this.#counters.countResponse(result.outcome, samples)
      this.#counters.setBacklog(Math.max(0, this.#available() - to))
      const error = result.outcome === 'accepted' ? null : result.error
      if (error !== null && error !== this.#error) log.warn({ error }, 'remote write failed')
      if (error === null && this.#error !== null) log.info({}, 'remote write works again')
      this.#error = error
      if (result.outcome !== 'failed') return
      const waitMs = result.retryAfterSeconds === null ? retryMs : result.retryAfterSeconds * 1000
      await pause(waitMs, signal)
      signal.throwIfAborted()
      if (this.#now() - to > maxBacklogSeconds) return
    }
  }

  /** Returns the weak milliseconds from the start of the day to `until`. */
  async #loadTotals(until: number): Promise<WeakTotals> {
    const ids = this.#listChannels().map(({ id }) => id)
    let totals: WeakTotals = { day: startOfDay(until), ms: new Map() }
    let from = totals.day
    for (const step of [600, 10, 1] as const) {
      const to = Math.floor(until / step) * step
      if (to > from) totals = addWeak(totals, await this.#levels.read(ids, from, to, step))
      from = Math.max(from, to)
    }
    return totals
  }
}

/** Returns a signal that aborts this time after the other one. */
function abortLater(signal: AbortSignal, ms: number): AbortSignal {
  const later = new AbortController()
  const abort = () => setTimeout(() => later.abort(signal.reason), ms).unref()
  signal.addEventListener('abort', abort, { once: true })
  return later.signal
}

/** The end of the last interval that was accepted or rejected, in epoch seconds. It is stored every few seconds. */
class Position {
  readonly #db: Database
  readonly #guard: LeaseHandle['guard']
  #time: number | null = null
  #savedTime: number | null = null
  #savedAt = Number.NEGATIVE_INFINITY

  constructor(db: Database, guard: LeaseHandle['guard']) {
    this.#db = db
    this.#guard = guard
  }

  /** Returns the time; `initial` if nothing was sent before. */
  async load(initial: number): Promise<number> {
    this.#savedTime ??= await findAcknowledged(this.#db.read)
    this.#time ??= this.#savedTime ?? initial
    if (this.#savedTime === null) await this.save()
    return this.#time
  }

  async move(time: number): Promise<void> {
    this.#time = time
    if (performance.now() - this.#savedAt >= saveEveryMs) await this.save()
  }

  async save(): Promise<void> {
    const time = this.#time
    if (time === null || time === this.#savedTime) return
    await this.#db.transaction(async (tx) => {
      await this.#guard(tx)
      await saveAcknowledged(tx, time)
    })
    this.#savedTime = time
    this.#savedAt = performance.now()
  }
}
