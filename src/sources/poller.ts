/**
 * Polls one source: runs one cycle at a time, which reads the source's devices, stores the resulting reports and records
 * the outcome.
 */

import { isDeepStrictEqual } from 'node:util'
import type { DeviceProblem } from '../domain/equipment/health.ts'
import type { DeviceReport } from '../domain/equipment/receiver.ts'
import { queryLevelsEveryMs } from '../domain/levels/level-sample.ts'
import type { Batch, IngestReport } from '../ingest/plan-batch.ts'
import { type MonitoredSource, toSourceFailure } from '../manufacturers/sources.ts'
import type { Log } from '../platform/log.ts'
import { withTimeout } from '../platform/wait.ts'
import { StoreBusyError } from '../storage/errors.ts'
import type { RememberedDevice } from './device-memory.ts'
import { FirstReport } from './first-report.ts'
import type { AcquiredLease, LeaseHandle } from './lease-manager.ts'
import { PollProgress } from './poll-progress.ts'
import { PartReader } from './read-parts.ts'
import { type CycleStart, SourceDevices } from './source-devices.ts'
import type { CycleOutcome } from './source-records.ts'
import type { SourceSubsystems } from './source-subsystems.ts'

export interface CycleReport extends IngestReport {
  /** Malformed device entries in the list. */
  readonly errors: number
  /** Why the cycle failed; null if it succeeded. */
  readonly error: string | null
  /** `unreachable`: no response; `upstream`: an unusable response; `store`: the database write failed. */
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
  /**
   * Opens the subscription of a source whose subscription starts with a full report, which the cycle then uses instead
   * of polling. Returns false if the subscription is open already.
   */
  openSubscription?(): boolean
}

/** The minimum time that a cycle waits for the database before it applies its levels in memory only. */
const minStoreTimeoutMs = 250
/**
 * A cycle waits this long for the database. Storing a large installation takes long; half of the interval is left for
 * polling, so that it stays on schedule.
 */
const storeTimeoutMs = (intervalMs: number) => Math.max(minStoreTimeoutMs, intervalMs / 2)

interface RunningCycle {
  readonly report: Promise<CycleReport>
  /**
   * True once the cycle has applied its readings, or has failed or been stopped before it could. After that, it only
   * completes its records.
   */
  isApplied: boolean
}

/** The result of reading the source in one cycle. */
interface Reading {
  readonly newerLevels?: Batch['newerLevels']
  readonly receiverAtRead?: Batch['receiverAtRead']
  readonly reports: readonly DeviceReport[]
  /** True if the reports contain every device of the source. */
  readonly isListed: boolean
  /** Malformed entries in the device list. */
  readonly malformed: number
  /** Repeated entries in the device list. */
  readonly repeated: number
  readonly problems: readonly DeviceProblem[]
  /** Why the source could not be read, or not completely; undefined if it was. */
  readonly failure: unknown
}

const nothingRead: Reading = {
  reports: [],
  isListed: false,
  malformed: 0,
  repeated: 0,
  problems: [],
  failure: undefined,
}

export class Poller {
  readonly source: MonitoredSource
  readonly devices: SourceDevices
  readonly firstReport = new FirstReport()
  readonly progress: PollProgress
  readonly #service: SourceSubsystems
  readonly #partReader: PartReader
  readonly #logProblems: LogProblems
  #wasAccessDenied = false
  #pushedProblems: readonly DeviceProblem[] = []
  /** When the upstream last accepted the credentials (`performance.now()`). */
  #acceptedAt = Number.NEGATIVE_INFINITY
  #running: RunningCycle | undefined
  /** True once a caller with `isComplete` has started or joined the running cycle. */
  #isCompleteRequested = false
  /** The write of an earlier cycle that has not finished. */
  #storing: Promise<IngestReport> | undefined
  /** False after a failed write, so that a series of failures is logged once. */
  #isStored = true

  constructor(service: SourceSubsystems, source: MonitoredSource) {
    const { receiverStore, connections, levelAges, levelArrivals, log } = service
    this.#service = service
    this.source = source
    this.progress = new PollProgress(source.settings.timeoutMs)
    this.devices = new SourceDevices(source, receiverStore, connections, levelAges)
    this.#partReader = new PartReader(source, this.devices, levelArrivals)
    this.#logProblems = createLogLimiter(log, source.id)
  }

