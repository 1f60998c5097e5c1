import { planReportedUnits, type ReportedUnits } from '../domain/equipment/hardware.ts'
import {
  type ChannelReading,
  type DeviceReport,
  type Receiver,
  withoutSuperseded,
} from '../domain/equipment/receiver.ts'
import {
  applyUpdate,
  changeWithoutReport,
  type IngestPlan,
  IngestPlanBuilder,
  type IsReachedElsewhere,
  isStructural,
  type LevelReport,
  type ReceiverAtRead,
  type Update,
} from '../domain/identity/ingest-plan.ts'
import type { ProtocolPrecedence } from '../domain/identity/protocol-precedence.ts'
import { ipKey, macKey, serialKey } from '../domain/identity/reconcile.ts'
import { hasOnlyLevels, type LevelSample } from '../domain/levels/level-sample.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Tx } from '../storage/database.ts'
import type { Backlog } from './backlog.ts'
import type { LevelRows } from './level-store.ts'
import type { ReceiverStore } from './receiver-store.ts'
import type { UnitStore } from './unit-store.ts'

export interface Batch {
  readonly manufacturer: string
  /** The id of the source that sent the reports, if only one did. */
  readonly source?: string
  readonly reports: readonly DeviceReport[]
  /**
   * Levels that are newer than those in a report, keyed by the report. They are separate, so that the same report
   * object can be passed again when only levels have changed.
   */
  readonly newerLevels?: ReadonlyMap<DeviceReport, readonly LevelSample[]>
  /** Absent if nothing is pushed while the reports are read and wait to be stored. */
  readonly receiverAtRead?: ReceiverAtRead | undefined
  /** Receivers to be marked as offline, unless this batch contains a report of them. */
  readonly offline?: readonly number[]
  /** Ids of devices that the upstream system has not listed for several polls. */
  readonly missing?: readonly string[]
  /** Receivers whose facts in memory must be stored. A batch with these contains nothing else. */
  readonly receivers?: readonly number[]
  /** Ends a polling cycle: levels that have changed since the previous cycle are stored too. */
  readonly endsCycle?: boolean
  /** Runs in the writing transaction; throws a StaleWriteError if the caller no longer holds the lease. */
  readonly guard?: (tx: Tx) => Promise<void>
}

/** Combines batches that may be stored together. */
export function joinBatches(batches: readonly [Batch, ...Batch[]]): Batch {
  const [first] = batches
  if (batches.length === 1) return first
  const guards = batches.flatMap(({ guard }) => guard ?? [])
  const { source: _, ...common } = first
  return {
    ...common,
    reports: batches.flatMap(({ reports }) => reports),
    newerLevels: new Map(batches.flatMap(({ newerLevels }) => [...(newerLevels ?? [])])),
    async guard(tx) {
      for (const guard of guards) await guard(tx)
    },
  }
}

export interface IngestReport {
  readonly devices: number
  readonly created: number
  /** Known receivers that changed. */
  readonly updated: number
  readonly moved: number
  readonly duplicates: number
  /** How many of the duplicates are repeated reports of a device within this batch. */
  readonly repeated: number
  readonly conflicts: number
}

/** The part of a plan that comes from one of its batches. */
export interface PlannedBatch {
  /** Does not count receivers of which only levels change. */
  readonly report: IngestReport
  readonly levelReports: readonly LevelReport[]
  readonly updates: readonly Update[]
}

/** Plans batches of device reports against the receivers in memory. Changes nothing. */
export class Planner {
  readonly #receiverStore: ReceiverStore
  readonly #unitStore: UnitStore
  readonly #backlog: Backlog
  readonly #precedence: ProtocolPrecedence
  readonly #isReachedElsewhere: IsReachedElsewhere
  /** For each receiver, the last report without news other than levels, and the record it was compared with. */
  readonly #withoutNews = new WeakMap<LevelRows, ReportWithoutNews>()

  constructor(
    receiverStore: ReceiverStore,
    unitStore: UnitStore,
    backlog: Backlog,
    precedence: ProtocolPrecedence,
    isReachedElsewhere: IsReachedElsewhere,
  ) {
    this.#receiverStore = receiverStore
    this.#unitStore = unitStore
    this.#backlog = backlog
    this.#precedence = precedence
    this.#isReachedElsewhere = isReachedElsewhere
  }

  /** Plans the batch synchronously. */
  plan(batch: Batch): IngestPlan {
    const builder = this.#startPlan(batch)
    for (const report of batch.reports) builder.add(report, batch, batch.newerLevels?.get(report))
    return this.#withOffline(builder.plan, batch)
  }

