/**
 * The book of real-time connections: one record a receiver, in memory and as stored, whichever process keeps the link.
 * What a link does is written by whoever keeps it; what a person decides (stop, start) is written by `actions/` and read
 * here, as is what other processes' links do.
 */

import type { Feed } from '../live/feed.ts'
import type { ReceiverStore } from '../live/receiver-store.ts'
import type { ProtocolAdapter } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import type { SubscriptionStatus } from '../model/alert.ts'
import {
  applyConnectionEvent,
  type Connection,
  type ConnectionEvent,
  type ConnectionStatus,
  newConnection,
  subscriptionStatus,
} from '../model/connection.ts'
import { subscriptionPrefix } from '../model/node.ts'
import { listConnections, saveConnections, saveLastMessages } from '../store/connections.ts'
import type { Database } from '../store/database.ts'
import { listHeldLeases } from '../store/leases.ts'
import { currentRevision, nextRevision } from '../store/revision.ts'
import type { Log } from './log.ts'

export interface Connections {
  /** Everything as stored; nothing is announced. */
  open(): Promise<void>
  /** Takes in what other processes and people changed, and stores what could not be stored before. */
  load(): Promise<void>
  find(receiverId: number): Connection | undefined
  /** Since when it is connected, of `performance.now()`; null while it is not. */
  connectedSince(receiverId: number): number | null
  /** Every connection as stored, with when this process last heard of it; by receiver. */
  readAll(): Promise<readonly Connection[]>
  ofSource(source: string): readonly Connection[]
  /** Resolves when anything about the source's connections has changed; rejects when the signal aborts. */
  waitForChange(source: string, signal: AbortSignal): Promise<void>
  /** These are the devices the source lists: each has a connection to it from now on, and nobody else has. */
  setDevices(source: MonitoredSource, deviceIds: readonly string[]): Promise<void>
  /** Something happened to the source's link. */
  record(source: string, event: ConnectionEvent): Promise<void>
  /** The link told something of this receiver. */
  recordMessage(receiverId: number): void
  /** The link told that the receiver is there no more. */
  remove(receiverId: number): Promise<void>
  /**
   * Connections of links that nobody keeps any more, because their process was killed, are disconnected: at the second
   * call that finds them so, or at once.
   */
  closeOrphaned(options?: { readonly isAtOnce: boolean }): Promise<void>
  /** Another process's link tells the levels of this receiver. */
  isSubscribedElsewhere(receiverId: number): boolean
  /** How every source's link fares. */
  subscriptions(): readonly SubscriptionStatus[]
}

export interface ConnectionDeps {
  readonly db: Database
  readonly receiverStore: Pick<ReceiverStore, 'get' | 'byApiId' | 'identityRevision'>
  readonly feed: Pick<Feed, 'publish'>
  readonly log: Log
  now(): number
  /** Of the form the source speaks; null where there is no such source any more. */
  precedenceOf(source: string): number | null
}

/** The lease of a source's subscription. Another than that of polling: see docs/decisions/0008-subscriptions.md. */
export function subscriptionLease(source: string): string {
  return `${subscriptionPrefix}${source}`
}

/** When something was last heard is written down this often. */
const saveHeardEveryMs = 10_000

