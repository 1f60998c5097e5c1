/** Stores a planned batch within one transaction. Returns the changes for the caller to apply to memory and publish. */

import { boundMetadata, type QueueEntry } from '../domain/equipment/discovery.ts'
import type { ReportedUnits, Unit } from '../domain/equipment/hardware.ts'
import { planChannelUnits } from '../domain/equipment/packs.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { compareEdited } from '../domain/events/event-drafts.ts'
import { type IngestPlan, isStructural, type QueuedDevice, toNewReceiver } from '../domain/identity/ingest-plan.ts'
import { macKey, serialKey } from '../domain/identity/reconcile.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Tx } from '../storage/database.ts'
import { logMovement, savePending, trimMovements, trimQueue } from '../storage/discovery.ts'
import { insertEvents } from '../storage/events.ts'
import {
  addChannels,
  insertReceivers,
  type RevisionColumn,
  saveLastSeen,
  saveReadings,
  saveReceivers,
} from '../storage/receivers.ts'
import { insertUnits, releaseUnits, saveUnits, trimPacks } from '../storage/units.ts'
import type { Backlog } from './backlog.ts'
import type { LevelRows } from './level-store.ts'
import type { Batch, Planner } from './plan-batch.ts'
import type { ReceiverStore } from './receiver-store.ts'
import type { UnitStore } from './unit-store.ts'

export interface Written {
  readonly created: readonly Receiver[]
  /** The receivers with new channels, as they were stored. */
  readonly extended: ReadonlyMap<number, Receiver>
  /** For each stored receiver, the versions that were stored. */
  readonly versions: ReadonlyMap<number, Versions | undefined>
  /** The ids of receivers of which only `last_seen` was stored. */
  readonly unchanged: readonly number[]
  readonly units: readonly Unit[]
  readonly removedUnits: readonly number[]
  readonly entries: readonly QueueEntry[]
}

/** The versions of a receiver in the `LevelStore`. */
type Versions = Pick<LevelRows, 'version' | 'factsVersion'>

/** The memory with which batches are compared. */
export interface IngestMemory {
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly backlog: Backlog
  readonly planner: Planner
}

/** Units have to be stored, but the transaction has incremented only the counter of readings. */
export class UnitChangesError extends Error {
  override readonly name = 'UnitChangesError'
}

/** `column` is where `revision` is stored; see `RevisionColumn`. */
export async function writeBatch(
  memory: IngestMemory,
  tx: Tx,
  { revision, column, batch, plan }: { revision: number; column: RevisionColumn; batch: Batch; plan: IngestPlan },
): Promise<Written> {
  const { backlog } = memory
  const created = await insertCreations(tx, revision, plan)
  const extended = new Map<number, Receiver>()
  for (const { receiver, newChannels } of plan.updates) {
    if (newChannels.length > 0) extended.set(receiver.id, await addChannels(tx, revision, receiver, newChannels))
  }
  const { changed, versions, structural, withNewUnits } = await collectChanges(memory, batch, plan, extended)
  const all = [...changed.values()]
  const hasStructuralChange = ({ id }: Receiver) => structural.has(id)
  await saveReceivers(tx, revision, all.filter(hasStructuralChange))
  await saveReadings(
    tx,
    revision,
    all.filter((receiver) => !hasStructuralChange(receiver)),
    column,
  )
  if (isTimeSliceUsed()) await yieldToEventLoop()
  const unchanged = batch.endsCycle ? backlog.listDueLastSeen(plan) : []
  await saveLastSeen(
    tx,
    revision,
    unchanged.filter(({ id }) => !changed.has(id)),
    column,
  )

  for (const { receiver, old_ip, new_ip } of plan.moves) {
    const detected = { detected_at: now(), detected_by: 'sync', reason: 'found at another address' } as const
    await logMovement(tx, { device: receiver.id, old_ip, new_ip, movement_type: 'ip_only', ...detected })
  }
  if (plan.moves.length > 0) await trimMovements(tx)
  if (isTimeSliceUsed()) await yieldToEventLoop()
  const plannedUnits = planUnits(memory, { batch, plan, created, withNewUnits, saved: changed })
  const hasUnits = plannedUnits.drafts.length + plannedUnits.changed.length > 0
  if (hasUnits && column === 'reading_revision') throw new UnitChangesError()
  const { units, removedUnits } = await storeUnits(tx, revision, memory, plannedUnits)
  const entries = await queueEntries(tx, revision, { batch, plan, created })
  await insertEvents(
    tx,
    plan.moves.flatMap(({ receiver, old_ip, new_ip }) =>
      compareEdited(
        { ...receiver, ip: old_ip },
        { ...receiver, ip: new_ip },
        { time: now(), by: null, locationName: () => '' },
      ),
    ),
  )
  // Yields first, because the commit can block the event loop for long.
  if (isTimeSliceUsed()) await yieldToEventLoop()
  return { created, extended, versions, unchanged: unchanged.map(({ id }) => id), units, removedUnits, entries }
}

async function insertCreations(tx: Tx, revision: number, { creations }: IngestPlan): Promise<readonly Receiver[]> {
  const receivers: Receiver[] = []
  for (const creation of creations) {
    receivers.push(toNewReceiver(creation))
    if (isTimeSliceUsed()) await yieldToEventLoop()
  }
  return insertReceivers(tx, revision, receivers)
}

