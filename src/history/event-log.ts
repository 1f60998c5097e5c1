/**
 * Records events of receivers, channels and sources, and publishes every change to the log, including those by other
 * processes. Only the process that evaluates a receiver writes its events. They are stored in batches and retried after
 * errors. Events of users' actions and of alerts are stored in the transactions of these.
 */

import type { ChannelSample, ConditionMonitor } from '../conditions/conditions.ts'
import type { GapReason } from '../contract/values.ts'
import { hasRow } from '../domain/conditions/condition.ts'
import { bestInUse } from '../domain/conditions/level-watch.ts'
import { addressOf } from '../domain/equipment/health.ts'
import { type Channel, findReceiverOf, type Receiver } from '../domain/equipment/receiver.ts'
import {
  type AudioRangeKind,
  audioRangeKinds,
  type ChannelFacts,
  compareFacts,
  compareReceiverStates,
  factsBefore,
  nextFacts,
  type RangeKind,
  type ReceiverFacts,
  rangeKinds,
  rangeSubject,
  readFacts,
  toChannelEvent,
  toRange,
} from '../domain/events/channel-events.ts'
import {
  addSample,
  type Dropout,
  type Dropouts,
  endDropout,
  findUnannounced,
  settleDropouts,
} from '../domain/events/dropouts.ts'
import type { EventData } from '../domain/events/event.ts'
import {
  aboutAll,
  draftEvent,
  type EventChange,
  type EventDraft,
  type EventRecord,
  endEvent,
  toSeconds,
} from '../domain/events/event.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { SlotRecords } from '../lists/slot-records.ts'
import { now } from '../platform/clock.ts'
import { Semaphore } from '../platform/concurrency.ts'
import type { Log } from '../platform/log.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { Topic } from '../platform/topic.ts'
import type { Database } from '../storage/database.ts'
import { closeEvent, insertEvents, listEventsSince, listOpenEvents, pruneEvents } from '../storage/events.ts'
import { currentRevision } from '../storage/revision.ts'
import { UnstoredEvents } from './unstored-events.ts'

interface Subsystems {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly slotRecords: SlotRecords
  readonly conditions: ConditionMonitor
  readonly settings: EffectiveSettings
  readonly log: Log
}

/** The state before a change. The record itself is not kept, because the store replaces it. */
interface TrackedReceiver extends ReceiverFacts {
  readonly channelIds: readonly number[]
}

interface TrackedChannel {
  readonly receiverId: number
  facts: ChannelFacts
}

const writeAfterMs = 300
const retryAfterMs = 1000
/** How often undecided dropouts are checked. */
const settleEveryMs = 300
/** How many changes wait at most while the database cannot be written. The oldest are discarded. */
const maxUnstored = 100_000
/** How many changes one transaction stores, so that other transactions do not wait for long. */
const storedAtOnce = 1000
const pruneEveryMs = 3_600_000
const prunedAtOnce = 1000
const dayMs = 86_400_000
/** A sample counts for at most this time. */
const sampleMs = 1000

export class EventLog {
  /** Published after every change of the log is committed, in order. */
  readonly changed = new Topic<EventChange>()
  readonly #subsystems: Subsystems
  readonly #receivers = new Map<number, TrackedReceiver>()
  readonly #channels = new Map<number, TrackedChannel>()
  /** The ranges that continue, stored or not, by subject. */
  readonly #open = new Map<string, EventDraft | EventRecord>()
  /** The undecided dropouts, by channel. */
  readonly #dropouts = new Map<number, { readonly receiverId: number; readonly list: Dropouts }>()
  readonly #failingSources = new Map<string, boolean>()
  readonly #unstored = new UnstoredEvents(maxUnstored)
  #writeTimer: NodeJS.Timeout | undefined
  #settleTimer: NodeJS.Timeout | undefined
  #isSettling = false
  #prunedAt = Number.NEGATIVE_INFINITY
  #lastRevision = -1
  readonly #writing = new Semaphore(1)
  /** Serializes reads of what has changed. */
  readonly #loading = new Semaphore(1)
  #isClosed = false

  constructor(subsystems: Subsystems) {
    this.#subsystems = subsystems
  }

