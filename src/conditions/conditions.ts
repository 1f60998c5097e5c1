/**
 * The condition of every channel. This process evaluates the receivers whose reports it receives: after a report, after a
 * sample that crosses a threshold, when time changes a condition, and after settings change. For all other receivers, it
 * uses the conditions that another process has stored.
 *
 * The current condition is part of the channel's record, so that every response and message contains the same.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Thresholds } from '../domain/conditions/condition.ts'
import { type ConditionFlag, isInterruption } from '../domain/conditions/condition.ts'
import { evaluateCondition, isScanning, isStored, type Reception } from '../domain/conditions/evaluate.ts'
import {
  copyFacts,
  createWatch,
  createWatchedValues,
  type LevelWatch,
  readWatchedValues,
  resetWatch,
  rowTrueUntil,
  updateWatch,
  type WatchedFacts,
  type WatchedValues,
} from '../domain/conditions/level-watch.ts'
import {
  acknowledgeBatteryDied,
  type ConditionMemory,
  getLastTransmitter,
  isAcknowledged,
  restoreMemory,
} from '../domain/conditions/memory.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import { isSameForecast } from '../domain/forecast/forecast.ts'
import type { LevelAges } from '../ingest/level-ages.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import { audioFloorOf } from '../manufacturers/index.ts'
import { now } from '../platform/clock.ts'
import { Topic } from '../platform/topic.ts'
import type { ReceiverSources } from '../sources/receiver-sources.ts'
import type { StoredCondition } from '../storage/channel-states.ts'
import type { BatteryForecasts } from './battery-forecasts.ts'
import { EvaluationSchedule } from './evaluation-schedule.ts'
import type { OwnReceivers } from './own-receivers.ts'
import type { StateWriter } from './state-writer.ts'

interface Subsystems {
  readonly receiverStore: ReceiverStore
  readonly ownReceivers: OwnReceivers
  readonly settings: EffectiveSettings
  readonly lists: StoredLists
  readonly receiverSources: ReceiverSources
  readonly levelAges: LevelAges
  readonly forecasts: BatteryForecasts
  readonly stateWriter: StateWriter
}

/** The values of a sample or a report of a channel. */
export interface ChannelSample {
  readonly channelId: number
  readonly receiverId: number
  /** Valid only while the sample is published. */
  readonly values: Readonly<WatchedValues>
  readonly thresholds: Thresholds
  /** A `performance.now()` time. */
  readonly at: number
}

interface WatchedChannel extends WatchedFacts {
  readonly id: number
  readonly receiverId: number
  readonly watch: LevelWatch
  memory: ConditionMemory | null
  /** See `isObserved` of `evaluate`. */
  isObserved: boolean
  /** False if `memory` is not stored because this process does not evaluate the receiver. */
  isStored: boolean
  /** The thresholds in force for the channel in this slot; null if they must be looked up. */
  thresholds: Thresholds | null
  /** The running shows that have the channel in this slot; null if they must be looked up. */
  shows: readonly number[] | null
  /** The slot for which the channel was last evaluated or put. */
  slot: number | null
}

export class ConditionMonitor {
  /** Contains a receiver of which only conditions or forecasts have changed. */
  readonly changed = new Topic<Receiver>()
  readonly sampled = new Topic<ChannelSample>()
  readonly #subsystems: Subsystems
  readonly #receiverStore: ReceiverStore
  readonly #own: OwnReceivers
  readonly #now: () => number
  readonly #channels = new Map<number, WatchedChannel>()
  /** Reused for every channel. */
  readonly #values = createWatchedValues()
  /** The channel of each row of the LevelStore. */
  readonly #channelOfRow: (WatchedChannel | undefined)[] = []
  readonly #schedule: EvaluationSchedule