  /** True if the upstream rejected the credentials in the last cycle. */
  get wasAccessDenied(): boolean {
    return this.#wasAccessDenied
  }

  /** True if the upstream accepted the credentials after this time (`performance.now()`). */
  wasAcceptedAfter(time: number): boolean {
    return this.#acceptedAt > time
  }

  /**
   * Starts the client with the request budget that the previous lease holder has certainly left, and with the remaining
   * Retry-After pause. The system counts the requests of all processes together.
   */
  takeOver({ idleMs }: AcquiredLease): void {
    const { id, client } = this.source
    if (idleMs !== null) client.takeOver({ idleMs, holdMs: this.#service.sourceRecords.holdMs(id) })
  }

  /**
   * Runs one cycle, or joins the running one. With `isComplete`, a cycle that has already applied its readings is not
   * joined: a new one runs after it. Does not throw.
   */
  poll(options: CycleOptions): Promise<CycleReport> {
    // The caller may have changed something after the running cycle applied its readings.
    if (options.isComplete && this.#running?.isApplied) return this.#running.report.then(() => this.poll(options))
    if (options.isComplete) this.#isCompleteRequested = true
    this.#running ??= this.#startCycle(options)
    return this.#running.report
  }

  /** Reads like a cycle, and reports the changes without making them. */
  async preview(options: CycleOptions): Promise<CycleReport> {
    const startedAt = performance.now()
    const reading = await this.#read(options, true)
    if (options.signal.aborted) return failedCycle('stopped', startedAt)
    const batch = await this.#toBatch(reading, options)
    return toCycleReport(reading, this.#service.ingest.preview(batch), startedAt)
  }

  /** Records a pause that the upstream requested in response to the subscription. `error` describes the response. */
  recordHold(error: string): Promise<void> {
    return this.#saveOutcome({ ok: false, error, holdMs: this.source.client.holdMs })
  }

  /** Records the problems that the subscription reports; they are part of the outcome of every cycle from now on. */
  async setPushedProblems(problems: readonly DeviceProblem[]): Promise<void> {
    if (isDeepStrictEqual(problems, this.#pushedProblems)) return
    this.#pushedProblems = problems
    this.#logProblems(problems)
    const hasSucceeded = this.#service.sourceRecords.get(this.source.id)?.error === null
    if (hasSucceeded) await this.#saveOutcome({ ok: true, problems })
  }

  #startCycle(options: CycleOptions): RunningCycle {
    const onApplied = () => {
      cycle.isApplied = true
      this.firstReport.recordApplied()
    }
    const report = this.#runCycle(options, onApplied).finally(() => {
      this.#running = undefined
      this.#isCompleteRequested = false
    })
    const cycle: RunningCycle = { report, isApplied: false }
    return cycle
  }

  async #runCycle(options: CycleOptions, onApplied: () => void): Promise<CycleReport> {
    const { counters } = this.#service
    const startedAt = performance.now()
    const reading = await this.#read(options, false)
    if (options.signal.aborted) {
      onApplied()
      return failedCycle('stopped', startedAt)
    }
    const batch = await this.#toBatch(reading, options)
    try {
      const result = await this.#store(batch, reading.isListed, options, onApplied)
      this.#isStored = true
      return toCycleReport(reading, result, startedAt)
    } catch (error) {
      return this.#toUnstoredReport(reading, error, startedAt)
    } finally {
      onApplied()
      counters.countPoll(this.source, (performance.now() - startedAt) / 1000, reading.failure !== undefined)
      await withTimeout(this.#recordOutcome(reading), minStoreTimeoutMs)
    }
  }

  async #read(options: CycleOptions, isPreview: boolean): Promise<Reading> {
    const connected = this.devices.reportConnected()
    if (connected.length > 0) return { ...nothingRead, reports: connected }
    try {
      const first = isPreview ? null : await this.#readFirstReport(options)
      return first ?? (await this.#readList(options, isPreview))
    } catch (failure) {
      return { ...nothingRead, failure }
    }
  }

  /** Reads the first report of the subscription, if this cycle opens it. */
  async #readFirstReport({ signal, openSubscription }: CycleOptions): Promise<Reading | null> {
    if (openSubscription?.() !== true) return null
    // Twice the time in which a session must report, because the connections of many sources are opened at once.
    const report = await this.firstReport.read(2 * this.source.settings.timeoutMs, signal)
    if (report === null) return null
    this.#acceptedAt = performance.now()
    this.devices.rememberReport(report)
    return { ...nothingRead, reports: [report], isListed: true }
  }

  async #readList(options: CycleOptions, isPreview: boolean): Promise<Reading> {
    const { signal, intervalMs, onProgress } = options
    const start = this.devices.startCycle()
    const list = await this.devices.readList(signal)
    this.#acceptedAt = performance.now()
    const { malformed } = list
    const entries = await this.devices.remember(list.devices)
    const failure = await this.#partReader
      .read(entries, {
        signal,
        intervalMs,
        start,
        isComplete: () => options.isComplete === true || this.#isCompleteRequested,
        onProgress,
        onLevelsRead: isPreview
          ? undefined
          : async (entry, { start, isRepeated }) => {
              if (isRepeated) this.#confirmLevels(entry, start)
              else await this.#ingestLevels(entry, options, start)
            },
      })
      .catch((error: unknown) => error)
    const ofParts = entries.flatMap(({ device }) => this.devices.adapter.problemsOf?.(device) ?? [])
    const problems = [...(list.problems ?? []), ...ofParts]
    this.#logProblems(problems)
    const { reports, newerLevels } = await this.devices.createReports(entries)
    for (const report of reports) this.source.client.traffic.report(report)
    const repeated = list.devices.length - entries.length
    const { receiverAtRead } = start
    return { reports, newerLevels, receiverAtRead, isListed: true, malformed, repeated, problems, failure }
  }

  /**
   * Ingests the levels read from a subscribed device, except those pushed since the cycle began. If another process
   * holds the subscription, the levels are discarded if newer ones have been stored since the read began. Otherwise
   * they are stored at once, because unsaved levels would take precedence over those that the other process stores.
   */
  async #ingestLevels(entry: RememberedDevice, { guard }: CycleOptions, start: CycleStart): Promise<void> {
    const { ingest } = this.#service
    const endsCycle = !this.devices.isSubscribed
    if (endsCycle) {
      await ingest.catchUp()
      if ((this.devices.currentReceiver(entry)?.last_seen ?? 0) > start.at) {
        entry.levelsAt = Number.NEGATIVE_INFINITY
        return
      }
    }
    const { id: source, manufacturer } = this.source
    const { receiverAtRead } = start
    const reports = [this.devices.reportOf(entry)]
    await ingest.ingest({ manufacturer, source, reports, receiverAtRead, endsCycle, ...(guard && { guard }) })
  }

