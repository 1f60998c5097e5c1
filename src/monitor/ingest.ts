/**
 * The one door through which facts about devices enter: what they mean is planned, written down in one transaction, and
 * only then shown and told on. Levels go to memory at once and to disk at the end of a polling cycle.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Cache } from '../live/cache.ts'
import type { Feed } from '../live/feed.ts'
import type { Latest } from '../live/latest.ts'
import type { Units } from '../live/units.ts'
import { rankOfId } from '../manufacturers/index.ts'
import { toReceiverChange } from '../model/api.ts'
import { createAuthority } from '../model/authority.ts'
import { boundMetadata, type QueueEntry } from '../model/discovery.ts'
import { draftHeardUnits, type OwnUnits, planOwnUnits, renamedUnits, type Unit } from '../model/hardware.ts'
import {
  applyUpdate,
  type Intake,
  isStructural,
  type Queued,
  type Settled,
  settle,
  spokenOf,
  startIntake,
  type Update,
} from '../model/intake.ts'
import { type ChannelReading, mergeChannels, type Observation, type Receiver } from '../model/receiver.ts'
import { macKey, serialKey } from '../model/reconcile.ts'
import type { Database, Tx } from '../store/database.ts'
import { listEntries, logMovement, savePending, trimMovements, trimQueue } from '../store/discovery.ts'
import { StaleWriteError, StoreBusyError } from '../store/errors.ts'
import {
  addChannels,
  insertReceivers,
  listReceivers,
  listRemovals,
  saveLastSeen,
  saveReadings,
  saveReceivers,
} from '../store/receivers.ts'
import { currentRevision, nextRevision } from '../store/revision.ts'
import { insertUnits, listUnits, saveUnits } from '../store/units.ts'
import type { Alerts } from './alerts.ts'
import { createBreather } from './wait.ts'

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

/** Levels that another process heard and has not written down yet. */
export interface HeardElsewhere extends Pick<Receiver, 'id' | 'last_seen' | 'is_active'> {
  /** None where it has only been heard again. */
  readonly channels: readonly ChannelReading[]
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

export interface Ingest {
  /** Levels of known receivers take effect before this returns its promise. */
  take(batch: Batch): Promise<IngestReport>
  /** Levels of known receivers take effect in memory; the rest waits for a later batch. For while the store is away. */
  show(batch: Batch): IngestReport
  /** What `take` would do. */
  preview(batch: Batch): IngestReport
  /**
   * One transaction over receivers or the queue on somebody's word: `work` sees memory as the store has it, and memory,
   * screens and answers are up to date once this resolves.
   */
  change<T>(work: (tx: Tx, revision: number) => Promise<T>): Promise<T>
  /** Takes in what other processes have stored since. */
  catchUp(): Promise<void>
  /** Shows what other processes have heard; to write it down is their business. */
  hearElsewhere(levels: readonly HeardElsewhere[]): void
}

export interface IngestDeps {
  readonly db: Database
  readonly latest: Latest
  readonly units: Units
  readonly feed: Feed
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly alerts: Pick<Alerts, 'took' | 'left'>
  /** Hears of every receiver as this process heard it. */
  onHeard(receiver: Receiver): void
  /** Wall clock, epoch ms. */
  now(): number
}

/** A receiver that only says "still here" is written down this often. */
const lastSeenEveryMs = 60_000

/** Less than the shortest interval of a single source, which writes after every cycle. */
const saveLevelsEveryMs = 800

/** What is stored may be so much older than what was told by word; beyond that it is another machine's clock. */
const wordAheadMs = 10_000

/** Other writers came first so often in a row that something must be wrong. */
const maxReplans = 20

export function createIngest(deps: IngestDeps): Ingest {
  const { db, latest, units, feed, cache, alerts, now } = deps
  /** Changed in memory, not on disk yet. */
  const unsaved = new Set<number>()
  const savedAt = new Map<number, number>()
  /** By manufacturer, of `performance.now()`. */
  const levelsSavedAt = new Map<string, number>()
  /** Of when the levels are that other processes have passed on. */
  const wordAt = new Map<number, number>()
  const settled = new WeakMap<Observation, Settled>()
  const authority = createAuthority(rankOfId)
  let turn: Promise<unknown> = Promise.resolve()

  /** One writer at a time, in the order they came. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  function startPlan({ manufacturer }: Batch) {
    return startIntake({ known: latest, manufacturer, at: now(), settled, authority })
  }

  /** All at once. */
  function plan(batch: Batch): Intake {
    const intake = startPlan(batch)
    for (const seen of batch.observations) intake.add(seen)
    return withGone(intake.plan, batch)
  }

  /** A little at a time. Who is who does not change meanwhile: that takes a turn. */
  async function planLong(batch: Batch): Promise<Intake> {
    const intake = startPlan(batch)
    const breathe = createBreather()
    for (const seen of batch.observations) {
      intake.add(seen)
      if (breathe.isDue()) await breathe.now()
    }
    return withGone(intake.plan, batch)
  }

  function withGone(intake: Intake, { gone = [] }: Batch): Intake {
    if (gone.length === 0) return intake
    const heard = new Set(intake.again.map(({ receiver }) => receiver.id))
    for (const { isHeard, receiver } of intake.updates) if (isHeard) heard.add(receiver.id)
    const left = gone.flatMap((id) => (heard.has(id) ? [] : (latest.get(id) ?? [])))
    const updates = left.filter((one) => one.is_active).map((one) => spokenOf(one, { is_active: false }))
    return { ...intake, updates: [...intake.updates, ...updates] }
  }

  function planUnits({ manufacturer, observations, missing = [] }: Batch): OwnUnits {
    const receiverOf = (id: string) => latest.byApiId(manufacturer, id)?.id
    return planOwnUnits(units, { manufacturer, observations, missing, receiverOf })
  }

  function take(batch: Batch): Promise<IngestReport> {
    if (batch.endsCycle) return inTurn(() => write(batch))
    const intake = plan(batch)
    if (needsWriting(intake, batch)) return inTurn(() => write(batch))
    return Promise.resolve(showPlanned(batch, intake))
  }

  /** What needs no store. */
  function showPlanned(batch: Batch, intake: Intake): IngestReport {
    for (const update of intake.updates) if (!isStructural(update)) showUpdate(update)
    for (const one of intake.again) showAgain(one, intake)
    cache.drop(batch.manufacturer)
    return toReport(batch, intake)
  }

  async function write(batch: Batch): Promise<IngestReport> {
    for (let attempt = 1; attempt <= maxReplans; attempt += 1) {
      // Planned here and not before: while waiting for the turn the picture may have changed.
      const intake = await planLong(batch)
      const report = toReport(batch, intake)
      if (!needsWriting(intake, batch)) {
        await showAll(intake, batch)
        return report
      }
      try {
        const written = await db.transaction((tx) => store(tx, batch, intake))
        await written()
        return report
      } catch (error) {
        if (error instanceof OvertakenError) await loadChanges()
        else {
          if (error instanceof StaleWriteError) await forgetUnsaved(batch.manufacturer)
          // The show goes on in memory; what could not be stored is stored at the end of a later cycle.
          else await showAll({ ...intake, updates: intake.updates.filter((update) => !isStructural(update)) }, batch)
          throw error
        }
      }
    }
    throw new OvertakenError()
  }

  /** Somebody else knows better by now: what is stored counts, and not what this process has heard before. */
  async function forgetUnsaved(manufacturer: string): Promise<void> {
    const ids = new Set(unsavedOf(manufacturer))
    for (const id of ids) unsaved.delete(id)
    for (const receiver of ids.size === 0 ? [] : await listReceivers(db.read)) if (ids.has(receiver.id)) show(receiver)
    cache.drop(manufacturer)
  }

  /** Writes the plan; gives back what shows it, once it is safe. */
  async function store(tx: Tx, batch: Batch, intake: Intake): Promise<() => Promise<void>> {
    const breathe = createBreather()
    const revision = await nextRevision(tx)
    if (revision !== latest.revision + 1) throw new OvertakenError()
    await batch.guard?.(tx)

    const drafts = intake.creations.map(({ draft, told }) => ({
      ...draft,
      channelNumbers: [...new Set(told.map((reading) => reading.channel))],
    }))
    const inserted = await insertReceivers(tx, revision, drafts)
    const created: Receiver[] = []
    for (const [at, receiver] of inserted.entries()) {
      created.push(applyUpdate(receiver, { fields: {}, told: intake.creations[at]?.told ?? [] }))
      if (breathe.isDue()) await breathe.now()
    }
    const grown = new Map<number, Receiver>()
    for (const { receiver, newChannels } of intake.updates) {
      if (newChannels.length > 0) grown.set(receiver.id, await addChannels(tx, revision, receiver, newChannels))
    }
    const pictured = new Map<number, Receiver | undefined>()
    const changed = new Map<number, Receiver>()
    const levels = batch.endsCycle ? unsavedIn(batch) : []
    if (levels.length > 0) levelsSavedAt.set(batch.manufacturer, performance.now())
    /** Of these more has changed than levels. */
    const remade = new Set<number>()
    const widened: Receiver[] = []
    for (const id of levels) {
      const receiver = latest.get(id)
      if (receiver !== undefined) changed.set(id, receiver)
    }
    for (const update of intake.updates) {
      const { id } = update.receiver
      if (update.isNews) changed.set(id, current(update, grown, changed.get(id)))
      if (isStructural(update)) remade.add(id)
      if (bringsUnit(update) || update.newChannels.length > 0) widened.push(current(update, grown, changed.get(id)))
      if (breathe.isDue()) await breathe.now()
    }
    for (const id of changed.keys()) pictured.set(id, latest.get(id))
    const all = [...changed.values()]
    const isRemade = ({ id }: Receiver) => remade.has(id)
    await saveReceivers(tx, revision, all.filter(isRemade))
    await saveReadings(tx, revision, [...created, ...all.filter((one) => !isRemade(one))])
    const stillHere = batch.endsCycle ? stillHereIn(intake) : []
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
    const savedUnits = await storeUnits(tx, revision, { batch, heard: [...created, ...widened], saved: changed })
    const entries: QueueEntry[] = []
    for (const queued of intake.queued) {
      const existing = queued.existing.id < 0 ? created[-queued.existing.id - 1] : queued.existing
      const entry = toEntry(batch.manufacturer, queued, existing?.id ?? null)
      entries.push(await savePending(tx, revision, entry, queued.seen))
    }
    const trimmed = entries.length === 0 ? [] : await trimQueue(tx)

    return async () => {
      latest.revision = revision
      for (const entry of entries) if (!trimmed.includes(entry.id)) latest.putEntry(entry)
      for (const unit of savedUnits) units.put(unit)
      for (const [id, before] of pictured) {
        savedAt.set(id, now())
        if (latest.get(id) === before) unsaved.delete(id)
      }
      for (const { id } of stillHere) savedAt.set(id, now())
      cache.drop(batch.manufacturer)
      const breathe = createBreather()
      for (const receiver of created) {
        savedAt.set(receiver.id, now())
        showHeard(receiver)
        if (breathe.isDue()) await breathe.now()
      }
      await showAll(intake, batch, grown)
    }
  }

  /** Units that are new, and in the end of a cycle those of which something changed. */
  async function storeUnits(
    tx: Tx,
    revision: number,
    about: { batch: Batch; heard: readonly Receiver[]; saved: ReadonlyMap<number, Receiver> },
  ): Promise<readonly Unit[]> {
    const own = planUnits(about.batch)
    // A receiver that was told of twice counts once, as it was left in the end.
    const heard = new Map(about.heard.map((receiver) => [receiver.id, receiver]))
    const drafts = [...draftHeardUnits(units, [...heard.values()]), ...own.drafts]
    const inserted = await insertUnits(tx, revision, drafts)
    const changed = [...own.changed, ...renamedUnits(units, [...about.saved.values()])]
    await saveUnits(tx, revision, changed)
    return [...inserted, ...changed]
  }

  /** A transmitter is heard on a channel where there was none before. */
  function bringsUnit({ receiver, told }: Update): boolean {
    return told.some(({ channel: number, transmitter }) => {
      if (transmitter === undefined || transmitter === null) return false
      const channel = receiver.channels.find((one) => one.channel === number)
      return channel !== undefined && units.ofChannel(channel.id) === undefined
    })
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
    if (updates.some(bringsUnit)) return true
    const own = planUnits(batch)
    if (own.drafts.length > 0 || own.changed.length > 0) return true
    if (!batch.endsCycle) return updates.some(isStructural)
    return unsavedIn(batch).length > 0 || updates.some(({ isNews }) => isNews) || isAnyDue(intake)
  }

  /** What a cycle is to write down. Of many sources one writes for all: five hundred cycles are not five hundred writes. */
  function unsavedIn({ manufacturer, observations }: Batch): number[] {
    const sinceMs = performance.now() - (levelsSavedAt.get(manufacturer) ?? Number.NEGATIVE_INFINITY)
    return observations.length > 0 && sinceMs < saveLevelsEveryMs ? [] : unsavedOf(manufacturer)
  }

  function unsavedOf(manufacturer: string): number[] {
    return [...unsaved].filter((id) => latest.get(id)?.manufacturer === manufacturer)
  }

  function isDue(id: number, at: number): boolean {
    return at - (savedAt.get(id) ?? 0) >= lastSeenEveryMs
  }

  function isAnyDue({ again, updates, at }: Intake): boolean {
    return (
      again.some(({ receiver }) => isDue(receiver.id, at)) || updates.some(({ receiver }) => isDue(receiver.id, at))
    )
  }

  /** Those that said nothing new, and whose last word was written down long ago. */
  function stillHereIn({ again, updates, at }: Intake): Pick<Receiver, 'id' | 'last_seen'>[] {
    const silent = updates.filter(({ isNews, isHeard }) => isHeard && !isNews)
    return [...again, ...silent]
      .filter(({ receiver }) => isDue(receiver.id, at))
      .map(({ receiver: { id, last_seen } }) => ({ id, last_seen: Math.max(last_seen, at) }))
  }

  /** As known at this moment: levels that were pushed since the plan was made are newer than the plan's. */
  function current(update: Update, grown = noneGrown, known = latest.get(update.receiver.id) ?? update.receiver) {
    const channels = withNewChannels(known, grown.get(known.id))
    const whole = channels === known.channels ? known : { ...known, channels }
    const isOvertaken = known.last_seen > (update.fields.last_seen ?? known.last_seen)
    return applyUpdate(whole, isOvertaken ? withoutReadings(update) : update)
  }

  /** `grown`: what was stored; without it, what is shown has still to be. */
  async function showAll(
    intake: Intake,
    { manufacturer }: Batch,
    grown?: ReadonlyMap<number, Receiver>,
  ): Promise<void> {
    const breathe = createBreather()
    for (const update of intake.updates) {
      const after = showUpdate(update, grown)
      if (isSettling(update)) settled.set(update.seen, settle(update.seen, after, intake.identities))
      if (breathe.isDue()) await breathe.now()
    }
    for (const one of intake.again) {
      showAgain(one, intake)
      if (breathe.isDue()) await breathe.now()
    }
    cache.drop(manufacturer)
  }

  function showUpdate(update: Update, grown?: ReadonlyMap<number, Receiver>): Receiver {
    const { id } = update.receiver
    const before = latest.get(id)
    const after = current(update, grown)
    if (grown === undefined && after.channels !== before?.channels) unsaved.add(id)
    showHeard(after)
    return after
  }

  /** Told again, it would find the receiver as it left it. */
  function isSettling(update: Update): update is Update & { seen: Observation } {
    return update.seen !== null && update.isHeard && !isStructural(update) && !bringsUnit(update)
  }

  /** Nobody has to hear of it: nothing is new but the time. */
  function showAgain(one: Settled, { at }: Intake): void {
    const known = latest.get(one.receiver.id)
    if (known === undefined) return
    const after = { ...known, last_seen: Math.max(known.last_seen, at) }
    latest.put(after)
    alerts.took(known, after)
    if (known === one.receiver) one.receiver = after
  }

  /** A receiver as this process heard it. */
  function showHeard(after: Receiver): void {
    const before = latest.get(after.id)
    show(after)
    alerts.took(before, after)
    deps.onHeard(after)
  }

  function hearElsewhere(levels: readonly HeardElsewhere[]): void {
    for (const { id, last_seen, is_active, channels } of levels) {
      const known = latest.get(id)
      // What was heard here, or heard later, stands.
      if (known === undefined || unsaved.has(id) || known.last_seen > last_seen) continue
      // Who says nothing of levels knows no newer ones than the database.
      if (channels.length > 0) wordAt.set(id, last_seen)
      cache.drop(known.manufacturer)
      alerts.left(id)
      show({ ...known, last_seen, is_active, channels: mergeChannels(known.channels, channels) })
    }
  }

  function show(after: Receiver): void {
    const change = toReceiverChange(latest.get(after.id), after)
    replace(after)
    if (change === null) return
    feed.publish({ type: 'device_update', manufacturer: after.manufacturer, receiver_id: after.id, data: change })
  }

  function replace(receiver: Receiver): void {
    latest.put(receiver)
    cache.drop(receiver.manufacturer)
  }

  /** A receiver that was removed leaves its screens: without channels there is nothing to show of it. */
  function hide(id: number): void {
    const receiver = latest.get(id)
    if (receiver === undefined) return
    latest.remove(id)
    units.removeOf(id)
    unsaved.delete(id)
    savedAt.delete(id)
    wordAt.delete(id)
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
          if (revision !== latest.revision + 1) throw new OvertakenError()
          return work(tx, revision)
        })
        // It is done, whatever comes now; what cannot be read at once is read a moment later.
        await loadChanges().catch(() => {})
        return result
      } catch (error) {
        if (!(error instanceof OvertakenError)) throw error
      }
    }
    throw new OvertakenError()
  }

  async function loadChanges(): Promise<void> {
    const revision = await currentRevision(db.read)
    if (revision === latest.revision) return
    const [receivers, entries, changedUnits, removals] = await Promise.all([
      listReceivers(db.read, latest.revision),
      listEntries(db.read, latest.revision),
      listUnits(db.read, latest.revision),
      listRemovals(db.read, latest.revision),
    ])
    latest.revision = revision
    for (const id of removals) hide(id)
    for (const entry of entries) {
      latest.putEntry(entry)
      cache.drop(entry.manufacturer)
    }
    for (const unit of changedUnits) units.put(unit)
    for (const receiver of receivers) {
      cache.drop(receiver.manufacturer)
      savedAt.set(receiver.id, receiver.last_seen)
      alerts.left(receiver.id)
      const known = latest.get(receiver.id)
      const isNewer = unsaved.has(receiver.id) || isHeardSince(wordAt.get(receiver.id), receiver)
      show(withKnownChannels(isNewer ? withLevelsOf(receiver, known) : receiver, known))
    }
  }

  return {
    take,
    show: (batch) => showPlanned(batch, plan(batch)),
    preview: (batch) => toReport(batch, plan(batch)),
    change: (work) => inTurn(() => change(work)),
    catchUp: () => inTurn(loadChanges),
    hearElsewhere,
  }
}

