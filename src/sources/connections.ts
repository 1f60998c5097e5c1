/**
 * The real-time connection records, one per receiver and per followed installation, in memory and in the database. The
 * process that holds a subscription writes its state. When a user stops or starts a connection, `actions/` stores the
 * change; this module loads such changes, and the states of subscriptions that other processes hold.
 */

import type { SubscriptionStatus } from '../domain/alerts/source.ts'
import {
  applyConnectionEvent,
  type Connection,
  type ConnectionEvent,
  isOpen,
  newConnection,
  subscriptionStatus,
} from '../domain/equipment/connection.ts'
import { subscriptionPrefix } from '../domain/nodes.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { ProtocolAdapter } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { Semaphore } from '../platform/concurrency.ts'
import type { Log } from '../platform/log.ts'
import { listConnections, openSiteConnection, saveConnections } from '../storage/connections.ts'
import type { Database } from '../storage/database.ts'
import { listHeldLeases } from '../storage/leases.ts'
import { currentRevision, nextRevision } from '../storage/revision.ts'
import { ConnectionRecords } from './connection-records.ts'
import { FlappingSubscriptions } from './flapping-subscriptions.ts'
import { MessageTimes } from './message-times.ts'
import type { SourceRegistry } from './source-registry.ts'
import { StatusPublisher } from './status-publisher.ts'

/** The device ids passed to `setDevices`, and the versions of the data that it used. */
interface DevicesInput {
  readonly ids: readonly string[]
  readonly identities: number
  readonly changes: number
}

/**
 * Returns the name of the lease on a source's subscription, which is separate from its polling lease: see
 * docs/decisions/0008-subscriptions.md.
 */
export function subscriptionLease(source: string): string {
  return `${subscriptionPrefix}${source}`
}

export class Connections {
  readonly #db: Database
  readonly #receiverStore: ReceiverStore
  readonly #sourceRegistry: SourceRegistry
  readonly #log: Log
  readonly #records = new ConnectionRecords()
  readonly #messageTimes: MessageTimes
  readonly #statusPublisher = new StatusPublisher()
  readonly statusChanged = this.#statusPublisher.changed
  readonly #flapping = new FlappingSubscriptions()
  /** The ids of records that this process has changed but not stored yet. */
  readonly #unsaved = new Set<number>()
  /** The last input of `setDevices`, by source. If it is unchanged, `setDevices` has nothing to do. */
  readonly #lastDevices = new Map<string, DevicesInput>()
  readonly #changeListeners = new Map<string, Set<() => void>>()
  /** Sources whose subscription was recorded as active at the last check, although no process held its lease. */
  #orphaned: ReadonlySet<string> = new Set()
  #lastRevision = -1
  /** Serializes reads and writes of the records. */
  readonly #queue = new Semaphore(1)

  constructor(db: Database, receiverStore: ReceiverStore, sourceRegistry: SourceRegistry, log: Log) {
    this.#db = db
    this.#receiverStore = receiverStore
    this.#sourceRegistry = sourceRegistry
    this.#log = log
    this.#messageTimes = new MessageTimes(db, log)
    this.#flapping.stable.subscribe((source) => void this.record(source, { type: 'stable', at: now() }))
  }

  /** Increases with every change of a record. */
  get changes(): number {
    return this.#records.changes
  }

