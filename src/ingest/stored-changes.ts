/** Loads the changes by other processes to receivers, units, conditions and the review queue. */

import { isDeepStrictEqual } from 'node:util'
import type { QueueEntry } from '../domain/equipment/discovery.ts'
import type { Unit } from '../domain/equipment/hardware.ts'
import { type Channel, clampLastSeen, type Receiver } from '../domain/equipment/receiver.ts'
import { levelDetails } from '../domain/levels/level-sample.ts'
import type { StoredCast } from '../lists/cast.ts'
import { now } from '../platform/clock.ts'
import { listConditions, type StoredCondition } from '../storage/channel-states.ts'
import type { Reader } from '../storage/database.ts'
import { listEntries } from '../storage/discovery.ts'
import { listReceivers, listRemovals } from '../storage/receivers.ts'
import type { Revisions } from '../storage/revision.ts'
import { currentRevisions } from '../storage/revision.ts'
import { listUnitRemovals, listUnits } from '../storage/units.ts'
import type { Backlog } from './backlog.ts'
import type { IngestSubsystems } from './ingest-subsystems.ts'
import type { StoredSlots } from './placeholder-store.ts'
import type { ReceiverUpdates } from './receiver-updates.ts'
import type { RemoteLevelLane } from './remote-levels.ts'

/** Changes of transactions that incremented `revision`. */
interface StoredChange {
  readonly receivers: readonly Receiver[]
  readonly entries: readonly QueueEntry[]
  readonly units: readonly Unit[]
  readonly unitRemovals: readonly number[]
  readonly removals: readonly number[]
  readonly slots: StoredSlots
  readonly cast: StoredCast
}

export class StoredChanges {
  readonly #service: IngestSubsystems
  readonly #backlog: Backlog
  readonly #updates: ReceiverUpdates
  readonly #remoteLevels: RemoteLevelLane

  constructor(service: IngestSubsystems, backlog: Backlog, updates: ReceiverUpdates, remoteLevels: RemoteLevelLane) {
    this.#service = service
    this.#backlog = backlog
    this.#updates = updates
    this.#remoteLevels = remoteLevels
  }

  /** Loads everything that changed after what memory contains. */
  async load(): Promise<void> {
    const { db, receiverStore } = this.#service
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
    const { receiverStore } = this.#service
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

  /** Loads what was entered about slots, if it has changed. */
  async loadSlots(): Promise<void> {
    const { db, placeholderStore, cache } = this.#service
    if (placeholderStore.replace(await placeholderStore.read(db.read))) cache.drop(null)
  }

  async #readChanges(since: number): Promise<StoredChange> {
    const { db, placeholderStore, cast: current } = this.#service
    const [receivers, entries, units, unitRemovals, removals, slots, cast] = await Promise.all([
      listReceivers(db.read, since),
      listEntries(db.read, since),
      listUnits(db.read, since),
      listUnitRemovals(db.read, since),
      listRemovals(db.read, since),
      placeholderStore.read(db.read),
      current.read(db.read),
    ])
    return { receivers, entries, units, unitRemovals, removals, slots, cast }
  }

  #apply(changes: StoredChange): void {
    const { receiverStore, placeholderStore, unitStore, cast, cache } = this.#service
    if (cast.replace(changes.cast)) cache.drop(null)
    if (placeholderStore.replace(changes.slots)) cache.drop(null)
    for (const id of changes.removals) this.#remove(id)
    for (const entry of changes.entries) {
      receiverStore.putEntry(entry)
      cache.drop(entry.manufacturer)
    }
    for (const unit of changes.units) unitStore.put(unit)
    for (const id of changes.unitRemovals) unitStore.remove(id)
    for (const receiver of changes.receivers) this.#put(receiver)
  }

  #putConditions(memories: readonly StoredCondition[]): void {
    const { receiverStore, conditions, alerts } = this.#service
    for (const id of conditions.load(memories)) {
      alerts.releaseReceiver(id)
      const receiver = receiverStore.get(id)
      if (receiver !== undefined) this.#updates.put(conditions.withConditions(receiver))
    }
  }

  /** Replaces unsaved levels with the stored ones, after another process has taken over the source. */
  async discardUnsaved(manufacturer: string): Promise<void> {
    const { db, conditions, cache } = this.#service
    const ids = new Set(this.#backlog.listUnsaved(manufacturer))
    for (const id of ids) this.#backlog.markSaved(id)
    for (const receiver of ids.size === 0 ? [] : await listReceivers(db.read))
      if (ids.has(receiver.id)) this.#updates.put(conditions.withConditions(receiver))
    cache.drop(manufacturer)
  }

  #put(stored: Receiver): void {
    const { receiverStore, cache, conditions, alerts } = this.#service
    const receiver = clampLastSeen(now(), stored)
    cache.drop(receiver.manufacturer)
    if (receiver.origin !== undefined) {
      this.#putFollowed(receiver)
      return
    }
    this.#backlog.recordSave(receiver.id)
    alerts.releaseReceiver(receiver.id)
    const known = receiverStore.get(receiver.id)
    const newest = conditions.withConditions(this.#withNewer(receiver, known))
    this.#updates.put(withKnownChannels(newest, known))
  }

  /** Returns the stored receiver with the facts and levels of memory that are not stored yet. */
  #withNewer(stored: Receiver, known: Receiver | undefined): Receiver {
    if (known === undefined) return stored
    const hasNewerFacts = this.#backlog.hasFacts(stored.id) || this.#remoteLevels.hasNewerFactsThan(stored)
    const hasNewerLevels = this.#backlog.has(stored.id) || this.#remoteLevels.isNewerThan(stored)
    if (!hasNewerFacts && !hasNewerLevels) return stored
    const channels = stored.channels.map((channel) => {
      const live = known.channels.find(({ id }) => id === channel.id)
      if (live === undefined) return channel
      return hasNewerFacts ? withReadingsOf(live, channel) : withLevelsFrom(channel, live)
    })
    return { ...stored, channels, last_seen: Math.max(stored.last_seen, known.last_seen) }
  }

  /** Puts a receiver of another installation. Its levels are not stored, so the known ones are newer. */
  #putFollowed(receiver: Receiver): void {
    const known = this.#service.receiverStore.get(receiver.id)
    const channels = receiver.channels.map((channel) => {
      const current = known?.channels.find(({ id }) => id === channel.id)
      return current === undefined ? channel : withLevelsFrom(channel, current)
    })
    this.#updates.put(withKnownChannels({ ...receiver, channels }, known))
  }

  #remove(id: number): void {
    const { receiverStore, unitStore } = this.#service
    const receiver = receiverStore.get(id)
    if (receiver === undefined) return
    unitStore.removeReceiver(id)
    this.#backlog.remove(id)
    this.#remoteLevels.remove(id)
    this.#updates.remove(receiver)
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

/** Returns the stored channel with everything that the device has reported of the live one. */
function withReadingsOf(live: Channel, { slot, profile, not_now }: Channel): Channel {
  const { profile: _, not_now: __, ...reading } = live
  return { ...reading, slot, ...(profile !== undefined && { profile }), ...(not_now !== undefined && { not_now }) }
}
