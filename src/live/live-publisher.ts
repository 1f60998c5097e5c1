/**
 * Announces changes to clients. Subsystems publish what may have changed. Version 1 sends it; version 2 compares it with
 * the last announcement, and adds the differences to the journal. All changes of one turn of the event loop are
 * announced together, levels ten times a second.
 *
 * Nothing is compared until a client of version 2 connects.
 */

import type { Alerts } from '../alerts/alerts.ts'
import type { AlertChanged } from '../alerts/open-alerts.ts'
import type { Listening } from '../audio/listening.ts'
import type { CheckBody } from '../contract/checks.ts'
import type { LiveChange } from '../contract/live-messages.ts'
import type { StatusUpdate } from '../contract/messages.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { toChannelBody } from '../domain/equipment/receiver-body.ts'
import { type EventChange, toEventBody } from '../domain/events/event.ts'
import type { LiveSubject } from '../domain/live/filter.ts'
import { entryLevels } from '../domain/live/lists.ts'
import { compareReceivers } from '../domain/live/receiver-changes.ts'
import { listShowChanges, type Show } from '../domain/shows.ts'
import type { LiveSpectrum } from '../frequencies/live-spectrum.ts'
import type { EventLog } from '../history/event-log.ts'
import type { Ingest } from '../ingest/ingest.ts'
import { announcedCount, type LevelRows } from '../ingest/level-store.ts'
import type { ReceiverChange, ReceiverStore } from '../ingest/receiver-store.ts'
import { now } from '../platform/clock.ts'
import type { FollowedSites } from '../sites/followed-sites.ts'
import type { Connections } from '../sources/connections.ts'
import type { SourceRecords } from '../sources/source-records.ts'
import type { SubscriptionStatusChanged } from '../sources/status-publisher.ts'
import { AnnouncedLevels } from './announced-levels.ts'
import { LevelBatch } from './level-batch.ts'
import { type JournalEntry, LiveJournal } from './live-journal.ts'
import { type AddChange, AnnouncedLists, type LiveLists } from './live-lists.ts'
import { Version1 } from './version-1.ts'

interface Options {
  readonly journal?: LiveJournal
  /** The wall-clock time in epoch ms. */
  now?(): number
}

/** Subsystems that are created after the publisher. */
interface Announcers {
  readonly ingest: Ingest
  readonly alerts: Alerts
  readonly events: EventLog
  readonly connections: Connections
  readonly sourceRecords: SourceRecords
  readonly followedSites: FollowedSites
  readonly listening: Listening
}

export interface LiveSubscriber {
  readonly wantsAllLevels: boolean
  deliver(entries: readonly JournalEntry[]): void
  deliverSweep(spectrum: LiveSpectrum): void
  /** Changes were not announced: the client needs a new snapshot. */
  restart(): void
}

const tickMs = 100

type Comparison = 'lists' | 'frequencies' | 'sources' | 'sites' | 'queue' | 'notifications'

export class LivePublisher {
  readonly journal: LiveJournal
  readonly lists: LiveLists
  readonly version1: Version1
  readonly #receiverStore: ReceiverStore
  readonly #now: () => number
  readonly #subscribers = new Set<LiveSubscriber>()
  /** The newest message that a client may have. */
  #lastSentSeq = 0
  /** As `#lastSentSeq`, of clients that want all levels; -1 if there was none. */
  #lastFullSeq = -1
  #timer: NodeJS.Timeout | undefined
  #flush: NodeJS.Immediate | undefined
  /** Null while no client needs changes. */
  #announced: AnnouncedLists | null = null
  readonly #receivers = new Map<number, Receiver>()
  readonly #receiverOfChannel = new Map<number, number>()
  readonly #announcedLevels = new AnnouncedLevels()
  /** Reused for every channel. */
  readonly #levels = new Int16Array(announcedCount)
  #identityRevision = -1
  /** Manufacturers whose real-time updates are disabled. */
  #disabled: ReadonlySet<string> = new Set()
  #shows: readonly Show[] = []
  readonly #changedReceivers = new Set<number>()
  readonly #changedLevels = new Set<number>()
  readonly #comparisons = new Set<Comparison>()
  readonly #changes: { readonly change: LiveChange; readonly subject: LiveSubject }[] = []

