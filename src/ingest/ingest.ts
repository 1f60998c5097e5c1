/**
 * The single entry point for device reports. A batch is planned, stored in one transaction, and only then applied to
 * memory and published. Levels are applied to memory at once and stored at the end of a polling cycle.
 */

import type { StateStorage, UnsavedState } from '../conditions/state-writer.ts'
import type { Unit } from '../domain/equipment/hardware.ts'
import { type ChannelReading, type Receiver, withoutSuperseded } from '../domain/equipment/receiver.ts'
import { type IngestPlan, isStructural, type LevelReport, type Update } from '../domain/identity/ingest-plan.ts'
import { createProtocolPrecedence } from '../domain/identity/protocol-precedence.ts'
import { haveSameFacts } from '../domain/levels/level-sample.ts'
import { precedenceOfId } from '../manufacturers/index.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { Topic } from '../platform/topic.ts'
import { type StoredCondition, saveConditions } from '../storage/channel-states.ts'
import type { Tx } from '../storage/database.ts'
import { StaleWriteError } from '../storage/errors.ts'
import { type RevisionColumn, saveLastSeen } from '../storage/receivers.ts'
import { Backlog } from './backlog.ts'
import type { IngestSubsystems } from './ingest-subsystems.ts'
import type { FramedLevels } from './level-frame.ts'
import { LevelLane } from './level-lane.ts'
import {
  type Batch,
  type IngestReport,
  joinBatches,
  type PlannedBatch,
  Planner,
  toReport,
  withChangedLevels,
} from './plan-batch.ts'
import { OvertakenError, ReceiverTransactions } from './receiver-transactions.ts'
import { ReceiverUpdates } from './receiver-updates.ts'
import { RemoteLevelLane, type RemoteReport } from './remote-levels.ts'
import { StoredChanges } from './stored-changes.ts'
import { UnitChangesError, type Written, writeBatch } from './write-batch.ts'
import { WriteQueue } from './write-queue.ts'

/** Where levels were read, and when (`performance.now()`). */
export interface PolledLevels {
  readonly source: string
  readonly time: number
}

export class Ingest implements StateStorage {
  /** This process has received nothing but levels of the receiver with this id. */
  readonly levelsReceived = new Topic<number>()
  readonly levelLane: LevelLane
  readonly #service: IngestSubsystems
  readonly #backlog: Backlog
  readonly #planner: Planner
  readonly #updates: ReceiverUpdates
  readonly #remoteLevels: RemoteLevelLane
  readonly #stored: StoredChanges
  readonly #transactions: ReceiverTransactions
  readonly #queue: WriteQueue

  constructor(service: IngestSubsystems) {
    const { db, receiverStore, unitStore, leaseManager, cache } = service
    this.#service = service
    this.#backlog = new Backlog(receiverStore, leaseManager)
    const precedence = createProtocolPrecedence(
      precedenceOfId,
      (id) => performance.now() - receiverStore.lastReceivedAt(id),
    )
    this.#planner = new Planner(receiverStore, unitStore, this.#backlog, precedence, (receiver, source) =>
      service.receiverSources.reachesElsewhere(receiver, source),
    )
    this.levelLane = new LevelLane(receiverStore.levels, this.#backlog, cache)
    this.#updates = new ReceiverUpdates(service)
    this.#remoteLevels = new RemoteLevelLane(service, this.#backlog, this.levelLane, this.#updates)
    this.#stored = new StoredChanges(service, this.#backlog, this.#updates, this.#remoteLevels)
    this.#transactions = new ReceiverTransactions(db, receiverStore, this.#stored)
    this.#queue = new WriteQueue(receiverStore, this.#transactions, (batches) => this.#write(batches))
    this.#subscribe()
  }

  /** This process has received a report of the receiver with this id. */
  get reported(): Topic<number> {
    return this.#updates.reported
  }

