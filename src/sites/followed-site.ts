/** Follows another installation of Micwatch: keeps the connection to it open, and its receivers current. */

import type { FollowedMessage, FollowedSnapshot } from '../contract/followed-messages.ts'
import type { ChannelAssignment } from '../contract/performers.ts'
import { jitter, nextAttempt, reconnectMs } from '../domain/access/limits.ts'
import type { DeviceProblem } from '../domain/equipment/health.ts'
import { isSameJson } from '../domain/json.ts'
import { pageNames } from '../domain/pages.ts'
import {
  findLoop,
  hasAssignments,
  type LevelSelection,
  nothingAnnounced,
  type SiteAnnouncements,
  toCodesThere,
  toFollowedAssignments,
  withAnnouncement,
} from '../domain/sites/sites.ts'
import type { DroppedParts, FollowOptions, ResumePoint } from '../manufacturers/plugin.ts'
import { type MonitoredSource, toSourceFailure } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import type { Topic } from '../platform/topic.ts'
import { childLifetime, pause, withTimeout } from '../platform/wait.ts'
import type { LeaseHandle } from '../sources/lease-manager.ts'
import { type CycleReport, failedCycle } from '../sources/poller.ts'
import { isEnabled, waitUntilEnabled, watchConnections } from '../sources/stopped-connections.ts'
import { SiteEvents } from './site-events.ts'
import { SiteMirror } from './site-mirror.ts'
import type { SiteSubsystems } from './site-subsystems.ts'
import { createStaleness, type Staleness } from './stale-receivers.ts'

/** A followed site has announced other installations behind it, something about itself, or other assignments. */
export type SiteChange = 'via' | 'announcements' | 'assignments'

export interface SiteState {
  /** True while the receivers are current. */
  readonly isConnected: boolean
  /** The ids of the other installation and of those that it follows; empty until the first snapshot. */
  readonly via: readonly string[]
  readonly latencyMs: number | null
  /** When the other installation last sent something, in epoch ms. */
  readonly lastSeen: number | null
  /** Kept while the connection is lost. */
  readonly announcements: SiteAnnouncements
}

const initialState: SiteState = {
  isConnected: false,
  via: [],
  latencyMs: null,
  lastSeen: null,
  announcements: nothingAnnounced,
}

/** A shorter limit than for devices, so that the receivers are current within 45 s after a line is restored. */
const maxRetryMs = 15_000
const firstRejectedRetryMs = 5000
const maxRejectedRetryMs = 300_000
/** How often a success is recorded while the connection is open. */
const recordEveryMs = 30_000
/** How often is recorded that the receivers are current, because levels may not be sent. */
const markSeenEveryMs = 5000
/** No more messages are read while this many wait to be stored. */
const maxWaiting = 1000
const stoppedError = `the connection was stopped by a user; start it under ${pageNames.connections}`

export class FollowedSite {
  readonly source: MonitoredSource
  readonly #service: SiteSubsystems
  readonly #changed: Topic<SiteChange>
  readonly #siteEvents: SiteEvents
  #mirror: SiteMirror | null = null
  /** The last message that `#mirror` has stored; null if the next connection must begin with a snapshot. */
  #resumePoint: ResumePoint | null = null
  #state = initialState
  /** Ends the pause before the next attempt. */
  #retryNow = () => {}
  /** Called with the outcome of each attempt. */
  readonly #waiting = new Set<(error: string | null) => void>()
  /** Serializes changes to the mirror. */
  #work: Promise<void> = Promise.resolve()
  /** The parts of this connection's messages that were omitted. */
  #dropped: DroppedParts | null = null
  #onFirstDropped = () => {}
  /** The sites whose levels are needed, with their codes in the other installation. */
  #shown: readonly string[] = []
  /** Sends a selection of levels; null while the connection is not open. */
  #requestLevels: ((selection: LevelSelection) => void) | null = null

  /** Changes to `state` and `assignments()` are published to `changed`. */
  constructor(service: SiteSubsystems, source: MonitoredSource, changed: Topic<SiteChange>) {
    this.#service = service
    this.#siteEvents = new SiteEvents(service.db, service.events, service.log)
    this.#changed = changed
    this.source = source
  }

  get state(): SiteState {
    return this.#state
  }

