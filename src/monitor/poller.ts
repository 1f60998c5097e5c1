/** Polls one source: what it lists, what is still to be asked about whom, what all that means. */

import type { Counters } from '../live/counters.ts'
import type { ReceiverStore } from '../live/receiver-store.ts'
import type { DeviceList, UpstreamDevice } from '../manufacturers/plugin.ts'
import { type MonitoredSource, toSourceFailure } from '../manufacturers/sources.ts'
import type { DeviceProblem } from '../model/health.ts'
import { type DeviceReport, type Receiver, withoutSuperseded } from '../model/receiver.ts'
import { isReplacedHardware } from '../model/reconcile.ts'
import { StoreBusyError } from '../store/errors.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../time-slice.ts'
import type { Connections } from './connections.ts'
import { createDeviceMemory, identityOf, type RememberedDevice, withoutLevels } from './device-memory.ts'
import type { Ingest } from './ingest.ts'
import type { LeaseHandle } from './lease-manager.ts'
import type { Log } from './log.ts'
import { createLogLimiter } from './log-limiter.ts'
import type { Batch, IngestReport } from './plan-batch.ts'
import type { CycleOutcome, SourceRecords } from './source-records.ts'
import { withTimeout } from './wait.ts'

export interface CycleReport extends IngestReport {
  /** Devices that could not be read. */
  readonly errors: number
  /** Why the cycle failed; null when it did not. */
  readonly error: string | null
  /** Where: nothing answered, what answered could not be used, or the database could not be written. */
  readonly failed: 'unreachable' | 'upstream' | 'store' | null
  readonly duration_ms: number
}

/** How a cycle is run. */
export interface CycleOptions {
  readonly signal: AbortSignal
  readonly intervalMs: number
  /** Waits for the identity of every device the source lists, however many calls that takes. */
  readonly isComplete?: boolean
  readonly guard?: LeaseHandle['guard']
  /** Hears how far a cycle has come. */
  readonly onProgress?: (done: number, total: number) => void
  /** What the cycle has read is on the screens, or never will be; it only notes how it went. */
  readonly onApplied?: () => void
}

export interface Poller {
  readonly source: MonitoredSource
  /** One cycle; joins the one that is under way (`isComplete`: until that has shown what it read). Does not throw. */
  poll(options: CycleOptions): Promise<CycleReport>
  /** What a cycle would do; reads, and leaves no trace. */
  preview(options: CycleOptions): Promise<CycleReport>
  /** The upstream's ids of the devices in its last list. */
  deviceIds(): readonly string[]
  /** When the source's real-time link was connected, by whichever process; null while it is not. */
  linkedAt(): number | null
  /** This process keeps the source's push link, and it is up. */
  setSubscribed(isLinked: boolean): void
  /** The link told levels of this device; what the list sums up is of no use for it any more. */
  noteLevelsReceived(deviceId: string): void
  /** Another device stands in this one's place, and waits for review. */
  isReplaced(deviceId: string): boolean
  /** The upstream asked for a pause on another occasion than a poll, with this error. */
  recordHold(error: string): Promise<void>
  /** The upstream refused our credentials in the last cycle; asking again soon gains nothing. */
  wasRefused: boolean
  /** The upstream has taken our credentials after this time (of `performance.now()`). */
  wasAcceptedAfter(time: number): boolean
}

export interface PollDeps {
  readonly ingest: Ingest
  readonly receiverStore: ReceiverStore
  readonly sourceRecords: SourceRecords
  readonly connections: Connections
  readonly counters: Counters
  readonly log: Log
  now(): number
}

const identityEveryMs = 10 * 60_000
const missedUntilGone = 3
const silentAtLeastMs = 60_000
/** How long a cycle waits for the store at least before the show goes on in memory. */
const patienceMs = 250
/** Storing a large house takes its time; what is left of the interval keeps the pace. */
const patientFor = (intervalMs: number) => Math.max(patienceMs, intervalMs / 2)
/** Share of the upstream's allowed rate that polling may use. */
const budgetShare = 0.8