  /**
   * Processes a batch. Levels of known receivers are applied synchronously; the promise resolves when everything that
   * must be stored is stored.
   */
  ingest(batch: Batch): Promise<IngestReport> {
    if (batch.endsCycle) return this.#queue.add(batch)
    const plan = this.#planner.plan(batch)
    if (!this.#planner.needsWriting(plan, batch)) return Promise.resolve(this.#applyWithoutStoring(batch, plan))
    for (const report of plan.levelReports) this.#applyLevelReport(report, plan, batch.source)
    return this.#queue.add(batch)
  }

  /**
   * Applies levels of known receivers in memory only, while the database is unavailable. A later batch stores them,
   * and the changes that this call ignores.
   */
  applyLevels(batch: Batch): IngestReport {
    return this.#applyWithoutStoring(batch, this.#planner.plan(batch))
  }

  /**
   * Applies levels that were read from a source that pushes them. Levels that have arrived since `time`
   * (`performance.now()`) are kept.
   */
  applyPolledLevels({ id }: Receiver, readings: readonly ChannelReading[], { source, time }: PolledLevels): void {
    const rows = this.#service.receiverStore.levels.rowsOf(id)
    if (rows === undefined || !rows.facts.is_active) return
    const { levelAges, levelArrivals } = this.#service
    const samples = levelAges.withoutNewer(rows, readings, time)
    this.levelLane.apply(rows, samples)
    levelAges.received(rows, samples, levelArrivals.of(source, rows.facts))
  }

  /** Applies reports that other processes received and store. */
  applyRemoteReports(reports: readonly RemoteReport[]): void {
    this.#remoteLevels.apply(reports)
  }

  /** Applies levels that other processes received and store. */
  applyRemoteLevels(received: readonly FramedLevels[]): void {
    this.#remoteLevels.applyLevels(received)
  }

  /** Returns what `ingest` would report. */
  preview(batch: Batch): IngestReport {
    const plan = this.#planner.plan(batch)
    return withChangedLevels(toReport(batch, plan), this.#planner.countChangedLevels(plan))
  }

  /**
   * Runs a user's change to receivers or the review queue in one transaction. When `work` runs, memory matches the
   * database; when the promise resolves, memory includes the change.
   */
  change<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T> {
    return this.#transactions.enqueue(async () => {
      await this.#stored.load()
      const result = await this.#transactions.retry(() => this.#transactions.run(work))
      // The change is committed. If reading it back fails, the next `catchUp` reads it.
      await this.#stored.load().catch(() => {})
      return result
    })
  }

  /** Loads the changes by other processes. */
  catchUp(): Promise<void> {
    return this.#transactions.enqueue(() => this.#stored.load())
  }

  /** Corrects `last_seen` times that are in the future because the clock was set back. */
  async correctTimes(): Promise<void> {
    const { receiverStore } = this.#service
    const corrected = receiverStore.levels.listSeenAfter(now()).flatMap((id) => {
      const receiver = receiverStore.get(id)
      const last_seen = Math.round(now() - (performance.now() - receiverStore.lastReceivedAt(id)))
      return receiver === undefined || receiver.origin !== undefined ? [] : [{ ...receiver, last_seen }]
    })
    if (corrected.length === 0) return
    for (const receiver of corrected) this.#updates.put(receiver)
    await this.change((tx, revision) => saveLastSeen(tx, revision, corrected))
  }

  /** Puts and publishes a receiver of which only conditions changed. */
  publishConditions(receiver: Receiver): void {
    this.#updates.publishConditions(receiver)
  }

