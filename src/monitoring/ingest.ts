/**
 * The single entry point for device reports. A batch is planned, stored in one transaction, and only then applied to
 * memory and published. Levels are applied to memory at once and stored at the end of a polling cycle.
 */

import { isDeepStrictEqual } from 'node:util'
import { toReceiverChange } from '../domain/api.ts'
import type { Unit } from '../domain/equipment/hardware.ts'
import { type ChannelReading, clampLastSeen, mergeChannels, type Receiver } from '../domain/equipment/receiver.ts'
import { type IngestPlan, isStructural, type LevelReport, type Update } from '../domain/identity/ingest-plan.ts'
import { createProtocolPrecedence } from '../domain/identity/protocol-precedence.ts'
import { hasOnlyLevels } from '../domain/levels/level-sample.ts'
import { precedenceOfId } from '../manufacturers/index.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Cache } from '../state/cache.ts'
import type { Feed } from '../state/feed.ts'
import type { LivePublisher } from '../state/live-publisher.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import type { UnitStore } from '../state/unit-store.ts'
import { listConditions, type StoredCondition, saveConditions } from '../storage/conditions.ts'
import type { Database, Tx } from '../storage/database.ts'
import { listEntries } from '../storage/discovery.ts'
import { StaleWriteError, StoreBusyError } from '../storage/errors.ts'
import { listReceivers, listRemovals, saveLastSeen } from '../storage/receivers.ts'
import { currentRevision, nextRevision } from '../storage/revision.ts'
import { listUnits } from '../storage/units.ts'
import type { Alerts } from './alerts.ts'
import { createBacklog } from './backlog.ts'
import type { ConditionMonitor } from './conditions.ts'
import { LevelLane } from './level-lane.ts'
import {
  type Batch,
  createPlanner,
  type IngestReport,
  joinBatches,
  type PlannedBatch,
  toReport,
  withChangedLevels,
} from './plan-batch.ts'
import { type Written, writeBatch } from './write-batch.ts'
import { WriteQueue } from './write-queue.ts'

/** Levels that another process received and may not have stored yet. */
export interface RemoteLevels extends Pick<Receiver, 'id' | 'last_seen' | 'is_active'> {
  /** Empty if only `last_seen` or `is_active` changed. */
  readonly channels: readonly ChannelReading[]
}

export interface Ingest {
  /**
   * Processes a batch. Levels of known receivers are applied synchronously; the promise resolves when everything that
   * must be stored is stored.
   */
  ingest(batch: Batch): Promise<IngestReport>
  /**
   * Applies levels of known receivers in memory only, while the database is unavailable. A later batch stores them,
   * and the changes that this call ignores.
   */
  applyLevels(batch: Batch): IngestReport
  /** Returns what `ingest` would report. */
  preview(batch: Batch): IngestReport
  /**
   * Runs a user's change to receivers or the review queue in one transaction. When `work` runs, memory matches the
   * database; when the promise resolves, memory includes the change.
   */
  change<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T>
  /** Loads what other processes have stored. */
  catchUp(): Promise<void>
  /** Corrects `last_seen` times that are in the future because the clock was set back. */
  correctTimes(): Promise<void>
  readonly levelLane: LevelLane
  /** Applies levels received by other processes, which store them. */
  applyRemoteLevels(levels: readonly RemoteLevels[]): void
  /** Puts and publishes a receiver of which only conditions changed. */
  publishConditions(receiver: Receiver): void
  /** Stores what the evaluation of channels remembers, for the next start and for other processes. */
  saveConditions(stored: readonly StoredCondition[]): Promise<void>
}

export interface IngestDeps {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly feed: Feed
  readonly live: Pick<LivePublisher, 'levelsChanged'>
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly conditions: Pick<
    ConditionMonitor,
    'put' | 'remove' | 'watch' | 'release' | 'load' | 'isCurrent' | 'withConditions' | 'withReported'
  >
  readonly alerts: Pick<Alerts, 'evaluateReceiver' | 'evaluateCharger' | 'releaseReceiver'>
  /** Called with the id of every receiver of which this process has received a report. */
  onReceived(receiverId: number): void
  /** Whether other processes read levels from the database. */
  hasOtherReaders(): boolean
  /** The wall-clock time in epoch ms. */
  now(): number
}

/**
 * If levels appear to be newer than other levels by more than this, the processes' clocks differ, and the levels are
 * not treated as newer.
 */
const maxRemoteLeadMs = 10_000

/** Attempts before an ingest fails because other processes keep writing first. */
const maxReplans = 20