const noneGrown: ReadonlyMap<number, Receiver> = new Map()

/** Another process wrote between our looking and our writing. */
class OvertakenError extends StoreBusyError {
  constructor() {
    super('Other processes wrote first, again and again.')
  }
}

/** Something newer was heard while this waited for the store. */
function withoutReadings(update: Update): Pick<Update, 'fields' | 'told'> {
  const { last_seen: _, ...fields } = update.fields
  return { fields, told: [] }
}

/** Word of newer levels came faster than what was stored before them. */
function isHeardSince(wordAt: number | undefined, stored: Receiver): boolean {
  const aheadMs = (wordAt ?? 0) - stored.last_seen
  return aheadMs > 0 && aheadMs <= wordAheadMs
}

/** The very channels that are known, where they say the same: nobody is told again what they have heard by word. */
function withKnownChannels(receiver: Receiver, known: Receiver | undefined): Receiver {
  const isKnown = known !== undefined && isDeepStrictEqual(known.channels, receiver.channels)
  return isKnown ? { ...receiver, channels: known.channels } : receiver
}

/** As stored, with levels that were told since and are not stored yet. */
function withLevelsOf(stored: Receiver, known: Receiver | undefined): Receiver {
  const channels = stored.channels.map((channel) => {
    const live = known?.channels.find((one) => one.id === channel.id)
    return live === undefined ? channel : { ...live, slot: channel.slot }
  })
  return { ...stored, channels, last_seen: Math.max(stored.last_seen, known?.last_seen ?? 0) }
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
    updated: intake.updates.filter(({ isNews }) => isNews).length,
    moved: intake.moves.length,
    duplicates: intake.duplicates + intake.repeated,
    repeated: intake.repeated,
    conflicts: intake.queued.length,
  }
}
