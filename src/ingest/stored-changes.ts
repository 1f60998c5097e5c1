/** Loads into memory what other processes have stored about receivers, units, conditions and the review queue. */

import { isDeepStrictEqual } from 'node:util'
import type { Alerts } from '../alerts/alerts.ts'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import type { QueueEntry } from '../domain/equipment/discovery.ts'
import type { Unit } from '../domain/equipment/hardware.ts'
import { type Channel, clampLastSeen, type Receiver } from '../domain/equipment/receiver.ts'
import { levelDetails } from '../domain/levels/level-sample.ts'
import type { Cache } from '../platform/cache.ts'
import { listConditions, type StoredCondition } from '../storage/channel-states.ts'
import type { Database, Reader } from '../storage/database.ts'
import { listEntries } from '../storage/discovery.ts'
import { listReceivers, listRemovals } from '../storage/receivers.ts'
import type { Revisions } from '../storage/revision.ts'
import { currentRevisions } from '../storage/revision.ts'
import { listUnits } from '../storage/units.ts'
import type { Backlog } from './backlog.ts'
import type { PlaceholderStore, StoredSlots } from './placeholder-store.ts'
import type { ReceiverStore } from './receiver-store.ts'
import type { ReceiverUpdates } from './receiver-updates.ts'
import type { RemoteLevelLane } from './remote-levels.ts'
import type { UnitStore } from './unit-store.ts'

export interface StoredChangesDeps {
  readonly db: Pick<Database, 'read'>
  readonly receiverStore: ReceiverStore
  readonly placeholderStore: PlaceholderStore
  readonly unitStore: Pick<UnitStore, 'put' | 'removeReceiver'>
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly backlog: Backlog
  readonly conditions: Pick<ConditionMonitor, 'load' | 'withConditions'>
  readonly alerts: Pick<Alerts, 'releaseReceiver'>
  readonly updates: ReceiverUpdates
  readonly remoteLevels: Pick<RemoteLevelLane, 'isNewerThan' | 'remove'>
  /** The wall-clock time in epoch ms. */
  now(): number
}

/** What transactions that incremented `revision` have changed. */
interface StoredChange {
  readonly receivers: readonly Receiver[]
  readonly entries: readonly QueueEntry[]
  readonly units: readonly Unit[]
  readonly removals: readonly number[]
  readonly slots: StoredSlots
}

export class StoredChanges {
  readonly #deps: StoredChangesDeps

  constructor(deps: StoredChangesDeps) {
    this.#deps = deps
  }

  /** Loads everything that changed after what memory contains. */
  async load(): Promise<void> {
    const { db, receiverStore } = this.#deps
    const { revision, readings } = await currentRevisions(db.read)
    if (revision !== receiverStore.revisions.revision) {
      const changes = await this.#readChanges(receiverStore.revisions.revision)
      receiverStore.revisions = { ...receiverStore.revisions, revision }
      this.#apply(changes)
    }
    await this.loadReadings(db.read, readings)
  }

  /** Loads the readings and conditions of each manufacturer up to the value of its counter of readings. */
  async loadReadings(reader: Reader, counters: Revisions['readings']): Promise<void> {
    const { receiverStore } = this.#deps
    for (const [manufacturer, value] of counters) {
      const known = receiverStore.revisions.readings
      const since = { manufacturer, readings: known.get(manufacturer) ?? 0 }
      if (since.readings === value) continue
      const receivers = await listReceivers(reader, since)
      const memories = await listConditions(reader, since)
      receiverStore.revisions = { ...receiverStore.revisions, readings: new Map(known).set(manufacturer, value) }
      for (const receiver of receivers) this.#put(receiver)
      this.#putConditions(memories)
    }
  }

