/**
 * The one door through which facts about devices enter: what they mean is planned, written down in one transaction, and
 * only then shown and told on. Levels go to memory at once and to disk at the end of a polling cycle.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Cache } from '../live/cache.ts'
import type { Feed } from '../live/feed.ts'
import type { ReceiverStore } from '../live/receiver-store.ts'
import type { UnitStore } from '../live/unit-store.ts'
import { precedenceOfId } from '../manufacturers/index.ts'
import { toReceiverChange } from '../model/api.ts'
import type { Unit } from '../model/hardware.ts'
import { type IngestPlan, isStructural, toUnchanged, type Unchanged, type Update } from '../model/ingest-plan.ts'
import { createProtocolPrecedence } from '../model/protocol-precedence.ts'
import {
  type ChannelReading,
  clampLastSeen,
  type DeviceReport,
  mergeChannels,
  type Receiver,
} from '../model/receiver.ts'
import type { Database, Tx } from '../store/database.ts'
import { listEntries } from '../store/discovery.ts'
import { StaleWriteError, StoreBusyError } from '../store/errors.ts'
import { listReceivers, listRemovals, saveLastSeen } from '../store/receivers.ts'
import { currentRevision, nextRevision } from '../store/revision.ts'
import { listUnits } from '../store/units.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../time-slice.ts'
import type { Alerts } from './alerts.ts'
import { createBacklog } from './backlog.ts'
import { type Batch, createPlanner, type IngestReport, toReport } from './plan-batch.ts'
import { type Written, writeBatch } from './write-batch.ts'

/** Levels that another process heard and has not written down yet. */
export interface RemoteLevels extends Pick<Receiver, 'id' | 'last_seen' | 'is_active'> {
  /** None where it has only been heard again. */
  readonly channels: readonly ChannelReading[]
}

export interface Ingest {
  /** Levels of known receivers take effect before this returns its promise. */
  ingest(batch: Batch): Promise<IngestReport>
  /** Levels of known receivers take effect in memory; the rest waits for a later batch. For while the store is away. */
  applyLevels(batch: Batch): IngestReport
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
  applyRemoteLevels(levels: readonly RemoteLevels[]): void
}

export interface IngestDeps {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly feed: Feed
  readonly cache: Pick<Cache<unknown>, 'drop'>
  readonly alerts: Pick<Alerts, 'evaluateReceiver' | 'tookPacks' | 'releaseReceiver'>
  /** Hears of every receiver as this process heard it. */
  onReceived(receiver: Receiver): void
  /** Wall clock, epoch ms. */
  now(): number
}

/** What is stored may be so much older than what was told by word; beyond that it is another machine's clock. */
const wordAheadMs = 10_000

/** Other writers came first so often in a row that something must be wrong. */
const maxReplans = 20