  /** Loads the ranges that continue. Those of removed channels end. */
  async open(): Promise<void> {
    const { read } = this.#subsystems.db
    this.#lastRevision = await currentRevision(read, 'events')
    for (const event of await listOpenEvents(read)) {
      this.#noteStored(event)
      const { receiver_id, channel_id } = event
      const channels = receiver_id === null ? [] : (this.#subsystems.receiverStore.facts(receiver_id)?.channels ?? [])
      if (!channels.some(({ id }) => id === channel_id)) this.#endRange(event.subject ?? '')
    }
  }

  /** Announces the events that this process or others have stored since the last call. */
  load(): Promise<void> {
    return this.#loading.run(async () => {
      const { db } = this.#subsystems
      const revision = await currentRevision(db.read, 'events')
      if (revision === this.#lastRevision) return
      const { events, removed, revision: newest } = await listEventsSince(db.read, this.#lastRevision)
      // Events that were stored since the revision was read are announced now, and not again.
      this.#lastRevision = Math.max(revision, newest)
      for (const { event, isNew } of events) {
        this.#noteStored(event)
        this.changed.publish({ type: isNew ? 'event' : 'event_changed', event })
        if (isTimeSliceUsed()) await yieldToEventLoop()
      }
      for (const id of removed) this.changed.publish({ type: 'event_deleted', id })
    })
  }

  /** Does not wait for `load`. */
  loadSoon(): void {
    if (this.#isClosed || this.#lastRevision < 0) return
    void this.load().catch((error) => this.#subsystems.log.debug({ error: String(error) }, 'events could not be read'))
  }

  /** A receiver was added, replaced or removed. */
  receiverChanged(id: number): void {
    const after = this.#subsystems.receiverStore.facts(id)
    const before = this.#receivers.get(id)
    const isOwn = this.#subsystems.conditions.isOwn(id)
    if (after === undefined) {
      this.#forgetReceiver(id)
      return
    }
    const { name, is_active, is_named_by_hand, channels } = after
    const channelIds = channels.map((channel) => channel.id)
    this.#receivers.set(id, { name, is_active, is_named_by_hand, channelIds })
    if (isOwn && before !== undefined) {
      if (before.is_active && !after.is_active) this.#discardSwitchOffs(after)
      for (const event of compareReceiverStates(before, after, now())) this.#add(event)
    }
    for (const channel of channels) this.#channelChanged(after, channel, isOwn)
    for (const channelId of before?.channelIds ?? []) {
      if (!channelIds.includes(channelId)) this.#forgetChannel(channelId)
    }
  }

  sampled({ channelId, receiverId, values, thresholds, at }: ChannelSample): void {
    const isOn = values.hasTransmitter
    const level = bestInUse(values)
    const isWeak = isOn && level < thresholds.RF_WEAK_DBM
    const known = this.#dropouts.get(channelId)
    if ((known === undefined && !isWeak) || !this.#subsystems.conditions.isOwn(receiverId)) return
    const { list } = known ?? this.#trackDropouts(channelId, receiverId)
    if (known !== undefined) this.#settle(channelId, at)
    const isSwitchedOn = isOn && this.#channels.get(channelId)?.facts.isOn === false
    addSample(list, { at, isOn, isSwitchedOn, isWeak, level })
    if (list.length === 0) this.#dropouts.delete(channelId)
    else this.#setSettleTimer()
  }

  /** A fault in the sound of a channel began, or ended if `until` is given (epoch ms). Unknown channels have no events. */
  audioFaultChanged(
    channelId: number,
    kind: AudioRangeKind,
    { from, until, data = {} }: { readonly from: number; readonly until: number | null; readonly data?: EventData },
  ): void {
    const subject = rangeSubject(kind, channelId)
    const receiver = findReceiverOf(this.#subsystems.receiverStore.listFacts(), channelId)
    const channel = receiver?.channels.find(({ id }) => id === channelId)
    if (receiver === undefined || channel === undefined) return
    if (!this.#open.has(subject)) this.#beginRange(receiver, channel, kind, { time: from, data })
    if (until !== null) this.#endRange(subject, until, data)
  }

  /** Ends the faults in the sound of a channel that is no longer received. */
  audioEnded(channelId: number): void {
    for (const kind of audioRangeKinds) this.#endRange(rangeSubject(kind, channelId))
  }

  /** This process has polled a source. */
  sourceRecorded(
    {
      manufacturer,
      source,
      error,
    }: { readonly manufacturer: string; readonly source: string; readonly error: string | null },
    isFailing: boolean,
  ): void {
    const before = this.#failingSources.get(source)
    if (before === isFailing) return
    this.#failingSources.set(source, isFailing)
    const kind = isFailing ? 'source_failing' : 'source_recovered'
    const about = { ...aboutAll, manufacturer }
    const address = addressOf(source, manufacturer)
    const data = { name: manufacturer, address, ...(isFailing && { error }) }
    const follows = isFailing ? {} : ({ follows: 'source_failing' } as const)
    this.#add(draftEvent(kind, about, { time: now(), data, subject: `source:${source}`, ...follows }))
  }

  /** Adds a `recording_gap` event. Times are epoch ms. */
  recordGap({
    from,
    until,
    reason,
  }: {
    readonly from: number
    readonly until: number
    readonly reason: GapReason
  }): void {
    const data = { reason, seconds: toSeconds(until - from) }
    this.#add(draftEvent('recording_gap', aboutAll, { time: from, until, data }))
  }

  /** Deletes events that were kept long enough. */
  async prune(): Promise<void> {
    const { db, settings } = this.#subsystems
    for (;;) {
      const before = now() - settings.get(null).HISTORY_MINUTES_DAYS * dayMs
      const deleted = await db.transaction((tx) => pruneEvents(tx, before, prunedAtOnce))
      if (deleted < prunedAtOnce || this.#isClosed) return
    }
  }

  /** Stores all events first. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#settleTimer)
    clearTimeout(this.#writeTimer)
    await this.flush().catch(() => {})
    await this.#loading.run(async () => {})
  }

  /** Stores the events so far. */
  async flush(): Promise<void> {
    await this.#settleAll()
    await this.#write()
  }

  #channelChanged(receiver: Receiver, channel: Channel, isOwn: boolean): void {
    const known = this.#channels.get(channel.id)
    if (!isOwn) {
      const facts = known === undefined ? readFacts(channel) : nextFacts(known.facts, channel)
      this.#channels.set(channel.id, { receiverId: receiver.id, facts })
      return
    }
    const before = known?.facts ?? factsBefore(channel)
    const facts = nextFacts(before, channel)
    this.#channels.set(channel.id, { receiverId: receiver.id, facts })
    const happenings = compareFacts(before, facts)
    if (happenings.length > 0) {
      const { conditions, slotRecords } = this.#subsystems
      const context = { time: now(), thresholds: conditions.thresholdsOf(receiver, channel) }
      const named = slotRecords.nameChannel(receiver, channel)
      for (const happening of happenings) this.#add(toChannelEvent(named, happening, context))
    }
    for (const kind of rangeKinds) {
      const subject = rangeSubject(kind, channel.id)
      const isTrue = hasRow(channel.condition, kind)
      if (isTrue === this.#open.has(subject)) continue
      if (isTrue) this.#beginRange(receiver, channel, kind, { time: now() })
      else {
        const until = this.#subsystems.conditions.rowTrueUntil(channel.id, kind)
        this.#endRange(subject, Number.isFinite(until) ? this.#toWall(until) : now())
      }
    }
    const isInterrupted = hasRow(channel.condition, 'receiver_offline') || hasRow(channel.condition, 'stale')
    const dropouts = this.#dropouts.get(channel.id)
    if (isInterrupted && dropouts !== undefined) {
      const lastAt = this.#subsystems.receiverStore.lastReceivedAt(receiver.id)
      endDropout(dropouts.list, Math.min(performance.now(), lastAt + sampleMs))
      this.#setSettleTimer()
    }
  }

  /** The transmitters of a lost receiver were not switched off, even if its system reports so just before. */
  #discardSwitchOffs({ channels }: Receiver): void {
    for (const { id } of channels) {
      const tracked = this.#channels.get(id)
      if (tracked === undefined || !this.#unstored.removeSwitchOff(id)) continue
      tracked.facts = { ...tracked.facts, isOn: true }
    }
  }

  #forgetReceiver(id: number): void {
    const channelIds = this.#receivers.get(id)?.channelIds ?? []
    this.#receivers.delete(id)
    for (const channelId of channelIds) this.#forgetChannel(channelId)
  }

  #forgetChannel(id: number): void {
    this.#channels.delete(id)
    this.#dropouts.delete(id)
    for (const kind of [...rangeKinds, ...audioRangeKinds, 'rf_dropout'] as const)
      this.#endRange(rangeSubject(kind, id))
  }

  #beginRange(receiver: Receiver, channel: Channel, kind: RangeKind, range: { time: number; data?: EventData }): void {
    const { conditions, slotRecords } = this.#subsystems
    const thresholds = conditions.thresholdsOf(receiver, channel)
    const event = toRange(slotRecords.nameChannel(receiver, channel), kind, { ...range, thresholds })
    this.#open.set(rangeSubject(kind, channel.id), event)
    this.#add(event)
  }

  #endRange(subject: string, at = now(), data: EventData = {}): void {
    const open = this.#open.get(subject)
    if (open === undefined) return
    this.#open.delete(subject)
    const event = endEvent(open, at, data)
    if (this.#unstored.replace(open, event)) return
    this.#unstored.close(subject, event)
    this.#scheduleWrite(writeAfterMs)
  }

  #trackDropouts(channelId: number, receiverId: number): { readonly receiverId: number; readonly list: Dropouts } {
    const tracked = { receiverId, list: [] }
    this.#dropouts.set(channelId, tracked)
    return tracked
  }

  #setSettleTimer(): void {
    if (this.#isClosed || this.#isSettling) return
    this.#settleTimer ??= setTimeout(() => {
      this.#settleTimer = undefined
      void this.#settleRegularly()
    }, settleEveryMs)
  }

  async #settleRegularly(): Promise<void> {
    this.#isSettling = true
    try {
      await this.#settleAll()
    } finally {
      this.#isSettling = false
      if (this.#dropouts.size > 0) this.#setSettleTimer()
    }
  }

  async #settleAll(): Promise<void> {
    for (const [channelId, { receiverId, list }] of this.#dropouts) {
      if (this.#subsystems.conditions.isOwn(receiverId)) this.#settle(channelId, performance.now())
      // Another process evaluates the receiver; it continues from the stored ranges.
      else list.splice(0, list.length, ...list.filter(({ isAnnounced }) => isAnnounced))
      if (list.length === 0) this.#dropouts.delete(channelId)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
  }

  /** Writes the events of the dropouts of a channel that are decided now. */
  #settle(channelId: number, at: number): void {
    const dropouts = this.#dropouts.get(channelId)
    const receiver = dropouts && this.#subsystems.receiverStore.facts(dropouts.receiverId)
    const channel = receiver?.channels.find(({ id }) => id === channelId)
    if (dropouts === undefined || receiver === undefined || channel === undefined) return
    for (const dropout of settleDropouts(dropouts.list, at)) {
      if (!dropout.isAnnounced) this.#beginDropout(receiver, channel, dropout)
      const ended = this.#toWall(dropout.endedAt ?? at)
      this.#endRange(rangeSubject('rf_dropout', channelId), ended, { lowest_dbm: dropout.lowest })
    }
    const continuing = findUnannounced(dropouts.list, at)
    if (continuing === undefined) return
    this.#beginDropout(receiver, channel, continuing)
    continuing.isAnnounced = true
  }

  #beginDropout(receiver: Receiver, channel: Channel, { beganAt, lowest }: Dropout): void {
    this.#beginRange(receiver, channel, 'rf_dropout', { time: this.#toWall(beganAt), data: { lowest_dbm: lowest } })
  }

