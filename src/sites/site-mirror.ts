/**
 * Keeps the records of the receivers of one followed installation as that installation announces them. Facts are
 * stored, so that ids and slots survive restarts, and every process shows the same; levels are only put into memory.
 */

import type { Alerts } from '../alerts/alerts.ts'
import type {
  FollowedAlert,
  FollowedAssignment,
  FollowedMessage,
  FollowedReceiverBody,
  FollowedSlotRecord,
  FollowedSnapshot,
} from '../contract/followed-messages.ts'
import { siteLimits } from '../contract/sites.ts'
import type { AlertCopy } from '../domain/alerts/alert.ts'
import type { Condition } from '../domain/conditions/condition.ts'
import { type Channel, emptyChannel, mergeChannels, type Receiver } from '../domain/equipment/receiver.ts'
import { toChannelBody } from '../domain/equipment/receiver-body.ts'
import type { Title } from '../domain/equipment/slot-record.ts'
import { isSameJson } from '../domain/json.ts'
import type { LevelSample } from '../domain/levels/level-sample.ts'
import { compareReceivers } from '../domain/live/receiver-changes.ts'
import {
  type FollowedRecord,
  type FollowedSubject,
  followedId,
  toAlertCopy,
  toFollowedReceiver,
  toFollowedSample,
  toFollowedTitle,
  withChannelFields,
  withReceiverFields,
  withTitle,
} from '../domain/sites/followed.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { DroppedParts } from '../manufacturers/plugin.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { Topic } from '../platform/topic.ts'
import type { LeaseHandle } from '../sources/lease-manager.ts'
import { saveFollowedReceivers } from '../storage/followed-sites.ts'
import { removeReceiver } from '../storage/receivers.ts'
import { type FollowedInstallation, isEventMessage, type SiteEvents } from './site-events.ts'
import type { SiteSubsystems } from './site-subsystems.ts'
import { markStale, receiversPerTransaction } from './stale-receivers.ts'

type LevelEntry = Extract<FollowedMessage, { type: 'levels' }>['values'][number]

export class SiteMirror {
  /** Parts of a message were omitted. */
  readonly dropped = new Topic<DroppedParts>()
  readonly #receiverStore: ReceiverStore
  readonly #ingest: Ingest
  readonly #alerts: Alerts
  readonly #siteEvents: SiteEvents
  readonly #record: FollowedRecord
  readonly #lease: LeaseHandle
  /** Local ids, by the ids that the site uses. */
  readonly #ids = new Map<number, number>()
  /** The receivers of channels, all by the ids that the site uses. */
  readonly #receiverOfChannel = new Map<number, number>()
  /** Slots here by slots at the site, as of the last messages; null until they are needed. */
  #slots: ReadonlyMap<number, number> | null = null
  /** False for earlier versions. */
  #announcesTitles = false
  /** Receivers that have changed and are not stored yet, by the ids that the site uses. */
  readonly #drafts = new Map<number, Receiver>()
  readonly #removed = new Set<number>()
  /** The ids of receivers of another installation, which are removed with the first snapshot. */
  #foreign: number[] = []
  /** The newest levels of channels, by the ids that the site uses. */
  readonly #levels = new Map<number, LevelEntry>()
  /** Alerts that have changed, by the ids that the site uses. */
  readonly #changedAlerts = new Map<number, FollowedAlert>()
  /** True if `#changedAlerts` contains all alerts that are not cleared. */
  #hasAllAlerts = false
  /** Last announced conditions of channels that `markStale` made stale, by the ids that the site uses. */
  readonly #conditions = new Map<number, Condition>()

  constructor(service: SiteSubsystems, siteEvents: SiteEvents, record: FollowedRecord, lease: LeaseHandle) {
    this.#receiverStore = service.receiverStore
    this.#ingest = service.ingest
    this.#alerts = service.alerts
    this.#siteEvents = siteEvents
    this.#record = record
    this.#lease = lease
    for (const receiver of this.#receivers()) {
      // The address may have belonged to another installation before.
      if (receiver.api_device_id === followedId(record, receiver.origin?.id ?? 0)) this.#index(receiver)
      else this.#foreign.push(receiver.id)
    }
  }

  /** The number of receivers. */
  get size(): number {
    return this.#ids.size
  }

  /** The other installation, as its events refer to it. */
  get installation(): FollowedInstallation {
    return {
      record: this.#record,
      guard: this.#lease.guard,
      receiverOf: (idThere) => this.#ids.get(idThere),
      channelOf: (idThere) => this.#channelOf(idThere),
      slotOf: (slotThere) => this.#slotOf(slotThere),
    }
  }

