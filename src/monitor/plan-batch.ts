/** What a batch of observations means, held against what is known in memory; nothing is changed here. */

import { breathe, isBreathDue } from '../breather.ts'
import type { Latest } from '../live/latest.ts'
import type { Units } from '../live/units.ts'
import type { Authority } from '../model/authority.ts'
import { type OwnUnits, planOwnUnits } from '../model/hardware.ts'
import {
  applyUpdate,
  type Intake,
  isStructural,
  type Settled,
  spokenOf,
  startIntake,
  type Update,
} from '../model/intake.ts'
import type { Observation, Receiver } from '../model/receiver.ts'
import type { Tx } from '../store/database.ts'
import type { Backlog } from './backlog.ts'

export interface Batch {
  readonly manufacturer: string
  readonly observations: readonly Observation[]
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
  plan(batch: Batch): Intake
  /** A little at a time. Who is who does not change meanwhile: that takes a turn. */
  planLong(batch: Batch): Promise<Intake>
  /** `created`: receivers that this very batch has brought, which memory does not know yet. */
  planUnits(intake: Intake, batch: Batch, created?: readonly Receiver[]): OwnUnits
  needsWriting(intake: Intake, batch: Batch): boolean
  /** A transmitter is heard on a channel where there was none before. */
  bringsUnit(update: Update): boolean
  /** As known at this moment: levels that were pushed since the plan was made are newer than the plan's. */
  current(update: Update, grown?: ReadonlyMap<number, Receiver>, known?: Receiver): Receiver
}

export interface PlannerDeps {
  readonly latest: Latest
  readonly units: Units
  readonly backlog: Backlog
  readonly authority: Authority
  /** Observations that said nothing new. */
  readonly settled: { get(seen: Observation): Settled | undefined }
  /** Wall clock, epoch ms. */
  now(): number
}

export function createPlanner({ latest, units, backlog, authority, settled, now }: PlannerDeps): Planner {
  function start({ manufacturer }: Batch) {
    return startIntake({ known: latest, manufacturer, at: now(), settled, authority })
  }

  function withGone(intake: Intake, { gone = [] }: Batch): Intake {
    if (gone.length === 0) return intake
    const heard = new Set(intake.again.map(({ receiver }) => receiver.id))
    for (const { isHeard, receiver } of intake.updates) if (isHeard) heard.add(receiver.id)
    const left = gone.flatMap((id) => (heard.has(id) ? [] : (latest.get(id) ?? [])))
    const updates = left.filter((one) => one.is_active).map((one) => spokenOf(one, { is_active: false }))
    return { ...intake, updates: [...intake.updates, ...updates] }
  }

  function planUnits({ ofUnits }: Intake, batch: Batch, created: readonly Receiver[] = []): OwnUnits {
    const { manufacturer, missing = [] } = batch
    const ofNew = new Map(created.map(({ api_device_id, id }) => [api_device_id, id]))
    const receiverOf = (id: string) => latest.byApiId(manufacturer, id)?.id ?? ofNew.get(id)
    return planOwnUnits(units, { manufacturer, observations: ofUnits, missing, receiverOf })
  }

  function bringsUnit({ receiver, told }: Update): boolean {
    return told.some(({ channel: number, transmitter }) => {
      if (transmitter === undefined || transmitter === null) return false
      const channel = receiver.channels.find((one) => one.channel === number)
      return channel !== undefined && units.ofChannel(channel.id) === undefined
    })
  }

  return {
    plan(batch) {
      const intake = start(batch)
      for (const seen of batch.observations) intake.add(seen)
      return withGone(intake.plan, batch)
    },
    async planLong(batch) {
      const intake = start(batch)
      for (const seen of batch.observations) {
        intake.add(seen)
        if (isBreathDue()) await breathe()
      }
      return withGone(intake.plan, batch)
    },
    planUnits,
    needsWriting(intake, batch) {
      const { creations, moves, queued, updates } = intake
      if (creations.length > 0 || moves.length > 0 || queued.length > 0) return true
      if (updates.some(bringsUnit)) return true
      const own = planUnits(intake, batch)
      if (own.drafts.length > 0 || own.changed.length > 0) return true
      if (!batch.endsCycle) return updates.some(isStructural)
      return backlog.dueIn(batch).length > 0 || updates.some(({ isNews }) => isNews) || backlog.isAnyDue(intake)
    },
    bringsUnit,
    current(update, grown = noneGrown, known = latest.get(update.receiver.id) ?? update.receiver) {
      const channels = withNewChannels(known, grown.get(known.id))
      const whole = channels === known.channels ? known : { ...known, channels }
      const isOvertaken = known.last_seen > (update.fields.last_seen ?? known.last_seen)
      return applyUpdate(whole, isOvertaken ? withoutReadings(update) : update)
    },
  }
}

const noneGrown: ReadonlyMap<number, Receiver> = new Map()

/** Something newer was heard while this waited for the store. */
function withoutReadings(update: Update): Pick<Update, 'fields' | 'told'> {
  const { last_seen: _, ...fields } = update.fields
  return { fields, told: [] }
}

/** The channels known now, with those that were just made. */
function withNewChannels(known: Receiver, grown: Receiver | undefined): Receiver['channels'] {
  const missing = (grown?.channels ?? []).filter((one) => !known.channels.some((channel) => channel.id === one.id))
  return missing.length === 0 ? known.channels : [...known.channels, ...missing].sort((a, b) => a.channel - b.channel)
}

export function toReport(batch: Batch, intake: Intake): IngestReport {
  return {
    devices: batch.observations.length,
    created: intake.creations.length,
    updated: intake.updates.filter(({ isNews }) => isNews).length,
    moved: intake.moves.length,
    duplicates: intake.duplicates + intake.repeated,
    repeated: intake.repeated,
    conflicts: intake.queued.length,
  }
}
