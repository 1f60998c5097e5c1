/** Plans a batch of device reports against the receivers in memory. Changes nothing. */

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
  isStructural,
  type LevelReport,
  type ReceiverAtRead,
  type Update,
} from '../domain/identity/ingest-plan.ts'
import type { ProtocolPrecedence } from '../domain/identity/protocol-precedence.ts'
import { ipKey, macKey, serialKey } from '../domain/identity/reconcile.ts'
import { hasOnlyLevels, type LevelSample } from '../domain/levels/level-sample.ts'
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
  /** Receivers whose facts are in memory and are to be stored. A batch with these contains nothing else. */
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

/** What the plan contains of one of its batches. */
export interface PlannedBatch {
  /** Does not count receivers of which only levels change. */
  readonly report: IngestReport
  readonly levelReports: readonly LevelReport[]
  readonly updates: readonly Update[]
}

export interface Planner {
  /** Plans the batch synchronously. */
  plan(batch: Batch): IngestPlan
  /**
   * Plans batches that are stored together, in time slices, and counts what each of them changes. Identities do not
   * change in the meantime, because writes are serialized.
   */
  planInSlices(
    batches: readonly [Batch, ...Batch[]],
  ): Promise<{ readonly plan: IngestPlan; readonly parts: readonly PlannedBatch[] }>
  /**
   * Plans the units that the batch reports. `created` are the receivers that this batch has created; they are not in
   * memory yet.
   */
  planUnits(plan: IngestPlan, batch: Batch, created?: readonly Receiver[]): ReportedUnits
  needsWriting(plan: IngestPlan, batch: Batch): boolean
  /** Whether the batch changes nothing but readings and times of receivers of its manufacturer. */
  changesOnlyReadings(plan: IngestPlan, batch: Batch): boolean
  /** Counts the receivers of which the plan contains different levels than the known ones. */
  countChangedLevels(plan: IngestPlan): number
  /** Whether the update reports a transmitter on a channel that has no unit. */
  addsUnit(update: Update): boolean
  /** Returns the current receiver with the update applied. What was pushed since the plan was made is kept. */
  applyToCurrent(update: Update, extended?: ReadonlyMap<number, Receiver>, known?: Receiver): Receiver
}

export interface PlannerDeps {
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly backlog: Backlog
  readonly precedence: ProtocolPrecedence
  /** The wall-clock time in epoch ms. */
  now(): number
}

