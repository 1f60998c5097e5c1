/**
 * The real-time connection records, one per receiver, in memory and in the database. The process that holds a
 * subscription writes its state. When a user stops or starts a connection, `actions/` stores the change; this module
 * loads such changes, and the states of subscriptions that other processes hold.
 */

import type { StatusUpdate } from '../contract/messages.ts'
import type { SubscriptionStatus } from '../domain/alerts/alert.ts'
import {
  applyConnectionEvent,
  type Connection,
  type ConnectionEvent,
  type ConnectionStatus,
  newConnection,
  subscriptionStatus,
} from '../domain/equipment/connection.ts'
import { subscriptionPrefix } from '../domain/scheduling/node.ts'
import type { ProtocolAdapter } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { Feed } from '../state/feed.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import { listConnections, saveConnections, saveLastMessages } from '../storage/connections.ts'
import type { Database } from '../storage/database.ts'
import { listHeldLeases } from '../storage/leases.ts'
import { currentRevision, nextRevision } from '../storage/revision.ts'
import type { Log } from './log.ts'

export interface Connections {
  /** Loads all records without publishing them. */
  open(): Promise<void>
  /** Loads the changes made by other processes and users, and retries failed writes. */
  load(): Promise<void>
  find(receiverId: number): Connection | undefined
  /** Returns when the receiver's connection was established (`performance.now()`); null while it is not connected. */
  connectedSince(receiverId: number): number | null
  /** Reads every stored connection, ordered by receiver, with the last message time known to this process. */
  readAll(): Promise<readonly Connection[]>
  ofSource(source: string): readonly Connection[]
  /** Resolves when any of the source's connections has changed; rejects when the signal aborts. */
  waitForChange(source: string, signal: AbortSignal): Promise<void>
  /**
   * Sets the devices that the source lists. Each is given a connection to this source, unless it already has one to a
   * source of the same or higher precedence. This source's connections to other devices are disconnected, and no longer
   * belong to it.
   */
  setDevices(source: MonitoredSource, deviceIds: readonly string[]): Promise<void>
  /** Applies an event of the source's subscription to its connections. */
  record(source: string, event: ConnectionEvent): Promise<void>
  /** Records that the subscription delivered a message about this receiver. */
  recordMessage(receiverId: number): void
  /** Disconnects the receiver after a message that it was removed from its system. */
  remove(receiverId: number): Promise<void>
  /**
   * Marks connections as disconnected if no process holds their subscription any more, for example because the process
   * was killed. Takes effect on the second consecutive call that finds no lease, or immediately with `isAtOnce`.
   */
  closeOrphaned(options?: { readonly isAtOnce: boolean }): Promise<void>
  /** Increases with every change of a record. */
  readonly changes: number
  /** Whether another process's subscription delivers this receiver's levels. */
  isSubscribedElsewhere(receiverId: number): boolean
  /** Returns the status of every source's subscription. */
  subscriptions(): readonly SubscriptionStatus[]
}

export interface ConnectionDeps {
  readonly db: Database
  readonly receiverStore: Pick<ReceiverStore, 'get' | 'byApiId' | 'identityRevision'>
  readonly feed: Pick<Feed, 'publish'>
  readonly log: Log
  now(): number
  /** Called whenever a subscription has connected, failed or ended, even if it was already in that state. */
  onStatusChanged?(update: StatusUpdate): void
  /** Returns the precedence of the source's protocol adapter; null if the source does not exist. */
  precedenceOf(source: string): number | null
}

/**
 * Returns the name of the lease on a source's subscription, which is separate from its polling lease: see
 * docs/decisions/0008-subscriptions.md.
 */
export function subscriptionLease(source: string): string {
  return `${subscriptionPrefix}${source}`
}

/** How often the times of the last messages are stored. */
const saveMessageTimesEveryMs = 10_000

