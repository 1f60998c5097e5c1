/** What a batch of observations means, held against what is known in memory; nothing is changed here. */

import type { ReceiverStore } from '../live/receiver-store.ts'
import type { UnitStore } from '../live/unit-store.ts'
import { planReportedUnits, type ReportedUnits } from '../model/hardware.ts'
import {
  applyUpdate,
  changeWithoutReport,
  createIngestPlan,
  type IngestPlan,
  isStructural,
  type Unchanged,
  type Update,
} from '../model/ingest-plan.ts'
import type { ProtocolPrecedence } from '../model/protocol-precedence.ts'
import type { DeviceReport, Receiver } from '../model/receiver.ts'
import type { Tx } from '../store/database.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../time-slice.ts'
import type { Backlog } from './backlog.ts'

export interface Batch {
  readonly manufacturer: string
  readonly reports: readonly DeviceReport[]
  /** Receivers that are there no more: offline from now on, unless this very batch heard them. */
  readonly gone?: readonly number[]
  /** Ids of devices that their system has not listed for a while. */
  readonly missing?: readonly string[]
  /** The end of a cycle: everything that changed since the last one goes to disk too. */
  readonly endsCycle?: boolean
  /** Runs in the writing transaction; throws a StaleWriteError when the caller has lost the right to write. */
  readonly guard?: (tx: Tx) => Promise<void>
}

export interface IngestReport {
  readonly devices: number
  readonly created: number
  /** Known receivers of which something changed. */
  readonly updated: number
  readonly moved: number
  readonly duplicates: number
  /** How many of the duplicates are devices told a second time in this batch. */
  readonly repeated: number
  readonly conflicts: number
}

export interface Planner {
  /** All at once. */
  plan(batch: Batch): IngestPlan
  /** A little at a time. Who is who does not change meanwhile: that takes a turn. */
  planInSlices(batch: Batch): Promise<IngestPlan>
  /** `created`: receivers that this very batch has brought, which memory does not know yet. */
  planUnits(plan: IngestPlan, batch: Batch, created?: readonly Receiver[]): ReportedUnits
  needsWriting(plan: IngestPlan, batch: Batch): boolean
  /** A transmitter is heard on a channel where there was none before. */
  addsUnit(update: Update): boolean
  /** As known at this moment: levels that were pushed since the plan was made are newer than the plan's. */
  current(update: Update, grown?: ReadonlyMap<number, Receiver>, known?: Receiver): Receiver
}

export interface PlannerDeps {
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly backlog: Backlog
  readonly precedence: ProtocolPrecedence
  /** Observations that said nothing new. */
  readonly unchanged: { get(report: DeviceReport): Unchanged | undefined }
  /** Wall clock, epoch ms. */
  now(): number
}

export function createPlanner({ receiverStore, unitStore, backlog, precedence, unchanged, now }: PlannerDeps): Planner {
  function start({ manufacturer }: Batch) {
    return createIngestPlan({ known: receiverStore, manufacturer, at: now(), unchanged, precedence })
  }

  function withGone(plan: IngestPlan, { gone = [] }: Batch): IngestPlan {
    if (gone.length === 0) return plan
    const heard = new Set(plan.unchanged.map(({ receiver }) => receiver.id))
    for (const { isReceived, receiver } of plan.updates) if (isReceived) heard.add(receiver.id)
    const left = gone.flatMap((id) => (heard.has(id) ? [] : (receiverStore.get(id) ?? [])))
    const updates = left.filter((one) => one.is_active).map((one) => changeWithoutReport(one, { is_active: false }))
    return { ...plan, updates: [...plan.updates, ...updates] }
  }

  function planUnits({ unitReports }: IngestPlan, batch: Batch, created: readonly Receiver[] = []): ReportedUnits {
    const { manufacturer, missing = [] } = batch
    const ofNew = new Map(created.map(({ api_device_id, id }) => [api_device_id, id]))
    const receiverOf = (id: string) => receiverStore.byApiId(manufacturer, id)?.id ?? ofNew.get(id)
    return planReportedUnits(unitStore, { manufacturer, reports: unitReports, missing, receiverOf })
  }

  function addsUnit({ receiver, readings }: Update): boolean {
    return readings.some(({ channel: number, transmitter }) => {
      if (transmitter === undefined || transmitter === null) return false
      const channel = receiver.channels.find((one) => one.channel === number)
      return channel !== undefined && unitStore.ofChannel(channel.id) === undefined
    })
  }

  return {
    plan(batch) {
      const intake = start(batch)
      for (const report of batch.reports) intake.add(report)
      return withGone(intake.plan, batch)
    },
    async planInSlices(batch) {
      const intake = start(batch)
      for (const report of batch.reports) {
        intake.add(report)
        if (isTimeSliceUsed()) await yieldToEventLoop()
      }
      return withGone(intake.plan, batch)
    },
    planUnits,
    needsWriting(plan, batch) {
      const { creations, moves, queued, updates } = plan
      if (creations.length > 0 || moves.length > 0 || queued.length > 0) return true
      if (updates.some(addsUnit)) return true
      const own = planUnits(plan, batch)
      if (own.drafts.length > 0 || own.changed.length > 0) return true
      if (!batch.endsCycle) return updates.some(isStructural)
      return backlog.dueIn(batch).length > 0 || updates.some(({ hasChanges }) => hasChanges) || backlog.isAnyDue(plan)
    },
    addsUnit,
    current(update, grown = noneGrown, known = receiverStore.get(update.receiver.id) ?? update.receiver) {
      const channels = withNewChannels(known, grown.get(known.id))
      const whole = channels === known.channels ? known : { ...known, channels }
      const isOvertaken = known.last_seen > (update.fields.last_seen ?? known.last_seen)
      return applyUpdate(whole, isOvertaken ? withoutReadings(update) : update)
    },
  }
}

const noneGrown: ReadonlyMap<number, Receiver> = new Map()

/** Something newer was heard while this waited for the store. */
function withoutReadings(update: Update): Pick<Update, 'fields' | 'readings'> {
  const { last_seen: _, ...fields } = update.fields
  return { fields, readings: [] }
}

/** The channels known now, with those that were just made. */
function withNewChannels(known: Receiver, grown: Receiver | undefined): Receiver['channels'] {
  const missing = (grown?.channels ?? []).filter((one) => !known.channels.some((channel) => channel.id === one.id))
  return missing.length === 0 ? known.channels : [...known.channels, ...missing].sort((a, b) => a.channel - b.channel)
}

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
