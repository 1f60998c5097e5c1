/** Writes down what a batch means, within one transaction; what has to be shown of it is told, and shown by others. */

import type { ReceiverStore } from '../live/receiver-store.ts'
import type { UnitStore } from '../live/unit-store.ts'
import { boundMetadata, type QueueEntry } from '../model/discovery.ts'
import { draftChannelUnits, findRenamedUnits, type Unit } from '../model/hardware.ts'
import { applyUpdate, type IngestPlan, isStructural, type QueuedDevice } from '../model/ingest-plan.ts'
import type { Receiver } from '../model/receiver.ts'
import { macKey, serialKey } from '../model/reconcile.ts'
import type { Tx } from '../store/database.ts'
import { logMovement, savePending, trimMovements, trimQueue } from '../store/discovery.ts'
import { addChannels, insertReceivers, saveLastSeen, saveReadings, saveReceivers } from '../store/receivers.ts'
import { insertUnits, saveUnits } from '../store/units.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../time-slice.ts'
import type { Backlog } from './backlog.ts'
import type { Batch, Planner } from './plan-batch.ts'

export interface Written {
  readonly created: readonly Receiver[]
  /** Receivers that were given new channels, as stored. */
  readonly extended: ReadonlyMap<number, Receiver>
  /** What was written of receivers, and what memory knew of them then. */
  readonly previous: ReadonlyMap<number, Receiver | undefined>
  readonly unchanged: readonly Pick<Receiver, 'id'>[]
  readonly units: readonly Unit[]
  readonly entries: readonly QueueEntry[]
}

export interface WriteDeps {
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly backlog: Backlog
  readonly planner: Planner
  /** Wall clock, epoch ms. */
  now(): number
}

export async function writeBatch(
  deps: WriteDeps,
  tx: Tx,
  { revision, batch, plan }: { revision: number; batch: Batch; plan: IngestPlan },
): Promise<Written> {
  const { receiverStore, backlog, now } = deps
  const created = await insertCreations(tx, revision, plan)
  const extended = new Map<number, Receiver>()
  for (const { receiver, newChannels } of plan.updates) {
    if (newChannels.length > 0) extended.set(receiver.id, await addChannels(tx, revision, receiver, newChannels))
  }
  const { changed, remade, widened } = await gatherChanged(deps, batch, plan, extended)
  const previous = new Map<number, Receiver | undefined>()
  for (const id of changed.keys()) previous.set(id, receiverStore.get(id))
  const all = [...changed.values()]
  const isRemade = ({ id }: Receiver) => remade.has(id)
  await saveReceivers(tx, revision, all.filter(isRemade))
  await saveReadings(tx, revision, [...created, ...all.filter((one) => !isRemade(one))])
  if (isTimeSliceUsed()) await yieldToEventLoop()
  const unchanged = batch.endsCycle ? backlog.unchangedIn(plan) : []
  await saveLastSeen(
    tx,
    revision,
    unchanged.filter(({ id }) => !changed.has(id)),
  )

  for (const { receiver, old_ip, new_ip } of plan.moves) {
    const detected = { detected_at: now(), detected_by: 'sync', reason: 'found at another address' } as const
    await logMovement(tx, { device: receiver.id, old_ip, new_ip, movement_type: 'ip_only', ...detected })
  }
  if (plan.moves.length > 0) await trimMovements(tx)
  if (isTimeSliceUsed()) await yieldToEventLoop()
  const units = await storeUnits(deps, tx, revision, { batch, plan, created, widened, saved: changed })
  const entries = await queueEntries(deps, tx, revision, { batch, plan, created })
  // The commit takes its time at a stretch.
  if (isTimeSliceUsed()) await yieldToEventLoop()
  return { created, extended, previous, unchanged, units, entries }
}

async function insertCreations(tx: Tx, revision: number, { creations }: IngestPlan): Promise<readonly Receiver[]> {
  const drafts = creations.map(({ draft, readings }) => ({
    ...draft,
    channelNumbers: [...new Set(readings.map((reading) => reading.channel))],
  }))
  const created: Receiver[] = []
  for (const [at, receiver] of (await insertReceivers(tx, revision, drafts)).entries()) {
    created.push(applyUpdate(receiver, { fields: {}, readings: creations[at]?.readings ?? [] }))
    if (isTimeSliceUsed()) await yieldToEventLoop()
  }
  return created
}

interface Changed {
  readonly changed: ReadonlyMap<number, Receiver>
  /** Of these more has changed than levels. */
  readonly remade: ReadonlySet<number>
  /** On these a transmitter is heard that may be a unit of its own. */
  readonly widened: readonly Receiver[]
}

async function gatherChanged(
  { receiverStore, backlog, planner }: WriteDeps,
  batch: Batch,
  plan: IngestPlan,
  grown: ReadonlyMap<number, Receiver>,
): Promise<Changed> {
  const changed = new Map<number, Receiver>()
  const remade = new Set<number>()
  const widened: Receiver[] = []
  const levels = batch.endsCycle ? backlog.dueIn(batch) : []
  if (levels.length > 0) backlog.noteLevels(batch.manufacturer)
  for (const id of levels) {
    const receiver = receiverStore.get(id)
    if (receiver !== undefined) changed.set(id, receiver)
  }
  for (const update of plan.updates) {
    const { id } = update.receiver
    if (update.hasChanges) changed.set(id, planner.current(update, grown, changed.get(id)))
    if (isStructural(update)) remade.add(id)
    if (planner.addsUnit(update) || update.newChannels.length > 0) {
      widened.push(planner.current(update, grown, changed.get(id)))
    }
    if (isTimeSliceUsed()) await yieldToEventLoop()
  }
  return { changed, remade, widened }
}

/** Units that are new, and in the end of a cycle those of which something changed. */
async function storeUnits(
  { unitStore, planner }: WriteDeps,
  tx: Tx,
  revision: number,
  about: {
    batch: Batch
    plan: IngestPlan
    created: readonly Receiver[]
    widened: readonly Receiver[]
    saved: ReadonlyMap<number, Receiver>
  },
): Promise<readonly Unit[]> {
  const own = planner.planUnits(about.plan, about.batch, about.created)
  // A receiver that was told of twice counts once, as it was left in the end.
  const heard = new Map([...about.created, ...about.widened].map((receiver) => [receiver.id, receiver]))
  const drafts = [...draftChannelUnits(unitStore, [...heard.values()]), ...own.drafts]
  const inserted = await insertUnits(tx, revision, drafts)
  const changed = [...own.changed, ...findRenamedUnits(unitStore, [...about.saved.values()])]
  await saveUnits(tx, revision, changed)
  return [...inserted, ...changed]
}

/** Gives those that the queue still holds. */
async function queueEntries(
  { now }: WriteDeps,
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
