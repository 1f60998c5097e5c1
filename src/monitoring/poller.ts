/** Polls one source: reads its device list and missing details, and passes the resulting reports to ingest. */

import type { Connection } from '../domain/equipment/connection.ts'
import type { DeviceProblem } from '../domain/equipment/health.ts'
import { type DeviceReport, type Receiver, withoutSuperseded } from '../domain/equipment/receiver.ts'
import { isReplacedHardware } from '../domain/identity/reconcile.ts'
import type { LevelSample } from '../domain/levels/level-sample.ts'
import type { DeviceList, UpstreamDevice } from '../manufacturers/plugin.ts'
import { type MonitoredSource, toSourceFailure } from '../manufacturers/sources.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { Counters } from '../state/counters.ts'
import type { ReceiverStore } from '../state/receiver-store.ts'
import { StoreBusyError } from '../storage/errors.ts'
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
  /** Malformed device entries in the list. */
  readonly errors: number
  /** Why the cycle failed; null if it succeeded. */
  readonly error: string | null
  /** What failed: no response (`unreachable`), an unusable response (`upstream`) or the database write (`store`). */
  readonly failed: 'unreachable' | 'upstream' | 'store' | null
  readonly duration_ms: number
}

export interface CycleOptions {
  readonly signal: AbortSignal
  readonly intervalMs: number
  /** Reads the identity of every listed device, regardless of the request budget. */
  readonly isComplete?: boolean
  readonly guard?: LeaseHandle['guard']
  readonly onProgress?: (done: number, total: number) => void
  /** Called once the readings are applied, or cannot be applied; the cycle then only records its outcome. */
  readonly onApplied?: () => void
}

export interface Poller {
  readonly source: MonitoredSource
  /**
   * Runs one cycle, or joins the running one. With `isComplete`, a cycle that has already applied its readings is not
   * joined: a new one runs after it. Does not throw.
   */
  poll(options: CycleOptions): Promise<CycleReport>
  /** Reads what a cycle would read, and reports what the cycle would change, without changing anything. */
  preview(options: CycleOptions): Promise<CycleReport>
  /** Returns the upstream ids of the devices in the last list. */
  deviceIds(): readonly string[]
  /** Returns when the source's subscription connected, in any process; null while it is down. */
  connectedAt(): number | null
  /** Sets whether this process holds an open subscription to the source. */
  setSubscribed(isSubscribed: boolean): void
  /**
   * Records that the subscription has delivered levels of this device. From then on, its levels in the device list are
   * ignored.
   */
  recordLevelsReceived(deviceId: string): void
  /**
   * Discards the identity read in earlier polls, which may be out of date. Called when the subscription has delivered a
   * name or an address.
   */
  discardIdentity(deviceId: string): void
  /** Whether different hardware reports under this id and awaits review. */
  isReplaced(deviceId: string): boolean
  /** Records a pause that the upstream requested in response to the subscription. `error` describes the response. */
  recordHold(error: string): Promise<void>
  /** Whether the upstream rejected the credentials in the last cycle. */
  wasAccessDenied: boolean
  /** Whether the upstream accepted the credentials after this time (`performance.now()`). */
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
  /**
   * Whether the manufacturer's receivers are to be checked for missing reports. Returns true at most once a second, so
   * that the many sources of a manufacturer do not all check the same receivers.
   */
  isSilenceCheckDue(manufacturer: string): boolean
}

const identityEveryMs = 10 * 60_000
/**
 * The number of consecutive successful polls in which a device must be missing, or replaced by a different one, before
 * its receiver is marked as offline.
 */
const missedUntilOffline = 3
/** The minimum time without a report before a receiver is marked as offline. */
const minOfflineAfterMs = 60_000
/** The minimum time that a cycle waits for the database before it applies its levels in memory only. */
const minStoreTimeoutMs = 250
/**
 * How long a cycle waits for the database. Storing a large installation takes long; half of the interval is left for
 * polling, so that it stays on schedule.
 */
const storeTimeoutMs = (intervalMs: number) => Math.max(minStoreTimeoutMs, intervalMs / 2)
/** The share of the upstream's rate limit that polling may use. */
const budgetShare = 0.8

