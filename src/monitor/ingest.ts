/**
 * The one door through which facts about devices enter: what they mean is planned, written down in one transaction, and
 * only then shown and told on. Levels go to memory at once and to disk at the end of a polling cycle.
 */

import type { Cache } from '../live/cache.ts'
import type { Feed } from '../live/feed.ts'
import type { Latest } from '../live/latest.ts'
import type { Units } from '../live/units.ts'
import { toReceiverChange } from '../model/api.ts'
import { boundMetadata, type QueueEntry } from '../model/discovery.ts'
import { draftHeardUnits, type OwnUnits, planOwnUnits, renamedUnits, type Unit } from '../model/hardware.ts'
import {
  applyUpdate,
  type Intake,
  isNews,
  isStructural,
  planIntake,
  type Queued,
  spokenOf,
  type Update,
} from '../model/intake.ts'
import type { Observation, Receiver } from '../model/receiver.ts'
import { macKey, serialKey } from '../model/reconcile.ts'
import type { Database, Tx } from '../store/database.ts'
import { listEntries, logMovement, savePending, trimMovements, trimQueue } from '../store/discovery.ts'
import { addChannels, insertReceivers, listReceivers, listRemovals, saveReceivers } from '../store/receivers.ts'
import { currentRevision, nextRevision } from '../store/revision.ts'
import { insertUnits, listUnits, saveUnits } from '../store/units.ts'
import type { Alerts } from './alerts.ts'

export interface Batch {
  readonly manufacturer: string
  readonly observations: readonly Observation[]
  /** Receivers that are there no more: offline from now on, unless this very batch heard them. */
  readonly gone?: readonly number[]
  /** Ids of devices that their system has not listed for a while. */
  readonly missing?: readonly string[]
  /** The end of a cycle: everything that changed since the last one goes to disk too. */
  readonly endsCycle?: boolean
  /** Runs in the writing transaction; throws when the caller has lost the right to write. */
  readonly guard?: (tx: Tx) => Promise<void>
}

export interface IngestReport {
  readonly devices: number
  readonly created: number
  /** Known receivers of which something changed. */
  readonly updated: number
  readonly moved: number
  readonly duplicates: number
  readonly conflicts: number
}

export interface Ingest {
  /** Levels of known receivers take effect before this returns its promise. */
  take(batch: Batch): Promise<IngestReport>
  /** What `take` would do. */
  preview(batch: Batch): IngestReport
  /**
   * One transaction over receivers or the queue on somebody's word: `work` sees memory as the store has it, and memory,
   * screens and answers are up to date once this resolves.
   */
  change<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T>
  /** Takes in what other processes have stored since. */
  catchUp(): Promise<void>
}

export interface IngestDeps {
  readonly db: Database
  readonly latest: Latest
  readonly units: Units
  readonly feed: Feed
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly alerts: Pick<Alerts, 'took' | 'left'>
  /** Wall clock, epoch ms. */
  now(): number
}

/** A receiver that only says "still here" is written down this often. */
const lastSeenEveryMs = 60_000

/** Other writers came first so often in a row that something must be wrong. */
const maxReplans = 20