export function createPoller(deps: PollDeps, heard: MonitoredSource): Poller {
  const { ingest, receiverStore, sourceRecords, connections, counters, log, now } = deps
  const { manufacturer, settings, client } = heard
  let { adapter } = heard
  let memory = createDeviceMemory(adapter)
  let lastList: DeviceList<UpstreamDevice> | undefined
  const toldByLink = new Set<string>()
  const complain = createLogLimiter(log, heard.id)
  let listedIds: readonly string[] = []
  let acceptedAt = Number.NEGATIVE_INFINITY
  /** Since when this process keeps the link; null while it does not. */
  let linkedHereAt: number | null = null
  let hasPolled = false
  let running: { readonly report: Promise<CycleReport>; isShown: boolean } | undefined
  /** What an earlier cycle brought, if it is not stored yet. */
  let storing: Promise<IngestReport> | undefined
  let isStored = true
  /** Somebody who waits for every identity has started or joined the running cycle. */
  let isCompleteWanted = false

  function startCycle(options: CycleOptions): NonNullable<typeof running> {
    const onApplied = () => {
      cycle.isShown = true
    }
    const report = runCycle({ ...options, onApplied }, false).finally(() => {
      running = undefined
      isCompleteWanted = false
    })
    const cycle = { report, isShown: false }
    return cycle
  }

  async function runCycle(options: CycleOptions, isRehearsal: boolean): Promise<CycleReport> {
    const startedAt = performance.now()
    let malformed = 0
    let repeated = 0
    let complaints: readonly DeviceProblem[] = []
    let isListed = false
    let trouble: unknown
    let reports = toldByLinkAlone()
    if (reports.length > 0) listedIds = reports.map(({ id }) => id)
    else {
      try {
        const began = { at: now(), known: createPicture(receiverStore.list(manufacturer)) }
        const list = await readList(options.signal)
        malformed = list.malformed
        complaints = list.problems ?? []
        complain(complaints)
        const devices = await remember(list.devices)
        repeated = list.devices.length - devices.length
        isListed = true
        trouble = await readParts(devices, { ...options, began, isRehearsal }).catch((error) => error)
        reports = await observeAll(devices, began)
      } catch (error) {
        trouble = error
      }
    }
    if (options.signal.aborted) return failedCycle('stopped', startedAt)
    const batch = {
      manufacturer,
      reports,
      gone: await silentReceivers(options.intervalMs, trouble === undefined),
      missing: trouble === undefined ? missingIds() : [],
      endsCycle: true,
      ...(options.guard && { guard: options.guard }),
    }
    try {
      const taken = isRehearsal ? ingest.preview(batch) : await store(batch, isListed, options)
      const report = { ...taken, duplicates: taken.duplicates + repeated, repeated: taken.repeated + repeated }
      isStored = true
      const error = trouble === undefined ? null : toSourceFailure(trouble).error
      const failed =
        trouble === undefined ? null : toSourceFailure(trouble).answer === 'none' ? 'unreachable' : 'upstream'
      return { ...report, errors: malformed, error, failed, duration_ms: Math.round(performance.now() - startedAt) }
    } catch (error) {
      if (isStored) log.error({ source: heard.id, error: String(error) }, 'the cycle could not be stored')
      isStored = false
      const lost =
        trouble === undefined
          ? failedCycle(`the cycle could not be stored: ${toSourceFailure(error).error}`, startedAt, 'store')
          : failedCycle(toSourceFailure(trouble).error, startedAt)
      return { ...lost, devices: reports.length, errors: malformed }
    } finally {
      options.onApplied?.()
      if (!isRehearsal) {
        counters.countPoll(heard, (performance.now() - startedAt) / 1000, trouble !== undefined)
        await withTimeout(noteOutcome(trouble, complaints), patienceMs)
      }
    }
  }

  /** Where the link tells everything there is nothing to ask for: its devices are there for as long as it is up. */
  function toldByLinkAlone(): readonly DeviceReport[] {
    if (heard.adapter.pushesEverything !== true) return []
    const linked = connections.ofSource(heard.id).filter(({ status }) => status === 'connected')
    const ids = linked.flatMap(({ receiver }) => receiverStore.get(receiver)?.api_device_id ?? [])
    return ids.map((id) => ({ id, kind: 'receiver' }))
  }

  async function readList(signal: AbortSignal): Promise<DeviceList<UpstreamDevice>> {
    const list = await heard.listDevices(signal, heard.adapter === adapter ? lastList : undefined)
    if (heard.adapter !== adapter) {
      adapter = heard.adapter
      memory = createDeviceMemory(adapter)
    }
    lastList = list
    acceptedAt = performance.now()
    return list
  }

  /** The store may hold up somebody who asked for this cycle, but not the next one. */
  async function store(batch: Batch, isListed: boolean, options: CycleOptions): Promise<IngestReport> {
    if (isCompleteWanted) await storing?.catch(() => {})
    const mine = storing === undefined ? take(batch, isListed, options) : undefined
    while (mine !== undefined) {
      const report = await withTimeout(mine, patientFor(options.intervalMs))
      if (report !== 'late') return report
      if (!isCompleteWanted) break
    }
    ingest.applyLevels(batch)
    throw new StoreBusyError('The database keeps us waiting.')
  }

  function take(batch: Batch, isListed: boolean, { onApplied }: CycleOptions): Promise<IngestReport> {
    const taking = (async () => {
      const report = await ingest.ingest(batch)
      onApplied?.()
      if (isListed) await connections.expect(heard, listedIds)
      return report
    })()
    storing = taking
    taking
      .finally(() => {
        storing = undefined
      })
      .catch(() => {})
    return taking
  }

  async function observeAll(devices: readonly RememberedDevice[], began: Began): Promise<DeviceReport[]> {
    const observations: DeviceReport[] = []
    for (const entry of devices) {
      if (memory.translationOf(entry).hasIdentity) observations.push(observe(entry, began))
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    return observations
  }

  function observe(entry: RememberedDevice, began: Began): DeviceReport {
    const meaning = memory.translationOf(entry)
    const linkedAt = linkedSince(entry)
    // A link that another process keeps is believed to tell what the list sums up.
    const isOutdone =
      linkedAt !== null && entry.levelsAt >= linkedAt && (toldByLink.has(entry.id) || linkedHereAt === null)
    if (isOutdone) return withoutLevels(meaning)
    return linkedAt === null ? meaning.report : notOvertaken(entry, began)
  }

  /** The listed devices with what was read of them before. */
  async function remember(listed: readonly UpstreamDevice[]): Promise<RememberedDevice[]> {
    const devices: RememberedDevice[] = []
    memory.begin()
    for (const device of listed) {
      const entry = memory.remember(device)
      if (entry !== null) devices.push(entry)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    memory.end()
    const isSame = listedIds.length === devices.length && devices.every(({ id }, at) => id === listedIds[at])
    if (!isSame) listedIds = devices.map(({ id }) => id)
    return devices
  }

  /** Identities first, then levels, the longest unread first, as far as the upstream's rate allows. */
  async function readParts(
    devices: readonly RememberedDevice[],
    options: CycleOptions & { readonly began: Began; readonly isRehearsal: boolean },
  ): Promise<void> {
    const { began, isRehearsal } = options
    const allowed = Math.floor(budgetShare * (options.intervalMs / 1000) * settings.rateLimit.perSecond)
    // The list was one call; the first cycle may use up the burst.
    let budget = Math.max(allowed, hasPolled ? 1 : settings.rateLimit.burst) - 1
    hasPolled = true
    const time = performance.now()
    const wanting = devices.filter((entry) => wantsIdentity(entry, time))
    const strangers = wanting.filter(({ translation }) => !translation.hasIdentity)
    const acquainted = wanting.filter(({ translation }) => translation.hasIdentity)
    const affordable = Math.max(0, budget)
    for (const [done, entry] of strangers.entries()) {
      const isComplete = options.isComplete || isCompleteWanted
      if (done >= affordable && !isComplete) break
      await readIdentity(entry)
      options.onProgress?.(done + 1, isComplete ? strangers.length : Math.min(strangers.length, affordable))
    }
    // Of those that are known by what the list says, or for some time, more can wait: half of what is left is for levels.
    for (const entry of acquainted.slice(0, Math.max(0, Math.ceil(budget / 2)))) await readIdentity(entry)
    const unread: RememberedDevice[] = []
    for (const entry of devices) {
      const { hasIdentity, levelParts } = memory.translationOf(entry)
      if (hasIdentity && wantsLevels(entry)) {
        if (levelParts.length > 0) unread.push(entry)
        else if (noteRead(entry)) await takeNow(entry, options, began)
      }
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    for (const entry of unread.sort((a, b) => a.levelsAt - b.levelsAt)) {
      const { levelParts } = memory.translationOf(entry)
      if (levelParts.length > budget) break
      const at = now()
      for (const part of levelParts) entry.device = await adapter.readPart(client, entry.device, part, options.signal)
      budget -= levelParts.length
      if (noteRead(entry)) await takeNow(entry, options, { ...began, at })
    }

    async function readIdentity(entry: RememberedDevice): Promise<void> {
      entry.device = await adapter.readPart(client, entry.device, 'identity', options.signal)
      entry.identityAt = time
      budget -= 1
    }

    /** True where it has to be taken at once: by the end of the cycle the link may have told something newer. */
    function noteRead(entry: RememberedDevice): boolean {
      entry.levelsAt = time
      return !isRehearsal && linkedSince(entry) !== null
    }
  }

  /**
   * What was read of a device that has a link: what that has told since the reading began is newer. Where another process
   * keeps the link, what it has stored since then is; and what is read here is stored at once, since what is not stored
   * yet stands above what others store.
   */
  async function takeNow(entry: RememberedDevice, { guard }: CycleOptions, began: Began): Promise<void> {
    if (linkedHereAt === null) {
      await ingest.catchUp()
      if ((receiverOf(entry)?.last_seen ?? 0) > began.at) {
        entry.levelsAt = Number.NEGATIVE_INFINITY
        return
      }
    }
    const reports = [notOvertaken(entry, began)]
    await ingest.ingest({ manufacturer, reports, endsCycle: linkedHereAt === null, ...(guard && { guard }) })
  }

  /** What was read of it, without what its link has told since the cycle began. */
  function notOvertaken(entry: RememberedDevice, { known }: Began): DeviceReport {
    const { report } = memory.translationOf(entry)
    const receiver = receiverOf(entry)
    const before = receiver && known(receiver.id)
    if (report.channels === undefined || receiver === undefined || before === undefined) return report
    const channels = withoutSuperseded(report.channels, before.channels, receiver.channels)
    return channels === report.channels ? report : { ...report, channels }
  }

  /** A link tells what changes; what changed while it was down was told to nobody. */
  function wantsLevels(entry: RememberedDevice): boolean {
    const linkedAt = linkedSince(entry)
    return linkedAt === null || entry.levelsAt < linkedAt
  }

  function receiverOf(entry: RememberedDevice): Receiver | undefined {
    const known = entry.receiver === null ? undefined : receiverStore.get(entry.receiver)
    if (known?.api_device_id === entry.id && known.manufacturer === manufacturer) return known
    const found = receiverStore.byApiId(manufacturer, entry.id)
    entry.receiver = found?.id ?? null
    return found
  }

  /** Another device answers under the receiver's id, and waits for review. */
  function isReplacement(entry: RememberedDevice, receiver: Receiver): boolean {
    const meaning = memory.translationOf(entry)
    return entry.itself !== meaning && isReplacedHardware(receiver, identityOf(meaning))
  }

  /** Since when (of `performance.now()`) this device's levels are pushed, to whatever process; null when they are not. */
  function linkedSince(entry: RememberedDevice): number | null {
    const receiver = receiverOf(entry)
    // What is pushed is taken for the known receiver alone: a device in its place is read by polling.
    if (receiver === undefined || isReplacement(entry, receiver)) return null
    return connections.find(receiver.id)?.source === heard.id ? connections.connectedSince(receiver.id) : null
  }

  function wantsIdentity(entry: RememberedDevice, time: number): boolean {
    return time - entry.identityAt >= identityEveryMs && memory.translationOf(entry).wantsIdentity
  }

  function missingIds(): string[] {
    const missing: string[] = []
    for (const { id, missed } of memory.all()) if (missed >= missedUntilGone) missing.push(id)
    return missing
  }

  /**
   * Receivers to be called offline: missing for three good polls, another device in their place for as many, or not heard
   * of for long, by whatever source.
   */
  async function silentReceivers(intervalMs: number, isGoodPoll: boolean): Promise<number[]> {
    const gone: number[] = []
    for (const entry of isGoodPoll ? memory.all() : []) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      const meaning = memory.translationOf(entry)
      const isAsBefore = entry.itself === meaning && entry.missed < missedUntilGone
      const receiver = isAsBefore ? undefined : receiverOf(entry)
      if (receiver === undefined) continue
      const isItself = !isReplacement(entry, receiver)
      entry.itself = isItself ? meaning : null
      entry.replaced = isItself ? 0 : entry.replaced + 1
      const isGone = entry.missed >= missedUntilGone || entry.replaced >= missedUntilGone
      if (isGone && receiver.is_active) gone.push(receiver.id)
    }
    const silentSince = performance.now() - offlineAfterMs(intervalMs)
    for (const { id, is_active } of receiverStore.list(manufacturer)) {
      if (is_active && receiverStore.heardAt(id) < silentSince) gone.push(id)
    }
    return gone
  }

  async function noteOutcome(trouble: unknown, complaints: readonly DeviceProblem[]): Promise<void> {
    const { error, retryAfter, isRefused, excerpt } = toSourceFailure(trouble)
    poller.wasRefused = isRefused
    if (trouble === undefined) return report({ ok: true, complaints })
    if (excerpt !== undefined) log.debug({ source: heard.id, answered: excerpt }, 'the answer began like this')
    log.warn({ source: heard.id }, error)
    await report({ ok: false, error, holdMs: retryAfter === null ? null : client.holdMs })
  }

  async function report(outcome: CycleOutcome): Promise<void> {
    await sourceRecords.record(manufacturer, heard.id, outcome).catch((error) => {
      log.error({ source: heard.id, error: String(error) }, 'how the source fares could not be stored')
    })
  }

  const poller: Poller = {
    source: heard,
    wasRefused: false,
    wasAcceptedAfter: (time) => acceptedAt > time,
    poll(options) {
      // Whoever asked for it may have seen what is shown, and changed something since.
      if (options.isComplete && running?.isShown) return running.report.then(() => poller.poll(options))
      if (options.isComplete) isCompleteWanted = true
      running ??= startCycle(options)
      return running.report
    },
    preview: (options) => runCycle(options, true),
    deviceIds: () => listedIds,
    linkedAt() {
      const linked = connections.ofSource(heard.id).filter(({ status }) => status === 'connected')
      const times = [...linked.map(({ connected_at }) => connected_at), linkedHereAt].filter((at) => at !== null)
      return times.length === 0 ? null : Math.max(...times)
    },
    setSubscribed(linked) {
      linkedHereAt = linked ? now() : null
      toldByLink.clear()
    },
    noteLevelsReceived: (deviceId) => void toldByLink.add(deviceId),
    isReplaced: (deviceId) => (memory.find(deviceId)?.replaced ?? 0) > 0,
    recordHold: (error) => report({ ok: false, error, holdMs: client.holdMs }),
  }
  return poller
}

/** When something was asked for, and what was known before. */
interface Began {
  readonly at: number
  known(id: number): Receiver | undefined
}

function createPicture(receivers: readonly Receiver[]): Began['known'] {
  let byId: ReadonlyMap<number, Receiver> | undefined
  return (id) => {
    byId ??= new Map(receivers.map((receiver) => [receiver.id, receiver]))
    return byId.get(id)
  }
}

/** A receiver of which nothing was heard for so long is offline. */
export function offlineAfterMs(intervalMs: number): number {
  return Math.max(3 * intervalMs, silentAtLeastMs)
}

export function failedCycle(error: string, startedAt: number, failed: 'upstream' | 'store' = 'upstream'): CycleReport {
  const duration_ms = Math.round(performance.now() - startedAt)
  const nothing = { devices: 0, created: 0, updated: 0, moved: 0, duplicates: 0, repeated: 0, conflicts: 0, errors: 0 }
  return { ...nothing, error, failed, duration_ms }
}
