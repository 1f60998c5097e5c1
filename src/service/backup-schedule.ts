/** Writes the scheduled backups, in one process of an installation. */

import type { Alerts } from '../alerts/alerts.ts'
import type { BackupConfig } from '../config/backup.ts'
import type { Config } from '../config.ts'
import { nextBackup } from '../domain/backups.ts'
import { toProcess } from '../domain/nodes.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { pause } from '../platform/wait.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import { type BackupEntry, BackupFolder } from '../storage/backup-folder.ts'
import type { Database } from '../storage/database.ts'
import { listHeldLeases } from '../storage/leases.ts'
import { saveLastBackup } from '../storage/meta.ts'

interface Subsystems {
  readonly db: Database
  /** The id of the installation. */
  readonly installation: string
  readonly settings: EffectiveSettings
  readonly alerts: Alerts
  readonly leaseManager: LeaseManager
  readonly log: Log
}

const leaseName = 'backup'
const checkEveryMs = 5_000
const retryMs = 600_000
/** After this time, the other processes are known. */
const discoveryMs = 15_000

interface BackupFailure {
  /** Epoch milliseconds. */
  readonly at: number
  readonly error: string
}

export class BackupSchedule {
  /** Null if none is configured. */
  readonly config: BackupConfig | null
  readonly folder: BackupFolder | null
  readonly configurationFile: string | null
  readonly #databaseUrl: string
  readonly #subsystems: Subsystems
  #fault: BackupFailure | null = null
  /** Why the last requested backup failed, until another one succeeds. */
  #requestFault: BackupFailure | null = null
  #isUpToDate = false
  /** The lifetime of the lease while this process holds it. */
  #lease: AbortSignal | null = null
  #requested: Promise<void> = Promise.resolve()
  #runningSince: number | null = null
  /** On the monotonic clock. */
  #retryAt = 0

  constructor({ backup, database_url, file }: Config, subsystems: Subsystems) {
    this.config = backup
    this.configurationFile = file
    this.#databaseUrl = database_url
    this.folder = backup && new BackupFolder(backup.folder, backup.isDefaultFolder)
    this.#subsystems = subsystems
  }

  /** Describes why the last backup failed; null if it did not, or if another process writes them. */
  get problem(): string | null {
    return this.#fault === null ? null : `Backup: ${this.#fault.error}.`
  }

  /** True if this process writes the backups, and none is due. */
  get isUpToDate(): boolean {
    return this.#isUpToDate
  }

  /** Why the latest backup of this process failed; null if it did not. */
  get failure(): BackupFailure | null {
    const [scheduled, requested] = [this.#fault, this.#requestFault]
    return scheduled !== null && requested !== null && scheduled.at < requested.at
      ? requested
      : (scheduled ?? requested)
  }

  /** When this process began to write a backup, in epoch milliseconds; null if it writes none. */
  get runningSince(): number | null {
    return this.#runningSince
  }

  /** Returns the process that writes the backups; null if there is none. */
  async findWriter() {
    const leases = await listHeldLeases(this.#subsystems.db.read)
    const lease = leases.find(({ source }) => source === leaseName)
    return lease === undefined ? null : toProcess(lease.owner)
  }

  /** Returns when the next backup is due, in epoch milliseconds; null without a schedule, and while one is overdue. */
  nextAfter(newest: BackupEntry | undefined): number | null {
    return this.config && nextBackup(this.config, this.timeZone, newest?.at ?? null, now())
  }

  /** Describes why the folder cannot be used; null if it can. */
  async findFolderFault(): Promise<string | null> {
    try {
      await this.folder?.check(this.#databaseUrl)
      return null
    } catch (error) {
      return (error as Error).message
    }
  }

  /** Writes the backups that are due, while this process holds the lease, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { leaseManager, alerts } = this.#subsystems
    if (this.config === null) {
      // An alert remains from a schedule that was removed, unless another process has one.
      if ((await pause(discoveryMs, signal)) && !leaseManager.hasOtherNodes) alerts.backupChanged(null)
      return
    }
    await leaseManager.runWhileHeld(leaseName, signal, async (held) => {
      this.#lease = held.signal
      do await this.#runIfDue(held.signal)
      while (await pause(checkEveryMs, held.signal))
      this.#lease = null
      await this.#requested
      this.#fault = null
      this.#requestFault = null
      this.#isUpToDate = false
      alerts.backupChanged(undefined)
    })
  }

  get timeZone(): string {
    return this.#subsystems.settings.get(null).TIME_ZONE
  }

  async #runIfDue(signal: AbortSignal): Promise<void> {
    if (this.#runningSince !== null || performance.now() < this.#retryAt) return
    try {
      const [newest] = (await this.folder?.list(this.#subsystems.installation)) ?? []
      if (this.nextAfter(newest) === null) await this.backUp(signal)
      else this.#ended(null)
    } catch (error) {
      if (signal.aborted) return
      this.#retryAt = performance.now() + retryMs
      this.#ended((error as Error).message)
    }
  }

  /**
   * Begins to write a backup, and returns when it did, in epoch milliseconds. If it fails, `failure` says why. Returns
   * null while another process writes the backups, or this one is already writing one.
   */
  start(): number | null {
    const signal = this.#lease
    if (signal === null || signal.aborted || this.#runningSince !== null) return null
    this.#requested = this.backUp(signal).then(
      () => {},
      (error) => {
        if (signal.aborted) return
        this.#subsystems.log.error({ error: String(error) }, 'the requested backup failed')
        this.#requestFault = { at: now(), error: (error as Error).message }
      },
    )
    return this.#runningSince
  }

  /** Writes a backup now. Throws a FileError if that is not possible. */
  async backUp(signal: AbortSignal): Promise<BackupEntry> {
    const { config, folder } = this
    if (config === null || folder === null) throw new Error('no backups are configured')
    const { db, installation, log } = this.#subsystems
    const source = { db, database_url: this.#databaseUrl, with_history: config.with_history, signal, log }
    this.#runningSince = now()
    try {
      const entry = await folder.write(installation, source, config.keep, this.#runningSince)
      await db
        .transaction((tx) => saveLastBackup(tx, entry.at))
        .catch((error) => log.warn({ error: String(error) }, 'the time of the backup could not be stored'))
      log.info({ file: entry.file, bytes: entry.bytes }, 'backup written and verified')
      this.#requestFault = null
      this.#ended(null)
      return entry
    } finally {
      this.#runningSince = null
    }
  }

  #ended(error: string | null): void {
    const { alerts, log } = this.#subsystems
    if (error !== null && error !== this.#fault?.error) log.error({ error }, 'the scheduled backup failed')
    this.#fault = error === null ? null : { at: now(), error }
    this.#isUpToDate = error === null
    alerts.backupChanged(error)
  }
}