export function createPoller(deps: PollDeps, source: MonitoredSource): Poller {
  const { ingest, receiverStore, sourceRecords, connections, counters, log, now } = deps
  const { manufacturer, settings, client } = source
  let { adapter } = source
  let memory = createDeviceMemory(adapter)
  let lastList: DeviceList<UpstreamDevice> | undefined
  /** Ids of devices whose levels this process's subscription has delivered. */
  const pushedLevelIds = new Set<string>()
  const logProblems = createLogLimiter(log, source.id)
  let listedIds: readonly string[] = []
  let acceptedAt = Number.NEGATIVE_INFINITY
  /** When this process connected its subscription; null while it has none. */
  let subscribedAt: number | null = null
  let hasPolled = false
  /** The receivers before levels were pushed in this cycle; undefined while the source has no subscription. */
  let snapshot: CycleStart['findReceiver'] | undefined
  let running: { readonly report: Promise<CycleReport>; isApplied: boolean } | undefined
  /** The write of an earlier cycle that has not finished. */
  let storing: Promise<IngestReport> | undefined
  /** False after a failed write, so that a series of failures is logged once. */
  let isStored = true
  /** Whether a caller with `isComplete` has started or joined the running cycle. */
  let isCompleteRequested = false

  const takeSnapshot = () => createSnapshotLookup(receiverStore.list(manufacturer))

  function startCycle(options: CycleOptions): NonNullable<typeof running> {
    const onApplied = () => {
      cycle.isApplied = true
    }
    const report = runCycle({ ...options, onApplied }, false).finally(() => {
      running = undefined
      isCompleteRequested = false
    })
    const cycle = { report, isApplied: false }
    return cycle
  }

  async function runCycle(options: CycleOptions, isPreview: boolean): Promise<CycleReport> {
    const startedAt = performance.now()
    let malformed = 0
    let repeated = 0
    let problems: readonly DeviceProblem[] = []
    let isListed = false
    let failure: unknown
    let reports = reportsOfPushOnlySource()
    const newerLevels = new Map<DeviceReport, readonly LevelSample[]>()
    if (reports.length > 0) listedIds = reports.map(({ id }) => id)
    else {
      try {
        snapshot = connections.ofSource(source.id).some(isConnected) ? takeSnapshot() : undefined
        const start = { at: now(), findReceiver: (id: number) => snapshot?.(id) }
        const list = await readList(options.signal)
        malformed = list.malformed
        problems = list.problems ?? []
        logProblems(problems)
        const devices = await remember(list.devices)
        repeated = list.devices.length - devices.length
        isListed = true
        failure = await readParts(devices, { ...options, start, isPreview }).catch((error) => error)
        reports = await createReports(devices, start, newerLevels)
      } catch (error) {
        failure = error
      }
    }
    if (options.signal.aborted) return failedCycle('stopped', startedAt)
    const batch: Batch = {
      manufacturer,
      reports,
      newerLevels,
      offline: await findOfflineReceivers(options.intervalMs, failure === undefined),
      missing: failure === undefined ? missingIds() : [],
      endsCycle: true,
      ...(options.guard && { guard: options.guard }),
    }
    try {
      const result = isPreview ? ingest.preview(batch) : await store(batch, isListed, options)
      const report = { ...result, duplicates: result.duplicates + repeated, repeated: result.repeated + repeated }
      isStored = true
      const error = failure === undefined ? null : toSourceFailure(failure).error
      const failed =
        failure === undefined ? null : toSourceFailure(failure).failureKind === 'none' ? 'unreachable' : 'upstream'
      return { ...report, errors: malformed, error, failed, duration_ms: Math.round(performance.now() - startedAt) }
    } catch (error) {
      if (isStored) log.error({ source: source.id, error: String(error) }, 'the cycle could not be stored')
      isStored = false
      const failed =
        failure === undefined
          ? failedCycle(`the cycle could not be stored: ${toSourceFailure(error).error}`, startedAt, 'store')
          : failedCycle(toSourceFailure(failure).error, startedAt)
      return { ...failed, devices: reports.length, errors: malformed }
    } finally {
      options.onApplied?.()
      if (!isPreview) {
        counters.countPoll(source, (performance.now() - startedAt) / 1000, failure !== undefined)
        await withTimeout(recordOutcome(failure, problems), minStoreTimeoutMs)
      }
    }
  }

  /**
   * Returns the reports of a source that pushes everything, and is therefore not polled. Its devices are online as long
   * as their subscription is connected.
   */
  function reportsOfPushOnlySource(): readonly DeviceReport[] {
    if (source.adapter.pushesEverything !== true) return []
    const connected = connections.ofSource(source.id).filter(isConnected)
    const ids = connected.flatMap(({ receiver }) => receiverStore.facts(receiver)?.api_device_id ?? [])
    return ids.map((id) => ({ id, kind: 'receiver' }))
  }

  async function readList(signal: AbortSignal): Promise<DeviceList<UpstreamDevice>> {
    const list = await source.listDevices(signal, source.adapter === adapter ? lastList : undefined)
    if (source.adapter !== adapter) {
      adapter = source.adapter
      memory = createDeviceMemory(adapter)
    }
    lastList = list
    acceptedAt = performance.now()
    return list
  }

  /**
   * Stores the batch. A slow database delays a caller that requested a complete poll, but not the next scheduled cycle.
   */
  async function store(batch: Batch, isListed: boolean, options: CycleOptions): Promise<IngestReport> {
    if (isCompleteRequested) await storing?.catch(() => {})
    const write = storing === undefined ? startStoring(batch, isListed, options) : undefined
    while (write !== undefined) {
      const report = await withTimeout(write, storeTimeoutMs(options.intervalMs))
      if (report !== 'late') return report
      if (!isCompleteRequested) break
    }
    ingest.applyLevels(batch)
    throw new StoreBusyError('The database did not finish the previous write in time.')
  }

  function startStoring(batch: Batch, isListed: boolean, { onApplied }: CycleOptions): Promise<IngestReport> {
    const write = (async () => {
      const report = await ingest.ingest(batch)
      onApplied?.()
      if (isListed) await connections.setDevices(source, listedIds)
      return report
    })()
    storing = write
    write
      .finally(() => {
        storing = undefined
      })
      .catch(() => {})
    return write
  }

  async function createReports(
    devices: readonly RememberedDevice[],
    start: CycleStart,
    newerLevels: Map<DeviceReport, readonly LevelSample[]>,
  ): Promise<DeviceReport[]> {
    const reports: DeviceReport[] = []
    for (const entry of devices) {
      const translation = memory.translationOf(entry)
      const report = translation.hasIdentity ? createReport(entry, start) : undefined
      if (report !== undefined) reports.push(report)
      if (report === translation.report && entry.levels !== null) newerLevels.set(report, entry.levels)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    return reports
  }

  function createReport(entry: RememberedDevice, start: CycleStart): DeviceReport {
    const translation = memory.translationOf(entry)
    const subscribedSince = findSubscribedSince(entry)
    // Only the process that holds the subscription knows for which devices levels were pushed. Other processes assume
    // that they are pushed for every device with a connected subscription.
    const areLevelsPushed =
      subscribedSince !== null &&
      entry.levelsAt >= subscribedSince &&
      (pushedLevelIds.has(entry.id) || subscribedAt === null)
    if (areLevelsPushed) return withoutLevels(translation)
    return subscribedSince === null ? translation.report : withoutPushedSince(entry, start)
  }

  /** Merges each listed device with the data read in earlier cycles. */
  async function remember(listed: readonly UpstreamDevice[]): Promise<RememberedDevice[]> {
    const devices: RememberedDevice[] = []
    memory.begin()
    for (const device of listed) {
      const entry = memory.remember(device)
      if (entry !== null) devices.push(entry)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    memory.end()
    const isSame = listedIds.length === devices.length && devices.every(({ id }, index) => id === listedIds[index])
    if (!isSame) listedIds = devices.map(({ id }) => id)
    return devices
  }

  /** Reads identities first, then levels, least recently read first, within the upstream's rate limit. */
  async function readParts(
    devices: readonly RememberedDevice[],
    options: CycleOptions & { readonly start: CycleStart; readonly isPreview: boolean },
  ): Promise<void> {
    const { start, isPreview } = options
    const allowed = Math.floor(budgetShare * (options.intervalMs / 1000) * settings.rateLimit.perSecond)
    // Reading the list was one request. The first cycle may use the whole burst.
    let budget = Math.max(allowed, hasPolled ? 1 : settings.rateLimit.burst) - 1
    hasPolled = true
    const time = performance.now()
    const due = devices.filter((entry) => isIdentityDue(entry, time))
    const unidentified = due.filter(({ translation }) => !translation.hasIdentity)
    const identified = due.filter(({ translation }) => translation.hasIdentity)
    const affordable = Math.max(0, budget)
    for (const [done, entry] of unidentified.entries()) {
      const isComplete = options.isComplete || isCompleteRequested
      if (done >= affordable && !isComplete) break
      await readIdentity(entry)
      options.onProgress?.(done + 1, isComplete ? unidentified.length : Math.min(unidentified.length, affordable))
    }
    // Devices with a known identity can wait: half of the remaining budget is reserved for levels.
    for (const entry of identified.slice(0, Math.max(0, Math.ceil(budget / 2)))) await readIdentity(entry)
    const unread: RememberedDevice[] = []
    for (const entry of devices) {
      const { hasIdentity, levelParts } = memory.translationOf(entry)
      if (hasIdentity && areLevelsDue(entry)) {
        if (levelParts.length > 0) unread.push(entry)
        else if (markRead(entry)) await ingestNow(entry, options, start)
      }
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    for (const entry of unread.sort((a, b) => a.levelsAt - b.levelsAt)) {
      const { levelParts } = memory.translationOf(entry)
      if (levelParts.length > budget) break
      const at = now()
      for (const part of levelParts) entry.device = await adapter.readPart(client, entry.device, part, options.signal)
      budget -= levelParts.length
      if (markRead(entry)) await ingestNow(entry, options, { ...start, at })
    }

    async function readIdentity(entry: RememberedDevice): Promise<void> {
      entry.device = await adapter.readPart(client, entry.device, 'identity', options.signal)
      entry.identityAt = time
      budget -= 1
    }

    /**
     * Records that the levels were read. Returns true if they must be ingested at once, because the subscription may
     * deliver newer levels before the cycle ends.
     */
    function markRead(entry: RememberedDevice): boolean {
      entry.levelsAt = time
      return !isPreview && findSubscribedSince(entry) !== null
    }
  }

  /**
   * Ingests the levels read from a subscribed device, except those pushed since the read began. If another process
   * holds the subscription, the levels are discarded if newer ones have been stored since the read began. Otherwise
   * they are stored at once, because unsaved levels would take precedence over those that the other process stores.
   */
  async function ingestNow(entry: RememberedDevice, { guard }: CycleOptions, start: CycleStart): Promise<void> {
    if (subscribedAt === null) {
      await ingest.catchUp()
      if ((currentReceiver(entry)?.last_seen ?? 0) > start.at) {
        entry.levelsAt = Number.NEGATIVE_INFINITY
        return
      }
    }
    const reports = [withoutPushedSince(entry, start)]
    await ingest.ingest({ manufacturer, reports, endsCycle: subscribedAt === null, ...(guard && { guard }) })
  }

  /** Returns the device's report without the levels for which newer ones were pushed since the cycle began. */
  function withoutPushedSince(entry: RememberedDevice, { findReceiver }: CycleStart): DeviceReport {
    const report = memory.reportOf(entry)
    const receiver = currentReceiver(entry)
    const before = receiver && findReceiver(receiver.id)
    if (report.channels === undefined || receiver === undefined || before === undefined) return report
    const channels = withoutSuperseded(report.channels, before.channels, receiver.channels)
    return channels === report.channels ? report : { ...report, channels }
  }

  /**
   * Whether the device's levels must be read. A subscription delivers only changes, so levels are polled once after it
   * connects.
   */
  function areLevelsDue(entry: RememberedDevice): boolean {
    const subscribedSince = findSubscribedSince(entry)
    return subscribedSince === null || entry.levelsAt < subscribedSince
  }

  /** Returns the device's receiver with its newest levels. */
  function currentReceiver(entry: RememberedDevice): Receiver | undefined {
    const receiver = receiverOf(entry)
    return receiver === undefined ? undefined : receiverStore.get(receiver.id)
  }

  /** Returns the device's receiver; its levels may be out of date. */
  function receiverOf(entry: RememberedDevice): Receiver | undefined {
    const known = entry.receiver === null ? undefined : receiverStore.facts(entry.receiver)
    if (known?.api_device_id === entry.id && known.manufacturer === manufacturer) return known
    const found = receiverStore.factsByApiId(manufacturer, entry.id)
    entry.receiver = found?.id ?? null
    return found
  }

  /** Whether different hardware reports under the receiver's id and awaits review. */
  function isReplacement(entry: RememberedDevice, receiver: Receiver): boolean {
    const translation = memory.translationOf(entry)
    return entry.confirmed !== translation && isReplacedHardware(receiver, identityOf(translation))
  }

  /**
   * Returns when (`performance.now()`) a subscription in any process began to push this device's levels; null if none
   * does.
   */
  function findSubscribedSince(entry: RememberedDevice): number | null {
    const receiver = receiverOf(entry)
    // Pushed levels are applied only to the known receiver. Replacement hardware is polled.
    if (receiver === undefined || isReplacement(entry, receiver)) return null
    return connections.find(receiver.id)?.source === source.id ? connections.connectedSince(receiver.id) : null
  }

  function isIdentityDue(entry: RememberedDevice, time: number): boolean {
    return time - entry.identityAt >= identityEveryMs && memory.translationOf(entry).needsIdentity
  }

  function missingIds(): string[] {
    const missing: string[] = []
    for (const { id, missed } of memory.all()) if (missed >= missedUntilOffline) missing.push(id)
    return missing
  }

  /**
   * Finds the receivers to be marked as offline: those that were missing, or replaced by other hardware, in
   * `missedUntilOffline` successful polls, and those without any report for `offlineAfterMs`.
   */
  async function findOfflineReceivers(intervalMs: number, hasSucceeded: boolean): Promise<number[]> {
    const offline: number[] = []
    for (const entry of hasSucceeded ? memory.all() : []) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      const translation = memory.translationOf(entry)
      const isUnchanged = entry.confirmed === translation && entry.missed < missedUntilOffline
      const receiver = isUnchanged ? undefined : receiverOf(entry)
      if (receiver === undefined) continue
      const isSameHardware = !isReplacement(entry, receiver)
      entry.confirmed = isSameHardware ? translation : null
      entry.replaced = isSameHardware ? 0 : entry.replaced + 1
      const isOffline = entry.missed >= missedUntilOffline || entry.replaced >= missedUntilOffline
      if (isOffline && receiver.is_active) offline.push(receiver.id)
    }
    if (!deps.isSilenceCheckDue(manufacturer)) return offline
    const offlineBefore = performance.now() - offlineAfterMs(intervalMs)
    for (const { id, is_active } of receiverStore.listFacts(manufacturer)) {
      if (is_active && receiverStore.lastReceivedAt(id) < offlineBefore) offline.push(id)
    }
    return offline
  }

  async function recordOutcome(failure: unknown, problems: readonly DeviceProblem[]): Promise<void> {
    const { error, retryAfter, isAccessDenied, excerpt } = toSourceFailure(failure)
    poller.wasAccessDenied = isAccessDenied
    if (failure === undefined) return saveOutcome({ ok: true, problems })
    if (excerpt !== undefined) log.debug({ source: source.id, response: excerpt }, 'invalid response')
    log.warn({ source: source.id }, error)
    await saveOutcome({ ok: false, error, holdMs: retryAfter === null ? null : client.holdMs })
  }

  async function saveOutcome(outcome: CycleOutcome): Promise<void> {
    await sourceRecords.record(manufacturer, source.id, outcome).catch((error) => {
      log.error({ source: source.id, error: String(error) }, 'source status could not be stored')
    })
  }

  const poller: Poller = {
    source,
    wasAccessDenied: false,
    wasAcceptedAfter: (time) => acceptedAt > time,
    poll(options) {
      // The caller may have changed something after the running cycle applied its readings.
      if (options.isComplete && running?.isApplied) return running.report.then(() => poller.poll(options))
      if (options.isComplete) isCompleteRequested = true
      running ??= startCycle(options)
      return running.report
    },
    preview: (options) => runCycle(options, true),
    deviceIds: () => listedIds,
    connectedAt() {
      const connected = connections.ofSource(source.id).filter(isConnected)
      const times = [...connected.map(({ connected_at }) => connected_at), subscribedAt].filter((at) => at !== null)
      return times.length === 0 ? null : Math.max(...times)
    },
    setSubscribed(isSubscribed) {
      subscribedAt = isSubscribed ? now() : null
      if (isSubscribed && running !== undefined) snapshot ??= takeSnapshot()
      pushedLevelIds.clear()
    },
    recordLevelsReceived: (deviceId) => void pushedLevelIds.add(deviceId),
    discardIdentity: (deviceId) => memory.discardIdentity(deviceId),
    isReplaced: (deviceId) => (memory.find(deviceId)?.replaced ?? 0) > 0,
    recordHold: (error) => saveOutcome({ ok: false, error, holdMs: client.holdMs }),
  }
  return poller
}

const isConnected = ({ status }: Pick<Connection, 'status'>) => status === 'connected'

/** When a cycle or a read began, and the receivers as they were when the cycle began. */
interface CycleStart {
  readonly at: number
  findReceiver(id: number): Receiver | undefined
}

function createSnapshotLookup(receivers: readonly Receiver[]): CycleStart['findReceiver'] {
  let byId: ReadonlyMap<number, Receiver> | undefined
  return (id) => {
    byId ??= new Map(receivers.map((receiver) => [receiver.id, receiver]))
    return byId.get(id)
  }
}

/** Returns how long a receiver may go without a report before it is marked as offline. */
export function offlineAfterMs(intervalMs: number): number {
  return Math.max(3 * intervalMs, minOfflineAfterMs)
}

export function failedCycle(error: string, startedAt: number, failed: 'upstream' | 'store' = 'upstream'): CycleReport {
  const duration_ms = Math.round(performance.now() - startedAt)
  const counts = { devices: 0, created: 0, updated: 0, moved: 0, duplicates: 0, repeated: 0, conflicts: 0, errors: 0 }
  return { ...counts, error, failed, duration_ms }
}
