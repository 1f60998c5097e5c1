/** Runs one loop per source: acquires its lease, polls it and subscribes to it. A failing source does not affect others. */

import { once } from 'node:events'
import { reconnectMs } from '../domain/access/limits.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { Plugin } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { runForSource } from '../platform/source-context.ts'
import { Topic } from '../platform/topic.ts'
import { childLifetime, type Lifetime, pause, untilAborted, withTimeout } from '../platform/wait.ts'
import { FollowedSite, type SiteChange } from '../sites/followed-site.ts'
import type { SiteSubsystems } from '../sites/site-subsystems.ts'
import { type AcquiredLease, type LeaseHandle, LeaseManager, pollerLease, type SharedLease } from './lease-manager.ts'
import { runPollLoop } from './poll-loop.ts'
import { type CycleOptions, type CycleReport, Poller } from './poller.ts'
import { checkReceiversEveryMs, type PolledManufacturer, ReceiverSilence } from './receiver-silence.ts'
import { handlePollRequests, pollOrRequest } from './requested-polls.ts'
import { Schedule } from './schedule.ts'
import { checkSourcesEveryMs, SourceSilence } from './source-silence.ts'
import type { SourceSubsystems } from './source-subsystems.ts'
import { keepSubscribed, type SubscriptionHooks } from './subscriptions.ts'

interface MonitorSubsystems extends SourceSubsystems, SiteSubsystems {
  readonly nodeId: string
  readonly settings: EffectiveSettings
}

export interface MonitorHooks {
  onCycle?(source: MonitoredSource, report: CycleReport): void
  /** Called when another process polls this source. */
  onStandBy?(source: MonitoredSource, holder: string): void
}

export interface PollResult {
  readonly manufacturer: string
  /** The source's base URL. */
  readonly source: string
  readonly plugin: Plugin
  readonly report: CycleReport
}

/** A monitored source and the state of its loop. */
interface Watch {
  readonly poller: Poller
  /** Set instead of polling if the source is another installation. */
  readonly site: FollowedSite | null
  guard?: LeaseHandle['guard'] | undefined
  loop?: { readonly lifetime: Lifetime; readonly ended: Promise<void> }
}

/** When the service stops, it does not wait longer than this for its sources. */
const stopLimitMs = 3000

interface Run {
  readonly signal: AbortSignal
  readonly hooks: MonitorHooks
  readonly manufacturer: string | undefined
}

export class Monitor {
  /** A followed site has changed. */
  readonly siteChanged = new Topic<SiteChange>()
  readonly #service: MonitorSubsystems
  readonly #watches = new Map<string, Watch>()
  /** Loops that are stopping, by source. */
  readonly #ending = new Map<string, Promise<void>>()
  /** When the next cycle of each source begins. */
  readonly #schedule = new Schedule()
  #run: Run | undefined
  /** The leases of immediate polls. */
  readonly #requestLeases: LeaseManager

  constructor(service: MonitorSubsystems) {
    this.#service = service
    this.#requestLeases = new LeaseManager(service.db, `${service.nodeId}:now`, service.log)
  }