export function createIngest(deps: IngestDeps): Ingest {
  const { db, latest, units, feed, cache, alerts, now } = deps
  /** Changed in memory, not on disk yet. */
  const unsaved = new Set<number>()
  const savedAt = new Map<number, number>()
  let turn: Promise<unknown> = Promise.resolve()

  /** One writer at a time, in the order they came. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  function plan(batch: Batch): Intake {
    const intake = planIntake(latest, batch.manufacturer, batch.observations, now())
    const heard = new Set(intake.updates.filter((update) => update.isHeard).map(({ receiver }) => receiver.id))
    const gone = (batch.gone ?? []).flatMap((id) => (heard.has(id) ? [] : (latest.get(id) ?? [])))
    const left = gone.filter((one) => one.is_active).map((one) => spokenOf(one, { is_active: false }))
    return left.length === 0 ? intake : { ...intake, updates: [...intake.updates, ...left] }
  }

  function planUnits({ manufacturer, observations, missing = [] }: Batch): OwnUnits {
    return planOwnUnits(units, manufacturer, observations, missing)
  }

  function take(batch: Batch): Promise<IngestReport> {
    const intake = plan(batch)
    if (needsWriting(intake, batch)) return inTurn(() => write(batch))
    const report = toReport(batch, intake)
    showLevels(intake.updates, batch.manufacturer)
    return Promise.resolve(report)
  }

  async function write(batch: Batch): Promise<IngestReport> {
    for (let attempt = 1; attempt <= maxReplans; attempt += 1) {
      // Planned anew: while waiting for the turn the picture may have changed.
      const intake = plan(batch)
      const report = toReport(batch, intake)
      if (!needsWriting(intake, batch)) {
        showLevels(intake.updates, batch.manufacturer)
        return report
      }
      try {
        const saved = await db.transaction((tx) => store(tx, batch, intake))
        saved()
        return report
      } catch (error) {
        if (error instanceof OvertakenError) await loadChanges()
        else {
          // The show goes on in memory; what could not be stored is stored at the end of a later cycle.
          showLevels(
            intake.updates.filter((update) => !isStructural(update)),
            batch.manufacturer,
          )
          throw error
        }
      }
    }
    throw new OvertakenError()
  }

  /** Writes the plan; gives back what shows it, once it is safe. */
  async function store(tx: Tx, batch: Batch, intake: Intake): Promise<() => void> {
    const revision = await nextRevision(tx)
    if (revision !== latest.revision + 1) throw new OvertakenError()
    await batch.guard?.(tx)

    const drafts = intake.creations.map(({ draft, told }) => ({
      ...draft,
      channelNumbers: [...new Set(told.map((reading) => reading.channel))],
    }))
    const inserted = await insertReceivers(tx, revision, drafts)
    const created = inserted.map((receiver, at) =>
      applyUpdate(receiver, { fields: {}, told: intake.creations[at]?.told ?? [] }),
    )
    const grown = new Map<number, Receiver>()
    for (const { receiver, newChannels } of intake.updates) {
      if (newChannels.length > 0) grown.set(receiver.id, await addChannels(tx, revision, receiver, newChannels))
    }
    // As known at this moment: levels that were pushed since the plan was made are newer than the plan's.
    const current = (update: Update, known = latest.get(update.receiver.id) ?? update.receiver): Receiver => {
      return applyUpdate({ ...known, channels: withNewChannels(known, grown.get(known.id)) }, update)
    }
    const pictured = new Map<number, Receiver | undefined>()
    const changed = new Map<number, Receiver>()
    const widened: Receiver[] = []
    for (const id of batch.endsCycle ? unsavedOf(batch.manufacturer) : []) {
      const receiver = latest.get(id)
      if (receiver !== undefined) changed.set(id, receiver)
    }
    for (const update of intake.updates) {
      const { id } = update.receiver
      if (isWorthSaving(update)) changed.set(id, current(update, changed.get(id)))
      if (bringsUnit(update) || update.newChannels.length > 0) widened.push(current(update, changed.get(id)))
    }
    for (const id of changed.keys()) pictured.set(id, latest.get(id))
    await saveReceivers(tx, revision, [...created, ...changed.values()])

    for (const { receiver, old_ip, new_ip } of intake.moves) {
      const detected = { detected_at: now(), detected_by: 'sync', reason: 'found at another address' } as const
      await logMovement(tx, { device: receiver.id, old_ip, new_ip, movement_type: 'ip_only', ...detected })
    }
    if (intake.moves.length > 0) await trimMovements(tx)
    const savedUnits = await storeUnits(tx, revision, { batch, heard: [...created, ...widened], saved: changed })
    const entries: QueueEntry[] = []
    for (const queued of intake.queued) {
      const existing = queued.existing.id < 0 ? created[-queued.existing.id - 1] : queued.existing
      const entry = toEntry(batch.manufacturer, queued, existing?.id ?? null)
      entries.push(await savePending(tx, revision, entry, queued.seen))
    }
    const trimmed = entries.length === 0 ? [] : await trimQueue(tx)

    return () => {
      latest.revision = revision
      for (const entry of entries) if (!trimmed.includes(entry.id)) latest.putEntry(entry)
      for (const unit of savedUnits) units.put(unit)
      for (const [id, before] of pictured) {
        savedAt.set(id, now())
        if (latest.get(id) === before) unsaved.delete(id)
      }
      cache.drop(batch.manufacturer)
      for (const receiver of created) showHeard(receiver)
      for (const update of intake.updates) showHeard(current(update))
    }
  }

  /** Units that are new, and in the end of a cycle those of which something changed. */
  async function storeUnits(
    tx: Tx,
    revision: number,
    about: { batch: Batch; heard: readonly Receiver[]; saved: ReadonlyMap<number, Receiver> },
  ): Promise<readonly Unit[]> {
    const own = planUnits(about.batch)
    // A receiver that was told of twice counts once, as it was left in the end.
    const heard = new Map(about.heard.map((receiver) => [receiver.id, receiver]))
    const drafts = [...draftHeardUnits(units, [...heard.values()]), ...own.drafts]
    const inserted = await insertUnits(tx, revision, drafts)
    const changed = [...own.changed, ...renamedUnits(units, [...about.saved.values()])]
    await saveUnits(tx, revision, changed)
    return [...inserted, ...changed]
  }

  /** A transmitter is heard on a channel where there was none before. */
  function bringsUnit({ receiver, told }: Update): boolean {
    return told.some(({ channel: number, transmitter }) => {
      if (transmitter === undefined || transmitter === null) return false
      const channel = receiver.channels.find((one) => one.channel === number)
      return channel !== undefined && units.ofChannel(channel.id) === undefined
    })
  }

  function toEntry(manufacturer: string, queued: Queued, existing_device: number | null) {
    const { seen, identity_key, conflict_type } = queued
    return {
      manufacturer,
      identity_key,
      conflict_type,
      api_device_id: seen.id,
      serial_number: serialKey(seen.serial_number) === null ? null : (seen.serial_number ?? null),
      mac_address: macKey(seen.mac_address) === null ? null : (seen.mac_address ?? null),
      ip: seen.ip ?? null,
      device_type: seen.kind,
      is_duplicate: false,
      is_ip_conflict: conflict_type === 'ip_conflict',
      existing_device,
      discovered_at: now(),
      metadata: boundMetadata(seen.metadata),
    }
  }

  function needsWriting(intake: Intake, batch: Batch): boolean {
    const { creations, moves, queued, updates } = intake
    if (creations.length > 0 || moves.length > 0 || queued.length > 0) return true
    if (updates.some(bringsUnit)) return true
    const own = planUnits(batch)
    if (own.drafts.length > 0 || own.changed.length > 0) return true
    if (batch.endsCycle) return unsavedOf(batch.manufacturer).length > 0 || updates.some(isWorthSaving)
    return updates.some(isStructural)
  }

  function unsavedOf(manufacturer: string): number[] {
    return [...unsaved].filter((id) => latest.get(id)?.manufacturer === manufacturer)
  }

  function isWorthSaving(update: Update): boolean {
    if (isNews(update)) return true
    const seenAt = update.fields.last_seen ?? 0
    return seenAt - (savedAt.get(update.receiver.id) ?? 0) >= lastSeenEveryMs
  }

  function showLevels(updates: readonly Update[], manufacturer: string): void {
    if (updates.length === 0) return
    cache.drop(manufacturer)
    for (const update of updates) {
      const known = latest.get(update.receiver.id) ?? update.receiver
      const after = applyUpdate(known, update)
      if (after.channels !== known.channels) unsaved.add(known.id)
      showHeard(after)
    }
  }

  /** A receiver as this process heard it. */
  function showHeard(after: Receiver): void {
    const before = latest.get(after.id)
    show(after)
    alerts.took(before, after)
  }

  function show(after: Receiver): void {
    const change = toReceiverChange(latest.get(after.id), after)
    latest.put(after)
    if (change === null) return
    feed.publish({ type: 'device_update', manufacturer: after.manufacturer, receiver_id: after.id, data: change })
  }

  /** A receiver that was removed leaves its screens: without channels there is nothing to show of it. */
  function hide(id: number): void {
    const receiver = latest.get(id)
    if (receiver === undefined) return
    latest.remove(id)
    units.removeOf(id)
    unsaved.delete(id)
    savedAt.delete(id)
    cache.drop(receiver.manufacturer)
    const data = { channels: [], is_active: false }
    feed.publish({ type: 'device_update', manufacturer: receiver.manufacturer, receiver_id: id, data })
  }

  async function change<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T> {
    for (let attempt = 1; attempt <= maxReplans; attempt += 1) {
      await loadChanges()
      try {
        const result = await db.transaction(async (tx) => {
          const revision = await nextRevision(tx)
          if (revision !== latest.revision + 1) throw new OvertakenError()
          return work(tx, revision)
        })
        // It is done, whatever comes now; what cannot be read at once is read a moment later.
        await loadChanges().catch(() => {})
        return result
      } catch (error) {
        if (!(error instanceof OvertakenError)) throw error
      }
    }
    throw new OvertakenError()
  }

  async function loadChanges(): Promise<void> {
    const revision = await currentRevision(db.read)
    if (revision === latest.revision) return
    const [receivers, entries, changedUnits, removals] = await Promise.all([
      listReceivers(db.read, latest.revision),
      listEntries(db.read, latest.revision),
      listUnits(db.read, latest.revision),
      listRemovals(db.read, latest.revision),
    ])
    latest.revision = revision
    for (const id of removals) hide(id)
    for (const entry of entries) {
      latest.putEntry(entry)
      cache.drop(entry.manufacturer)
    }
    for (const unit of changedUnits) units.put(unit)
    for (const receiver of receivers) {
      cache.drop(receiver.manufacturer)
      savedAt.set(receiver.id, receiver.last_seen)
      alerts.left(receiver.id)
      show(unsaved.has(receiver.id) ? withLevelsOf(receiver, latest.get(receiver.id)) : receiver)
    }
  }

  return {
    take,
    preview: (batch) => toReport(batch, plan(batch)),
    change: (work) => inTurn(() => change(work)),
    catchUp: () => inTurn(loadChanges),
  }
}

/** Another process wrote between our looking and our writing. */
class OvertakenError extends Error {
  override readonly name = 'OvertakenError'
}

/** As stored, with levels that were told since and are not stored yet. */
function withLevelsOf(stored: Receiver, known: Receiver | undefined): Receiver {
  const channels = stored.channels.map((channel) => {
    const live = known?.channels.find((one) => one.id === channel.id)
    return live === undefined ? channel : { ...live, slot: channel.slot }
  })
  return { ...stored, channels }
}

/** The channels known now, with those that were just made. */
function withNewChannels(known: Receiver, grown: Receiver | undefined): Receiver['channels'] {
  const missing = (grown?.channels ?? []).filter((one) => !known.channels.some((channel) => channel.id === one.id))
  return missing.length === 0 ? known.channels : [...known.channels, ...missing].sort((a, b) => a.channel - b.channel)
}

function toReport(batch: Batch, intake: Intake): IngestReport {
  return {
    devices: batch.observations.length,
    created: intake.creations.length,
    updated: intake.updates.filter(isNews).length,
    moved: intake.moves.length,
    duplicates: intake.duplicates,
    conflicts: intake.queued.length,
  }
}
