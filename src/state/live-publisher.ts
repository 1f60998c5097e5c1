/**
 * Announces changes of what clients see, for the live interface, version 2. Other parts report what may have changed;
 * the publisher compares it with what was last announced, and adds the differences to the journal. All changes of one
 * turn of the event loop are announced together. Levels are collected, and announced ten times a second.
 *
 * Nothing is compared or announced until the first client connects, because no client needs earlier changes.
 */

import type { LiveChange, SourceBody } from '../contract/live-messages.ts'
import type { EventChanged, EventDeleted, EventMessage, StatusUpdate } from '../contract/messages.ts'
import type { AlertBody, SilenceBody } from '../contract/resources/alerts.ts'
import type { CheckBody } from '../contract/resources/checks.ts'
import type { DiscoveredDevice } from '../contract/resources/discovery.ts'
import type { FrequencyProfileBody } from '../contract/resources/frequencies.ts'
import type { Group } from '../contract/resources/groups.ts'
import type { ChannelAssignment, Performer } from '../contract/resources/performers.ts'
import type { PlaceholderInData } from '../contract/resources/placeholders.ts'
import type { ScanBody } from '../contract/resources/scans.ts'
import type { AnnouncedShow } from '../contract/resources/shows.ts'
import type { Settings } from '../contract/settings.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { isSameJson } from '../domain/json.ts'
import { entryLevels } from '../domain/live/channel-levels.ts'
import type { LiveSubject } from '../domain/live/filter.ts'
import { compareReceivers, differingFields, type ToChannelBody } from '../domain/live/receiver-changes.ts'
import type { SettingScope } from '../domain/settings.ts'
import { AnnouncedLevels } from './announced-levels.ts'
import { LevelBatch } from './level-batch.ts'
import { announcedCount } from './level-store.ts'
import type { JournalEntry, LiveJournal } from './live-journal.ts'
import type { ReceiverStore } from './receiver-store.ts'

export interface LivePublisherDeps {
  readonly journal: LiveJournal
  readonly receiverStore: Pick<ReceiverStore, 'get' | 'listFacts' | 'levels' | 'identityRevision'>
  /** Converts a channel to its body, with its current levels. */
  readonly toChannelBody: ToChannelBody
  groups(): readonly Group[]
  performers(): readonly Performer[]
  placeholders(): readonly PlaceholderInData[]
  assignments(): readonly ChannelAssignment[]
  discovered(): readonly DiscoveredDevice[]
  silences(): readonly SilenceBody[]
  scans(): readonly ScanBody[]
  frequencyProfiles(): readonly FrequencyProfileBody[]
  /** Returns the effective settings of a scope. */
  settingsIn(scope: SettingScope): Settings
  /** Returns the codes of all manufacturers. */
  manufacturers(): readonly string[]
  sources(): readonly SourceBody[]
  /** Returns the number of devices that are waiting for review, by manufacturer. */
  pending(): ReadonlyMap<string, number>
  now(): number
}

/** A client's session. */
export interface LiveSubscriber {
  /** Whether the client wants all levels. */
  readonly wantsAllLevels: boolean
  /** Called with the new messages, in order. */
  deliver(entries: readonly JournalEntry[]): void
  /** Called when changes were not announced, so that the client needs a new snapshot. */
  restart(): void
}

const tickMs = 100

/** The last announced state, except receivers. */
interface Announced {
  readonly groups: readonly Group[]
  readonly performers: readonly Performer[]
  readonly placeholders: readonly PlaceholderInData[]
  readonly assignments: readonly ChannelAssignment[]
  readonly discovered: readonly DiscoveredDevice[]
  readonly silences: readonly SilenceBody[]
  readonly scans: readonly ScanBody[]
  readonly frequencyProfiles: readonly FrequencyProfileBody[]
  /** By manufacturer (text) or group (id); null: global. */
  readonly settings: ReadonlyMap<string | number | null, Settings>
  readonly sources: ReadonlyMap<string, SourceBody>
  readonly pending: ReadonlyMap<string, number>
}