  get pollers(): readonly Poller[] {
    return [...this.#watches.values()].map(({ poller }) => poller)
  }

  /** The installations that this one follows. */
  get sites(): readonly FollowedSite[] {
    return [...this.#watches.values()].flatMap(({ site }) => site ?? [])
  }

  /** True while the cycles of every source that this process polls start and end in time. */
  get isMoving(): boolean {
    return [...this.#watches.values()].every(
      ({ poller, site, guard }) =>
        guard === undefined ||
        site !== null ||
        poller.progress.isMoving(this.#intervalMs(poller.source), poller.devices.listedIds.length + 1),
    )
  }

  /** True if this process polls the source. */
  polls(source: string): boolean {
    return this.#watches.get(source)?.guard !== undefined
  }

  /** Reads everything from a source that this process polls, including what changes rarely. */
  async readNow(source: string, signal: AbortSignal): Promise<void> {
    const watch = this.#watches.get(source)
    if (watch === undefined) return
    const { devices } = watch.poller
    for (const id of devices.listedIds) devices.discardIdentity(id)
    await this.#pollIfHeld(watch, signal)
  }

  /** True while `run` is running. */
  get isRunning(): boolean {
    return this.#run !== undefined
  }

  /**
   * Replaces the sources. Loops of removed sources are stopped, loops of new sources are started if `run` is running,
   * and the others continue. A source that has changed must be a new object. The change takes effect immediately; the
   * promise resolves when the stopped loops have ended.
   */
  async setSources(sources: readonly MonitoredSource[]): Promise<void> {
    const kept = new Set(sources)
    const removed = [...this.#watches.values()].filter(({ poller }) => !kept.has(poller.source))
    for (const { poller } of removed) this.#watches.delete(poller.source.id)
    const stopped = removed.map((watch) => this.#stop(watch))
    for (const source of sources) {
      if (this.#watches.has(source.id)) continue
      const site =
        source.adapter.follow === undefined ? null : new FollowedSite(this.#service, source, this.siteChanged)
      const watch: Watch = { poller: new Poller(this.#service, source), site }
      this.#watches.set(source.id, watch)
      if (this.#run !== undefined) this.#start(watch, this.#run)
    }
    await Promise.all(stopped)
  }

  /**
   * Polls and subscribes to the sources until the signal aborts, and shares them with other polling processes. If
   * `manufacturer` is given, runs only that manufacturer's sources and does not share them.
   */
  async run(signal: AbortSignal, hooks: MonitorHooks = {}, manufacturer?: string): Promise<void> {
    const run = { signal, hooks, manufacturer }
    this.#run = run
    const registration = manufacturer === undefined ? this.#registerPoller(signal) : undefined
    for (const watch of this.#watches.values()) this.#start(watch, run)
    const timers = this.#startSilenceChecks()
    const handlingRequests = handlePollRequests(this.#service.db, this.#service.log, signal, (source) => {
      const watch = this.#watches.get(source)
      return watch && this.#pollIfHeld(watch, signal)
    })
    if (!signal.aborted) await once(signal, 'abort')
    this.#run = undefined
    for (const timer of timers) clearInterval(timer)
    await this.#stopAll()
    await handlingRequests
    await registration
  }

  /**
   * Polls every source of these manufacturers now, or joins the cycle that is already running. Calls `onPolled` after
   * each source.
   */
  async pollNow(
    manufacturers: readonly string[],
    signal: AbortSignal,
    onPolled?: (polled: PollResult) => void,
  ): Promise<readonly PollResult[]> {
    const selected = [...this.#watches.values()].filter(({ poller }) =>
      manufacturers.includes(poller.source.manufacturer),
    )
    return Promise.all(
      selected.map(async (watch) => {
        const { manufacturer, plugin, settings } = watch.poller.source
        const report = await this.#pollWatchNow(watch, signal)
        const polled = { manufacturer, source: settings.baseUrl, plugin, report }
        onPolled?.(polled)
        return polled
      }),
    )
  }

  #pollWatchNow(watch: Watch, signal: AbortSignal): Promise<CycleReport> {
    const { poller, site } = watch
    const { source } = poller
    const pollOnce = (lease: AcquiredLease) => {
      poller.takeOver(lease)
      return site === null ? poller.poll(this.#completeCycle(source, lease)) : site.readOnce(lease)
    }
    return pollOrRequest(this.#service.db, this.#requestLeases, this.#service.log, {
      source,
      signal,
      pollIfHeld: () => this.#pollIfHeld(watch, signal),
      pollOnce: watch.loop === undefined ? pollOnce : null,
    })
  }

  /** Polls if this process holds the lease. */
  #pollIfHeld({ poller, site, guard }: Watch, signal: AbortSignal): Promise<CycleReport> | undefined {
    if (guard !== undefined && site !== null) return site.refresh()
    return guard && poller.poll(this.#completeCycle(poller.source, { guard, signal }))
  }

  #completeCycle(source: MonitoredSource, lease: LeaseHandle): CycleOptions {
    return { ...lease, intervalMs: this.#intervalMs(source), isComplete: true }
  }

  #start(watch: Watch, run: Run): void {
    const { id, manufacturer } = watch.poller.source
    if (run.manufacturer !== undefined && manufacturer !== run.manufacturer) return
    const lifetime = childLifetime(run.signal)
    // A changed source may have the same id, and so the same lease, as its previous version, whose loop must end first.
    const previous = this.#ending.get(id) ?? Promise.resolve()
    watch.loop = { lifetime, ended: previous.then(() => this.#keepRunning(watch, lifetime.signal, run)) }
  }

  /** Records an unexpected failure, even in a timer or listener of the source, and restarts the source's loop. */
  async #keepRunning(watch: Watch, signal: AbortSignal, run: Run): Promise<void> {
    const { id, manufacturer } = watch.poller.source
    for (let failures = 1; !signal.aborted; failures += 1) {
      const lifetime = childLifetime(signal)
      let failure: { readonly error: unknown } | undefined
      const fail = (error: unknown) => {
        failure ??= { error }
        lifetime.abort()
      }
      try {
        await runForSource({ fail }, () => this.#runSource(watch, lifetime.signal, run))
      } catch (error) {
        fail(error)
      }
      lifetime.abort()
      if (failure === undefined) continue
      watch.guard = undefined
      this.#service.log.error({ source: id, err: failure.error }, 'monitoring of the source failed; restarting it')
      const error = `an error in Micwatch interrupted the monitoring: ${String(failure.error)}`
      await this.#service.sourceRecords.record(manufacturer, id, { ok: false, error, holdMs: null }).catch(() => {})
      await pause(reconnectMs(failures), signal)
    }
  }

  async #runSource(watch: Watch, signal: AbortSignal, { hooks, manufacturer }: Run): Promise<void> {
    const { source } = watch.poller
    const onStandBy = (holder: string) => hooks.onStandBy?.(source, holder)
    const options = { isShared: manufacturer === undefined, onStandBy }
    await this.#service.leaseManager.runWhileHeld(
      source.id,
      signal,
      (lease) => this.#pollWhileHeld(watch, lease, hooks),
      options,
    )
  }

  async #pollWhileHeld(watch: Watch, lease: SharedLease, hooks: MonitorHooks): Promise<void> {
    const { poller } = watch
    const { source } = poller
    poller.takeOver(lease)
    watch.guard = lease.guard
    if (watch.site !== null) {
      await watch.site.run(lease)
      watch.guard = undefined
      return
    }
    let subscription: Promise<void> | undefined
    const openSubscription = () => {
      if (subscription !== undefined) return false
      subscription = this.#subscribe(poller, lease.signal).finally(() => {
        subscription = undefined
      })
      return true
    }
    await runPollLoop(this.#service, this.#schedule, poller, {
      ...lease,
      intervalMs: () => this.#intervalMs(source),
      ...(source.adapter.startsWithFullReport && { openSubscription }),
      onCycle: (report) => {
        // The first poll creates the receivers to subscribe to.
        if (report.error === null && source.adapter.subscribe) openSubscription()
        hooks.onCycle?.(source, report)
        // The lease is released between two cycles, so that the next process neither misses nor repeats one.
        if (lease.isExcess()) lease.release()
      },
    })
    watch.guard = undefined
    await subscription
  }

  async #subscribe(poller: Poller, signal: AbortSignal): Promise<void> {
    const { devices, firstReport, source } = poller
    const hooks: SubscriptionHooks = {
      firstReport,
      onConnectionChange: (isUp) => devices.setSubscribed(isUp),
      onLevelsReceived: (device) => devices.recordLevelsReceived(device),
      onIdentityReceived: (device) => devices.discardIdentity(device),
      onHold: (error) => poller.recordHold(error),
      onProblems: (problems) => void poller.setPushedProblems(problems),
      isReplaced: (device) => devices.isReplaced(device),
      wasAcceptedAfter: (time) => poller.wasAcceptedAfter(time),
    }
    try {
      await keepSubscribed(this.#service, source, signal, hooks)
    } catch (error) {
      this.#service.log.error({ source: source.id, err: error }, 'subscription failed; restarting it')
    } finally {
      firstReport.cancel()
    }
  }

  /** Registers this process as a poller, so that it is given its share of the sources. */
  #registerPoller(signal: AbortSignal): Promise<void> {
    const { nodeId, leaseManager } = this.#service
    return leaseManager.runWhileHeld(pollerLease(nodeId), signal, (lease) => untilAborted(lease.signal))
  }

  #startSilenceChecks(): readonly NodeJS.Timeout[] {
    const { connections, sourceRecords, levelAges, receiverStore, ingest, log } = this.#service
    const sources = new SourceSilence(connections, sourceRecords, levelAges)
    const receivers = new ReceiverSilence(receiverStore, ingest, log)
    return [
      setInterval(() => sources.check(this.#polledSources()), checkSourcesEveryMs),
      setInterval(() => void receivers.check(this.#polledManufacturers()), checkReceiversEveryMs),
    ]
  }

  #intervalMs({ manufacturer }: MonitoredSource): number {
    return this.#service.settings.pollingIntervalMs(manufacturer)
  }

  #polledSources(): readonly MonitoredSource[] {
    return [...this.#watches.values()].flatMap(({ poller, guard }) => (guard === undefined ? [] : [poller.source]))
  }

  /** Returns the manufacturers of which this process polls a source. */
  #polledManufacturers(): ReadonlyMap<string, PolledManufacturer> {
    const polled = new Map<string, PolledManufacturer>()
    for (const { poller, guard } of this.#watches.values()) {
      const { manufacturer } = poller.source
      if (guard === undefined || polled.has(manufacturer)) continue
      polled.set(manufacturer, { guard, intervalMs: this.#intervalMs(poller.source) })
    }
    return polled
  }

  #stop({ poller, loop }: Watch): Promise<void> {
    if (loop === undefined) return Promise.resolve()
    const { id } = poller.source
    const ended = loop.ended.finally(() => {
      if (this.#ending.get(id) === ended) this.#ending.delete(id)
    })
    this.#ending.set(id, ended)
    loop.lifetime.abort()
    return ended
  }

  async #stopAll(): Promise<void> {
    for (const watch of this.#watches.values()) void this.#stop(watch)
    if ((await withTimeout(Promise.all(this.#ending.values()), stopLimitMs)) !== 'late') return
    const sources = [...this.#ending.keys()]
    this.#service.log.warn({ sources }, `sources did not stop within ${stopLimitMs / 1000} s`)
  }
}