export function createConnections(deps: ConnectionDeps): Connections {
  const { db, receiverStore, feed, log, now } = deps
  const all = new Map<number, Connection>()
  const bySource = new Map<string, Map<number, Connection>>()
  /** Increases with every change of a record. */
  let changes = 0
  /**
   * By source: the device ids last passed to `setDevices`, and the versions of the data that it used. If all are
   * unchanged, `setDevices` has nothing to do.
   */
  const lastDevices = new Map<
    string,
    { readonly ids: readonly string[]; readonly identities: number; readonly changes: number }
  >()
  /** Sources whose subscription was recorded as active at the last check, although no process held its lease. */
  let orphaned: ReadonlySet<string> = new Set()
  const messageAt = new Map<number, number>()
  const connectedSince = new Map<number, number>()
  const unsavedMessageTimes = new Set<number>()
  let messageTimesSavedAt = 0
  const unsaved = new Set<number>()
  /** Sources whose subscription this process holds or tries to open. */
  const ownSources = new Set<string>()
  const changeListeners = new Map<string, Set<() => void>>()
  const publishedStatus = new Map<string, ConnectionStatus>()
  /** The last status of each source's subscription; unlike `publishedStatus`, it may be `connecting`. */
  const lastStatus = new Map<string, ConnectionStatus | null>()
  /** When each subscription went down (`performance.now()`), by source. */
  const downSince = new Map<string, number>()
  let lastRevision = -1
  /** Serializes reads and writes of the records. */
  const queue = new Semaphore(1)

  /** Stores a record in memory. Returns the affected sources. */
  function put(connection: Connection): string[] {
    const before = all.get(connection.receiver)
    all.set(connection.receiver, connection)
    if (connection.status !== 'connected') connectedSince.delete(connection.receiver)
    else if (before?.status !== 'connected' || before.connected_at !== connection.connected_at) {
      connectedSince.set(connection.receiver, performance.now())
    }
    changes += 1
    const { source } = connection
    if (before?.source && before.source !== source) bySource.get(before.source)?.delete(connection.receiver)
    if (source !== null) {
      const records = bySource.get(source) ?? new Map<number, Connection>()
      records.set(connection.receiver, connection)
      bySource.set(source, records)
    }
    return [before?.source ?? null, source].filter((id) => id !== null)
  }

  function change(connections: readonly Connection[], isOwn: boolean): void {
    const sources = new Set<string>()
    for (const connection of connections) {
      for (const source of put(connection)) sources.add(source)
      if (isOwn) unsaved.add(connection.receiver)
      else unsaved.delete(connection.receiver)
    }
    for (const source of sources) {
      publishStatus(source)
      const listeners = [...(changeListeners.get(source) ?? [])]
      changeListeners.delete(source)
      for (const listener of listeners) listener()
    }
  }

  /**
   * Publishes a message when the status of a source's subscription has changed. Connection attempts are not published.
   */
  function publishStatus(source: string, isSilent = false): void {
    const connections = ofSource(source)
    const status = subscriptionStatus(connections)
    const [first] = connections
    if (status === null || first === undefined || status === 'connected' || status === 'stopped')
      downSince.delete(source)
    else if (!downSince.has(source)) downSince.set(source, performance.now())
    const previous = lastStatus.get(source)
    lastStatus.set(source, status)
    if (status === null || first === undefined || status === 'connecting') return
    const before = publishedStatus.get(source) ?? 'disconnected'
    publishedStatus.set(source, status)
    if (previous === status || isSilent) return
    const { manufacturer } = first
    const reason = connections.find((connection) => connection.status === status)?.error_message ?? null
    const message = `${manufacturer}: subscription ${status}${reason === null ? '' : `: ${reason}`}`
    const update = { type: 'status_update', about: 'link', manufacturer, status, message } as const
    deps.onStatusChanged?.(update)
    if (before !== status) feed.publish(update)
  }

  function ofSource(source: string): Connection[] {
    return [...(bySource.get(source)?.values() ?? [])]
  }

  /** Stores unsaved records. A failure does not interrupt the subscription. */
  async function save(): Promise<void> {
    // When a receiver is removed, its record is removed as well.
    for (const id of unsaved) if (receiverStore.get(id) === undefined) forget(id)
    const due = [...unsaved].flatMap((id) => all.get(id) ?? [])
    if (due.length === 0) return
    unsaved.clear()
    try {
      await db.transaction(async (tx) => saveConnections(tx, await nextRevision(tx, 'connections'), due))
    } catch (error) {
      for (const { receiver } of due) unsaved.add(receiver)
      log.warn({ connections: due.length, error: String(error) }, 'connection records could not be stored')
    }
  }

  async function saveMessageTimes(): Promise<void> {
    if (unsavedMessageTimes.size === 0 || performance.now() - messageTimesSavedAt < saveMessageTimesEveryMs) return
    const due = [...unsavedMessageTimes].map((id) => [id, messageAt.get(id) ?? 0] as const)
    unsavedMessageTimes.clear()
    messageTimesSavedAt = performance.now()
    await db
      .transaction((tx) => saveLastMessages(tx, due))
      .catch((error) => {
        for (const [id] of due) unsavedMessageTimes.add(id)
        log.warn({ connections: due.length, error: String(error) }, 'times of the last messages could not be stored')
      })
  }

  function forget(receiverId: number): void {
    const source = all.get(receiverId)?.source
    if (source) bySource.get(source)?.delete(receiverId)
    for (const records of [all, messageAt, connectedSince]) records.delete(receiverId)
    for (const ids of [unsaved, unsavedMessageTimes]) ids.delete(receiverId)
    changes += 1
  }

  async function readChanges(): Promise<void> {
    await save()
    await saveMessageTimes()
    const revision = await currentRevision(db.read, 'connections')
    if (revision === lastRevision) return
    const rows = await listConnections(db.read, lastRevision)
    lastRevision = revision
    change(
      rows.filter((row) => isNewer(row, all.get(row.receiver))),
      false,
    )
  }

  /**
   * Whether the stored record differs from the known one and should replace it. An unsaved record of this process is
   * kept, unless a user has stopped or started the connection.
   */
  function isNewer(row: Connection, known: Connection | undefined): boolean {
    if (known === undefined) return true
    if (unsaved.has(row.receiver) && (row.status === 'stopped') === (known.status === 'stopped')) return false
    const { last_message_at: _, ...stored } = row
    const { last_message_at: __, ...before } = known
    return JSON.stringify(stored) !== JSON.stringify(before)
  }

  /**
   * Whether a source with this adapter may replace the connection's current source: true if the connection has no
   * existing source, or one of lower precedence.
   */
  function canReplace({ precedence = 0 }: ProtocolAdapter, source: string | null): boolean {
    const current = source === null ? null : deps.precedenceOf(source)
    return current === null || current < precedence
  }

  function withMessageTime(connection: Connection): Connection {
    const at = messageAt.get(connection.receiver) ?? 0
    const known = connection.last_message_at ?? 0
    // If the stored time is in the future, the clock has been set back since then.
    return at > known || (at > 0 && known > now()) ? { ...connection, last_message_at: at } : connection
  }

  function withoutSource(known: Connection): Connection {
    const reason = 'the system no longer lists this receiver'
    return { ...applyConnectionEvent(withMessageTime(known), { type: 'ended', at: now(), reason }), source: null }
  }

  async function record(source: string, event: ConnectionEvent): Promise<void> {
    if (event.type === 'trying') ownSources.add(source)
    if (event.type === 'ended') ownSources.delete(source)
    const changed = ofSource(source).flatMap((before) => {
      if (event.type === 'opened' && before.status === 'connected') return []
      const after = applyConnectionEvent(withMessageTime(before), event)
      return after.status === 'stopped' || after === before ? [] : [after]
    })
    if (changed.length === 0) return
    change(changed, true)
    await queue.run(save)
  }

  return {
    open: () =>
      queue.run(async () => {
        lastRevision = await currentRevision(db.read, 'connections')
        for (const connection of await listConnections(db.read)) put(connection)
        for (const source of bySource.keys()) publishStatus(source, true)
      }),
    load: () => queue.run(readChanges),
    find: (receiverId) => all.get(receiverId),
    connectedSince: (receiverId) => connectedSince.get(receiverId) ?? null,
    readAll: async () => (await listConnections(db.read)).map(withMessageTime),
    ofSource,
    waitForChange: (source, signal) =>
      new Promise((resolve, reject) => {
        const listeners = changeListeners.get(source) ?? new Set()
        changeListeners.set(source, listeners)
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
      }),
    async setDevices({ id: source, manufacturer, adapter }, deviceIds) {
      if (adapter.subscribe === undefined) return
      const before = lastDevices.get(source)
      const { identityRevision } = receiverStore
      if (before?.ids === deviceIds && before.identities === identityRevision && before.changes === changes) return
      const listed = new Set<number>()
      const changed: Connection[] = []
      /**
       * Whether some of these receivers keep their connection to another source. That source may be removed at any
       * time, so `lastDevices` is not set in this case.
       */
      let hasForeign = false
      for (const deviceId of deviceIds) {
        const receiver = receiverStore.byApiId(manufacturer, deviceId)
        if (receiver === undefined) continue
        listed.add(receiver.id)
        const known = all.get(receiver.id)
        if (known === undefined) {
          changed.push(newConnection(receiver.id, manufacturer, source, adapter.transport ?? 'websocket'))
        } else if (known.source !== source && canReplace(adapter, known.source)) {
          changed.push({ ...known, source, manufacturer, transport: adapter.transport ?? known.transport })
        } else if (known.source !== source) hasForeign = true
      }
      for (const known of ofSource(source)) if (!listed.has(known.receiver)) changed.push(withoutSource(known))
      if (changed.length === 0) {
        if (!hasForeign) lastDevices.set(source, { ids: deviceIds, identities: identityRevision, changes })
        return
      }
      change(changed, true)
      await queue.run(save)
    },
    record,
    recordMessage(receiverId) {
      messageAt.set(receiverId, now())
      unsavedMessageTimes.add(receiverId)
    },
    async remove(receiverId) {
      const known = all.get(receiverId)
      if (known === undefined || known.source === null) return
      change([withoutSource(known)], true)
      await queue.run(save)
    },
    async closeOrphaned({ isAtOnce } = { isAtOnce: false }) {
      const held = new Set((await listHeldLeases(db.read)).map((lease) => lease.source))
      const before = orphaned
      const current = new Set<string>()
      orphaned = current
      for (const source of bySource.keys()) {
        const status = subscriptionStatus(ofSource(source).filter((connection) => connection.status !== 'stopped'))
        if (status === null || status === 'disconnected' || held.has(subscriptionLease(source))) continue
        current.add(source)
        // A process that is taking over the subscription may not have acquired the lease yet, so the subscription is
        // closed only if the next call does not find a lease either.
        if (!isAtOnce && !before.has(source)) continue
        await record(source, { type: 'ended', at: now(), reason: 'the process that held the subscription has ended' })
      }
    },
    get changes() {
      return changes
    },
    isSubscribedElsewhere(receiverId) {
      const known = all.get(receiverId)
      return known?.status === 'connected' && known.source !== null && !ownSources.has(known.source)
    },
    subscriptions: () =>
      [...bySource].flatMap(([source, connections]) => {
        const [first] = connections.values()
        if (first === undefined) return []
        return [
          {
            manufacturer: first.manufacturer,
            source,
            isEnabled: isEnabled(connections),
            downSince: downSince.get(source) ?? null,
          },
        ]
      }),
  }
}

function isEnabled(connections: ReadonlyMap<number, Connection>): boolean {
  for (const { status } of connections.values()) if (status !== 'stopped') return true
  return false
}