export class LivePublisher {
  readonly journal: LiveJournal
  readonly #deps: LivePublisherDeps
  readonly #subscribers = new Set<LiveSubscriber>()
  /** The newest message that a client may have received. */
  #lastSentSeq = 0
  /** The newest message that a client that wants all levels may have received; -1 if there was no such client. */
  #lastFullSeq = -1
  #timer: NodeJS.Timeout | undefined
  #flush: NodeJS.Immediate | undefined
  /** The last announced state; null while nothing is announced. */
  #announced: Announced | null = null
  readonly #receivers = new Map<number, Receiver>()
  /** The receiver of each channel. */
  readonly #receiverOfChannel = new Map<number, number>()
  readonly #announcedLevels = new AnnouncedLevels()
  /** The current levels of one channel, reused for every channel. */
  readonly #levels = new Int16Array(announcedCount)
  #identityRevision = -1
  /** Manufacturers whose real-time updates are disabled. */
  #disabled: ReadonlySet<string> = new Set()
  // What may have changed since the last announcement.
  readonly #changedReceivers = new Set<number>()
  readonly #changedLevels = new Set<number>()
  readonly #alerts: AlertBody[] = []
  readonly #shows: AnnouncedShow[] = []
  readonly #checks: CheckBody[] = []
  readonly #statusUpdates: StatusUpdate[] = []
  readonly #events: (EventMessage | EventChanged | EventDeleted)[] = []
  #areFrequenciesChanged = false
  #areNotificationsChanged = false
  #areListsChanged = false
  #areSourcesChanged = false
  #isQueueChanged = false

  constructor(deps: LivePublisherDeps) {
    this.#deps = deps
    this.journal = deps.journal
  }