export function createIngest(deps: IngestDeps): Ingest {
  const { db, receiverStore, unitStore, feed, live, cache, conditions, alerts, now } = deps
  const { levels } = receiverStore
  const backlog = createBacklog(receiverStore, deps.hasOtherReaders)
  const onReceived = (receiverId: number) => {
    conditions.watch(receiverId)
    deps.onReceived(receiverId)
  }
  const levelLane = new LevelLane({ levels, backlog, feed, live, cache, onReceived, now })
  /** The `last_seen` value of the newest levels received from other processes, by receiver. */
  const remoteLevelsAt = new Map<number, number>()
  const precedence = createProtocolPrecedence(
    precedenceOfId,
    (id) => performance.now() - receiverStore.lastReceivedAt(id),
  )
  const planner = createPlanner({ receiverStore, unitStore, backlog, precedence, now })
  const { plan, planInSlices, needsWriting, applyToCurrent } = planner
  const writing = new Semaphore(1)
  const queue = new WriteQueue({ run: enqueue, write, findReceiver: receiverStore.factsByApiId })

  /** Serializes writes. */
  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    return db.pending.track(writing.run(work))
  }

  function ingest(batch: Batch): Promise<IngestReport> {
    if (batch.endsCycle) return queue.add(batch)
    const planned = plan(batch)
    if (!needsWriting(planned, batch)) return Promise.resolve(applyWithoutStoring(batch, planned))
    for (const report of planned.levelReports) applyLevelReport(report, planned)
    return queue.add(batch)
  }

  /** Returns whether the levels differ from the known ones. */
  function applyLevelReport({ receiver, readings }: LevelReport, { at }: IngestPlan): boolean {
    alerts.evaluateReceiver(receiver, receiver)
    conditions.watch(receiver.id)
    return levelLane.applyReported(receiver.id, readings, at)
  }

  /** Applies the part of the plan that needs no transaction. */
  function applyWithoutStoring(batch: Batch, plan: IngestPlan): IngestReport {
    for (const update of plan.updates) if (!isStructural(update)) applyUpdate(update)
    const changed = plan.levelReports.filter((report) => applyLevelReport(report, plan))
    cache.drop(batch.manufacturer)
    return withChangedLevels(toReport(batch, plan), changed.length)
  }

  /** Stores batches in one transaction, and returns a report for each. */
  async function write(batches: readonly [Batch, ...Batch[]]): Promise<readonly IngestReport[]> {
    const batch = joinBatches(batches)
    for (let attempt = 1; attempt <= maxReplans; attempt += 1) {
      // Planned only now, because memory may have changed while these batches were queued.
      const { plan, parts } = await planInSlices(batches)
      const reports = await applyLevelReports(plan, parts)
      levelLane.publishFrame()
      if (!needsWriting(plan, batch)) {
        await applyPlan(plan, batch)
        return reports
      }
      try {
        const applyStored = await db.transaction((tx) => store(tx, batch, plan))
        await applyStored()
        return reports
      } catch (error) {
        if (error instanceof OvertakenError) await loadChanges()
        else {
          // The caller then stores each batch separately.
          if (batches.length > 1) throw error
          if (error instanceof StaleWriteError) await discardUnsaved(batch.manufacturer)
          // Levels still take effect in memory. A later cycle stores them.
          else await applyPlan({ ...plan, updates: plan.updates.filter((update) => !isStructural(update)) }, batch)
          throw error
        }
      }
    }
    throw new OvertakenError()
  }

  /** Applies the levels of a plan, and returns the report of each of its batches. */
  async function applyLevelReports(plan: IngestPlan, parts: readonly PlannedBatch[]): Promise<readonly IngestReport[]> {
    const reports: IngestReport[] = []
    for (const { report, levelReports } of parts) {
      let changed = 0
      for (const levelReport of levelReports) {
        if (applyLevelReport(levelReport, plan)) changed += 1
        if (isTimeSliceUsed()) await yieldToEventLoop()
      }
      reports.push(withChangedLevels(report, changed))
    }
    return reports
  }

  /** Replaces unsaved levels with the stored ones, after another process has taken over the source. */
  async function discardUnsaved(manufacturer: string): Promise<void> {
    const ids = new Set(backlog.listUnsaved(manufacturer))
    for (const id of ids) backlog.markSaved(id)
    for (const receiver of ids.size === 0 ? [] : await listReceivers(db.read))
      if (ids.has(receiver.id)) putAndPublish(conditions.withConditions(receiver))
    cache.drop(manufacturer)
  }

  /** Writes the plan. Returns a function that applies it to memory, to be called after the commit. */
  async function store(tx: Tx, batch: Batch, plan: IngestPlan): Promise<() => Promise<void>> {
    const revision = await nextRevision(tx)
    if (revision !== receiverStore.revision + 1) throw new OvertakenError()
    await batch.guard?.(tx)
    const written = await writeBatch({ receiverStore, unitStore, backlog, planner, now }, tx, { revision, batch, plan })
    return async () => {
      receiverStore.revision = revision
      await applyWritten(written, batch, plan)
    }
  }

  async function applyWritten(written: Written, batch: Batch, plan: IngestPlan): Promise<void> {
    for (const entry of written.entries) receiverStore.putEntry(entry)
    const chargers = chargersOf(written.units)
    for (const unit of written.units) unitStore.put(unit)
    for (const [id, before] of written.previous) {
      backlog.recordSave(id)
      if (receiverStore.get(id) === before) backlog.markSaved(id)
    }
    for (const { id } of written.unchanged) backlog.recordSave(id)
    cache.drop(batch.manufacturer)
    for (const receiver of written.created) {
      backlog.recordSave(receiver.id)
      applyReceived(receiver)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    await applyPlan(plan, batch, written.extended)
    for (const id of chargers) alerts.evaluateCharger(id)
  }

  /** Returns the chargers that hold these battery packs, or held them before. */
  function chargersOf(packs: readonly Unit[]): ReadonlySet<number> {
    const charging = packs.filter(({ channel_id }) => channel_id === null)
    const ids = charging.flatMap(({ id, receiver_id }) => [receiver_id, unitStore.get(id)?.receiver_id ?? null])
    return new Set(ids.filter((id) => id !== null))
  }

  /**
   * Applies the plan to memory. `extended` contains the stored receivers that have new channels; if it is undefined,
   * nothing was stored, and receivers with changed levels are added to the backlog.
   */
  async function applyPlan(
    plan: IngestPlan,
    { manufacturer }: Batch,
    extended?: ReadonlyMap<number, Receiver>,
  ): Promise<void> {
    for (const update of plan.updates) {
      applyUpdate(update, extended)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    cache.drop(manufacturer)
  }

  function applyUpdate(update: Update, extended?: ReadonlyMap<number, Receiver>): void {
    const { id } = update.receiver
    const before = receiverStore.get(id)
    const after = applyToCurrent(update, extended)
    if (extended === undefined && after.channels !== before?.channels) backlog.add(id)
    applyReceived(after)
  }

  /**
   * Puts and publishes `reported`, the receiver's new state after a report that this process received, and evaluates its
   * conditions and alerts.
   */
  function applyReceived(reported: Receiver): void {
    const before = receiverStore.get(reported.id)
    const after = conditions.withReported(reported)
    putAndPublish(after)
    alerts.evaluateReceiver(before, after)
    deps.onReceived(after.id)
  }

  function applyRemoteLevels(received: readonly RemoteLevels[]): void {
    for (const remote of received) {
      const { id, channels } = remote
      const known = receiverStore.facts(id)
      const rows = levels.rowsOf(id)
      if (known === undefined || rows === undefined || backlog.has(id)) continue
      // Known levels that are newer than the remote ones are kept. The processes' times are compared without correcting
      // for clock differences.
      if (isNewerThan(Math.max(rows.lastSeen, remoteLevelsAt.get(id) ?? 0), remote)) continue
      // A message without levels brings no newer levels, so its time is not recorded.
      if (channels.length > 0) remoteLevelsAt.set(id, remote.last_seen)
      alerts.releaseReceiver(id)
      conditions.release(id)
      const last_seen = Math.min(remote.last_seen, now())
      const report = { id: known.api_device_id ?? '', kind: 'receiver', online: remote.is_active, channels } as const
      if (hasOnlyLevels(known, report)) levelLane.applyRemote(rows, channels, last_seen)
      else applyRemoteFacts({ ...remote, last_seen })
    }
  }

  function applyRemoteFacts({ id, last_seen, is_active, channels }: RemoteLevels): void {
    const known = receiverStore.get(id)
    if (known === undefined) return
    putAndPublish({ ...known, last_seen, is_active, channels: mergeChannels(known.channels, channels) })
  }

  function putAndPublish(after: Receiver): void {
    const change = toReceiverChange(receiverStore.get(after.id), after)
    put(after)
    if (change === null) return
    feed.publish({ type: 'device_update', manufacturer: after.manufacturer, receiver_id: after.id, data: change })
  }

  function put(receiver: Receiver): void {
    conditions.put(receiver)
    cache.drop(receiver.manufacturer)
  }

  /** Removes a receiver from memory, and publishes it without channels, so that clients drop it. */
  function removeReceiver(id: number): void {
    const receiver = receiverStore.get(id)
    if (receiver === undefined) return
    receiverStore.remove(id)
    conditions.remove(receiver)
    unitStore.removeReceiver(id)
    backlog.remove(id)
    remoteLevelsAt.delete(id)
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
          if (revision !== receiverStore.revision + 1) throw new OvertakenError()
          return work(tx, revision)
        })
        // The change is committed. If reading it back fails, the next `catchUp` reads it.
        await loadChanges().catch(() => {})
        return result
      } catch (error) {
        if (!(error instanceof OvertakenError)) throw error
      }
    }
    throw new OvertakenError()
  }

  /** Stores conditions that memory already contains. */
  async function storeConditions(stored: readonly StoredCondition[]): Promise<void> {
    for (let attempt = 1; attempt <= maxReplans; attempt += 1) {
      const expected = receiverStore.revision + 1
      const current = stored.filter((condition) => conditions.isCurrent(condition))
      if (current.length === 0) return
      try {
        await db.transaction(async (tx) => {
          if ((await nextRevision(tx)) !== expected) throw new OvertakenError()
          await saveConditions(tx, expected, current)
        })
        receiverStore.revision = expected
        return
      } catch (error) {
        if (!(error instanceof OvertakenError)) throw error
        await loadChanges()
      }
    }
    throw new OvertakenError()
  }

  async function loadChanges(): Promise<void> {
    const revision = await currentRevision(db.read)
    if (revision === receiverStore.revision) return
    const [receivers, entries, changedUnits, removals, memories] = await Promise.all([
      listReceivers(db.read, receiverStore.revision),
      listEntries(db.read, receiverStore.revision),
      listUnits(db.read, receiverStore.revision),
      listRemovals(db.read, receiverStore.revision),
      listConditions(db.read, receiverStore.revision),
    ])
    receiverStore.revision = revision
    for (const id of removals) removeReceiver(id)
    for (const entry of entries) {
      receiverStore.putEntry(entry)
      cache.drop(entry.manufacturer)
    }
    for (const unit of changedUnits) unitStore.put(unit)
    for (const stored of receivers) {
      const receiver = clampLastSeen(now(), stored)
      cache.drop(receiver.manufacturer)
      backlog.recordSave(receiver.id)
      alerts.releaseReceiver(receiver.id)
      const known = receiverStore.get(receiver.id)
      const isNewer = backlog.has(receiver.id) || isNewerThan(remoteLevelsAt.get(receiver.id), receiver)
      const newest = conditions.withConditions(isNewer ? withLevelsOf(receiver, known) : receiver)
      putAndPublish(withKnownChannels(newest, known))
    }
    // After the receivers, because they may be new.
    for (const id of conditions.load(memories)) {
      const receiver = receiverStore.get(id)
      if (receiver !== undefined) putAndPublish(conditions.withConditions(receiver))
    }
  }

  async function correctTimes(): Promise<void> {
    const corrected = levels.listSeenAfter(now()).flatMap((id) => {
      const receiver = receiverStore.get(id)
      const last_seen = Math.round(now() - (performance.now() - receiverStore.lastReceivedAt(id)))
      return receiver === undefined ? [] : [{ ...receiver, last_seen }]
    })
    if (corrected.length === 0) return
    for (const receiver of corrected) put(receiver)
    await enqueue(() => change((tx, revision) => saveLastSeen(tx, revision, corrected)))
  }

  return {
    ingest,
    correctTimes,
    applyLevels: (batch) => applyWithoutStoring(batch, plan(batch)),
    preview(batch) {
      const planned = plan(batch)
      return withChangedLevels(toReport(batch, planned), planner.countChangedLevels(planned))
    },
    change: (work) => enqueue(() => change(work)),
    catchUp: () => enqueue(loadChanges),
    levelLane,
    applyRemoteLevels,
    publishConditions: putAndPublish,
    saveConditions: (stored) => enqueue(() => storeConditions(stored)),
  }
}

