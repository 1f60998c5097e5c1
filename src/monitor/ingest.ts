/**
 * The one door through which facts about devices enter: what they mean is planned, written down in one transaction, and
 * only then shown and told on. Levels go to memory at once and to disk at the end of a polling cycle.
 */

import { isDeepStrictEqual } from 'node:util'
import { breathe, isBreathDue } from '../breather.ts'
import type { Cache } from '../live/cache.ts'
import type { Feed } from '../live/feed.ts'
import type { Latest } from '../live/latest.ts'
import type { Units } from '../live/units.ts'
import { rankOfId } from '../manufacturers/index.ts'
import { toReceiverChange } from '../model/api.ts'
import { createAuthority } from '../model/authority.ts'
import type { Unit } from '../model/hardware.ts'
import { type Intake, isStructural, type Settled, settle, type Update } from '../model/intake.ts'
import { type ChannelReading, mergeChannels, type Observation, type Receiver, seenBy } from '../model/receiver.ts'
import type { Database, Tx } from '../store/database.ts'
import { listEntries } from '../store/discovery.ts'
import { StaleWriteError, StoreBusyError } from '../store/errors.ts'
import { listReceivers, listRemovals, saveLastSeen } from '../store/receivers.ts'
import { currentRevision, nextRevision } from '../store/revision.ts'
import { listUnits } from '../store/units.ts'
import type { Alerts } from './alerts.ts'
import { createBacklog } from './backlog.ts'
import { type Batch, createPlanner, type IngestReport, toReport } from './plan-batch.ts'
import { type Written, writeBatch } from './write-batch.ts'

/** Levels that another process heard and has not written down yet. */
export interface HeardElsewhere extends Pick<Receiver, 'id' | 'last_seen' | 'is_active'> {
  /** None where it has only been heard again. */
  readonly channels: readonly ChannelReading[]
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
  /** Takes back times that lie ahead, after the clock was set back. */
  correctTimes(): Promise<void>
  /** Shows what other processes have heard; to write it down is their business. */
  hearElsewhere(levels: readonly HeardElsewhere[]): void
}

export interface IngestDeps {
  readonly db: Database
  readonly latest: Latest
  readonly units: Units
  readonly feed: Feed
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly alerts: Pick<Alerts, 'took' | 'tookPacks' | 'left'>
  /** Hears of every receiver as this process heard it. */
  onHeard(receiver: Receiver): void
  /** Wall clock, epoch ms. */
  now(): number
}

/** What is stored may be so much older than what was told by word; beyond that it is another machine's clock. */
const wordAheadMs = 10_000

/** Other writers came first so often in a row that something must be wrong. */
const maxReplans = 20