export function createConnections(deps: ConnectionDeps): Connections {
  const { db, receiverStore, feed, log, now } = deps
  const all = new Map<number, Connection>()
  const bySource = new Map<string, Map<number, Connection>>()
  /** Rises with every change of the book. */
  let changes = 0
  /** What was expected of a source last, and how everything stood then: as long as that stands, all is as expected. */
  const expected = new Map<
    string,
    { readonly ids: readonly string[]; readonly identities: number; readonly changes: number }
  >()
  /** Sources whose links nobody kept at the last look. */
  let unkept: ReadonlySet<string> = new Set()
  const heardAt = new Map<number, number>()
  const connectedSince = new Map<number, number>()
  const heardUnsaved = new Set<number>()
  let heardSavedAt = 0
  const unsaved = new Set<number>()
  /** Sources whose link this process keeps, or tries to. */
  const kept = new Set<string>()
  const waiting = new Map<string, Set<() => void>>()
  const toldStatus = new Map<string, ConnectionStatus>()
  /** Of `performance.now()`. */
  const downSince = new Map<string, number>()
  let seen = -1
  let turn: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  /** Returns the sources that are concerned. */
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
      const own = bySource.get(source) ?? new Map<number, Connection>()
      own.set(connection.receiver, connection)
      bySource.set(source, own)
    }
    return [before?.source ?? null, source].filter((one) => one !== null)
  }

  function change(connections: readonly Connection[], isOwn: boolean): void {
    const sources = new Set<string>()
    for (const connection of connections) {
      for (const source of put(connection)) sources.add(source)
      if (isOwn) unsaved.add(connection.receiver)
      else unsaved.delete(connection.receiver)
    }
    for (const source of sources) {
      tellStatus(source)
      const wake = [...(waiting.get(source) ?? [])]
      waiting.delete(source)
      for (const resolve of wake) resolve()
    }
  }

  /** One message a change of state; a try is none. */
  function tellStatus(source: string, isSilent = false): void {
    const own = ofSource(source)
    const status = subscriptionStatus(own)
    const [first] = own
    if (status === null || first === undefined || status === 'connected' || status === 'stopped')
      downSince.delete(source)
    else if (!downSince.has(source)) downSince.set(source, performance.now())
    if (status === null || first === undefined || status === 'connecting') return
    const before = toldStatus.get(source) ?? 'disconnected'
    toldStatus.set(source, status)
    if (before === status || isSilent) return
    const { manufacturer } = first
    const reason = own.find((one) => one.status === status)?.error_message ?? null
    const message = `${manufacturer}: real-time link ${status}${reason === null ? '' : `: ${reason}`}`
    feed.publish({ type: 'status_update', about: 'link', manufacturer, status, message })
  }

  function ofSource(source: string): Connection[] {
    return [...(bySource.get(source)?.values() ?? [])]
  }

  /** What is in memory and not on disk yet. A database that is out of reach does not hold the link up. */
  async function save(): Promise<void> {
    // A receiver that is gone has taken its record along.
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

  async function saveHeard(): Promise<void> {
    if (heardUnsaved.size === 0 || performance.now() - heardSavedAt < saveHeardEveryMs) return
    const due = [...heardUnsaved].map((id) => [id, heardAt.get(id) ?? 0] as const)
    heardUnsaved.clear()
    heardSavedAt = performance.now()
    await db
      .transaction((tx) => saveLastMessages(tx, due))
      .catch((error) => {
        for (const [id] of due) heardUnsaved.add(id)
        log.warn({ connections: due.length, error: String(error) }, 'when links were heard last could not be stored')
      })
  }

  function forget(receiverId: number): void {
    const source = all.get(receiverId)?.source
    if (source) bySource.get(source)?.delete(receiverId)
    for (const kept of [all, heardAt, connectedSince]) kept.delete(receiverId)
    for (const kept of [unsaved, heardUnsaved]) kept.delete(receiverId)
    changes += 1
  }

  async function readChanges(): Promise<void> {
    await save()
    await saveHeard()
    const revision = await currentRevision(db.read, 'connections')
    if (revision === seen) return
    const rows = await listConnections(db.read, seen)
    seen = revision
    change(
      rows.filter((row) => isNews(row, all.get(row.receiver))),
      false,
    )
  }

  /** Our own word is newer than the store's while it is not stored; but what a person decided stands above it. */
  function isNews(row: Connection, known: Connection | undefined): boolean {
    if (known === undefined) return true
    if (unsaved.has(row.receiver) && (row.status === 'stopped') === (known.status === 'stopped')) return false
    const { last_message_at: _, ...told } = row
    const { last_message_at: __, ...before } = known
    return JSON.stringify(told) !== JSON.stringify(before)
  }

  /** Nobody's, or that of a form whose word counts for less. */
  function isFreeFor({ precedence = 0 }: ProtocolAdapter, source: string | null): boolean {
    const held = source === null ? null : deps.precedenceOf(source)
    return held === null || held < precedence
  }

  function withHeard(connection: Connection): Connection {
    const at = heardAt.get(connection.receiver) ?? 0
    const known = connection.last_message_at ?? 0
    // A time that lies ahead was stored before the clock was set back.
    return at > known || (at > 0 && known > now()) ? { ...connection, last_message_at: at } : connection
  }

  function withoutSource(known: Connection): Connection {
    const reason = 'its system does not list this receiver'
    return { ...applyConnectionEvent(withHeard(known), { type: 'ended', at: now(), reason }), source: null }
  }

  async function record(source: string, event: ConnectionEvent): Promise<void> {
    if (event.type === 'trying') kept.add(source)
    if (event.type === 'ended') kept.delete(source)
    const changed = ofSource(source).flatMap((before) => {
      if (event.type === 'opened' && before.status === 'connected') return []
      const after = applyConnectionEvent(withHeard(before), event)
      return after.status === 'stopped' || after === before ? [] : [after]
    })
    if (changed.length === 0) return
    change(changed, true)
    await inTurn(save)
  }

  return {
    open: () =>
      inTurn(async () => {
        seen = await currentRevision(db.read, 'connections')
        for (const connection of await listConnections(db.read)) put(connection)
        for (const source of bySource.keys()) tellStatus(source, true)
      }),
    load: () => inTurn(readChanges),
    find: (receiverId) => all.get(receiverId),
    connectedSince: (receiverId) => connectedSince.get(receiverId) ?? null,
    readAll: async () => (await listConnections(db.read)).map(withHeard),
    ofSource,
    waitForChange: (source, signal) =>
      new Promise((resolve, reject) => {
        const own = waiting.get(source) ?? new Set()
        waiting.set(source, own)
        const tell = () => {
          signal.removeEventListener('abort', end)
          resolve()
        }
        const end = () => {
          own.delete(tell)
          reject(signal.reason)
        }
        if (signal.aborted) return end()
        signal.addEventListener('abort', end, { once: true })
        own.add(tell)
      }),
    async setDevices(heard, deviceIds) {
      const { id: source, manufacturer, adapter } = heard
      if (adapter.subscribe === undefined) return
      const before = expected.get(source)
      const { identityRevision } = receiverStore
      if (before?.ids === deviceIds && before.identities === identityRevision && before.changes === changes) return
      const listed = new Set<number>()
      const changed: Connection[] = []
      /** Another source may cease to be one at any time. */
      let hasForeign = false
      for (const deviceId of deviceIds) {
        const receiver = receiverStore.byApiId(manufacturer, deviceId)
        if (receiver === undefined) continue
        listed.add(receiver.id)
        const known = all.get(receiver.id)
        if (known === undefined) {
          changed.push(newConnection(receiver.id, manufacturer, source, adapter.transport ?? 'websocket'))
        } else if (known.source !== source && isFreeFor(adapter, known.source)) {
          changed.push({ ...known, source, manufacturer, transport: adapter.transport ?? known.transport })
        } else if (known.source !== source) hasForeign = true
      }
      for (const known of ofSource(source)) if (!listed.has(known.receiver)) changed.push(withoutSource(known))
      if (changed.length === 0) {
        if (!hasForeign) expected.set(source, { ids: deviceIds, identities: identityRevision, changes })
        return
      }
      change(changed, true)
      await inTurn(save)
    },
    record,
    recordMessage(receiverId) {
      heardAt.set(receiverId, now())
      heardUnsaved.add(receiverId)
    },
    async remove(receiverId) {
      const known = all.get(receiverId)
      if (known === undefined || known.source === null) return
      change([withoutSource(known)], true)
      await inTurn(save)
    },
    async closeOrphaned({ isAtOnce } = { isAtOnce: false }) {
      const held = new Set((await listHeldLeases(db.read)).map((lease) => lease.source))
      const before = unkept
      const lonely = new Set<string>()
      unkept = lonely
      for (const source of bySource.keys()) {
        const status = subscriptionStatus(ofSource(source).filter((one) => one.status !== 'stopped'))
        if (status === null || status === 'disconnected' || held.has(subscriptionLease(source))) continue
        lonely.add(source)
        // Whoever is about to keep a link has no lease on it for a moment.
        if (!isAtOnce && !before.has(source)) continue
        await record(source, { type: 'ended', at: now(), reason: 'the process that kept the link has ended' })
      }
    },
    isSubscribedElsewhere(receiverId) {
      const known = all.get(receiverId)
      return known?.status === 'connected' && known.source !== null && !kept.has(known.source)
    },
    subscriptions: () =>
      [...bySource].flatMap(([source, own]) => {
        const [first] = own.values()
        if (first === undefined) return []
        return [
          {
            manufacturer: first.manufacturer,
            source,
            isWanted: isWanted(own),
            downSince: downSince.get(source) ?? null,
          },
        ]
      }),
  }
}

function isWanted(connections: ReadonlyMap<number, Connection>): boolean {
  for (const { status } of connections.values()) if (status !== 'stopped') return true
  return false
}