  /** `clock` returns epoch milliseconds. */
  constructor(subsystems: Subsystems, clock = now) {
    const { receiverStore, ownReceivers, receiverSources, forecasts } = subsystems
    this.#subsystems = subsystems
    this.#receiverStore = receiverStore
    this.#own = ownReceivers
    this.#now = clock
    this.#schedule = new EvaluationSchedule(receiverStore, receiverSources)
    this.#schedule.due.subscribe((receiverId) => this.#evaluateNow(receiverId))
    receiverStore.levels.listen((row, at) => this.#sampled(row, at))
    forecasts.changed.subscribe((receiverId) => this.#forecastChanged(receiverId))
  }

  /** Puts the stored receivers, with the stored conditions of their channels. */
  open(receivers: readonly Receiver[], stored: readonly StoredCondition[]): void {
    const memories = new Map(stored.map(({ channelId, memory }) => [channelId, memory]))
    for (const receiver of receivers) {
      if (receiver.origin !== undefined) {
        this.#receiverStore.put(receiver)
        continue
      }
      for (const { id } of receiver.channels) {
        const memory = memories.get(id)
        if (memory !== undefined) this.#setMemory(this.#channelOf(receiver.id, id), memory, receiver.last_seen)
      }
      this.put(this.withConditions(receiver))
    }
  }

  /** Puts a receiver into the store, so that samples of its channels are recognized. */
  put(receiver: Receiver): void {
    this.#receiverStore.put(receiver)
    const rows = this.#receiverStore.levels.rowsOf(receiver.id)?.rows ?? []
    for (const [index, { id, slot }] of receiver.channels.entries()) {
      const channel = this.#channelOf(receiver.id, id)
      const row = rows[index]
      if (row !== undefined) this.#channelOfRow[row] = channel
      if (moveTo(slot, channel) && this.#own.has(receiver.id)) this.#schedule.request(receiver.id)
    }
  }

  remove(receiver: Receiver): void {
    this.release(receiver.id)
    for (const { id } of receiver.channels) {
      this.#channels.delete(id)
      this.#subsystems.stateWriter.dropCondition(id)
    }
  }

  /** Starts to evaluate the receiver, because this process receives its reports. */
  watch(receiverId: number): void {
    if (!this.#own.has(receiverId)) {
      this.#own.add(receiverId)
      this.#schedule.request(receiverId)
    }
    if (this.#schedule.isInterrupted(receiverId)) this.#schedule.request(receiverId)
  }

  /** Starts to evaluate all receivers, because this process is the only one that polls. */
  watchAll(): void {
    for (const { id } of this.#receiverStore.listFacts()) if (!this.#own.has(id)) this.watch(id)
  }

  ownReceivers(): Iterable<number> {
    return this.#own.ids()
  }

  isOwn(receiverId: number): boolean {
    return this.#own.has(receiverId)
  }

  /** True if the conditions of the receiver follow from reports that this process has received or awaited. */
  isEvaluated(receiverId: number): boolean {
    const receiver = this.#receiverStore.facts(receiverId)
    if (receiver === undefined || !this.#own.has(receiverId)) return false
    const reception = this.#receptionOf(receiver, this.#receiverStore.lastReceivedAt(receiverId))
    return !isStored({ receiver, reception, now: { monotonic: performance.now(), wall: this.#now() } })
  }

  /** Stops evaluating the receiver, because another process receives its reports. */
  release(receiverId: number): void {
    this.#own.delete(receiverId)
    this.#schedule.release(receiverId)
  }

  withConditions(receiver: Receiver): Receiver {
    return this.#withChannels(receiver, (channel) => this.#toStored(receiver, channel))
  }

  /** Returns the receiver with the conditions of its channels, after a report or when it went offline. */
  withReported(receiver: Receiver): Receiver {
    const receiverStore = this.#receiverStore
    const { id, last_seen } = receiver
    const at = performance.now()
    // A new receiver has no stored conditions.
    const isNew = receiverStore.facts(id) === undefined
    if (!this.#own.has(id)) this.#own.add(id, isNew ? Number.NEGATIVE_INFINITY : at)
    const isReceived = last_seen > (receiverStore.facts(id)?.last_seen ?? 0)
    const receivedAt = isReceived ? at : receiverStore.lastReceivedAt(id)
    this.#updateWatches(receiver, receivedAt)
    this.#subsystems.forecasts.reported(receiver)
    return this.#evaluate(receiver, receivedAt)
  }

  /** Applies conditions that another process has stored. Returns the ids of the changed receivers. */
  load(stored: readonly StoredCondition[]): ReadonlySet<number> {
    const changed = new Set<number>()
    for (const { channelId, memory } of stored) {
      const channel = this.#channels.get(channelId)
      if (channel === undefined) continue
      this.#subsystems.stateWriter.dropCondition(channelId)
      if (this.#own.has(channel.receiverId) && channel.memory !== null && isAcknowledged(channel.memory, memory)) {
        channel.memory = memory
        this.#schedule.request(channel.receiverId)
        changed.add(channel.receiverId)
        continue
      }
      this.release(channel.receiverId)
      const lastSeen = this.#receiverStore.facts(channel.receiverId)?.last_seen ?? 0
      this.#setMemory(channel, memory, lastSeen)
      changed.add(channel.receiverId)
    }
    return changed
  }

  /** False once another process has stored a newer condition. */
  isCurrent({ channelId, memory }: StoredCondition): boolean {
    return this.#channels.get(channelId)?.memory === memory
  }

  /** Returns the manufacturer of a channel; undefined if its receiver was removed. */
  manufacturerOf({ channelId }: StoredCondition): string | undefined {
    const channel = this.#channels.get(channelId)
    return channel && this.#receiverStore.facts(channel.receiverId)?.manufacturer
  }

  /**
   * Ends `battery_died` of a channel, because an operator acknowledged it, and stores that. Another process may evaluate
   * the receiver; it continues with the stored condition.
   */
  async acknowledgeDied(channelId: number): Promise<void> {
    const channel = this.#channels.get(channelId)
    // Repeated if the other process stored a newer condition at the same time.
    while (channel?.memory != null && channel.memory.transmitter.died !== null) {
      const before = channel.memory
      const memory = acknowledgeBatteryDied(before, this.#now())
      channel.memory = memory
      try {
        await this.#subsystems.stateWriter.saveCondition(channelId, memory)
      } catch (error) {
        if (channel.memory === memory) channel.memory = before
        throw error
      }
      this.#publishStored(channel.receiverId)
    }
  }

  /** Levels of a receiver were lost, or are received again. */
  levelsChanged(receiverId: number): void {
    if (this.#own.has(receiverId)) this.#schedule.request(receiverId)
  }

  /** Settings, groups, shows or the slots of channels have changed. */
  settingsChanged(): void {
    for (const channel of this.#channels.values()) {
      channel.thresholds = null
      channel.shows = null
    }
    for (const id of this.#own.ids()) this.#schedule.request(id)
  }

  /** Returns the thresholds in force for a channel. */
  thresholdsOf(receiver: Receiver, channel: Channel): Thresholds {
    return this.#thresholdsOf(this.#channelOf(receiver.id, channel.id), receiver, channel)
  }

  /** Returns when a row of a channel was last true (`performance.now()`). */
  rowTrueUntil(channelId: number, row: ConditionFlag): number {
    const channel = this.#channels.get(channelId)
    return channel === undefined ? Number.NEGATIVE_INFINITY : rowTrueUntil(channel.watch, row, performance.now())
  }

  close(): void {
    this.#schedule.close()
  }

  #forecastChanged(receiverId: number): void {
    if (this.#own.has(receiverId)) this.#schedule.request(receiverId)
    else this.#publishStored(receiverId)
  }

  #publishStored(receiverId: number): void {
    const receiver = this.#receiverStore.get(receiverId)
    if (receiver !== undefined) this.changed.publish(this.withConditions(receiver))
  }

  #sampled(row: number, at: number): void {
    const channel = this.#channelOfRow[row]
    if (channel === undefined || channel.thresholds === null) return
    const values = this.#values
    copyFacts(channel, values)
    this.#receiverStore.levels.readWatched(row, values)
    if (updateWatch(channel.watch, values, channel.thresholds, at)) this.#schedule.request(channel.receiverId)
    const { id: channelId, receiverId, thresholds } = channel
    this.sampled.publish({ channelId, receiverId, values, thresholds, at })
  }

  #channelOf(receiverId: number, channelId: number): WatchedChannel {
    const known = this.#channels.get(channelId)
    if (known !== undefined) return known
    const channel: WatchedChannel = {
      id: channelId,
      receiverId,
      watch: createWatch(),
      hasTransmitter: false,
      isMuted: false,
      isInterfered: false,
      isOverloaded: false,
      isConcealed: false,
      audioFloor: null,
      memory: null,
      isObserved: false,
      isStored: false,
      thresholds: null,
      shows: null,
      slot: null,
    }
    this.#channels.set(channelId, channel)
    return channel
  }

  #setMemory(channel: WatchedChannel, stored: ConditionMemory, lastSeen: number): void {
    channel.memory = restoreMemory(stored, lastSeen)
    channel.isObserved = false
    channel.isStored = true
    resetWatch(channel.watch, stored.condition)
  }

  #thresholdsOf(watched: WatchedChannel, { manufacturer }: Receiver, { slot }: Channel): Thresholds {
    watched.thresholds ??= this.#subsystems.settings.thresholds(manufacturer, slot)
    return watched.thresholds
  }

  #showsOf(watched: WatchedChannel, { slot }: Channel): readonly number[] {
    watched.shows ??= this.#subsystems.lists.showsOf(slot)
    return watched.shows
  }

  /** Applies the current values, unless they were stored by an earlier process. */
  #updateWatches(receiver: Receiver, receivedAt = this.#receiverStore.lastReceivedAt(receiver.id)): void {
    if (!receiver.is_active || receivedAt < (this.#own.since(receiver.id) ?? 0)) return
    const at = performance.now()
    const values = this.#values
    values.audioFloor = audioFloorOf(receiver)
    for (const channel of receiver.channels) {
      const watched = this.#channelOf(receiver.id, channel.id)
      moveTo(channel.slot, watched)
      readWatchedValues(channel, values)
      copyFacts(values, watched)
      const thresholds = this.#thresholdsOf(watched, receiver, channel)
      updateWatch(watched.watch, values, thresholds, at)
      this.sampled.publish({ channelId: channel.id, receiverId: receiver.id, values, thresholds, at })
    }
  }

  #receptionOf({ id, manufacturer }: Receiver, reportedAt: number): Reception {
    const receivedAt = Math.max(reportedAt, this.#subsystems.receiverSources.receivedAt(id))
    const watchedSince = this.#own.since(id) ?? 0
    return {
      receivedAt: receivedAt >= watchedSince ? receivedAt : null,
      hasReported: reportedAt >= watchedSince,
      watchedSince,
      intervalMs: this.#subsystems.settings.pollingIntervalMs(manufacturer),
    }
  }

  /** `reportedAt` is the time of the receiver's last report (`performance.now()`). */
  #evaluate(receiver: Receiver, reportedAt: number): Receiver {
    const reception = this.#receptionOf(receiver, reportedAt)
    const now = { monotonic: performance.now(), wall: this.#now() }
    let isInterrupted = false
    let dueAt = Number.POSITIVE_INFINITY
    const evaluated = this.#withChannels(receiver, (channel) => {
      const watched = this.#channelOf(receiver.id, channel.id)
      moveTo(channel.slot, watched)
      const thresholds = this.#thresholdsOf(watched, receiver, channel)
      const { watch, memory, isObserved } = watched
      const shows = this.#showsOf(watched, channel)
      const levels = this.#subsystems.levelAges.statusOf(receiver.id, channel.channel)
      const input = { receiver, channel, reception, levels, watch, memory, isObserved, thresholds, shows, now }
      const result = evaluateCondition(input)
      watched.isObserved ||= !isStored(input)
      if (result.memory !== memory || !watched.isStored) this.#remember(channel.id, watched, result.memory)
      if (isInterruption(result.condition)) {
        isInterrupted = true
        resetWatch(watch, null)
      } else if (isScanning(receiver)) resetWatch(watch, null)
      dueAt = Math.min(dueAt, result.dueAt ?? Number.POSITIVE_INFINITY)
      return { condition: result.condition, last_transmitter: result.lastTransmitter }
    })
    this.#schedule.evaluated(receiver.id, { at: now.monotonic, dueAt, isInterrupted })
    return evaluated
  }

  /** The stored condition of a channel; a channel that no process has evaluated yet is evaluated for display. */
  #toStored(receiver: Receiver, channel: Channel): ChannelCondition {
    const watched = this.#channelOf(receiver.id, channel.id)
    const { memory } = watched
    const now = this.#now()
    if (memory === null) {
      const reception = { ...notReceived, intervalMs: Number.POSITIVE_INFINITY }
      const thresholds = this.#thresholdsOf(watched, receiver, channel)
      const time = { monotonic: 0, wall: now }
      const { watch } = watched
      const shows = this.#showsOf(watched, channel)
      const unknown = { memory, isObserved: false, levels: 'unknown' } as const
      const result = evaluateCondition({
        receiver,
        channel,
        reception,
        watch,
        thresholds,
        shows,
        now: time,
        ...unknown,
      })
      watched.memory = result.memory
      return { condition: result.condition, last_transmitter: result.lastTransmitter }
    }
    const last_transmitter = channel.transmitter === null ? getLastTransmitter(memory.transmitter, now) : null
    return { condition: memory.condition, last_transmitter }
  }

  /** Returns the receiver itself if no condition and no forecast differs. */
  #withChannels(receiver: Receiver, conditionOf: (channel: Channel) => ChannelCondition): Receiver {
    let channels: Channel[] | undefined
    for (const [index, channel] of receiver.channels.entries()) {
      const { condition, last_transmitter } = conditionOf(channel)
      // Conditions from the database are equal, but not the same object.
      const isSame = condition === channel.condition || isDeepStrictEqual(condition, channel.condition)
      const forecast = this.#subsystems.forecasts.forecastOf(channel)
      const isSameBattery = isSameForecast(forecast, channel.forecast)
      if (isSame && isSameBattery && isDeepStrictEqual(last_transmitter, channel.last_transmitter)) continue
      channels ??= [...receiver.channels]
      channels[index] = { ...channel, condition, last_transmitter, forecast }
    }
    return channels === undefined ? receiver : { ...receiver, channels }
  }

  #evaluateNow(id: number): void {
    if (!this.#own.has(id)) return
    const receiver = this.#receiverStore.get(id)
    if (receiver === undefined) return
    this.#updateWatches(receiver)
    const evaluated = this.#evaluate(receiver, this.#receiverStore.lastReceivedAt(id))
    if (evaluated !== receiver) this.changed.publish(evaluated)
  }

  #remember(channelId: number, watched: WatchedChannel, memory: ConditionMemory): void {
    watched.memory = memory
    watched.isStored = true
    this.#subsystems.stateWriter.putCondition(channelId, memory)
  }
}

/** Returns true if the channel was in another slot. Thresholds and shows must be looked up again then. */
function moveTo(slot: number, channel: WatchedChannel): boolean {
  if (channel.slot === slot) return false
  channel.slot = slot
  channel.thresholds = null
  channel.shows = null
  return true
}

const notReceived = { receivedAt: null, hasReported: false, watchedSince: 0 }

interface ChannelCondition {
  readonly condition: Channel['condition']
  readonly last_transmitter: Channel['last_transmitter']
}