  /** Converts a `performance.now()` time to epoch ms. */
  #toWall(at: number): number {
    return Math.round(now() - (performance.now() - at))
  }

  /** Updates the ranges that continue, after an event was stored by any process. */
  #noteStored(event: EventRecord): void {
    const { subject, kind, channel_id, receiver_id, is_open, time, data, site } = event
    if (site !== null || subject === null || channel_id === null || receiver_id === null) return
    const isKnown = this.#open.has(subject)
    if (is_open && !this.#unstored.isClosing(subject)) {
      this.#open.set(subject, event)
      if (kind !== 'rf_dropout' || isKnown) return
      const beganAt = performance.now() - Math.max(0, now() - time)
      const dropout = {
        beganAt,
        endedAt: null,
        lowest: data.lowest_dbm ?? 0,
        isAnnounced: true,
        beganWithTransmitter: false,
      }
      this.#dropouts.set(channel_id, { receiverId: receiver_id, list: [dropout] })
    } else if (!is_open && isKnown && this.#open.get(subject)?.time === time) this.#open.delete(subject)
  }

  #add(event: EventDraft): void {
    this.#unstored.add(event)
    this.#scheduleWrite(writeAfterMs)
  }

  #scheduleWrite(afterMs: number): void {
    if (this.#isClosed) return
    this.#writeTimer ??= setTimeout(() => {
      this.#writeTimer = undefined
      void this.#write().catch((error) => {
        this.#subsystems.log.debug({ error: String(error) }, 'events could not be stored')
        this.#scheduleWrite(retryAfterMs)
      })
    }, afterMs)
  }

  #write(): Promise<void> {
    return this.#writing.run(async () => {
      const { db, log } = this.#subsystems
      // Later additions wait for the next write.
      for (let left = this.#unstored.size; left > 0; left -= storedAtOnce) {
        const operations = this.#unstored.take(Math.min(left, storedAtOnce))
        try {
          await db.transaction(async (tx) => {
            for (const operation of operations) {
              if (isTimeSliceUsed()) await yieldToEventLoop()
              if (operation.type === 'add') await insertEvents(tx, [operation.event])
              else await closeEvent(tx, operation.subject, operation.event)
            }
          })
        } catch (error) {
          this.#unstored.failed()
          throw error
        }
        const discarded = this.#unstored.stored()
        if (discarded > 0) log.warn({ events: discarded }, 'events were lost because they could not be stored')
        await this.load()
      }
      if (performance.now() - this.#prunedAt < pruneEveryMs) return
      this.#prunedAt = performance.now()
      await this.prune()
    })
  }
}