  /** A receiver was added, replaced or removed. */
  receiverChanged(id: number): void {
    if (this.#announced === null) return
    this.#changedReceivers.add(id)
    this.#schedule()
  }

  /** Carriers changed, and perhaps their conflicts. */
  frequenciesChanged(): void {
    if (this.#announced === null) return
    this.#areFrequenciesChanged = true
    this.#schedule()
  }

  /**
   * Groups, placeholders, performers, assignments, discovered devices, silences, scans, frequency profiles, settings or
   * the set of manufacturers may have changed.
   */
  listsChanged(): void {
    if (this.#announced === null) return
    this.#areListsChanged = true
    this.#schedule()
  }

  sourcesChanged(): void {
    if (this.#announced === null) return
    this.#areSourcesChanged = true
    this.#schedule()
  }

  queueChanged(): void {
    if (this.#announced === null) return
    this.#isQueueChanged = true
    this.#schedule()
  }

  alertChanged(alert: AlertBody): void {
    if (this.#announced === null) return
    this.#alerts.push(alert)
    this.#schedule()
  }

  showChanged(show: AnnouncedShow): void {
    if (this.#announced === null) return
    this.#shows.push(show)
    this.#schedule()
  }

  /** A line check began, or its result was entered. */
  checkChanged(check: CheckBody): void {
    if (this.#announced === null) return
    this.#checks.push(check)
    this.#schedule()
  }

  /** The log of events changed. */
  eventChanged(change: EventMessage | EventChanged | EventDeleted): void {
    if (this.#announced === null) return
    this.#events.push(change)
    this.#schedule()
  }

  /** Notification channels, rules or deliveries changed. */
  notificationsChanged(): void {
    if (this.#announced === null) return
    this.#areNotificationsChanged = true
    this.#schedule()
  }

  /** The state of a real-time subscription changed. */
  statusChanged(update: StatusUpdate): void {
    if (this.#announced === null) return
    this.#statusUpdates.push(update)
    this.#schedule()
  }

  /** Levels of these channels may have changed. */
  levelsChanged(channelIds: Iterable<number>): void {
    if (this.#announced === null) return
    for (const id of channelIds) this.#changedLevels.add(id)
  }

  /** The number of connected clients. */
  get subscribers(): number {
    return this.#subscribers.size
  }

  /**
   * Prepares for a new client: after the call, the journal includes everything that has changed, so that the state in
   * memory is that of `journal.seq`.
   */
  synchronize(): void {
    if (this.#announced === null) this.#start()
    else this.#announce()
    // The new client's snapshot may contain levels that are newer than the announced ones. If they change back before
    // the next tick, they must be announced again.
    this.#announcedLevels.forgetAll()
  }

  /** Delivers the messages from now on. Call it directly after `synchronize`. Returns a function that unsubscribes. */
  subscribe(subscriber: LiveSubscriber): () => void {
    this.#subscribers.add(subscriber)
    this.#recordSent()
    return () => {
      this.#recordSent()
      this.#subscribers.delete(subscriber)
    }
  }

  /** Returns the manufacturer of a channel; null if the channel is unknown. */
  manufacturerOf(channelId: number): string | null {
    return this.#receivers.get(this.#receiverOfChannel.get(channelId) ?? 0)?.manufacturer ?? null
  }

  /** Returns the ids of all channels. */
  channelIds(): Iterable<number> {
    return this.#receiverOfChannel.keys()
  }

  /** Returns the current levels of these channels, which may be newer than the last announced ones. */
  currentLevels(channelIds: Iterable<number>): LevelBatch {
    const [ids, values]: [number[], number[]] = [[], []]
    for (const id of channelIds) {
      if (!this.#readLevels(id)) continue
      // A client receives these levels. If they change back before the next tick, they must be announced again.
      this.#announcedLevels.forget(id)
      ids.push(id)
      this.#appendTo(values)
    }
    return new LevelBatch(ids, values, { isFull: true })
  }

  /**
   * Announces the levels of one of these channels at the next tick although they have not changed, so that there is a
   * `levels` message, to which a session adds the levels that it has held back.
   */
  repeatLevels(channelIds: Iterable<number>): void {
    for (const id of channelIds) {
      if (!this.#readLevels(id)) continue
      this.#announcedLevels.forget(id)
      this.#changedLevels.add(id)
      return
    }
  }

  /** Announces the levels that changed. Called by a timer; public for tests. */
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
    const at = new Date(this.#deps.now()).toISOString()
    this.#deliver([this.journal.appendLevels(new LevelBatch(ids, values, { isFull }), at)])
  }

  close(): void {
    this.#stop()
    this.#subscribers.clear()
  }

  #schedule(): void {
    this.#flush ??= setImmediate(() => this.#announce())
  }

  #start(): void {
    this.#remember()
    this.#timer = setInterval(() => this.tick(), tickMs)
  }

  /** Stops announcing if no client is connected, and none that was connected can resume. */
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
    this.#alerts.length = 0
    this.#shows.length = 0
    this.#checks.length = 0
    this.#statusUpdates.length = 0
    this.#events.length = 0
    this.#areFrequenciesChanged = false
    this.#areNotificationsChanged = false
    this.#areListsChanged = false
    this.#areSourcesChanged = false
    this.#isQueueChanged = false
  }

  /** Records the current state as announced. */
  #remember(): void {
    this.#clearChanges()
    this.#receivers.clear()
    this.#receiverOfChannel.clear()
    this.#announcedLevels.clear()
    this.#disabled = this.#findDisabled()
    for (const receiver of this.#deps.receiverStore.listFacts()) this.#rememberReceiver(receiver.id, receiver)
    this.#announced = this.#readLists()
  }

  #readLists(): Announced {
    const { groups, placeholders, performers, assignments, discovered, silences, scans } = this.#deps
    const { frequencyProfiles, manufacturers, sources, pending } = this.#deps
    this.#identityRevision = this.#deps.receiverStore.identityRevision
    return {
      groups: groups(),
      placeholders: placeholders(),
      performers: performers(),
      assignments: assignments(),
      discovered: discovered(),
      silences: silences(),
      scans: scans(),
      frequencyProfiles: frequencyProfiles(),
      settings: new Map(
        [null, ...manufacturers(), ...groups().map(({ id }) => id)].map((key) => [key, this.#settingsOf(key)]),
      ),
      sources: new Map(sources().map((source) => [keyOf(source), source])),
      pending: new Map(pending()),
    }
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

  /** Records the levels of the receiver's channels, because `channel` messages may contain them. */
  #rememberLevels({ channels }: Receiver): void {
    for (const { id } of channels) if (this.#readLevels(id)) this.#announcedLevels.put(id, this.#levels)
  }

  #settingsOf(key: string | number | null): Settings {
    return this.#deps.settingsIn(toScope(key))
  }

  #findDisabled(): ReadonlySet<string> {
    const codes = this.#deps.manufacturers()
    return new Set(codes.filter((code) => !this.#settingsOf(code).enable_websocket))
  }

  /** Announces everything that has changed, except levels. */
  #announce(): void {
    clearImmediate(this.#flush)
    this.#flush = undefined
    const before = this.#announced
    if (before === null) return
    const entries: JournalEntry[] = []
    const add = (change: LiveChange, subject: LiveSubject = {}) => {
      const { manufacturer = null } = subject
      if (manufacturer === null || !this.#disabled.has(manufacturer)) entries.push(this.journal.append(change, subject))
    }
    this.#announceReceivers(add)
    const isIdentityChanged = this.#identityRevision !== this.#deps.receiverStore.identityRevision
    if (this.#areListsChanged || isIdentityChanged) this.#announceLists(before, add)
    if (this.#areFrequenciesChanged) add({ type: 'frequencies' })
    if (this.#areSourcesChanged || this.#areListsChanged) this.#announceSources(add)
    if (this.#isQueueChanged) this.#announceQueue(add)
    for (const alert of this.#alerts.splice(0)) {
      const { manufacturer, receiver_id: receiverId, channel_id: channelId } = alert
      add({ type: 'alert', ...alert }, { manufacturer, receiverId, channelId })
    }
    for (const show of this.#shows.splice(0)) add({ type: 'show', show })
    for (const check of this.#checks.splice(0)) add({ type: 'check', check })
    for (const update of this.#statusUpdates.splice(0)) add(update, { manufacturer: update.manufacturer })
    for (const change of this.#events.splice(0)) add(change, toEventSubject(change))
    this.#areFrequenciesChanged = false
    if (this.#areNotificationsChanged) add({ type: 'notifications' })
    this.#areNotificationsChanged = false
    this.#areListsChanged = false
    this.#areSourcesChanged = false
    this.#isQueueChanged = false
    const disabled = this.#findDisabled()
    const isEnabledAgain = [...this.#disabled].some((code) => !disabled.has(code))
    this.#disabled = disabled
    if (entries.length > 0) this.#deliver(entries)
    if (isEnabledAgain) this.#restart()
  }

  #announceReceivers(add: (change: LiveChange, subject?: LiveSubject) => void): void {
    const slots: (readonly [number, number])[] = []
    for (const id of this.#changedReceivers) {
      const before = this.#receivers.get(id)
      const after = this.#deps.receiverStore.get(id)
      const compared = compareReceivers(before, after, this.#deps.toChannelBody)
      this.#rememberReceiver(id, after)
      if (after !== undefined) this.#rememberLevels(after)
      const { manufacturer } = after ?? before ?? { manufacturer: null }
      for (const change of compared.changes) {
        const channelId = change.type === 'channel' || change.type === 'channel_removed' ? change.id : null
        add(change, { manufacturer, receiverId: id, channelId })
      }
      slots.push(...compared.slots)
      this.levelsChanged(compared.levels)
    }
    this.#changedReceivers.clear()
    if (slots.length > 0) add({ type: 'slots', values: slots.map((pair) => [...pair]) })
  }

  #announceLists(before: Announced, add: (change: LiveChange, subject?: LiveSubject) => void): void {
    const { pending, sources } = before
    const after: Announced = { ...this.#readLists(), pending, sources }
    this.#announced = after
    for (const [key, settings] of after.settings) {
      const scope = toScope(key)
      // A new group has no settings of its own.
      const config = differingFields(before.settings.get(key) ?? (scope.group === null ? {} : settings), settings)
      if (Object.keys(config).length > 0) add({ type: 'settings', ...scope, config }, scope)
    }
    const { groups, placeholders, performers, assignments, discovered, silences, scans, frequencyProfiles } = after
    if (!isSameJson(before.groups, groups)) add({ type: 'groups', groups })
    if (!isSameJson(before.placeholders, placeholders)) add({ type: 'placeholders', placeholders })
    if (!isSameJson(before.performers, performers)) add({ type: 'performers', performers })
    if (!isSameJson(before.assignments, assignments)) add({ type: 'assignments', assignments })
    if (!isSameJson(before.discovered, discovered)) add({ type: 'discovered', discovered })
    if (!isSameJson(before.silences, silences)) add({ type: 'silences', silences })
    if (!isSameJson(before.scans, scans)) add({ type: 'scans', scans })
    if (!isSameJson(before.frequencyProfiles, frequencyProfiles)) {
      add({ type: 'frequency_profiles', profiles: [...frequencyProfiles] })
    }
  }

  #announceSources(add: (change: LiveChange, subject?: LiveSubject) => void): void {
    if (this.#announced === null) return
    const before = this.#announced.sources
    const sources = new Map(this.#deps.sources().map((source) => [keyOf(source), source]))
    this.#announced = { ...this.#announced, sources }
    for (const [key, source] of sources) {
      if (!isSameJson(before.get(key), source)) add({ type: 'source', ...source }, { manufacturer: source.code })
    }
    for (const [key, { code, address }] of before) {
      if (!sources.has(key)) add({ type: 'source', code, address, status: null, error: null }, { manufacturer: code })
    }
  }

  #announceQueue(add: (change: LiveChange, subject?: LiveSubject) => void): void {
    if (this.#announced === null) return
    const before = this.#announced.pending
    const pending = new Map(this.#deps.pending())
    this.#announced = { ...this.#announced, pending }
    const codes = new Set([...before.keys(), ...pending.keys()])
    if ([...codes].some((code) => (before.get(code) ?? 0) !== (pending.get(code) ?? 0))) {
      add({ type: 'queue', pending: totalOf(pending) })
    }
  }

  /** Reads the current levels of a channel into `#levels`. Returns false if its levels are not announced. */
  #readLevels(channelId: number): boolean {
    const receiverId = this.#receiverOfChannel.get(channelId) ?? 0
    const { levels } = this.#deps.receiverStore
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

  /** Sends all clients a new snapshot, because changes were not announced while updates were disabled. */
  #restart(): void {
    this.#remember()
    this.journal.invalidate()
    for (const subscriber of this.#subscribers) subscriber.restart()
  }

  #deliver(entries: readonly JournalEntry[]): void {
    this.#recordSent()
    for (const subscriber of this.#subscribers) subscriber.deliver(entries)
  }

  #recordSent(): void {
    if (this.#subscribers.size === 0) return
    this.#lastSentSeq = this.journal.seq
    for (const { wantsAllLevels } of this.#subscribers) if (wantsAllLevels) this.#lastFullSeq = this.journal.seq
  }
}

function toEventSubject(change: EventMessage | EventChanged | EventDeleted): LiveSubject {
  if (change.type === 'event_deleted') return {}
  const { manufacturer, receiver_id: receiverId, channel_id: channelId } = change.event
  return { manufacturer, receiverId, channelId }
}

function toScope(key: string | number | null): SettingScope {
  return typeof key === 'number' ? { manufacturer: null, group: key } : { manufacturer: key, group: null }
}

function keyOf({ code, address }: SourceBody): string {
  return `${code}\n${address}`
}

export function totalOf(pending: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const count of pending.values()) sum += count
  return sum
}
