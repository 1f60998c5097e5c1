/**
 * The one door through which facts about devices enter: what they mean is planned, written down in one transaction, and
 * only then shown and told on. Levels go to memory at once and to disk at the end of a polling cycle.
 */

import type { Cache } from '../live/cache.ts'
import type { Feed } from '../live/feed.ts'
import type { Latest } from '../live/latest.ts'
import { toReceiverChange } from '../model/api.ts'
import { boundMetadata, type QueueEntry } from '../model/discovery.ts'
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
import { listEntries, logMovement, savePending } from '../store/discovery.ts'
import { addChannels, insertReceivers, listReceivers, saveReceivers } from '../store/receivers.ts'
import { currentRevision, nextRevision } from '../store/revision.ts'

export interface Batch {
  readonly manufacturer: string
  readonly observations: readonly Observation[]
  /** Receivers that are there no more: offline from now on, unless this very batch heard them. */
  readonly gone?: readonly number[]
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
  /** Takes in what other processes have stored since. */
  catchUp(): Promise<void>
}

export interface IngestDeps {
  readonly db: Database
  readonly latest: Latest
  readonly feed: Feed
  readonly cache: Pick<Cache<unknown>, 'drop'>
  /** Wall clock, epoch ms. */
  now(): number
}

/** A receiver that only says "still here" is written down this often. */
const lastSeenEveryMs = 60_000

/** Other writers came first so often in a row that something must be wrong. */
const maxReplans = 20

export function createIngest(deps: IngestDeps): Ingest {
  const { db, latest, feed, cache, now } = deps
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
    for (const id of batch.endsCycle ? unsavedOf(batch.manufacturer) : []) {
      const receiver = latest.get(id)
      if (receiver !== undefined) changed.set(id, receiver)
    }
    for (const update of intake.updates) {
      const { id } = update.receiver
      if (isWorthSaving(update)) changed.set(id, current(update, changed.get(id)))
    }
    for (const id of changed.keys()) pictured.set(id, latest.get(id))
    await saveReceivers(tx, revision, [...created, ...changed.values()])

    for (const { receiver, old_ip, new_ip } of intake.moves) {
      const detected = { detected_at: now(), detected_by: 'sync', reason: 'found at another address' } as const
      await logMovement(tx, { device: receiver.id, old_ip, new_ip, movement_type: 'ip_only', ...detected })
    }
    const entries: QueueEntry[] = []
    for (const queued of intake.queued) {
      const existing = queued.existing.id < 0 ? created[-queued.existing.id - 1] : queued.existing
      entries.push(await savePending(tx, revision, toEntry(batch.manufacturer, queued, existing?.id ?? null)))
    }

    return () => {
      latest.revision = revision
      for (const entry of entries) latest.putEntry(entry)
      for (const [id, before] of pictured) {
        savedAt.set(id, now())
        if (latest.get(id) === before) unsaved.delete(id)
      }
      cache.drop(batch.manufacturer)
      for (const receiver of created) show(receiver)
      for (const update of intake.updates) show(current(update))
    }
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
      show(after)
    }
  }

  function show(after: Receiver): void {
    const change = toReceiverChange(latest.get(after.id), after)
    latest.put(after)
    if (change === null) return
    feed.publish({ type: 'device_update', manufacturer: after.manufacturer, receiver_id: after.id, data: change })
  }

  async function loadChanges(): Promise<void> {
    const revision = await currentRevision(db.read)
    if (revision === latest.revision) return
    const [receivers, entries] = await Promise.all([
      listReceivers(db.read, latest.revision),
      listEntries(db.read, latest.revision),
    ])
    latest.revision = revision
    for (const entry of entries) latest.putEntry(entry)
    for (const receiver of receivers) {
      cache.drop(receiver.manufacturer)
      savedAt.set(receiver.id, receiver.last_seen)
      show(receiver)
    }
  }

  return {
    take,
    preview: (batch) => toReport(batch, plan(batch)),
    catchUp: () => inTurn(loadChanges),
  }
}

/** Another process wrote between our looking and our writing. */
class OvertakenError extends Error {
  override readonly name = 'OvertakenError'
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