  /** Applies the levels of a subscribed device that were not pushed for a while, because they may be unchanged. */
  #confirmLevels(entry: RememberedDevice, { monotonicAt }: CycleStart): void {
    const receiver = this.devices.receiverOf(entry)
    const { channels } = this.devices.reportOf(entry)
    if (receiver === undefined || channels === undefined) return
    const time = Math.min(monotonicAt, performance.now() - queryLevelsEveryMs)
    this.#service.ingest.applyPolledLevels(receiver, channels, { source: this.source.id, time })
  }

  async #toBatch({ reports, newerLevels, receiverAtRead, failure }: Reading, { guard }: CycleOptions): Promise<Batch> {
    const hasSucceeded = failure === undefined
    return {
      manufacturer: this.source.manufacturer,
      source: this.source.id,
      reports,
      ...(newerLevels && { newerLevels }),
      receiverAtRead,
      offline: hasSucceeded ? await this.devices.findOfflineReceivers() : [],
      missing: hasSucceeded ? this.devices.missingIds() : [],
      endsCycle: true,
      ...(guard && { guard }),
    }
  }

  /**
   * Stores the batch. A slow database delays a caller that requested a complete poll, but not the next scheduled cycle.
   */
  async #store(
    batch: Batch,
    isListed: boolean,
    { intervalMs }: CycleOptions,
    onApplied: () => void,
  ): Promise<IngestReport> {
    if (this.#isCompleteRequested) await this.#storing?.catch(() => {})
    const write = this.#storing === undefined ? this.#startStoring(batch, isListed, onApplied) : undefined
    while (write !== undefined) {
      const report = await withTimeout(write, storeTimeoutMs(intervalMs))
      if (report !== 'late') return report
      if (!this.#isCompleteRequested) break
    }
    this.#service.ingest.applyLevels(batch)
    throw new StoreBusyError('The database did not finish the previous write in time.')
  }

  #startStoring(batch: Batch, isListed: boolean, onApplied: () => void): Promise<IngestReport> {
    const { ingest, connections } = this.#service
    const write = (async () => {
      const report = await ingest.ingest(batch)
      onApplied()
      if (isListed) await connections.setDevices(this.source, this.devices.listedIds)
      return report
    })()
    this.#storing = write
    write
      .finally(() => {
        this.#storing = undefined
      })
      .catch(() => {})
    return write
  }

  #toUnstoredReport({ reports, malformed, failure }: Reading, error: unknown, startedAt: number): CycleReport {
    if (this.#isStored) {
      this.#service.log.error({ source: this.source.id, error: String(error) }, 'the cycle could not be stored')
    }
    this.#isStored = false
    const failed =
      failure === undefined
        ? failedCycle(`the cycle could not be stored: ${toSourceFailure(error).error}`, startedAt, 'store')
        : failedCycle(toSourceFailure(failure).error, startedAt)
    return { ...failed, devices: reports.length, errors: malformed }
  }

  async #recordOutcome({ failure, problems }: Reading): Promise<void> {
    const { log } = this.#service
    const { id, client } = this.source
    const { error, retryAfter, isAccessDenied, excerpt } = toSourceFailure(failure)
    this.#wasAccessDenied = isAccessDenied
    // Without a subscription, polling finds the same problems.
    const pushed = this.#pushedProblems.filter((known) => !problems.some((other) => isDeepStrictEqual(other, known)))
    if (failure === undefined) return this.#saveOutcome({ ok: true, problems: [...problems, ...pushed] })
    if (excerpt !== undefined) log.debug({ source: id, response: excerpt }, 'invalid response')
    log.warn({ source: id }, error)
    await this.#saveOutcome({ ok: false, error, holdMs: retryAfter === null ? null : client.holdMs })
  }

  async #saveOutcome(outcome: CycleOutcome): Promise<void> {
    const { sourceRecords, log } = this.#service
    const { id, manufacturer } = this.source
    await sourceRecords.record(manufacturer, id, outcome).catch((error) => {
      log.error({ source: id, error: String(error) }, 'source status could not be stored')
    })
  }
}

