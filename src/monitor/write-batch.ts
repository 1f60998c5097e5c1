/** Writes down what a batch means, within one transaction; what has to be shown of it is told, and shown by others. */

import { breathe, isBreathDue } from '../breather.ts'
import type { Latest } from '../live/latest.ts'
import type { Units } from '../live/units.ts'
import { boundMetadata, type QueueEntry } from '../model/discovery.ts'
import { draftHeardUnits, renamedUnits, type Unit } from '../model/hardware.ts'
import { applyUpdate, type Intake, isStructural, type Queued } from '../model/intake.ts'
import type { Receiver } from '../model/receiver.ts'
import { macKey, serialKey } from '../model/reconcile.ts'
import type { Tx } from '../store/database.ts'
import { logMovement, savePending, trimMovements, trimQueue } from '../store/discovery.ts'
import { addChannels, insertReceivers, saveLastSeen, saveReadings, saveReceivers } from '../store/receivers.ts'
import { insertUnits, saveUnits } from '../store/units.ts'
import type { Backlog } from './backlog.ts'
import type { Batch, Planner } from './plan-batch.ts'

export interface Written {
  readonly created: readonly Receiver[]
  /** Receivers that were given new channels, as stored. */
  readonly grown: ReadonlyMap<number, Receiver>
  /** What was written of receivers, and what memory knew of them then. */
  readonly pictured: ReadonlyMap<number, Receiver | undefined>
  readonly stillHere: readonly Pick<Receiver, 'id'>[]
  readonly units: readonly Unit[]
  readonly entries: readonly QueueEntry[]
}

export interface WriteDeps {
  readonly latest: Latest
  readonly units: Units
  readonly backlog: Backlog
  readonly planner: Planner
  /** Wall clock, epoch ms. */
  now(): number
}

export async function writeBatch(
  deps: WriteDeps,
  tx: Tx,
  { revision, batch, intake }: { revision: number; batch: Batch; intake: Intake },
): Promise<Written> {
  const { latest, backlog, now } = deps
  const created = await insertCreations(tx, revision, intake)
  const grown = new Map<number, Receiver>()
  for (const { receiver, newChannels } of intake.updates) {
    if (newChannels.length > 0) grown.set(receiver.id, await addChannels(tx, revision, receiver, newChannels))
  }
  const { changed, remade, widened } = await gatherChanged(deps, batch, intake, grown)
  const pictured = new Map<number, Receiver | undefined>()
  for (const id of changed.keys()) pictured.set(id, latest.get(id))
  const all = [...changed.values()]
  const isRemade = ({ id }: Receiver) => remade.has(id)
  await saveReceivers(tx, revision, all.filter(isRemade))
  await saveReadings(tx, revision, [...created, ...all.filter((one) => !isRemade(one))])
  if (isBreathDue()) await breathe()
  const stillHere = batch.endsCycle ? backlog.stillHereIn(intake) : []
  await saveLastSeen(
    tx,
    revision,
    stillHere.filter(({ id }) => !changed.has(id)),
  )

  for (const { receiver, old_ip, new_ip } of intake.moves) {
    const detected = { detected_at: now(), detected_by: 'sync', reason: 'found at another address' } as const
    await logMovement(tx, { device: receiver.id, old_ip, new_ip, movement_type: 'ip_only', ...detected })
  }
  if (intake.moves.length > 0) await trimMovements(tx)
  if (isBreathDue()) await breathe()
  const units = await storeUnits(deps, tx, revision, { batch, intake, created, widened, saved: changed })
  const entries = await queueEntries(deps, tx, revision, { batch, intake, created })
  // The commit takes its time at a stretch.
  if (isBreathDue()) await breathe()
  return { created, grown, pictured, stillHere, units, entries }
}

async function insertCreations(tx: Tx, revision: number, { creations }: Intake): Promise<readonly Receiver[]> {
  const drafts = creations.map(({ draft, told }) => ({
    ...draft,
    channelNumbers: [...new Set(told.map((reading) => reading.channel))],
  }))
  const created: Receiver[] = []
  for (const [at, receiver] of (await insertReceivers(tx, revision, drafts)).entries()) {
    created.push(applyUpdate(receiver, { fields: {}, told: creations[at]?.told ?? [] }))
    if (isBreathDue()) await breathe()
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
  { latest, backlog, planner }: WriteDeps,
  batch: Batch,
  intake: Intake,
  grown: ReadonlyMap<number, Receiver>,
): Promise<Changed> {
  const changed = new Map<number, Receiver>()
  const remade = new Set<number>()
  const widened: Receiver[] = []
  const levels = batch.endsCycle ? backlog.dueIn(batch) : []
  if (levels.length > 0) backlog.noteLevels(batch.manufacturer)
  for (const id of levels) {
    const receiver = latest.get(id)
    if (receiver !== undefined) changed.set(id, receiver)
  }
  for (const update of intake.updates) {
    const { id } = update.receiver
    if (update.isNews) changed.set(id, planner.current(update, grown, changed.get(id)))
    if (isStructural(update)) remade.add(id)
    if (planner.bringsUnit(update) || update.newChannels.length > 0) {
      widened.push(planner.current(update, grown, changed.get(id)))
    }
    if (isBreathDue()) await breathe()
  }
  return { changed, remade, widened }
}

/** Units that are new, and in the end of a cycle those of which something changed. */
async function storeUnits(
  { units, planner }: WriteDeps,
  tx: Tx,
  revision: number,
  about: {
    batch: Batch
    intake: Intake
    created: readonly Receiver[]
    widened: readonly Receiver[]
    saved: ReadonlyMap<number, Receiver>
  },
): Promise<readonly Unit[]> {
  const own = planner.planUnits(about.intake, about.batch, about.created)
  // A receiver that was told of twice counts once, as it was left in the end.
  const heard = new Map([...about.created, ...about.widened].map((receiver) => [receiver.id, receiver]))
  const drafts = [...draftHeardUnits(units, [...heard.values()]), ...own.drafts]
  const inserted = await insertUnits(tx, revision, drafts)
  const changed = [...own.changed, ...renamedUnits(units, [...about.saved.values()])]
  await saveUnits(tx, revision, changed)
  return [...inserted, ...changed]
}

/** Gives those that the queue still holds. */
async function queueEntries(
  { now }: WriteDeps,
  tx: Tx,
  revision: number,
  { batch, intake, created }: { batch: Batch; intake: Intake; created: readonly Receiver[] },
): Promise<readonly QueueEntry[]> {
  const entries: QueueEntry[] = []
  for (const queued of intake.queued) {
    const existing = queued.existing.id < 0 ? created[-queued.existing.id - 1] : queued.existing
    const entry = toEntry(queued, {
      manufacturer: batch.manufacturer,
      existing_device: existing?.id ?? null,
      at: now(),
    })
    entries.push(await savePending(tx, revision, entry, queued.seen))
  }
  const trimmed = entries.length === 0 ? [] : await trimQueue(tx)
  return entries.filter(({ id }) => !trimmed.includes(id))
}

function toEntry(
  { seen, identity_key, conflict_type }: Queued,
  { manufacturer, existing_device, at }: { manufacturer: string; existing_device: number | null; at: number },
) {
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
    discovered_at: at,
    metadata: boundMetadata(seen.metadata),
  }
}