  /** Loads all records without publishing them. */
  open(): Promise<void> {
    return this.#queue.run(async () => {
      const { read } = this.#db
      this.#lastRevision = await currentRevision(read, 'connections')
      for (const connection of await listConnections(read)) this.#records.put(connection)
      for (const source of this.#records.bySource.keys()) {
        this.#statusPublisher.update(source, this.ofSource(source), { isSilent: true })
      }
    })
  }

  /** Loads the changes made by other processes and users, and retries failed writes. */
  load(): Promise<void> {
    return this.#queue.run(() => this.#readChanges())
  }

  find(receiverId: number): Connection | undefined {
    return this.#records.find(receiverId)
  }

  /** Returns when the receiver's connection was established (`performance.now()`); null while it is not connected. */
  connectedSince(receiverId: number): number | null {
    return this.#records.connectedSince(receiverId)
  }

  /** Reads every stored connection, first those of receivers, with the last message time known to this process. */
  async readAll(): Promise<readonly Connection[]> {
    return (await listConnections(this.#db.read)).map((connection) => this.#messageTimes.addTo(connection))
  }

  /** Returns the connections that are neither connected nor stopped. A receiver that no system lists has none. */
  listDisconnected(): readonly Connection[] {
    return [...this.#records.list()].filter(
      ({ source, status }) => source !== null && status !== 'connected' && status !== 'stopped',
    )
  }

  ofSource(source: string): readonly Connection[] {
    return this.#records.ofSource(source)
  }

  /** Resolves when any of the source's connections has changed; rejects when the signal aborts. */
  waitForChange(source: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const listeners = this.#changeListeners.get(source) ?? new Set()
      this.#changeListeners.set(source, listeners)
      const onChange = () => {
        signal.removeEventListener('abort', end)
        resolve()
      }
      const end = () => {
        listeners.delete(onChange)
        reject(signal.reason)
      }
      if (signal.aborted) return end()
      signal.addEventListener('abort', end, { once: true })
      listeners.add(onChange)
    })
  }

  /**
   * Sets the devices that the source lists. Each is given a connection to this source, unless it already has one to a
   * source of the same or higher precedence. This source's connections to other devices are disconnected, and no longer
   * belong to it.
   */
  async setDevices(source: MonitoredSource, deviceIds: readonly string[]): Promise<void> {
    if (source.adapter.subscribe === undefined) return
    const { identityRevision } = this.#receiverStore
    const input: DevicesInput = { ids: deviceIds, identities: identityRevision, changes: this.changes }
    if (isSameInput(this.#lastDevices.get(source.id), input)) return
    const { changed, hasForeign } = this.#planDevices(source, deviceIds)
    if (changed.length > 0) await this.#changeAndSave(changed)
    else if (!hasForeign) this.#lastDevices.set(source.id, input)
  }

  /** Adds the record of a followed installation if it has none. */
  async openSite({ id: source, manufacturer, adapter }: MonitoredSource): Promise<void> {
    const { transport = 'websocket' } = adapter
    await this.#queue.run(async () => {
      const opened = await this.#db.transaction(async (tx) =>
        openSiteConnection(tx, await nextRevision(tx, 'connections'), { manufacturer, source, transport }),
      )
      this.#change([opened])
    })
  }

  /** Applies an event of the source's subscription to its connections. */
  async record(source: string, event: ConnectionEvent): Promise<void> {
    this.#flapping.record(source, event.type)
    const isFlapping = this.#flapping.has(source)
    const changed = this.ofSource(source).flatMap((before) => {
      if (event.type === 'opened' && isOpen(before)) return []
      const after = applyConnectionEvent(this.#messageTimes.addTo(before), event, isFlapping)
      return after.status === 'stopped' || after === before ? [] : [after]
    })
    if (changed.length > 0) await this.#changeAndSave(changed)
  }

  /** Records that the subscription delivered a message about this receiver. */
  recordMessage(receiverId: number): void {
    this.#messageTimes.record(receiverId)
  }

  /** Records that a followed installation sent a message. */
  recordSiteMessage(source: string): void {
    for (const id of this.#records.bySource.get(source)?.keys() ?? []) this.#messageTimes.record(id)
  }

  /** Disconnects the receiver after a message that it was removed from its system. */
  async remove(receiverId: number): Promise<void> {
    const known = this.find(receiverId)
    if (known === undefined || known.source === null) return
    await this.#changeAndSave([this.#withoutSource(known)])
  }

  /**
   * Marks connections as disconnected if no process holds their subscription any more, for example because the process
   * was killed. Takes effect on the second consecutive call that finds no lease, or immediately with `isAtOnce`.
   */
  async closeOrphaned({ isAtOnce }: { readonly isAtOnce: boolean } = { isAtOnce: false }): Promise<void> {
    const held = new Set((await listHeldLeases(this.#db.read)).map((lease) => lease.source))
    const before = this.#orphaned
    const current = new Set<string>()
    this.#orphaned = current
    for (const source of this.#records.bySource.keys()) {
      const connections = this.ofSource(source)
      const status = subscriptionStatus(connections.filter((connection) => connection.status !== 'stopped'))
      // The process that holds the lease of a followed installation also holds its connection.
      const lease = connections.some(({ receiver }) => receiver === null) ? source : subscriptionLease(source)
      if (status === null || status === 'disconnected' || held.has(lease)) continue
      current.add(source)
      // A process that is taking over the subscription may not have acquired the lease yet. The next call closes the
      // subscription if it finds no lease.
      if (!isAtOnce && !before.has(source)) continue
      const reason = 'the process that held the subscription has ended'
      await this.record(source, { type: 'ended', at: now(), reason })
    }
  }

  /** Returns the status of the subscription of every source, except followed installations, whose failures are counted. */
  subscriptions(): readonly SubscriptionStatus[] {
    return [...this.#records.bySource].flatMap(([source, connections]) => {
      const [first] = connections.values()
      if (first === undefined || first.receiver === null) return []
      const { manufacturer } = first
      const downSince = this.#statusPublisher.downSince(source)
      const isFlapping = this.#flapping.has(source)
      return [{ manufacturer, source, isEnabled: isEnabled(connections), isFlapping, downSince }]
    })
  }

  /**
   * Returns the records to change so that they match the devices that the source lists. `hasForeign` is true if some of
   * these receivers keep their connection to another source. That source may be removed at any time, so the input of
   * `setDevices` must not be remembered in this case.
   */
  #planDevices(
    { id: source, manufacturer, adapter }: MonitoredSource,
    deviceIds: readonly string[],
  ): { readonly changed: readonly Connection[]; readonly hasForeign: boolean } {
    const listed = new Set<number>()
    const changed: Connection[] = []
    let hasForeign = false
    for (const deviceId of deviceIds) {
      const receiver = this.#receiverStore.factsByApiId(manufacturer, deviceId)
      if (receiver === undefined) continue
      listed.add(receiver.id)
      const known = this.find(receiver.id)
      if (known === undefined) {
        changed.push(newConnection(receiver.id, manufacturer, source, adapter.transport ?? 'websocket'))
      } else if (known.source !== source && this.#canReplace(adapter, known.source)) {
        changed.push({ ...known, source, manufacturer, transport: adapter.transport ?? known.transport })
      } else if (known.source !== source) hasForeign = true
    }
    for (const known of this.ofSource(source)) {
      if (!listed.has(known.id)) changed.push(this.#withoutSource(known))
    }
    return { changed, hasForeign }
  }

  /**
   * True if a source with this adapter may replace the connection's current source, because that does not exist or has
   * lower precedence.
   */
  #canReplace({ precedence = 0 }: ProtocolAdapter, source: string | null): boolean {
    const current = source === null ? undefined : this.#sourceRegistry.find(source)
    return current === undefined || (current.adapter.precedence ?? 0) < precedence
  }

  #withoutSource(known: Connection): Connection {
    const reason = 'the system no longer lists this receiver'
    const event = { type: 'ended', at: now(), reason } as const
    return { ...applyConnectionEvent(this.#messageTimes.addTo(known), event), source: null }
  }

  /** Applies changes by this process and stores them. */
  #changeAndSave(connections: readonly Connection[]): Promise<void> {
    for (const { id } of connections) this.#unsaved.add(id)
    this.#change(connections)
    return this.#queue.run(() => this.#save())
  }

  #change(connections: readonly Connection[]): void {
    const sources = new Set(connections.flatMap((connection) => this.#records.put(connection)))
    for (const source of sources) {
      this.#statusPublisher.update(source, this.ofSource(source))
      const listeners = this.#changeListeners.get(source) ?? []
      this.#changeListeners.delete(source)
      for (const listener of listeners) listener()
    }
  }

  async #readChanges(): Promise<void> {
    const { read } = this.#db
    await this.#save()
    await this.#messageTimes.save()
    const revision = await currentRevision(read, 'connections')
    if (revision === this.#lastRevision) return
    const rows = await listConnections(read, this.#lastRevision)
    this.#lastRevision = revision
    const changed = rows.filter((row) => this.#isNewer(row, this.find(row.id)))
    for (const { id } of changed) this.#unsaved.delete(id)
    this.#change(changed)
  }

  /**
   * True if the stored record differs from the known one and should replace it. An unsaved record of this process is
   * kept, unless a user has stopped or started the connection.
   */
  #isNewer(row: Connection, known: Connection | undefined): boolean {
    if (known === undefined) return true
    const isUnsaved = this.#unsaved.has(row.id)
    if (isUnsaved && (row.status === 'stopped') === (known.status === 'stopped')) return false
    const { last_message_at: _, ...stored } = row
    const { last_message_at: __, ...before } = known
    return JSON.stringify(stored) !== JSON.stringify(before)
  }

  /** Stores unsaved records. A failure does not interrupt the subscription. */
  async #save(): Promise<void> {
    // When a receiver is removed, its record is removed as well.
    for (const id of this.#unsaved) if (id > 0 && this.#receiverStore.facts(id) === undefined) this.#forget(id)
    const due = [...this.#unsaved].flatMap((id) => this.find(id) ?? [])
    if (due.length === 0) return
    this.#unsaved.clear()
    try {
      await this.#db.transaction(async (tx) => saveConnections(tx, await nextRevision(tx, 'connections'), due))
    } catch (error) {
      for (const { id } of due) this.#unsaved.add(id)
      this.#log.warn({ connections: due.length, error: String(error) }, 'connection records could not be stored')
    }
  }

  #forget(receiverId: number): void {
    this.#records.delete(receiverId)
    this.#messageTimes.delete(receiverId)
    this.#unsaved.delete(receiverId)
  }
}

function isSameInput(before: DevicesInput | undefined, input: DevicesInput): boolean {
  return before?.ids === input.ids && before.identities === input.identities && before.changes === input.changes
}

function isEnabled(connections: ReadonlyMap<number, Connection>): boolean {
  for (const { status } of connections.values()) if (status !== 'stopped') return true
  return false
}