  /** Stores facts before the conditions that follow from them, because a crash may separate the two. */
  saveState({ receivers, conditions }: UnsavedState): Promise<void> {
    return this.#transactions.enqueue(async () => {
      await this.#saveFacts(receivers)
      await this.#saveConditions(conditions)
    })
  }

  #subscribe(): void {
    const { levelAges, conditions } = this.#service
    this.levelLane.received.subscribe((receiverId) => {
      conditions.watch(receiverId)
      this.levelsReceived.publish(receiverId)
    })
    levelAges.found.subscribe((receiverId) => conditions.levelsChanged(receiverId))
    levelAges.lost.subscribe(({ rows, lost }) => {
      // Another process may receive the levels now.
      if (!conditions.isOwn(rows.receiverId)) levelAges.forget(rows)
      else {
        this.levelLane.forget(rows, lost)
        conditions.levelsChanged(rows.receiverId)
      }
    })
  }

  async #saveFacts(ids: readonly number[]): Promise<void> {
    const { receiverStore } = this.#service
    const manufacturers = new Set(ids.map((id) => receiverStore.facts(id)?.manufacturer))
    for (const manufacturer of manufacturers) {
      if (manufacturer === undefined) continue
      const receivers = ids.filter((id) => receiverStore.facts(id)?.manufacturer === manufacturer)
      const batch = { manufacturer, reports: [], receivers }
      await this.#transactions.retry(() => this.#store(this.#planner.plan(batch), batch))
    }
  }

  async #saveConditions(stored: readonly StoredCondition[]): Promise<void> {
    const { conditions } = this.#service
    for (const manufacturer of new Set(stored.map((condition) => conditions.manufacturerOf(condition)))) {
      if (manufacturer === undefined) continue
      await this.#transactions.retry(async () => {
        const current = stored.filter(
          (condition) => conditions.manufacturerOf(condition) === manufacturer && conditions.isCurrent(condition),
        )
        if (current.length === 0) return
        await this.#transactions.runReadings(manufacturer, (tx, readings) => saveConditions(tx, readings, current))
      })
    }
  }

  /** Stores batches in one transaction, and returns a report for each. */
  #write(batches: readonly [Batch, ...Batch[]]): Promise<readonly IngestReport[]> {
    const batch = joinBatches(batches)
    return this.#transactions.retry(async () => {
      // Planned only now, because memory may have changed while these batches were queued.
      const { plan, parts } = await this.#planner.planInSlices(batches)
      const reports = await this.#applyLevelReports(batches, plan, parts)
      this.levelLane.publishFrame()
      if (!this.#planner.needsWriting(plan, batch)) await this.#applyPlan(plan, batch)
      else if (batches.length > 1) await this.#store(plan, batch)
      else await this.#store(plan, batch).catch((error) => this.#applyUnstored(error, plan, batch))
      return reports
    })
  }

  async #store(plan: IngestPlan, batch: Batch): Promise<void> {
    const { receiverStore, unitStore } = this.#service
    const memory = { receiverStore, unitStore, backlog: this.#backlog, planner: this.#planner }
    const write = async (tx: Tx, revision: number, column: RevisionColumn): Promise<Written> => {
      await batch.guard?.(tx)
      return writeBatch(memory, tx, { revision, column, batch, plan })
    }
    const writeAll = () => this.#transactions.runKnown((tx, revision) => write(tx, revision, 'revision'))
    if (this.#planner.changesOnlyReadings(plan, batch)) {
      const written = await this.#transactions
        .runReadings(batch.manufacturer, (tx, readings) => write(tx, readings, 'reading_revision'))
        .catch((error) => {
          if (error instanceof UnitChangesError) return writeAll()
          throw error
        })
      await this.#applyWritten(written, batch, plan)
    } else {
      const written = await writeAll()
      // New channels may have versions in their slots. If reading them fails, the next `load` reads them.
      if (written.created.length + written.extended.size > 0) await this.#stored.loadSlots().catch(() => {})
      await this.#applyWritten(written, batch, plan)
    }
  }

  /** Applies the part of an unstored plan that needs no transaction, and rethrows the error. */
  async #applyUnstored(error: unknown, plan: IngestPlan, batch: Batch): Promise<never> {
    if (error instanceof StaleWriteError) await this.#stored.discardUnsaved(batch.manufacturer)
    // Levels still take effect in memory. A later cycle stores them.
    else if (!(error instanceof OvertakenError)) {
      await this.#applyPlan({ ...plan, updates: plan.updates.filter((update) => !isStructural(update)) }, batch)
    }
    throw error
  }

  /** Applies the part of the plan that needs no transaction. */
  #applyWithoutStoring(batch: Batch, plan: IngestPlan): IngestReport {
    this.#recordSource(batch, plan.updates)
    for (const update of plan.updates) if (!isStructural(update)) this.#applyUpdate(update)
    const changed = plan.levelReports.filter((report) => this.#applyLevelReport(report, plan, batch.source))
    this.#service.cache.drop(batch.manufacturer)
    return withChangedLevels(toReport(batch, plan), changed.length)
  }

  /** Applies the levels of a plan, and returns the report of each of its batches. */
  async #applyLevelReports(
    batches: readonly Batch[],
    plan: IngestPlan,
    parts: readonly PlannedBatch[],
  ): Promise<readonly IngestReport[]> {
    const reports: IngestReport[] = []
    for (const [index, { report, levelReports, updates }] of parts.entries()) {
      const batch = batches[index]
      if (batch !== undefined) this.#recordSource(batch, updates)
      let changed = 0
      for (const levelReport of levelReports) {
        if (this.#applyLevelReport(levelReport, plan, batch?.source)) changed += 1
        if (isTimeSliceUsed()) await yieldToEventLoop()
      }
      reports.push(withChangedLevels(report, changed))
    }
    return reports
  }

  /** Returns whether the levels differ from the known ones. */
  #applyLevelReport({ receiver, readings, receiverAtRead }: LevelReport, { at }: IngestPlan, source?: string): boolean {
    const { receiverStore, alerts, conditions, receiverSources, levelAges, levelArrivals } = this.#service
    if (source !== undefined) receiverSources.record(receiver.id, source)
    alerts.evaluateReceiver(receiver, receiver)
    conditions.watch(receiver.id)
    levelAges.reported(receiver, readings, levelArrivals.of(source, receiver))
    // The reports of devices whose levels are pushed have no readings.
    const before = readings.length > 0 ? receiverAtRead?.(receiver.id) : undefined
    const current = before && receiverStore.get(receiver.id)
    const rows = current && receiverStore.levels.rowsOf(receiver.id)
    if (before === undefined || current === undefined || rows === undefined) {
      return this.levelLane.applyReported(receiver.id, readings, at)
    }
    return this.levelLane.apply(rows, withoutSuperseded(readings, before.channels, current.channels))
  }

  #recordSource({ source }: Batch, updates: readonly Update[]): void {
    const { receiverSources, levelAges, levelArrivals } = this.#service
    for (const { receiver, readings, report } of updates) {
      if (report === null) continue
      if (source !== undefined) receiverSources.record(receiver.id, source)
      levelAges.reported(receiver, readings, levelArrivals.of(source, receiver))
    }
  }

  async #applyWritten(written: Written, batch: Batch, plan: IngestPlan): Promise<void> {
    const { receiverStore, unitStore, cache, alerts, levelAges, levelArrivals } = this.#service
    for (const entry of written.entries) receiverStore.putEntry(entry)
    const chargers = this.#chargersOf(written.units)
    for (const unit of written.units) unitStore.put(unit)
    for (const id of written.removedUnits) unitStore.remove(id)
    for (const [id, saved] of written.versions) {
      this.#backlog.recordSave(id)
      const rows = receiverStore.levels.rowsOf(id)
      if (rows?.factsVersion === saved?.factsVersion) this.#backlog.markFactsSaved(id)
      if (rows?.version === saved?.version) this.#backlog.markSaved(id)
    }
    for (const id of written.unchanged) this.#backlog.recordSave(id)
    cache.drop(batch.manufacturer)
    for (const receiver of written.created) {
      this.#backlog.recordSave(receiver.id)
      this.#updates.publishReported(receiver)
      levelAges.reported(receiver, receiver.channels, levelArrivals.of(batch.source, receiver))
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    await this.#applyPlan(plan, batch, written.extended)
    for (const id of chargers) alerts.evaluateCharger(id)
  }

  /** Returns the chargers that hold these battery packs, or held them before. */
  #chargersOf(packs: readonly Unit[]): ReadonlySet<number> {
    const { unitStore } = this.#service
    const charging = packs.filter(({ api_device_id }) => api_device_id !== null)
    const ids = charging.flatMap(({ id, receiver_id }) => [receiver_id, unitStore.get(id)?.receiver_id ?? null])
    return new Set(ids.filter((id) => id !== null))
  }

  /**
   * Applies the plan to memory. `extended` contains the stored receivers that have new channels; if it is undefined,
   * nothing was stored, and receivers with changed levels are added to the backlog.
   */
  async #applyPlan(plan: IngestPlan, { manufacturer }: Batch, extended?: ReadonlyMap<number, Receiver>): Promise<void> {
    for (const update of plan.updates) {
      this.#applyUpdate(update, extended)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    this.#service.cache.drop(manufacturer)
  }

  #applyUpdate(update: Update, extended?: ReadonlyMap<number, Receiver>): void {
    const { id } = update.receiver
    const before = this.#service.receiverStore.get(id)
    const after = this.#planner.applyToCurrent(update, extended)
    if (extended === undefined && before !== undefined && after.channels !== before.channels) {
      this.#backlog.add(id)
      if (!haveSameFacts(before.channels, after.channels)) {
        this.#backlog.addFacts(id)
        this.#service.stateWriter.putFacts(id)
      }
    }
    this.#updates.publishReported(after)
  }
}