  async #readChanges(since: number): Promise<StoredChange> {
    const { db, placeholderStore } = this.#deps
    const [receivers, entries, units, removals, slots] = await Promise.all([
      listReceivers(db.read, since),
      listEntries(db.read, since),
      listUnits(db.read, since),
      listRemovals(db.read, since),
      placeholderStore.read(db.read),
    ])
    return { receivers, entries, units, removals, slots }
  }

  #apply(changes: StoredChange): void {
    const { receiverStore, placeholderStore, unitStore, cache } = this.#deps
    if (placeholderStore.replace(changes.slots)) cache.drop(null)
    for (const id of changes.removals) this.#remove(id)
    for (const entry of changes.entries) {
      receiverStore.putEntry(entry)
      cache.drop(entry.manufacturer)
    }
    for (const unit of changes.units) unitStore.put(unit)
    for (const receiver of changes.receivers) this.#put(receiver)
  }

  #putConditions(memories: readonly StoredCondition[]): void {
    const { receiverStore, conditions, alerts, updates } = this.#deps
    for (const id of conditions.load(memories)) {
      alerts.releaseReceiver(id)
      const receiver = receiverStore.get(id)
      if (receiver !== undefined) updates.put(conditions.withConditions(receiver))
    }
  }

  /** Replaces unsaved levels with the stored ones, after another process has taken over the source. */
  async discardUnsaved(manufacturer: string): Promise<void> {
    const { db, backlog, conditions, updates, cache } = this.#deps
    const ids = new Set(backlog.listUnsaved(manufacturer))
    for (const id of ids) backlog.markSaved(id)
    for (const receiver of ids.size === 0 ? [] : await listReceivers(db.read))
      if (ids.has(receiver.id)) updates.put(conditions.withConditions(receiver))
    cache.drop(manufacturer)
  }

  #put(stored: Receiver): void {
    const { receiverStore, cache, backlog, conditions, alerts, updates, remoteLevels, now } = this.#deps
    const receiver = clampLastSeen(now(), stored)
    cache.drop(receiver.manufacturer)
    if (receiver.origin !== undefined) {
      this.#putFollowed(receiver)
      return
    }
    backlog.recordSave(receiver.id)
    alerts.releaseReceiver(receiver.id)
    const known = receiverStore.get(receiver.id)
    const isNewer = backlog.has(receiver.id) || remoteLevels.isNewerThan(receiver)
    const newest = conditions.withConditions(isNewer ? withLevelsOf(receiver, known) : receiver)
    updates.put(withKnownChannels(newest, known))
  }

  /** Puts a receiver of another installation. Its levels are not stored, so the known ones are newer. */
  #putFollowed(receiver: Receiver): void {
    const { receiverStore, updates } = this.#deps
    const known = receiverStore.get(receiver.id)
    const channels = receiver.channels.map((channel) => {
      const current = known?.channels.find(({ id }) => id === channel.id)
      return current === undefined ? channel : withLevelsFrom(channel, current)
    })
    updates.put(withKnownChannels({ ...receiver, channels }, known))
  }

  #remove(id: number): void {
    const { receiverStore, unitStore, backlog, updates, remoteLevels } = this.#deps
    const receiver = receiverStore.get(id)
    if (receiver === undefined) return
    unitStore.removeReceiver(id)
    backlog.remove(id)
    remoteLevels.remove(id)
    updates.remove(receiver)
  }
}

/** Keeps the known channel objects if they are equal, so that unchanged channels are not published again. */
function withKnownChannels(receiver: Receiver, known: Receiver | undefined): Receiver {
  const isKnown = known !== undefined && isDeepStrictEqual(known.channels, receiver.channels)
  return isKnown ? { ...receiver, channels: known.channels } : receiver
}

/** Returns the channel with the levels of `current`, as far as both have a transmitter or both have none. */
function withLevelsFrom(channel: Channel, current: Channel): Channel {
  const { rf_level, audio_level } = current
  const details = { ...channel.details }
  for (const name of levelDetails) {
    const level = current.details?.[name]
    if (level !== undefined) Object.assign(details, { [name]: level })
  }
  const hasDetails = Object.keys(details).length > 0
  const transmitter = channel.transmitter &&
    current.transmitter && {
      ...channel.transmitter,
      rf_level: current.transmitter.rf_level,
      audio_level: current.transmitter.audio_level,
    }
  if (transmitter === null && (channel.transmitter !== null || current.transmitter !== null)) return channel
  return { ...channel, rf_level, audio_level, transmitter, ...(hasDetails && { details }) }
}

/** Returns the stored receiver with the newer levels from memory, which are not stored yet. */
function withLevelsOf(stored: Receiver, known: Receiver | undefined): Receiver {
  const channels = stored.channels.map((channel) => {
    const live = known?.channels.find(({ id }) => id === channel.id)
    return live === undefined ? channel : { ...live, slot: channel.slot }
  })
  return { ...stored, channels, last_seen: Math.max(stored.last_seen, known?.last_seen ?? 0) }
}