export function createIngest(deps: IngestDeps): Ingest {
  const { db, latest, units, feed, cache, alerts, now } = deps
  const backlog = createBacklog(latest)
  /** Of when the levels are that other processes have passed on. */
  const wordAt = new Map<number, number>()
  const settled = new WeakMap<Observation, Settled>()
  const authority = createAuthority(rankOfId, (id) => performance.now() - latest.heardAt(id))
  const planner = createPlanner({ latest, units, backlog, authority, settled, now })
  const { plan, planLong, needsWriting, bringsUnit, current } = planner
  let turn: Promise<unknown> = Promise.resolve()

  /** One writer at a time, in the order they came. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return db.pending.track(result)
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
    const ids = new Set(backlog.of(manufacturer))
    for (const id of ids) backlog.settle(id)
    for (const receiver of ids.size === 0 ? [] : await listReceivers(db.read)) if (ids.has(receiver.id)) show(receiver)
    cache.drop(manufacturer)
  }

  /** Writes the plan; gives back what shows it, once it is safe. */
  async function store(tx: Tx, batch: Batch, intake: Intake): Promise<() => Promise<void>> {
    const revision = await nextRevision(tx)
    if (revision !== latest.revision + 1) throw new OvertakenError()
    await batch.guard?.(tx)
    const written = await writeBatch({ latest, units, backlog, planner, now }, tx, { revision, batch, intake })
    return async () => {
      latest.revision = revision
      await showWritten(written, batch, intake)
    }
  }

  async function showWritten(written: Written, batch: Batch, intake: Intake): Promise<void> {
    for (const entry of written.entries) latest.putEntry(entry)
    const chargers = chargersOf(written.units)
    for (const unit of written.units) units.put(unit)
    for (const [id, before] of written.pictured) {
      backlog.noteSaved(id)
      if (latest.get(id) === before) backlog.settle(id)
    }
    for (const { id } of written.stillHere) backlog.noteSaved(id)
    cache.drop(batch.manufacturer)
    for (const receiver of written.created) {
      backlog.noteSaved(receiver.id)
      showHeard(receiver)
      if (isBreathDue()) await breathe()
    }
    await showAll(intake, batch, written.grown)
    for (const id of chargers) alerts.tookPacks(id)
  }

  /** Where these packs are, and where they were before. */
  function chargersOf(packs: readonly Unit[]): ReadonlySet<number> {
    const own = packs.filter(({ channel_id }) => channel_id === null)
    const ids = own.flatMap(({ id, receiver_id }) => [receiver_id, units.get(id)?.receiver_id ?? null])
    return new Set(ids.filter((id) => id !== null))
  }

  /** `grown`: what was stored; without it, what is shown has still to be. */
  async function showAll(
    intake: Intake,
    { manufacturer }: Batch,
    grown?: ReadonlyMap<number, Receiver>,
  ): Promise<void> {
    for (const update of intake.updates) {
      const after = showUpdate(update, grown)
      if (isSettling(update)) settled.set(update.seen, settle(update.seen, after, intake.identities))
      if (isBreathDue()) await breathe()
    }
    for (const one of intake.again) {
      showAgain(one, intake)
      if (isBreathDue()) await breathe()
    }
    cache.drop(manufacturer)
  }

  function showUpdate(update: Update, grown?: ReadonlyMap<number, Receiver>): Receiver {
    const { id } = update.receiver
    const before = latest.get(id)
    const after = current(update, grown)
    if (grown === undefined && after.channels !== before?.channels) backlog.add(id)
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
    for (const heard of levels) {
      const { id, is_active, channels } = heard
      const known = latest.get(id)
      if (known === undefined || backlog.has(id)) continue
      // What was heard later stands; the times of others are compared with each other as they are.
      if (isHeardSince(Math.max(known.last_seen, wordAt.get(id) ?? 0), heard)) continue
      // Who says nothing of levels knows no newer ones than the database.
      if (channels.length > 0) wordAt.set(id, heard.last_seen)
      cache.drop(known.manufacturer)
      alerts.left(id)
      show({
        ...known,
        last_seen: Math.min(heard.last_seen, now()),
        is_active,
        channels: mergeChannels(known.channels, channels),
      })
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
    backlog.forget(id)
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
    for (const stored of receivers) {
      const receiver = seenBy(now(), stored)
      cache.drop(receiver.manufacturer)
      backlog.noteSaved(receiver.id)
      alerts.left(receiver.id)
      const known = latest.get(receiver.id)
      const isNewer = backlog.has(receiver.id) || isHeardSince(wordAt.get(receiver.id), receiver)
      show(withKnownChannels(isNewer ? withLevelsOf(receiver, known) : receiver, known))
    }
  }

  async function correctTimes(): Promise<void> {
    const ahead = latest.list().filter(({ last_seen }) => last_seen > now())
    if (ahead.length === 0) return
    const corrected = ahead.map((receiver) => {
      return { ...receiver, last_seen: Math.round(now() - (performance.now() - latest.heardAt(receiver.id))) }
    })
    for (const receiver of corrected) replace(receiver)
    await inTurn(() => change((tx, revision) => saveLastSeen(tx, revision, corrected)))
  }

  return {
    take,
    correctTimes,
    show: (batch) => showPlanned(batch, plan(batch)),
    preview: (batch) => toReport(batch, plan(batch)),
    change: (work) => inTurn(() => change(work)),
    catchUp: () => inTurn(loadChanges),
    hearElsewhere,
  }
}

/** Another process wrote between our looking and our writing. */
class OvertakenError extends StoreBusyError {
  constructor() {
    super('Other processes wrote first, again and again.')
  }
}

/** Word of newer levels came faster than what was stored before them. */
function isHeardSince(wordAt: number | undefined, stored: Pick<Receiver, 'last_seen'>): boolean {
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
