/** Creates the history: the recorded levels and states of channels, and what keeps them within their limits. */

import type { FastifyBaseLogger } from 'fastify'
import type { Alerts } from '../alerts/alerts.ts'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import { faultSubjects } from '../domain/alerts/service-faults.ts'
import type { LevelHistory, PrunedTier } from '../domain/history/level-history.ts'
import { listPinnedRanges } from '../domain/history/retention.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Cast } from '../lists/cast.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { Loader } from '../lists/loader.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import { now } from '../platform/clock.ts'
import { withTimeout } from '../platform/wait.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import { listAlertRanges } from '../storage/alerts.ts'
import { pruneChannelStates } from '../storage/channel-states.ts'
import type { Database, Tx } from '../storage/database.ts'
import { pruneFollowedLevels, sizeOfFollowedLevels } from '../storage/followed-sites.ts'
import { saveMaxHistoryBytes } from '../storage/settings.ts'
import { ChannelStates } from './channel-states.ts'
import type { EventLog } from './event-log.ts'
import { openLevelHistory } from './levels/open-level-history.ts'
import { HistoryDisk, Recorder } from './recorder.ts'

interface Subsystems {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly settings: EffectiveSettings
  readonly lists: StoredLists
  readonly cast: Cast
  readonly loader: Loader
  readonly conditions: ConditionMonitor
  readonly alerts: Alerts
  readonly events: EventLog
  readonly leaseManager: LeaseManager
  readonly log: FastifyBaseLogger
}

const pruneEveryMs = 3_600_000
/** The thread of the history may be busy, or its disk slow. */
const sizeWithinMs = 1000
const prunedAtOnce = 1000
const dayMs = 86_400_000
/** The largest default of `HISTORY_MAX_GB`, in bytes, and the multiple to which smaller ones are rounded. */
const maxDefaultBytes = 20_000_000_000
const roundedBytes = 10_000

export class History {
  readonly levels: LevelHistory
  readonly #subsystems: Subsystems
  readonly #disk: HistoryDisk
  readonly #recorder: Recorder
  readonly #channelStates: ChannelStates
  #pruneTimer: NodeJS.Timeout | undefined

  constructor(databaseUrl: string, subsystems: Subsystems) {
    const { receiverStore, settings, conditions, alerts, events, leaseManager, log } = subsystems
    this.#subsystems = subsystems
    this.#disk = new HistoryDisk(databaseUrl)
    this.levels = openLevelHistory({ url: databaseUrl, onWarning: (message) => log.warn(message) })
    const recorded = { levels: receiverStore.levels, history: this.levels, disk: this.#disk }
    this.#recorder = new Recorder({ ...recorded, conditions, settings, leaseManager, log })
    this.#recorder.gapEnded.subscribe(({ from, until, reason }) =>
      events.recordGap({ from: from * 1000, until: until * 1000, reason }),
    )
    this.#recorder.faultChanged.subscribe((fault) => alerts.recordingChanged(fault))
    this.#channelStates = new ChannelStates(subsystems)
  }

  /** Why levels cannot be recorded; null if they can. */
  get fault(): string | null {
    return this.#recorder.fault
  }

  get isRecording(): boolean {
    return this.#recorder.isRecording
  }

  async size(): Promise<number | null> {
    const size = await withTimeout(
      this.levels.size().catch(() => null),
      sizeWithinMs,
    )
    return size === 'late' ? null : size
  }

  /** Starts to record the receivers that this process evaluates. */
  start(): void {
    // The alert is still open if levels could not be stored when the last process stopped.
    const couldNotStore = this.#subsystems.alerts
      .list()
      .some(({ subject }) => subject === faultSubjects.recording_stopped)
    this.#recorder.start(couldNotStore ? 'storage' : 'stopped')
    this.#channelStates.start()
    void this.#saveDefaultSize()
    this.#pruneTimer = setInterval(() => void this.#pruneRegularly(), pruneEveryMs)
  }

  settingsChanged(): void {
    this.#recorder.settingsChanged()
  }

  /** Units of these receivers have other assignments; without ids, performers have changed. */
  castChanged(receiverIds?: ReadonlySet<number>): void {
    this.#channelStates.assignmentsChanged(receiverIds)
  }

  flush(): Promise<void> {
    return this.#recorder.flush()
  }

  async prune({ isDryRun } = { isDryRun: false }): Promise<readonly PrunedTier[]> {
    const { db, settings, lists, receiverStore } = this.#subsystems
    const { HISTORY_SECONDS_DAYS, HISTORY_MINUTES_DAYS, HISTORY_MAX_GB } = settings.get(null)
    const keptSince = now() - HISTORY_MINUTES_DAYS * dayMs
    const { shows, groups } = lists.current
    const pinned = listPinnedRanges({
      alerts: await listAlertRanges(db.read, keptSince),
      shows,
      groups,
      channels: receiverStore
        .listFacts()
        .flatMap((receiver) => receiver.channels.map(({ id, slot }) => ({ id, slot, receiverId: receiver.id }))),
      now: now(),
    })
    if (!isDryRun) {
      await this.#deleteParts((tx, count) => pruneChannelStates(tx, keptSince, count))
      await this.#pruneFollowed(keptSince, HISTORY_MAX_GB * 1e9)
    }
    return this.levels.prune({
      secondsDays: HISTORY_SECONDS_DAYS,
      minutesDays: HISTORY_MINUTES_DAYS,
      maxBytes: HISTORY_MAX_GB * 1e9,
      pinned,
      now: Math.floor(now() / 1000),
      isDryRun,
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#pruneTimer)
    await this.#recorder.stop()
    await this.#channelStates.close()
    await this.levels.close()
  }

  /** Deletes the levels of sites that were received before `keptSince` (epoch ms), and the oldest beyond `maxBytes`. */
  async #pruneFollowed(keptSince: number, maxBytes: number): Promise<void> {
    const { db } = this.#subsystems
    await this.#deleteParts((tx, count) => pruneFollowedLevels(tx, keptSince, count))
    while ((await sizeOfFollowedLevels(db.read)) > maxBytes) {
      await db.transaction((tx) => pruneFollowedLevels(tx, Number.MAX_SAFE_INTEGER, prunedAtOnce))
    }
  }

  /** Deletes rows in short transactions. `deletePart` deletes at most `count` and returns how many. */
  async #deleteParts(deletePart: (tx: Tx, count: number) => Promise<number>): Promise<void> {
    for (;;) {
      const deleted = await this.#subsystems.db.transaction((tx) => deletePart(tx, prunedAtOnce))
      if (deleted < prunedAtOnce) return
    }
  }

  async #pruneRegularly(): Promise<void> {
    await this.prune().catch((error) => {
      this.#subsystems.log.warn({ error: String(error) }, 'the history could not be pruned')
    })
  }

  /**
   * Stores the default of `HISTORY_MAX_GB` when recording starts for the first time. It is loaded at once, because a
   * setting that changes later causes everything to be evaluated again.
   */
  async #saveDefaultSize(): Promise<void> {
    const { db, lists, loader, log } = this.#subsystems
    if (lists.current.maxHistoryBytes !== null) return
    try {
      const space = await this.#disk.space()
      const half = space === null ? maxDefaultBytes : space.free / 2
      const bytes = Math.max(roundedBytes, Math.floor(half / roundedBytes) * roundedBytes)
      await db.transaction((tx) => saveMaxHistoryBytes(tx, Math.min(maxDefaultBytes, bytes)))
      await loader.reload()
    } catch (error) {
      log.warn({ error: String(error) }, 'the maximum size of the history could not be stored')
    }
  }
}