export function createPlanner({ receiverStore, unitStore, backlog, precedence, now }: PlannerDeps): Planner {
  /** For each receiver, the last report that contained no news except levels, and of what it was compared with. */
  const withoutNews = new WeakMap<LevelRows, { report: DeviceReport; factsVersion: number; identityRevision: number }>()

  function findLevelReceiver(manufacturer: string, report: DeviceReport): Receiver | undefined {
    const receiver = receiverStore.factsByApiId(manufacturer, report.id)
    const rows = receiver && receiverStore.levels.rowsOf(receiver.id)
    if (receiver === undefined || rows === undefined || precedence.isContested(receiver)) return undefined
    const { identityRevision } = receiverStore
    const { factsVersion } = rows
    const last = withoutNews.get(rows)
    if (last?.report === report && last.factsVersion === factsVersion && last.identityRevision === identityRevision)
      return receiver
    if (!hasOnlyLevels(receiver, report) || mayBeAmbiguous(report)) return undefined
    if (lacksUnit(receiver, report.channels ?? [])) return undefined
    withoutNews.set(rows, { report, factsVersion, identityRevision })
    return receiver
  }

  /** Whether several receivers may match the report, because it identifies the device by its address only. */
  function mayBeAmbiguous({ serial_number, mac_address, ip }: DeviceReport): boolean {
    const key = ipKey(ip)
    return key !== null && serialKey(serial_number) === null && macKey(mac_address) === null
      ? receiverStore.byIp(key).length > 1
      : false
  }

  function startPlan({ manufacturer }: Batch) {
    return new IngestPlanBuilder({ known: receiverStore, manufacturer, at: now(), findLevelReceiver, precedence })
  }

  function withOffline(plan: IngestPlan, { offline = [] }: Batch): IngestPlan {
    if (offline.length === 0) return plan
    const reported = new Set(plan.levelReports.map(({ receiver }) => receiver.id))
    for (const { isReceived, receiver } of plan.updates) if (isReceived) reported.add(receiver.id)
    const receivers = offline.flatMap((id) => (reported.has(id) ? [] : (receiverStore.get(id) ?? [])))
    const active = receivers.filter((receiver) => receiver.is_active)
    const updates = active.map((receiver) => changeWithoutReport(receiver, { is_active: false }))
    return { ...plan, updates: [...plan.updates, ...updates] }
  }

  function planUnits({ unitReports }: IngestPlan, batch: Batch, created: readonly Receiver[] = []): ReportedUnits {
    const { manufacturer, missing = [] } = batch
    const createdIds = new Map(created.map(({ api_device_id, id }) => [api_device_id, id]))
    const receiverOf = (id: string) => receiverStore.factsByApiId(manufacturer, id)?.id ?? createdIds.get(id)
    return planReportedUnits(unitStore, { manufacturer, reports: unitReports, missing, receiverOf })
  }

  /** Whether the plan adds receivers, units or queue entries, or changes units or addresses. */
  function changesMore(plan: IngestPlan, batch: Batch): boolean {
    const { creations, moves, queued, updates } = plan
    if (creations.length > 0 || moves.length > 0 || queued.length > 0) return true
    if (updates.some(addsUnit)) return true
    const units = planUnits(plan, batch)
    return units.drafts.length > 0 || units.changed.length > 0
  }

  function addsUnit({ receiver, readings }: Update): boolean {
    return lacksUnit(receiver, readings)
  }

  /** Whether the readings contain a transmitter on a channel without a unit. */
  function lacksUnit(receiver: Receiver, readings: readonly ChannelReading[]): boolean {
    return readings.some(({ channel: number, transmitter }) => {
      if (transmitter === undefined || transmitter === null) return false
      const channel = receiver.channels.find((known) => known.channel === number)
      return channel !== undefined && unitStore.ofChannel(channel.id) === undefined
    })
  }

  return {
    plan(batch) {
      const builder = startPlan(batch)
      for (const report of batch.reports) builder.add(report, batch.newerLevels?.get(report), batch.receiverAtRead)
      return withOffline(builder.plan, batch)
    },
    async planInSlices(batches) {
      const joined = joinBatches(batches)
      const builder = startPlan(joined)
      const { plan } = builder
      const parts: PlannedBatch[] = []
      for (const batch of batches) {
        const before = toReport(batch, plan)
        const firstLevelReport = plan.levelReports.length
        const firstUpdate = plan.updates.length
        for (const report of batch.reports) {
          builder.add(report, batch.newerLevels?.get(report), batch.receiverAtRead)
          if (isTimeSliceUsed()) await yieldToEventLoop()
        }
        const report = countSince(before, toReport(batch, plan))
        const levelReports = plan.levelReports.slice(firstLevelReport)
        parts.push({ report, levelReports, updates: plan.updates.slice(firstUpdate) })
      }
      return { plan: withOffline(plan, joined), parts }
    },
    planUnits,
    changesOnlyReadings: (plan, batch) => !changesMore(plan, batch) && !plan.updates.some(isStructural),
    needsWriting(plan, batch) {
      const { updates } = plan
      if (changesMore(plan, batch)) return true
      if (!batch.endsCycle) return updates.some(isStructural)
      return (
        backlog.listDueLevels(batch).length > 0 ||
        updates.some(({ hasChanges }) => hasChanges) ||
        backlog.hasDueLastSeen(plan)
      )
    },
    countChangedLevels({ levelReports }) {
      const { levels } = receiverStore
      return levelReports.filter(({ receiver, readings }) => {
        const rows = levels.rowsOf(receiver.id)
        return rows !== undefined && readings.some((reading) => levels.differs(rows, reading))
      }).length
    },
    addsUnit,
    applyToCurrent(update, extended = noneExtended, known = receiverStore.get(update.receiver.id) ?? update.receiver) {
      const channels = withNewChannels(known, extended.get(known.id))
      const receiver = channels === known.channels ? known : { ...known, channels }
      const isAsPlanned = known.channels === update.receiver.channels
      return applyUpdate(receiver, isAsPlanned ? update : withoutOlderValues(update, receiver))
    },
  }
}

const noneExtended: ReadonlyMap<number, Receiver> = new Map()

/** Removes the values of an update that have changed since it was planned, because newer ones were pushed. */
function withoutOlderValues(
  { fields, readings, receiver }: Update,
  current: Receiver,
): Pick<Update, 'fields' | 'readings'> {
  const { last_seen = current.last_seen, ...others } = fields
  return {
    fields: last_seen < current.last_seen ? others : fields,
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

/** Counts what a plan contains, except receivers of which only levels change. */
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