/** Another process wrote between planning and writing. */
class OvertakenError extends StoreBusyError {
  constructor() {
    super('The change was not stored, because other processes wrote to the database during every attempt.')
  }
}

/** Whether levels of this time are newer than those of `stored`, but by no more than `maxRemoteLeadMs`. */
function isNewerThan(levelsAt: number | undefined, stored: Pick<Receiver, 'last_seen'>): boolean {
  const leadMs = (levelsAt ?? 0) - stored.last_seen
  return leadMs > 0 && leadMs <= maxRemoteLeadMs
}

/** Keeps the known channel objects if they are equal, so that unchanged channels are not published again. */
function withKnownChannels(receiver: Receiver, known: Receiver | undefined): Receiver {
  const isKnown = known !== undefined && isDeepStrictEqual(known.channels, receiver.channels)
  return isKnown ? { ...receiver, channels: known.channels } : receiver
}

/** Returns the stored receiver with the newer levels from memory, which are not stored yet. */
function withLevelsOf(stored: Receiver, known: Receiver | undefined): Receiver {
  const channels = stored.channels.map((channel) => {
    const live = known?.channels.find(({ id }) => id === channel.id)
    return live === undefined ? channel : { ...live, slot: channel.slot }
  })
  return { ...stored, channels, last_seen: Math.max(stored.last_seen, known?.last_seen ?? 0) }
}