  /** Applies messages in order. Resolves when their changes are stored and shown. */
  async apply(messages: readonly FollowedMessage[]): Promise<void> {
    this.#slots = null
    for (const message of messages) {
      if (message.type === 'snapshot') await this.#readSnapshot(message)
      else if (message.type === 'resumed') await this.#restoreConditions()
      else this.#read(message)
    }
    await this.#store()
    this.#applyLevels()
    if (messages.some(({ type }) => type === 'resumed')) this.markSeen()
    await this.#storeAlerts()
    await this.#siteEvents.apply(this.installation, messages.filter(isEventMessage))
  }

  /**
   * Records that the receivers are current, although their levels may not be sent. A receiver is not if it is offline,
   * or if the other installation itself has no connection to the site that monitors it.
   */
  markSeen(): void {
    const { levels } = this.#receiverStore
    for (const id of this.#ids.values()) {
      const rows = levels.rowsOf(id)
      if (rows === undefined || !isCurrent(rows.facts)) continue
      levels.markReceived(rows, performance.now(), now())
    }
  }

  /** Makes all channels stale, because the other installation has not been reached since `since` (epoch ms). */
  async markStale(since: number): Promise<void> {
    const receivers = this.#receivers()
    for (const { origin, condition } of receivers.flatMap(({ channels }) => channels)) {
      if (origin !== undefined && condition.state !== 'stale') this.#conditions.set(origin.id, condition)
    }
    await markStale(this.#ingest, receivers, { since, guard: this.#lease.guard })
  }

  #receivers(): readonly Receiver[] {
    return this.#receiverStore.listAllFacts().filter(({ origin }) => origin?.record === this.#record.code)
  }