  constructor(lists: LiveLists, receiverStore: ReceiverStore, options: Options = {}) {
    this.lists = lists
    this.#receiverStore = receiverStore
    this.#now = options.now ?? now
    this.journal = options.journal ?? new LiveJournal()
    this.version1 = new Version1(receiverStore)
    receiverStore.changed.subscribe((change) => this.#receiverChanged(change))
    receiverStore.queueChanged.subscribe(() => this.#compareNext('queue'))
  }

  connect({ ingest, alerts, events, connections, sourceRecords, followedSites, listening }: Announcers): void {
    this.lists.connect(sourceRecords, followedSites, listening)
    ingest.levelLane.changed.subscribe((changed) => this.levelsChanged(changed))
    alerts.changed.subscribe((change) => this.alertChanged(change))
    events.changed.subscribe((change) => this.eventChanged(change))
    connections.statusChanged.subscribe((change) => this.statusChanged(change))
    sourceRecords.changed.subscribe((updates) => this.sourcesChanged(updates))
  }

  levelsChanged(changed: readonly LevelRows[]): void {
    this.version1.levelsChanged(changed)
    if (this.#announced === null) return
    for (const { channelIds } of changed) this.#addLevels(channelIds)
  }

  /** Sweeps have no sequence number, because they are not sent again. */
  sweepReceived(spectrum: LiveSpectrum): void {
    for (const subscriber of this.#subscribers) subscriber.deliverSweep(spectrum)
  }

  frequenciesChanged(): void {
    this.#compareNext('frequencies')
  }

  listsChanged(): void {
    this.#compareNext('lists')
    const before = this.#shows
    this.#shows = this.lists.shows()
    if (before === this.#shows) return
    for (const show of listShowChanges(before, this.#shows)) {
      this.version1.showChanged(show)
      this.#addChange({ type: 'show', show })
    }
  }

  /** `updates`: the manufacturers whose status changed. */
  sourcesChanged(updates: readonly StatusUpdate[]): void {
    for (const update of updates) this.version1.publish(update)
    this.#compareNext('sources')
  }

  listenersChanged(): void {
    this.#addChange({ type: 'listeners', listeners: this.lists.listeners() ?? [] })
  }

  sitesChanged(): void {
    this.#compareNext('sites')
  }

  notificationsChanged(): void {
    this.#compareNext('notifications')
  }

  alertChanged(change: AlertChanged): void {
    this.version1.alertChanged(change)
    const { manufacturer, receiver_id: receiverId, channel_id: channelId, site } = change.body
    const subject = { manufacturer, site: site?.code ?? null, receiverId, channelId }
    this.#addChange({ type: 'alert', ...change.body }, subject)
  }

  checkChanged(check: CheckBody): void {
    this.#addChange({ type: 'check', check })
  }

  eventChanged(change: EventChange): void {
    if (change.type === 'event_deleted') {
      this.version1.publish(change)
      this.#addChange(change)
      return
    }
    const event = toEventBody(change.event)
    const { manufacturer, receiver_id: receiverId, channel_id: channelId } = event
    const site = event.site?.code ?? null
    this.version1.publish({ type: change.type, event }, site)
    this.#addChange({ type: change.type, event }, { manufacturer, site, receiverId, channelId })
  }

  /** Version 1 does not repeat failed attempts to reconnect. */
  statusChanged({ update, isRepeated }: SubscriptionStatusChanged): void {
    if (!isRepeated) this.version1.publish(update)
    this.#addChange(update, { manufacturer: update.manufacturer })
  }

  get subscribers(): number {
    return this.#subscribers.size + this.version1.subscribers
  }

  /** Prepares for a new client: afterwards, the state in memory is that of `journal.seq`. */
  synchronize(): void {
    if (this.#announced === null) this.#start()
    else this.#announce()
    // The snapshot may contain newer levels. If they change back before the next tick, they must be announced again.
    for (const id of this.channelIds()) if (this.#readLevels(id)) this.#announcedLevels.setForOne(id, this.#levels)
  }

  /** Call it directly after `synchronize`. Returns a function that unsubscribes. */
  subscribe(subscriber: LiveSubscriber): () => void {
    this.#subscribers.add(subscriber)
    this.recordSent()
    return () => {
      this.recordSent()
      this.#subscribers.delete(subscriber)
    }
  }

  /** Call it after a client has begun to want all levels. */
  recordSent(): void {
    if (this.#subscribers.size === 0) return
    this.#lastSentSeq = this.journal.seq
    for (const { wantsAllLevels } of this.#subscribers) if (wantsAllLevels) this.#lastFullSeq = this.journal.seq
  }

  receiverOf(channelId: number): Receiver | undefined {
    return this.#receivers.get(this.#receiverOfChannel.get(channelId) ?? 0)
  }

  channelIds(): Iterable<number> {
    return this.#receiverOfChannel.keys()
  }

  /** These may be newer than the last announced levels. */
  currentLevels(channelIds: Iterable<number>): LevelBatch {
    const [ids, values]: [number[], number[]] = [[], []]
    for (const id of channelIds) {
      if (!this.#readLevels(id)) continue
      // As in `synchronize`.
      this.#announcedLevels.setForOne(id, this.#levels)
      ids.push(id)
      this.#appendTo(values)
    }
    return new LevelBatch(ids, values, { isFull: true })
  }

  /**
   * Announces the levels of one of these channels at the next tick, even if unchanged, so that a session can add the
   * levels that it has held back.
   */
  repeatLevels(channelIds: Iterable<number>): void {
    for (const id of channelIds) {
      if (!this.#readLevels(id)) continue
      this.#announcedLevels.forget(id)
      this.#changedLevels.add(id)
      return
    }
  }

  /** Called by a timer; public for tests. */
  tick(): void {
    this.#announce()
    if (this.#announced === null || this.#stopIfUnused()) return
    if (this.#changedLevels.size === 0) return
    const [ids, values]: [number[], number[]] = [[], []]
    for (const id of this.#changedLevels) {
      if (!this.#readLevels(id)) continue
      if (this.#announcedLevels.hasOtherUnlisted(id, this.#levels)) this.#addReceiverOf(id)
      if (!this.#announcedLevels.update(id, this.#levels)) continue
      ids.push(id)
      this.#appendTo(values)
    }
    this.#changedLevels.clear()
    if (this.#changedReceivers.size > 0) this.#announce()
    if (ids.length === 0) return
    const isFull = this.#lastFullSeq >= 0 && this.journal.since(this.#lastFullSeq) !== null
    const at = new Date(this.#now()).toISOString()
    this.#deliver([this.journal.appendLevels(new LevelBatch(ids, values, { isFull }), at)])
  }

  /** Sends new snapshots after a change that no message announces. */
  restartClients(): void {
    if (this.#announced !== null) this.#restart()
  }

  close(): void {
    this.#stop()
    this.#subscribers.clear()
    this.version1.close()
  }

  #receiverChanged({ id, before, after }: ReceiverChange): void {
    this.version1.receiverChanged(before, after)
    if (this.#announced === null) return
    this.#changedReceivers.add(id)
    this.#schedule()
  }

  #addLevels(channelIds: Iterable<number>): void {
    if (this.#announced === null) return
    for (const id of channelIds) this.#changedLevels.add(id)
  }

  #compareNext(comparison: Comparison): void {
    if (this.#announced === null) return
    this.#comparisons.add(comparison)
    this.#schedule()
  }

  #addChange(change: LiveChange, subject: LiveSubject = {}): void {
    if (this.#announced === null) return
    this.#changes.push({ change, subject })
    this.#schedule()
  }

  #schedule(): void {
    this.#flush ??= setImmediate(() => this.#announce())
  }

  #start(): void {
    this.#remember()
    this.#timer = setInterval(() => this.tick(), tickMs)
  }

  /** Stops if no client is connected, and none can resume. */
  #stopIfUnused(): boolean {
    if (this.#subscribers.size > 0 || this.journal.since(this.#lastSentSeq) !== null) return false
    this.#stop()
    return true
  }

  #stop(): void {
    clearInterval(this.#timer)
    clearImmediate(this.#flush)
    this.#flush = undefined
    this.#announced = null
    this.journal.clear()
    this.#clearChanges()
    this.#receivers.clear()
    this.#receiverOfChannel.clear()
    this.#announcedLevels.clear()
  }

  #clearChanges(): void {
    this.#changedReceivers.clear()
    this.#changedLevels.clear()
    this.#comparisons.clear()
    this.#changes.length = 0
  }

  #remember(): void {
    this.#clearChanges()
    this.#receivers.clear()
    this.#receiverOfChannel.clear()
    this.#announcedLevels.clear()
    this.#disabled = this.#findDisabled()
    for (const receiver of this.#receiverStore.listAllFacts()) this.#rememberReceiver(receiver.id, receiver)
    for (const id of this.channelIds()) if (this.#readLevels(id)) this.#announcedLevels.set(id, this.#levels)
    this.#announced = new AnnouncedLists(this.lists)
    this.#identityRevision = this.#receiverStore.identityRevision
  }

  #rememberReceiver(id: number, receiver: Receiver | undefined): void {
    const before = this.#receivers.get(id)
    if (receiver === undefined) this.#receivers.delete(id)
    else this.#receivers.set(id, receiver)
    const channels = receiver?.channels ?? []
    for (const { id: channelId } of before?.channels ?? []) {
      if (channels.some((channel) => channel.id === channelId)) continue
      this.#receiverOfChannel.delete(channelId)
      this.#announcedLevels.remove(channelId)
    }
    for (const { id: channelId } of channels) this.#receiverOfChannel.set(channelId, id)
  }

  /** `channel` messages may contain levels. */
  #rememberLevels({ channels }: Receiver): void {
    for (const { id } of channels) if (this.#readLevels(id)) this.#announcedLevels.put(id, this.#levels)
  }

  #findDisabled(): ReadonlySet<string> {
    return new Set(this.lists.manufacturers().filter((code) => !this.lists.isBroadcasting(code)))
  }

  #announce(): void {
    clearImmediate(this.#flush)
    this.#flush = undefined
    const lists = this.#announced
    if (lists === null) return
    const entries: JournalEntry[] = []
    const add: AddChange = (change, subject = {}) => {
      const { manufacturer = null } = subject
      if (manufacturer === null || !this.#disabled.has(manufacturer)) entries.push(this.journal.append(change, subject))
    }
    this.#announceReceivers(add)
    this.#announceComparisons(lists, add)
    for (const { change, subject } of this.#changes.splice(0)) add(change, subject)
    const disabled = this.#findDisabled()
    const isEnabledAgain = [...this.#disabled].some((code) => !disabled.has(code))
    this.#disabled = disabled
    if (entries.length > 0) this.#deliver(entries)
    if (isEnabledAgain) this.#restart()
  }

  #announceComparisons(lists: AnnouncedLists, add: AddChange): void {
    const compared = new Set(this.#comparisons)
    this.#comparisons.clear()
    const { identityRevision } = this.#receiverStore
    // Discovered devices are listed until a receiver with their identity is known.
    if (compared.has('lists') || this.#identityRevision !== identityRevision) lists.announceLists(add)
    this.#identityRevision = identityRevision
    lists.announceSlotRecords(add)
    if (compared.has('frequencies')) add({ type: 'frequencies' })
    if (compared.has('sources') || compared.has('lists')) lists.announceSources(add)
    if (compared.has('sites') || compared.has('lists')) lists.announceSites(add)
    if (compared.has('queue')) lists.announceQueue(add)
    if (compared.has('notifications')) add({ type: 'notifications' })
  }

  #announceReceivers(add: AddChange): void {
    const slots: (readonly [number, number])[] = []
    for (const id of this.#changedReceivers) {
      const before = this.#receivers.get(id)
      const after = this.#receiverStore.get(id)
      const compared = compareReceivers(before, after, toChannelBody)
      this.#rememberReceiver(id, after)
      if (after !== undefined) this.#rememberLevels(after)
      const announced = after ?? before
      const manufacturer = announced?.manufacturer ?? null
      const site = announced?.origin?.site.code ?? null
      for (const change of compared.changes) {
        const channelId = change.type === 'channel' || change.type === 'channel_removed' ? change.id : null
        add(change, { manufacturer, site, receiverId: id, channelId })
      }
      slots.push(...compared.slots)
      this.#addLevels(compared.levels)
    }
    this.#changedReceivers.clear()
    if (slots.length > 0) add({ type: 'slots', values: slots.map((pair) => [...pair]) })
  }

  /** Reads the levels of a channel into `#levels`. Returns false if they are not announced. */
  #readLevels(channelId: number): boolean {
    const receiverId = this.#receiverOfChannel.get(channelId) ?? 0
    const { levels } = this.#receiverStore
    const rows = levels.rowsOf(receiverId)
    const index = rows?.channelIds.indexOf(channelId) ?? -1
    if (rows === undefined || index < 0 || this.#disabled.has(rows.manufacturer)) return false
    levels.readAnnounced(rows, index, this.#levels)
    return true
  }

  #appendTo(values: number[]): void {
    for (let column = 0; column < entryLevels.length; column += 1) values.push(this.#levels[column] ?? 0)
  }

  #addReceiverOf(channelId: number): void {
    const receiverId = this.#receiverOfChannel.get(channelId)
    if (receiverId !== undefined) this.#changedReceivers.add(receiverId)
  }

  /** Sends new snapshots, because changes were not announced while updates were disabled. */
  #restart(): void {
    this.#remember()
    this.journal.invalidate()
    for (const subscriber of this.#subscribers) subscriber.restart()
  }

  #deliver(entries: readonly JournalEntry[]): void {
    this.recordSent()
    for (const subscriber of this.#subscribers) subscriber.deliver(entries)
  }
}