function toCycleReport(
  { malformed, repeated, failure }: Reading,
  result: IngestReport,
  startedAt: number,
): CycleReport {
  const { error, failureKind } = toSourceFailure(failure)
  const hasSucceeded = failure === undefined
  return {
    ...result,
    duplicates: result.duplicates + repeated,
    repeated: result.repeated + repeated,
    errors: malformed,
    error: hasSucceeded ? null : error,
    failed: hasSucceeded ? null : failureKind === 'none' ? 'unreachable' : 'upstream',
    duration_ms: Math.round(performance.now() - startedAt),
  }
}

export function failedCycle(error: string, startedAt: number, failed: 'upstream' | 'store' = 'upstream'): CycleReport {
  const duration_ms = Math.round(performance.now() - startedAt)
  const counts = { devices: 0, created: 0, updated: 0, moved: 0, duplicates: 0, repeated: 0, conflicts: 0, errors: 0 }
  return { ...counts, error, failed, duration_ms }
}

const repeatAfterMs = 60 * 60_000
/** The maximum number of problems logged for one response. */
const maxPerResponse = 100
/** The maximum number of subjects that are tracked; problems of further subjects are not logged. */
const maxRemembered = 1000

type LogProblems = (problems: readonly DeviceProblem[]) => void

/**
 * Logs the tolerated problems in an upstream's responses: at most one an hour for each subject, such as a device,
 * instead of all problems at every poll.
 */
function createLogLimiter(log: Log, source: string): LogProblems {
  const loggedAt = new Map<string, number>()
  return (problems) => {
    const now = performance.now()
    for (const { subject: about, problem } of problems.slice(0, maxPerResponse)) {
      const last = loggedAt.get(about)
      if (last !== undefined ? now - last < repeatAfterMs : loggedAt.size >= maxRemembered) continue
      loggedAt.set(about, now)
      log.warn({ source }, `${about}: ${problem}`)
    }
  }
}