  #index({ id, origin, channels }: Receiver): void {
    if (origin === undefined) return
    this.#ids.set(origin.id, id)
    for (const channel of channels) this.#receiverOfChannel.set(channel.origin?.id ?? 0, origin.id)
  }

  /** Returns the stored receiver of the channel that has this id at the site, without levels. */
  #receiverOf(channelThere: number): Receiver | undefined {
    const idThere = this.#receiverOfChannel.get(channelThere)
    return idThere === undefined ? undefined : this.#receiverStore.facts(this.#ids.get(idThere) ?? 0)
  }

  #slotOf(slotThere: number): number | undefined {
    this.#slots ??= new Map(
      this.#receivers().flatMap(({ channels }) =>
        channels.map(({ origin, slot }): [number, number] => [origin?.slot ?? 0, slot]),
      ),
    )
    return this.#slots.get(slotThere)
  }

  /** Returns the newest state of the receiver that has this id at the site. */
  #find(idThere: number): Receiver | undefined {
    return this.#drafts.get(idThere) ?? this.#receiverStore.get(this.#ids.get(idThere) ?? 0)
  }

  #put(idThere: number, receiver: Receiver): void {
    this.#removed.delete(idThere)
    this.#drafts.set(idThere, receiver)
    for (const { origin } of receiver.channels) this.#receiverOfChannel.set(origin?.id ?? 0, idThere)
  }

  async #readSnapshot({ data }: FollowedSnapshot): Promise<void> {
    this.#drafts.clear()
    this.#levels.clear()
    const listed = new Set<number>()
    for (const body of data.receivers) {
      listed.add(body.id)
      this.#readReceiver(body)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    for (const id of this.#ids.keys()) if (!listed.has(id)) this.#removed.add(id)
    this.#announcesTitles = data.slot_records !== undefined
    for (const record of data.slot_records ?? []) {
      this.#readTitle(record)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    this.#readPerformers(data.assignments ?? [])
    this.#changedAlerts.clear()
    for (const alert of data.alerts ?? []) this.#changedAlerts.set(alert.id, alert)
    this.#hasAllAlerts = true
  }

  /** Drafts the conditions that were in effect when the connection was lost. Those that changed since are announced. */
  async #restoreConditions(): Promise<void> {
    for (const id of this.#conditions.size === 0 ? [] : this.#ids.keys()) {
      this.#change(id, (receiver) => ({
        ...receiver,
        channels: receiver.channels.map((channel) => ({
          ...channel,
          condition: this.#conditions.get(channel.origin?.id ?? 0) ?? channel.condition,
        })),
      }))
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    this.#conditions.clear()
  }

  /** Drafts a receiver that is announced with all its fields, if it differs from the known one in more than levels. */
  #readReceiver(body: FollowedReceiverBody): void {
    for (const { id } of body.channels) this.#levels.delete(id)
    const known = this.#find(body.id)
    const receiver = toFollowedReceiver(body, known, { record: this.#record, now: now() })
    const { changes } = compareReceivers(known, receiver, toChannelBody)
    if (known === undefined && this.#ids.size + this.#drafts.size >= siteLimits.receivers) {
      this.#drop(`at most ${siteLimits.receivers} receivers`)
      return
    }
    const isSame = changes.length === 0 && known !== undefined && hasSameOrigins(known, receiver)
    const rows = isSame ? this.#receiverStore.levels.rowsOf(receiver.id) : undefined
    if (rows === undefined) this.#put(body.id, receiver)
    else this.#ingest.levelLane.applyRemote(rows, receiver.channels, now())
  }

  #read(message: Exclude<FollowedMessage, { type: 'snapshot' | 'resumed' }>): void {
    switch (message.type) {
      case 'receiver_added':
        this.#readReceiver(message.receiver)
        return
      case 'receiver_removed':
        this.#drafts.delete(message.id)
        this.#removed.add(message.id)
        return
      case 'receiver': {
        const { type: _, seq: __, ...fields } = message
        this.#change(message.id, (receiver) => withReceiverFields(receiver, fields, this.#record))
        return
      }
      case 'channel':
        this.#readChannel(message)
        return
      case 'channel_removed':
        this.#change(message.receiver_id, (receiver) => ({
          ...receiver,
          channels: receiver.channels.filter(({ origin }) => origin?.id !== message.id),
        }))
        return
      case 'slots':
        for (const [channelId = 0, slot = 0] of message.values) this.#readSlot(channelId, slot)
        return
      case 'levels':
        for (const entry of message.values) this.#levels.set(Number(entry[0]), entry)
        return
      case 'slot_records':
        for (const record of message.slots) this.#readTitle(record)
        return
      case 'assignments':
        this.#readPerformers(message.assignments)
        return
      case 'alert':
        this.#changedAlerts.set(message.id, message)
        return
      default:
      // The rest concerns only the other installation.
    }
  }

  #readChannel({ type: _, seq: __, receiver_id, ...fields }: Extract<FollowedMessage, { type: 'channel' }>): void {
    const { channel: number } = fields
    this.#change(receiver_id, (receiver) => {
      const { channels } = receiver
      const changed =
        channels.find(({ origin }) => origin?.id === fields.id) ?? channels.find(({ channel }) => channel === number)
      if (changed !== undefined) {
        return {
          ...receiver,
          channels: channels.map((each) => (each === changed ? withChannelFields(each, fields) : each)),
        }
      }
      if (number === undefined) return receiver
      if (channels.length >= siteLimits.channelsPerReceiver) {
        this.#drop(`at most ${siteLimits.channelsPerReceiver} channels`)
        return receiver
      }
      const added = withChannelFields(emptyChannel(0, number, 0), fields)
      return { ...receiver, channels: [...channels, added].sort((a, b) => a.channel - b.channel) }
    })
  }

  #readTitle({ channel_id: channelId, ...title }: FollowedSlotRecord): void {
    if (channelId !== null) this.#setTitle(channelId, toFollowedTitle(title))
  }

  /** Earlier versions announce only who wears the packs. */
  #readPerformers(assignments: readonly FollowedAssignment[]): void {
    if (this.#announcesTitles) return
    const names = new Map(assignments.map(({ channel_id, performer }) => [channel_id, performer.name]))
    for (const channelId of this.#receiverOfChannel.keys()) {
      const title = names.get(channelId) ?? null
      this.#setTitle(channelId, toFollowedTitle({ title, title_from: 'performer' }))
    }
  }

  #setTitle(channelId: number, title: Title | undefined): void {
    const idThere = this.#receiverOfChannel.get(channelId)
    if (idThere === undefined) return
    const receiver = this.#drafts.get(idThere) ?? this.#receiverOf(channelId)
    const channel = receiver?.channels.find(({ origin }) => origin?.id === channelId)
    if (channel === undefined || isSameJson(channel.origin?.title, title)) return
    this.#change(idThere, (current) => withTitle(current, channelId, title))
  }

  #readSlot(channelId: number, slot: number): void {
    const receiver = this.#receiverOf(channelId)
    if (receiver?.origin === undefined) return
    this.#change(receiver.origin.id, (current) => ({
      ...current,
      channels: current.channels.map((channel) =>
        channel.origin?.id === channelId ? withChannelFields(channel, { slot }) : channel,
      ),
    }))
  }

  #change(idThere: number, change: (receiver: Receiver) => Receiver): void {
    const receiver = this.#find(idThere)
    if (receiver === undefined) return
    this.#put(idThere, change({ ...this.#withLevels(receiver), last_seen: now() }))
  }

  /** Adds the levels that arrived before a message about the receiver, which may contain newer ones. */
  #withLevels(receiver: Receiver): Receiver {
    const samples = receiver.channels.flatMap((channel) => {
      const entry = this.#levels.get(channel.origin?.id ?? 0)
      this.#levels.delete(channel.origin?.id ?? 0)
      return entry === undefined ? [] : [toFollowedSample(channel, entry)]
    })
    return { ...receiver, channels: mergeChannels(receiver.channels, samples) }
  }

  async #store(): Promise<void> {
    if (this.#drafts.size + this.#removed.size + this.#foreign.length === 0) return
    const drafts = [...this.#drafts.values()]
    const removed = [...this.#foreign, ...[...this.#removed].flatMap((id) => this.#ids.get(id) ?? [])]
    for (let start = 0; start === 0 || start < drafts.length; start += receiversPerTransaction) {
      const part = drafts.slice(start, start + receiversPerTransaction)
      const stored = await this.#ingest.change(async (tx, revision) => {
        await this.#lease.guard(tx)
        if (start === 0) for (const id of removed) await removeReceiver(tx, revision, id)
        return saveFollowedReceivers(tx, revision, part)
      })
      for (const receiver of stored) {
        this.#index(receiver)
        // Storing kept the levels in memory, but those in messages about facts are newer.
        const rows = this.#receiverStore.levels.rowsOf(receiver.id)
        if (rows !== undefined) this.#ingest.levelLane.applyRemote(rows, receiver.channels, now())
      }
    }
    for (const id of this.#removed) this.#ids.delete(id)
    this.#foreign = []
    this.#drafts.clear()
    this.#removed.clear()
  }

  /** Copies alerts that have changed, and clears the copies of those that a snapshot no longer contains. */
  async #storeAlerts(): Promise<void> {
    if (this.#changedAlerts.size === 0 && !this.#hasAllAlerts) return
    const known = this.#alerts.listCopies(this.#record.code)
    const copies = this.#withinLimit(
      [...this.#changedAlerts.values()].flatMap(
        (alert) => toAlertCopy(alert, this.#record, this.#subjectOf(alert)) ?? [],
      ),
      known,
    )
    if (this.#hasAllAlerts) {
      const subjects = new Set(copies.map(({ subject }) => subject))
      for (const { id: _, state: __, site, ...copy } of known) {
        if (site !== null && !subjects.has(copy.subject)) copies.push({ ...copy, site, cleared_at: now() })
      }
    }
    this.#changedAlerts.clear()
    this.#hasAllAlerts = false
    if (copies.length > 0) await this.#alerts.copy(copies)
  }

  /** Leaves out new alerts while too many are open. */
  #withinLimit(copies: AlertCopy[], known: readonly { readonly subject: string }[]): AlertCopy[] {
    const subjects = new Set(known.map(({ subject }) => subject))
    let open = known.length
    return copies.filter(({ subject }) => {
      if (subjects.has(subject) || open++ < siteLimits.alerts) return true
      this.#drop(`at most ${siteLimits.alerts} open alerts`)
      return false
    })
  }

  #drop(expected: string): void {
    this.dropped.publish({ count: 1, first: `expected ${expected}` })
  }

  #subjectOf({ receiver_id, channel_id }: FollowedAlert): FollowedSubject {
    return {
      receiver: this.#receiverOf(channel_id ?? 0) ?? this.#receiverStore.facts(this.#ids.get(receiver_id ?? 0) ?? 0),
      channel: this.#channelOf(channel_id ?? 0),
      slotOf: (slotThere) => this.#slotOf(slotThere),
    }
  }

  #channelOf(idThere: number): Channel | undefined {
    return this.#receiverOf(idThere)?.channels.find(({ origin }) => origin?.id === idThere)
  }

  #applyLevels(): void {
    const samples = new Map<number, LevelSample[]>()
    for (const [channelId, entry] of this.#levels) {
      const receiver = this.#receiverOf(channelId)
      const channel = receiver?.channels.find(({ origin }) => origin?.id === channelId)
      if (receiver === undefined || channel === undefined) continue
      const ofReceiver = samples.get(receiver.id) ?? []
      ofReceiver.push(toFollowedSample(channel, entry))
      samples.set(receiver.id, ofReceiver)
    }
    this.#levels.clear()
    for (const [id, ofReceiver] of samples) {
      const rows = this.#receiverStore.levels.rowsOf(id)
      if (rows !== undefined) this.#ingest.levelLane.applyRemote(rows, ofReceiver, now())
    }
  }
}

/** True if both records have the same site, and the same ids and slots there. */
function hasSameOrigins(a: Receiver, b: Receiver): boolean {
  if (a.channels.length !== b.channels.length || a.api_device_id !== b.api_device_id) return false
  return (
    a.origin?.id === b.origin?.id &&
    a.channels.every(({ origin }, index) => {
      const other = b.channels[index]?.origin
      return origin?.id === other?.id && origin?.slot === other?.slot
    })
  )
}

function isCurrent({ is_active, channels }: Receiver): boolean {
  return is_active && channels.some(({ condition }) => condition.state !== 'stale')
}