  /**
   * Plans batches that are stored together, in time slices, and counts what each of them changes. Identities do not
   * change meanwhile, because writes are serialized.
   */
  async planInSlices(
    batches: readonly [Batch, ...Batch[]],
  ): Promise<{ readonly plan: IngestPlan; readonly parts: readonly PlannedBatch[] }> {
    const joined = joinBatches(batches)
    const builder = this.#startPlan(joined)
    const { plan } = builder
    const parts: PlannedBatch[] = []
    for (const batch of batches) {
      const before = toReport(batch, plan)
      const firstLevelReport = plan.levelReports.length
      const firstUpdate = plan.updates.length
      for (const report of batch.reports) {
        builder.add(report, batch, batch.newerLevels?.get(report))
        if (isTimeSliceUsed()) await yieldToEventLoop()
      }
      const report = countSince(before, toReport(batch, plan))
      const levelReports = plan.levelReports.slice(firstLevelReport)
      parts.push({ report, levelReports, updates: plan.updates.slice(firstUpdate) })
    }
    return { plan: this.#withOffline(plan, joined), parts }
  }

  /**
   * Plans the units that the batch reports. `created` are the receivers that this batch has created; they are not in
   * memory yet.
   */
  planUnits({ unitReports }: IngestPlan, batch: Batch, created: readonly Receiver[] = []): ReportedUnits {
    const { manufacturer, missing = [] } = batch
    const createdIds = new Map(created.map(({ api_device_id, id }) => [api_device_id, id]))
    const receiverOf = (id: string) => this.#receiverStore.factsByApiId(manufacturer, id)?.id ?? createdIds.get(id)
    return planReportedUnits(this.#unitStore, { manufacturer, reports: unitReports, missing, receiverOf })
  }

  needsWriting(plan: IngestPlan, batch: Batch): boolean {
    const { updates } = plan
    if (this.#changesMore(plan, batch)) return true
    if (!batch.endsCycle) return updates.some(isStructural)
    return (
      this.#backlog.listDueLevels(batch).length > 0 ||
      updates.some(({ hasChanges }) => hasChanges) ||
      this.#backlog.hasDueLastSeen(plan)
    )
  }

  /** True if the batch changes nothing but readings and times of receivers of its manufacturer. */
  changesOnlyReadings(plan: IngestPlan, batch: Batch): boolean {
    return !this.#changesMore(plan, batch) && !plan.updates.some(isStructural)
  }

  /** Counts the receivers of which the plan contains different levels than the known ones. */
  countChangedLevels({ levelReports }: IngestPlan): number {
    const { levels } = this.#receiverStore
    return levelReports.filter(({ receiver, readings }) => {
      const rows = levels.rowsOf(receiver.id)
      return rows !== undefined && readings.some((reading) => levels.differs(rows, reading))
    }).length
  }

  /** True if the update reports a transmitter on a channel that has no unit. */
  addsUnit({ receiver, readings }: Update): boolean {
    return this.#lacksUnit(receiver, readings)
  }

  /** Applies the update to the current receiver. Values pushed since the plan was made are kept. */
  applyToCurrent(
    update: Update,
    extended: ReadonlyMap<number, Receiver> = noneExtended,
    known: Receiver = this.#receiverStore.get(update.receiver.id) ?? update.receiver,
  ): Receiver {
    const channels = withNewChannels(known, extended.get(known.id))
    const receiver = channels === known.channels ? known : { ...known, channels }
    const isAsPlanned = known.channels === update.receiver.channels && known.details === update.receiver.details
    return applyUpdate(receiver, isAsPlanned ? update : withoutOlderValues(update, receiver))
  }

  #startPlan({ manufacturer }: Batch): IngestPlanBuilder {
    return new IngestPlanBuilder({
      known: this.#receiverStore,
      manufacturer,
      at: now(),
      findLevelReceiver: (code, report) => this.#findLevelReceiver(code, report),
      precedence: this.#precedence,
      isReachedElsewhere: this.#isReachedElsewhere,
    })
  }

  #findLevelReceiver(manufacturer: string, report: DeviceReport): Receiver | undefined {
    const receiver = this.#receiverStore.factsByApiId(manufacturer, report.id)
    const rows = receiver && this.#receiverStore.levels.rowsOf(receiver.id)
    if (receiver === undefined || rows === undefined || this.#precedence.isContested(receiver)) return undefined
    const { identityRevision } = this.#receiverStore
    const { factsVersion } = rows
    const last = this.#withoutNews.get(rows)
    if (last?.report === report && last.factsVersion === factsVersion && last.identityRevision === identityRevision)
      return receiver
    if (!hasOnlyLevels(receiver, report) || this.#mayBeAmbiguous(report)) return undefined
    if (this.#lacksUnit(receiver, report.channels ?? [])) return undefined
    this.#withoutNews.set(rows, { report, factsVersion, identityRevision })
    return receiver
  }

  /** True if several receivers may match the report, because it identifies the device by its address only. */
  #mayBeAmbiguous({ serial_number, mac_address, ip }: DeviceReport): boolean {
    const key = ipKey(ip)
    return key !== null && serialKey(serial_number) === null && macKey(mac_address) === null
      ? this.#receiverStore.byIp(key).length > 1
      : false
  }

  #withOffline(plan: IngestPlan, { offline = [] }: Batch): IngestPlan {
    if (offline.length === 0) return plan
    const reported = new Set(plan.levelReports.map(({ receiver }) => receiver.id))
    for (const { isReceived, receiver } of plan.updates) if (isReceived) reported.add(receiver.id)
    const receivers = offline.flatMap((id) => (reported.has(id) ? [] : (this.#receiverStore.get(id) ?? [])))
    const active = receivers.filter((receiver) => receiver.is_active)
    const updates = active.map((receiver) => changeWithoutReport(receiver, { is_active: false }))
    return { ...plan, updates: [...plan.updates, ...updates] }
  }

  /** True if the plan adds receivers, units or queue entries, or changes units or addresses. */
  #changesMore(plan: IngestPlan, batch: Batch): boolean {
    const { creations, moves, queued, updates } = plan
    if (creations.length > 0 || moves.length > 0 || queued.length > 0) return true
    if (updates.some((update) => this.addsUnit(update))) return true
    const units = this.planUnits(plan, batch)
    return units.drafts.length > 0 || units.changed.length > 0
  }

  /** True if the readings contain a transmitter on a channel without a unit. */
  #lacksUnit(receiver: Receiver, readings: readonly ChannelReading[]): boolean {
    return readings.some(({ channel: number, transmitter }) => {
      if (transmitter === undefined || transmitter === null) return false
      const channel = receiver.channels.find((known) => known.channel === number)
      return channel !== undefined && this.#unitStore.ofChannel(channel.id) === undefined
    })
  }
}

interface ReportWithoutNews {
  readonly report: DeviceReport
  readonly factsVersion: number
  readonly identityRevision: number
}

const noneExtended: ReadonlyMap<number, Receiver> = new Map()

/** Removes the values of an update that have changed since it was planned, because newer ones were pushed. */
function withoutOlderValues(update: Update, current: Receiver): Update {
  const { fields, readings, receiver } = update
  const { last_seen, details, ...others } = fields
  return {
    ...update,
    fields: {
      ...others,
      ...(last_seen !== undefined && last_seen >= current.last_seen && { last_seen }),
      ...(details !== undefined && current.details === receiver.details && { details }),
    },
    readings: withoutSuperseded(readings, receiver.channels, current.channels),
  }
}

/** Returns the known channels and the newly created ones. */
function withNewChannels(known: Receiver, extended: Receiver | undefined): Receiver['channels'] {
  const missing = (extended?.channels ?? []).filter(({ id }) => !known.channels.some((channel) => channel.id === id))
  return missing.length === 0 ? known.channels : [...known.channels, ...missing].sort((a, b) => a.channel - b.channel)
}

/** Returns how much the counts have grown. */
function countSince(before: IngestReport, after: IngestReport): IngestReport {
  return {
    devices: after.devices,
    created: after.created - before.created,
    updated: after.updated - before.updated,
    moved: after.moved - before.moved,
    duplicates: after.duplicates - before.duplicates,
    repeated: after.repeated - before.repeated,
    conflicts: after.conflicts - before.conflicts,
  }
}

/** Counts the changes of a plan, without receivers of which only levels change. */
export function toReport(batch: Batch, plan: IngestPlan): IngestReport {
  return {
    devices: batch.reports.length,
    created: plan.creations.length,
    updated: plan.updates.filter(({ hasChanges }) => hasChanges).length,
    moved: plan.moves.length,
    duplicates: plan.duplicates + plan.repeated,
    repeated: plan.repeated,
    conflicts: plan.queued.length,
  }
}

/** Adds receivers of which only levels have changed. */
export function withChangedLevels(report: IngestReport, receivers: number): IngestReport {
  return { ...report, updated: report.updated + receivers }
}