  /** Returns who wears the units of the site's channels. */
  assignments(): readonly ChannelAssignment[] {
    const installation = this.#mirror?.installation
    if (installation === undefined) return []
    const { record, channelOf } = installation
    return toFollowedAssignments(record, this.#state.announcements.assignments, (id) => channelOf(id)?.id)
  }

  /** Receives the levels of these sites, and no others, from now on. The codes are those of this installation. */
  showLevels(codes: readonly string[]): void {
    const shown = toCodesThere(this.source.manufacturer, codes)
    if (isSameJson(shown, this.#shown)) return
    this.#shown = shown
    this.#selectLevels()
  }

  #selectLevels(): void {
    const sites = [...this.#shown]
    this.#requestLevels?.(sites.length === 0 ? { levels: 'false' } : { levels: 'full', sites })
  }

  /** Follows the other installation until the lease ends. */
  async run(lease: LeaseHandle): Promise<void> {
    // Another process may have stored something since this one last held the lease.
    this.#resumePoint = null
    const { connections } = this.#service
    const { id } = this.source
    await connections.openSite(this.source)
    const staleness = this.#watchStaleness(lease)
    let rejections = 0
    for (let attempt = 0; await waitUntilEnabled(connections, id, lease.signal); ) {
      const { openMs, isRejected } = await this.#connectUntilStopped(lease, staleness)
      if (lease.signal.aborted) break
      if (!isEnabled(connections, id)) {
        attempt = 0
        await this.#recordFailure(stoppedError)
        continue
      }
      attempt = nextAttempt(attempt, openMs)
      rejections = isRejected ? rejections + 1 : 0
      const delayMs = isRejected
        ? Math.min(maxRejectedRetryMs, firstRejectedRetryMs * 2 ** (rejections - 1))
        : Math.min(maxRetryMs, reconnectMs(attempt))
      await this.#pauseBeforeRetry(jitter(delayMs, Math.random()), lease.signal)
    }
    staleness.stop()
    await this.#work
    await connections.record(id, { type: 'ended', at: now(), reason: 'no process follows this site' })
  }

  /** Follows until the connection is lost or a user stops it. */
  async #connectUntilStopped(lease: LeaseHandle, staleness: Staleness) {
    const lifetime = childLifetime(lease.signal)
    const watching = watchConnections(this.#service.connections, this.source.id, lifetime, async () => {})
    const outcome = await this.#connect({ ...lease, signal: lifetime.signal }, staleness)
    lifetime.abort()
    await watching
    return outcome
  }

  /** Reads the other installation once, without following it. */
  async readOnce(lease: LeaseHandle): Promise<CycleReport> {
    const startedAt = performance.now()
    const lifetime = childLifetime(lease.signal)
    const reading = this.#nextOutcome()
    const connecting = this.#connect({ ...lease, signal: lifetime.signal }, { connected() {}, lost() {}, stop() {} })
    const error = await Promise.race([reading, connecting.then(() => null)])
    lifetime.abort()
    await connecting
    return this.#toReport(error, startedAt)
  }

  /** Returns the outcome of the open connection, or of a new attempt to connect. */
  async refresh(): Promise<CycleReport> {
    const startedAt = performance.now()
    if (this.#state.isConnected) return this.#toReport(null, startedAt)
    if (!isEnabled(this.#service.connections, this.source.id)) return this.#toReport(stoppedError, startedAt)
    const outcome = this.#nextOutcome()
    this.#retryNow()
    const error = await withTimeout(outcome, 2 * this.source.settings.timeoutMs)
    return this.#toReport(
      error === 'late' ? `${this.source.settings.baseUrl} did not respond in time` : error,
      startedAt,
    )
  }

  #toReport(error: string | null, startedAt: number): CycleReport {
    const report = failedCycle(error ?? '', startedAt)
    const devices = this.#mirror?.size ?? 0
    return error === null ? { ...report, devices, error: null, failed: null } : report
  }

  #nextOutcome(): Promise<string | null> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  #announceOutcome(error: string | null): void {
    for (const resolve of this.#waiting) resolve(error)
    this.#waiting.clear()
  }

  async #pauseBeforeRetry(ms: number, signal: AbortSignal): Promise<void> {
    const lifetime = childLifetime(signal)
    this.#retryNow = () => lifetime.abort()
    await pause(ms, lifetime.signal)
    this.#retryNow = () => {}
    lifetime.abort()
  }

  /** Follows until the connection is lost. */
  async #connect(lease: LeaseHandle, staleness: Staleness): Promise<{ openMs: number; isRejected: boolean }> {
    const { log, sourceRecords, connections } = this.#service
    const { id, manufacturer } = this.source
    const startedAt = performance.now()
    let openedAt: number | null = null
    const recordSuccess = () =>
      sourceRecords
        .record(manufacturer, id, { ok: true, problems: this.#problems() })
        .catch((error) => this.#logUnstored(error))
    this.#dropped = null
    let timer: NodeJS.Timeout | undefined
    await connections.record(id, { type: 'trying', at: now() })
    try {
      await this.#receive(lease, () => {
        openedAt = performance.now()
        staleness.connected()
        this.#state = { ...this.#state, isConnected: true }
        timer = setInterval(recordSuccess, recordEveryMs)
        void recordSuccess()
        this.#onFirstDropped = recordSuccess
        void connections.record(id, { type: 'opened', at: now() })
        log.info({ source: id, ms: Math.round(openedAt - startedAt) }, 'following another Micwatch')
        this.#announceOutcome(null)
      })
      return { openMs: 0, isRejected: false }
    } catch (thrown) {
      const { error, isAccessDenied } = toSourceFailure(thrown instanceof TypeError ? this.#unreadable(thrown) : thrown)
      log.warn({ source: id, ...(thrown instanceof TypeError && { err: thrown }) }, error)
      await connections.record(id, { type: openedAt === null ? 'failed' : 'lost', at: now(), reason: error })
      await this.#recordFailure(error)
      this.#announceOutcome(error)
      return { openMs: openedAt === null ? 0 : performance.now() - openedAt, isRejected: isAccessDenied }
    } finally {
      clearInterval(timer)
      this.#onFirstDropped = () => {}
      this.#state = { ...this.#state, isConnected: false, latencyMs: null }
      this.#siteEvents.lost()
      staleness.lost()
    }
  }

  readonly #onDropped = ({ count, first }: DroppedParts): void => {
    const before = this.#dropped
    this.#dropped = { count: count + (before?.count ?? 0), first: before?.first ?? first }
    if (before !== null) return
    this.#service.log.warn({ source: this.source.id, first }, 'parts of the messages of a site were left out')
    this.#onFirstDropped()
  }

  #problems(): readonly DeviceProblem[] {
    if (this.#dropped === null) return []
    const { count, first } = this.#dropped
    const { host } = new URL(this.source.settings.baseUrl)
    const values = count === 1 ? '1 value was' : `${count} values were`
    const problem = `${values} left out (${first}); install the same version of Micwatch on both sides`
    return [{ subject: `messages of ${host}`, problem }]
  }

  async #recordFailure(error: string): Promise<void> {
    await this.#service.sourceRecords
      .record(this.source.manufacturer, this.source.id, { ok: false, error, holdMs: null })
      .catch((unstored) => this.#logUnstored(unstored))
  }

  /** Applies what the other installation sends. Throws when the connection is lost or a message cannot be applied. */
  async #receive(lease: LeaseHandle, onCurrent: () => void): Promise<void> {
    const { source } = this
    const lifetime = childLifetime(lease.signal)
    const resumeAfter = this.#resumePoint
    let waiting: FollowedMessage[] = []
    let failure: { readonly error: unknown } | null = null
    let isCurrent = false
    let mirror: SiteMirror | null = null
    let applying: Promise<void> | null = null
    const apply = async (to: SiteMirror) => {
      while (waiting.length > 0) {
        const messages = waiting
        waiting = []
        await this.#change(async () => {
          await to.apply(messages)
          this.#resumePoint = lastApplied(messages, this.#resumePoint)
          if (messages.some(hasAssignments)) this.#changed.publish('assignments')
          if (isCurrent) return
          isCurrent = true
          onCurrent()
          void this.#siteEvents.catchUp(to.installation, source, {
            signal: lifetime.signal,
            onDropped: this.#onDropped,
          })
        })
      }
    }
    const onLatency = (latencyMs: number) => {
      this.#state = { ...this.#state, latencyMs }
    }
    const onOpen: FollowOptions['onOpen'] = (requestLevels) => {
      this.#requestLevels = requestLevels
      this.#selectLevels()
    }
    let seenAt = performance.now()
    try {
      const options: FollowOptions = { resumeAfter, onLatency, onOpen, onDropped: this.#onDropped }
      for await (const message of source.adapter.follow?.(source.client, lifetime.signal, options) ?? []) {
        this.#state = { ...this.#state, lastSeen: now() }
        this.#service.connections.recordSiteMessage(source.id)
        if (message.type === 'snapshot') {
          this.#checkInstallation(message)
          // A slow connection is sent further snapshots.
          mirror ??= await this.#openCurrentMirror(message.installation, lease)
        } else if (message.type === 'resumed' && resumeAfter !== null) {
          // The epoch identifies the process, so this is the installation that the last snapshot came from.
          mirror ??= this.#mirror
        }
        if (mirror === null) throw this.#tooOldError()
        this.#announce(withAnnouncement(this.#state.announcements, message))
        waiting.push(message)
        if (performance.now() - seenAt >= markSeenEveryMs) {
          seenAt = performance.now()
          mirror.markSeen()
        }
        applying ??= apply(mirror)
          .catch((error: unknown) => {
            failure = { error }
            this.#resumePoint = null
            lifetime.abort()
          })
          .finally(() => {
            applying = null
          })
        if (waiting.length > maxWaiting) await applying
      }
    } finally {
      lifetime.abort()
      this.#requestLevels = null
      // The next connection starts from the stored mirror.
      await applying
    }
    if (failure !== null) throw (failure as { readonly error: unknown }).error
  }

  #announce(announcements: SiteAnnouncements): void {
    if (announcements === this.#state.announcements) return
    this.#state = { ...this.#state, announcements }
    this.#changed.publish('announcements')
  }

  #change(work: () => Promise<void>): Promise<void> {
    const changing = this.#work.then(work)
    this.#work = changing.catch(() => {})
    return changing
  }

  /** Checks who the other installation is. Throws if it follows this one. */
  #checkInstallation({ installation, via }: FollowedSnapshot): void {
    const { client } = this.source
    const { host } = new URL(client.settings.baseUrl)
    const loop = findLoop(host, { installation, via }, this.#service.installation)
    if (loop !== null) throw new client.errors.ApiError(loop, { failureKind: 'unusable' })
    const passed = [installation, ...via]
    const hasChanged = passed.join() !== this.#state.via.join()
    this.#state = { ...this.#state, via: passed }
    if (hasChanged) this.#changed.publish('via')
  }

  /** Opens the mirror after loading the records that other processes have stored. */
  async #openCurrentMirror(installation: string, lease: LeaseHandle): Promise<SiteMirror> {
    await this.#service.ingest.catchUp()
    return this.#openMirror(installation, lease)
  }

  /** Opens the mirror of an installation; without its id, of the receivers that are stored, before the first snapshot. */
  #openMirror(installation: string, lease: LeaseHandle): SiteMirror {
    const { manufacturer: code } = this.source
    const { sourceRegistry } = this.#service
    const name = sourceRegistry.manufacturers().find((record) => record.code === code)?.name ?? code
    const mirror = new SiteMirror(this.#service, this.#siteEvents, { code, name, installation }, lease)
    mirror.dropped.subscribe(this.#onDropped)
    this.#resumePoint = null
    this.#mirror = mirror
    return mirror
  }

  #tooOldError() {
    const { client } = this.source
    const { host } = new URL(client.settings.baseUrl)
    return new client.errors.ApiError(`${host} is no Micwatch that can be followed, or its version is too old`, {
      failureKind: 'unusable',
    })
  }

  /** Returns the error to show for a message with another shape than those of this version. */
  #unreadable(cause: TypeError) {
    const { client } = this.source
    const { host } = new URL(client.settings.baseUrl)
    const message = `a message from ${host} cannot be read; install the same version of Micwatch on both sides`
    return new client.errors.ApiError(message, { failureKind: 'unusable', cause })
  }

  /** Makes the channels stale when the connection has been lost for a while, and once after the start. */
  #watchStaleness(lease: LeaseHandle): Staleness {
    const staleness = createStaleness(now, (lostAt) => {
      const mirror = this.#mirror ?? this.#openMirror('', lease)
      const markStale = async () => {
        if (!this.#state.isConnected) await mirror.markStale(lostAt)
      }
      this.#change(markStale).catch((error) => this.#logUnstored(error))
    })
    staleness.lost()
    return staleness
  }

  #logUnstored(error: unknown): void {
    this.#service.log.error(
      { source: this.source.id, error: String(error) },
      'the state of the site could not be stored',
    )
  }
}

/** Returns where to resume after these messages were applied. */
function lastApplied(messages: readonly FollowedMessage[], before: ResumePoint | null): ResumePoint | null {
  let last = before
  for (const message of messages) {
    if (message.type === 'snapshot') last = { seq: message.seq, epoch: message.epoch }
    else if (last !== null && 'seq' in message && message.type !== 'resumed') last = { ...last, seq: message.seq }
  }
  return last
}