interface Changed {
  readonly changed: ReadonlyMap<number, Receiver>
  readonly versions: Written['versions']
  /** Receivers with changes other than levels. */
  readonly structural: ReadonlySet<number>
  /** Receivers that report a transmitter on a channel without a unit, or have new channels. */
  readonly withNewUnits: readonly Receiver[]
}

async function collectChanges(
  { receiverStore, backlog, planner }: IngestMemory,
  batch: Batch,
  plan: IngestPlan,
  extended: ReadonlyMap<number, Receiver>,
): Promise<Changed> {
  const changed = new Map<number, Receiver>()
  const versions = new Map<number, Versions | undefined>()
  const change = (id: number, receiver: Receiver) => {
    // Levels of a receiver that is already in `changed` were read earlier.
    const rows = receiverStore.levels.rowsOf(id)
    if (!changed.has(id)) versions.set(id, rows && { version: rows.version, factsVersion: rows.factsVersion })
    changed.set(id, receiver)
  }
  const structural = new Set<number>()
  const withNewUnits: Receiver[] = []
  const levelIds = batch.endsCycle ? backlog.listDueLevels(batch) : []
  if (levelIds.length > 0) backlog.recordLevelSave(batch.manufacturer)
  for (const id of [...levelIds, ...(batch.receivers ?? [])]) {
    const receiver = receiverStore.get(id)
    if (receiver !== undefined) change(id, receiver)
  }
  for (const update of plan.updates) {
    const { id } = update.receiver
    if (update.hasChanges) change(id, planner.applyToCurrent(update, extended, changed.get(id)))
    if (isStructural(update)) structural.add(id)
    if (planner.addsUnit(update) || update.newChannels.length > 0) {
      withNewUnits.push(planner.applyToCurrent(update, extended, changed.get(id)))
    }
    if (isTimeSliceUsed()) await yieldToEventLoop()
  }
  return { changed, versions, structural, withNewUnits }
}

/** Returns new units and changed units. */
function planUnits(
  { receiverStore, unitStore, planner }: IngestMemory,
  changes: {
    batch: Batch
    plan: IngestPlan
    created: readonly Receiver[]
    withNewUnits: readonly Receiver[]
    saved: ReadonlyMap<number, Receiver>
  },
): ReportedUnits {
  const planned = planner.planUnits(changes.plan, changes.batch, changes.created)
  // If a receiver was reported twice, only its last report is used.
  const receivers = new Map(
    [...changes.saved.values(), ...changes.created, ...changes.withNewUnits].map((receiver) => [receiver.id, receiver]),
  )
  const packs = planChannelUnits(unitStore, [...receivers.values()], (id) => receiverStore.facts(id))
  return { drafts: [...packs.drafts, ...planned.drafts], changed: [...planned.changed, ...packs.changed] }
}

async function storeUnits(
  tx: Tx,
  revision: number,
  { unitStore }: IngestMemory,
  { drafts, changed }: ReportedUnits,
): Promise<Pick<Written, 'units' | 'removedUnits'>> {
  const moved = changed.filter(({ id, channel_id }) => unitStore.get(id)?.channel_id !== channel_id)
  await releaseUnits(
    tx,
    moved.map(({ id }) => id),
  )
  const inserted = await insertUnits(tx, revision, drafts)
  await saveUnits(tx, revision, changed)
  const [released] = moved.filter(({ channel_id }) => channel_id === null)
  const removedUnits = released === undefined ? [] : await trimPacks(tx, revision, released.manufacturer)
  return { units: [...inserted, ...changed], removedUnits }
}

/** Adds devices to the review queue. Returns the new entries that are still in the queue after trimming. */
async function queueEntries(
  tx: Tx,
  revision: number,
  { batch, plan, created }: { batch: Batch; plan: IngestPlan; created: readonly Receiver[] },
): Promise<readonly QueueEntry[]> {
  const entries: QueueEntry[] = []
  for (const queued of plan.queued) {
    const existing = queued.existing.id < 0 ? created[-queued.existing.id - 1] : queued.existing
    const entry = toEntry(queued, {
      manufacturer: batch.manufacturer,
      existing_device: existing?.id ?? null,
      at: now(),
    })
    entries.push(await savePending(tx, revision, entry, queued.report))
  }
  const trimmed = entries.length === 0 ? [] : await trimQueue(tx)
  return entries.filter(({ id }) => !trimmed.includes(id))
}

function toEntry(
  { report, identity_key, conflict_type }: QueuedDevice,
  { manufacturer, existing_device, at }: { manufacturer: string; existing_device: number | null; at: number },
) {
  return {
    manufacturer,
    identity_key,
    conflict_type,
    api_device_id: report.id,
    serial_number: serialKey(report.serial_number) === null ? null : (report.serial_number ?? null),
    mac_address: macKey(report.mac_address) === null ? null : (report.mac_address ?? null),
    ip: report.ip ?? null,
    device_type: report.kind,
    is_duplicate: false,
    is_ip_conflict: conflict_type === 'ip_conflict',
    existing_device,
    discovered_at: at,
    metadata: boundMetadata(report.metadata),
  }
}