export function createIngest(deps: IngestDeps): Ingest {
  const { db, receiverStore, unitStore, feed, cache, alerts, now } = deps
  const backlog = createBacklog(receiverStore)
  /** Of when the levels are that other processes have passed on. */
  const wordAt = new Map<number, number>()
  const unchanged = new WeakMap<DeviceReport, Unchanged>()
  const precedence = createProtocolPrecedence(precedenceOfId, (id) => performance.now() - receiverStore.heardAt(id))
  const planner = createPlanner({ receiverStore, unitStore, backlog, precedence, unchanged, now })
  const { plan, planInSlices, needsWriting, addsUnit, current } = planner
  let turn: Promise<unknown> = Promise.resolve()

  /** One writer at a time, in the order they came. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return db.pending.track(result)
  }

  function ingest(batch: Batch): Promise<IngestReport> {
    if (batch.endsCycle) return inTurn(() => write(batch))
    const intake = plan(batch)
    if (needsWriting(intake, batch)) return inTurn(() => write(batch))
    return Promise.resolve(showPlanned(batch, intake))
  }

  /** What needs no store. */
  function showPlanned(batch: Batch, plan: IngestPlan): IngestReport {
    for (const update of plan.updates) if (!isStructural(update)) showUpdate(update)
    for (const one of plan.unchanged) showAgain(one, plan)
    cache.drop(batch.manufacturer)
    return toReport(batch, plan)
  }

  async function write(batch: Batch): Promise<IngestReport> {
    for (let attempt = 1; attempt <= maxReplans; attempt += 1) {
      // Planned here and not before: while waiting for the turn the picture may have changed.
      const plan = await planInSlices(batch)
      const report = toReport(batch, plan)
      if (!needsWriting(plan, batch)) {
        await showAll(plan, batch)
        return report
      }
      try {
        const written = await db.transaction((tx) => store(tx, batch, plan))
        await written()
        return report
      } catch (error) {
        if (error instanceof OvertakenError) await loadChanges()
        else {
          if (error instanceof StaleWriteError) await forgetUnsaved(batch.manufacturer)
          // The show goes on in memory; what could not be stored is stored at the end of a later cycle.
          else await showAll({ ...plan, updates: plan.updates.filter((update) => !isStructural(update)) }, batch)
          throw error
        }
      }
    }
    throw new OvertakenError()
  }

  /** Somebody else knows better by now: what is stored counts, and not what this process has heard before. */
  async function forgetUnsaved(manufacturer: string): Promise<void> {
    const ids = new Set(backlog.of(manufacturer))
    for (const id of ids) backlog.markStored(id)
    for (const receiver of ids.size === 0 ? [] : await listReceivers(db.read)) if (ids.has(receiver.id)) show(receiver)
    cache.drop(manufacturer)
  }

  /** Writes the plan; gives back what shows it, once it is safe. */
  async function store(tx: Tx, batch: Batch, plan: IngestPlan): Promise<() => Promise<void>> {
    const revision = await nextRevision(tx)
    if (revision !== receiverStore.revision + 1) throw new OvertakenError()
    await batch.guard?.(tx)
    const written = await writeBatch({ receiverStore, unitStore, backlog, planner, now }, tx, { revision, batch, plan })
    return async () => {
      receiverStore.revision = revision
      await showWritten(written, batch, plan)
    }
  }

  async function showWritten(written: Written, batch: Batch, plan: IngestPlan): Promise<void> {
    for (const entry of written.entries) receiverStore.putEntry(entry)
    const chargers = chargersOf(written.units)
    for (const unit of written.units) unitStore.put(unit)
    for (const [id, before] of written.previous) {
      backlog.noteSaved(id)
      if (receiverStore.get(id) === before) backlog.markStored(id)
    }
    for (const { id } of written.unchanged) backlog.noteSaved(id)
    cache.drop(batch.manufacturer)
    for (const receiver of written.created) {
      backlog.noteSaved(receiver.id)
      showHeard(receiver)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    await showAll(plan, batch, written.extended)
    for (const id of chargers) alerts.tookPacks(id)
  }

  /** Where these packs are, and where they were before. */
  function chargersOf(packs: readonly Unit[]): ReadonlySet<number> {
    const own = packs.filter(({ channel_id }) => channel_id === null)
    const ids = own.flatMap(({ id, receiver_id }) => [receiver_id, unitStore.get(id)?.receiver_id ?? null])
    return new Set(ids.filter((id) => id !== null))
  }

  /** `grown`: what was stored; without it, what is shown has still to be. */
  async function showAll(
    plan: IngestPlan,
    { manufacturer }: Batch,
    grown?: ReadonlyMap<number, Receiver>,
  ): Promise<void> {
    for (const update of plan.updates) {
      const after = showUpdate(update, grown)
      if (isSettling(update)) unchanged.set(update.report, toUnchanged(update.report, after, plan.identityRevision))
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    for (const one of plan.unchanged) {
      showAgain(one, plan)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    cache.drop(manufacturer)
  }

  function showUpdate(update: Update, grown?: ReadonlyMap<number, Receiver>): Receiver {
    const { id } = update.receiver
    const before = receiverStore.get(id)
    const after = current(update, grown)
    if (grown === undefined && after.channels !== before?.channels) backlog.add(id)
    showHeard(after)
    return after
  }

  /** Told again, it would find the receiver as it left it. */
  function isSettling(update: Update): update is Update & { report: DeviceReport } {
    return update.report !== null && update.isReceived && !isStructural(update) && !addsUnit(update)
  }

  /** Nobody has to hear of it: nothing is new but the time. */
  function showAgain(one: Unchanged, { at }: IngestPlan): void {
    const known = receiverStore.get(one.receiver.id)
    if (known === undefined) return
    const after = { ...known, last_seen: Math.max(known.last_seen, at) }
    receiverStore.put(after)
    alerts.evaluateReceiver(known, after)
    if (known === one.receiver) one.receiver = after
  }

  /** A receiver as this process heard it. */
  function showHeard(after: Receiver): void {
    const before = receiverStore.get(after.id)
    show(after)
    alerts.evaluateReceiver(before, after)
    deps.onReceived(after)
  }

  function applyRemoteLevels(levels: readonly RemoteLevels[]): void {
    for (const heard of levels) {
      const { id, is_active, channels } = heard
      const known = receiverStore.get(id)
      if (known === undefined || backlog.has(id)) continue
      // What was heard later stands; the times of others are compared with each other as they are.
      if (isHeardSince(Math.max(known.last_seen, wordAt.get(id) ?? 0), heard)) continue
      // Who says nothing of levels knows no newer ones than the database.
      if (channels.length > 0) wordAt.set(id, heard.last_seen)
      cache.drop(known.manufacturer)
      alerts.releaseReceiver(id)
      show({
        ...known,
        last_seen: Math.min(heard.last_seen, now()),
        is_active,
        channels: mergeChannels(known.channels, channels),
      })
    }
  }

  function show(after: Receiver): void {
    const change = toReceiverChange(receiverStore.get(after.id), after)
    replace(after)
    if (change === null) return
    feed.publish({ type: 'device_update', manufacturer: after.manufacturer, receiver_id: after.id, data: change })
  }

  function replace(receiver: Receiver): void {
    receiverStore.put(receiver)
    cache.drop(receiver.manufacturer)
  }

  /** A receiver that was removed leaves its screens: without channels there is nothing to show of it. */
  function hide(id: number): void {
    const receiver = receiverStore.get(id)
    if (receiver === undefined) return
    receiverStore.remove(id)
    unitStore.removeReceiver(id)
    backlog.remove(id)
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
          if (revision !== receiverStore.revision + 1) throw new OvertakenError()
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
    if (revision === receiverStore.revision) return
    const [receivers, entries, changedUnits, removals] = await Promise.all([
      listReceivers(db.read, receiverStore.revision),
      listEntries(db.read, receiverStore.revision),
      listUnits(db.read, receiverStore.revision),
      listRemovals(db.read, receiverStore.revision),
    ])
    receiverStore.revision = revision
    for (const id of removals) hide(id)
    for (const entry of entries) {
      receiverStore.putEntry(entry)
      cache.drop(entry.manufacturer)
    }
    for (const unit of changedUnits) unitStore.put(unit)
    for (const stored of receivers) {
      const receiver = clampLastSeen(now(), stored)
      cache.drop(receiver.manufacturer)
      backlog.noteSaved(receiver.id)
      alerts.releaseReceiver(receiver.id)
      const known = receiverStore.get(receiver.id)
      const isNewer = backlog.has(receiver.id) || isHeardSince(wordAt.get(receiver.id), receiver)
      show(withKnownChannels(isNewer ? withLevelsOf(receiver, known) : receiver, known))
    }
  }

  async function correctTimes(): Promise<void> {
    const ahead = receiverStore.list().filter(({ last_seen }) => last_seen > now())
    if (ahead.length === 0) return
    const corrected = ahead.map((receiver) => {
      return { ...receiver, last_seen: Math.round(now() - (performance.now() - receiverStore.heardAt(receiver.id))) }
    })
    for (const receiver of corrected) replace(receiver)
    await inTurn(() => change((tx, revision) => saveLastSeen(tx, revision, corrected)))
  }

  return {
    ingest,
    correctTimes,
    applyLevels: (batch) => showPlanned(batch, plan(batch)),
    preview: (batch) => toReport(batch, plan(batch)),
    change: (work) => inTurn(() => change(work)),
    catchUp: () => inTurn(loadChanges),
    applyRemoteLevels,
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
