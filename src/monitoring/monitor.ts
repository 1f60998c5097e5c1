/** Runs one loop per source: acquires its lease, polls it and subscribes to it. A failing source does not affect others. */

import { once } from 'node:events'
import { reconnectMs } from '../domain/access/rate-limit.ts'
import type { Plugin } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import {
  type AcquiredLease,
  type LeaseDeps,
  type LeaseHandle,
  type LeaseManager,
  pollerLease,
  type SharedLease,
} from './lease-manager.ts'
import { runPollLoop } from './poll-loop.ts'
import { type CycleOptions, type CycleReport, createPoller, type PollDeps, type Poller } from './poller.ts'
import { handlePollRequests, pollOrRequest } from './requested-polls.ts'
import { keepSubscribed, type SubscriptionDeps, type SubscriptionHooks } from './subscriptions.ts'
import { takeOver } from './take-over.ts'
import { childLifetime, type Lifetime, pause, untilAborted, withTimeout } from './wait.ts'

export interface MonitorDeps extends Omit<PollDeps, 'isSilenceCheckDue'>, SubscriptionDeps {
  readonly nodeId: string
  readonly leaseManager: LeaseManager
  /** Returns the polling interval in force for the source's manufacturer. */
  intervalMs(source: MonitoredSource): number
}

export interface Monitor {
  readonly pollers: readonly Poller[]
  /** True while `run` is running. */
  readonly isRunning: boolean
  /**
   * Replaces the sources. Loops of removed sources are stopped, loops of new sources are started if `run` is running,
   * and the others continue. A source that has changed must be a new object. The change takes effect immediately; the
   * promise resolves when the stopped loops have ended.
   */
  setSources(sources: readonly MonitoredSource[]): Promise<void>
  /**
   * Polls and subscribes to the sources until the signal aborts, and shares them with other polling processes. If
   * `manufacturer` is given, runs only that manufacturer's sources and does not share them.
   */
  run(signal: AbortSignal, hooks?: MonitorHooks, manufacturer?: string): Promise<void>
  /**
   * Polls every source of these manufacturers now, or joins the cycle that is already running. Calls `onPolled` after
   * each source.
   */
  pollNow(
    manufacturers: readonly string[],
    signal: AbortSignal,
    onPolled?: (polled: PollResult) => void,
  ): Promise<readonly PollResult[]>
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
  guard?: LeaseHandle['guard'] | undefined
  loop?: { readonly lifetime: Lifetime; readonly ended: Promise<void> }
}

/** When the service stops, it does not wait longer than this for its sources. */
const stopLimitMs = 3000

const silenceCheckEveryMs = 1000

/** Creates a function that returns true at most once in `everyMs` for each key. */
function createSchedule(everyMs: number): (key: string) => boolean {
  const lastAt = new Map<string, number>()
  return (key) => {
    const now = performance.now()
    if (now - (lastAt.get(key) ?? Number.NEGATIVE_INFINITY) < everyMs) return false
    lastAt.set(key, now)
    return true
  }
}

interface Run {
  readonly signal: AbortSignal
  readonly hooks: MonitorHooks
  readonly manufacturer: string | undefined
}

export function createMonitor(deps: MonitorDeps): Monitor {
  const { log } = deps
  const watches = new Map<string, Watch>()
  const isSilenceCheckDue = createSchedule(silenceCheckEveryMs)
  /** Loops that are stopping, by source. */
  const ending = new Map<string, Promise<void>>()
  let current: Run | undefined
  /**
   * Used for immediate polls. The node id differs from that of the loops, so that a lease acquired for one cycle is not
   * mistaken for a loop's lease.
   */
  const requestDeps: LeaseDeps = { ...deps, nodeId: `${deps.nodeId}:now` }

  async function runSource(watch: Watch, signal: AbortSignal, { hooks, manufacturer }: Run): Promise<void> {
    const { poller } = watch
    const { source } = poller
    const work = async (lease: SharedLease) => {
      takeOver(deps.sourceRecords, source, lease)
      watch.guard = lease.guard
      let subscription: Promise<void> | undefined
      const subscribe = (signal: AbortSignal) =>
        keepSubscribed(deps, source, signal, subscriptionHooks).catch((error) => {
          log.error({ source: source.id, err: error }, 'subscription failed; restarting it')
          subscription = undefined
        })
      const subscriptionHooks: SubscriptionHooks = {
        onConnectionChange: poller.setSubscribed,
        onLevelsReceived: poller.recordLevelsReceived,
        onIdentityReceived: poller.discardIdentity,
        onHold: poller.recordHold,
        isReplaced: poller.isReplaced,
        wasAcceptedAfter: poller.wasAcceptedAfter,
      }
      await runPollLoop(deps, poller, {
        ...lease,
        intervalMs: () => deps.intervalMs(source),
        onCycle(report) {
          // The first poll creates the receivers to subscribe to.
          if (report.error === null && source.adapter.subscribe) subscription ??= subscribe(lease.signal)
          hooks.onCycle?.(source, report)
          // The lease is released between two cycles, so that the next process neither misses nor repeats one.
          if (lease.isExcess()) lease.release()
        },
      })
      watch.guard = undefined
      await subscription
    }
    const onStandBy = (holder: string) => hooks.onStandBy?.(source, holder)
    await deps.leaseManager.runWhileHeld(source.id, signal, work, { isShared: manufacturer === undefined, onStandBy })
  }

  /** Logs an unexpected failure and restarts the source's loop. */
  async function keepRunning(watch: Watch, signal: AbortSignal, run: Run): Promise<void> {
    const { id } = watch.poller.source
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        await runSource(watch, signal, run)
      } catch (error) {
        watch.guard = undefined
        log.error({ source: id, err: error }, 'monitoring of the source failed; restarting it')
        await pause(reconnectMs(failures), signal)
      }
    }
  }

  /** Registers this process as a poller, so that it is given its share of the sources. */
  function registerPoller(signal: AbortSignal): Promise<void> {
    const { nodeId, leaseManager } = deps
    return leaseManager.runWhileHeld(pollerLease(nodeId), signal, (lease) => untilAborted(lease.signal))
  }

  /** Polls if this process holds the lease. */
  function pollIfHeld({ poller, guard }: Watch, signal: AbortSignal): Promise<CycleReport> | undefined {
    return guard && poller.poll(completeCycle(poller.source, { guard, signal }))
  }

  function completeCycle(source: MonitoredSource, lease: LeaseHandle): CycleOptions {
    return { ...lease, intervalMs: deps.intervalMs(source), isComplete: true }
  }

  function start(watch: Watch, run: Run): void {
    const { id, manufacturer } = watch.poller.source
    if (run.manufacturer !== undefined && manufacturer !== run.manufacturer) return
    const lifetime = childLifetime(run.signal)
    // A changed source may have the same id, and so the same lease, as its previous version, whose loop must end first.
    const ended = (ending.get(id) ?? Promise.resolve()).then(() => keepRunning(watch, lifetime.signal, run))
    watch.loop = { lifetime, ended }
  }

  function stop({ poller, loop }: Watch): Promise<void> {
    if (loop === undefined) return Promise.resolve()
    const { id } = poller.source
    const ended = loop.ended.finally(() => {
      if (ending.get(id) === ended) ending.delete(id)
    })
    ending.set(id, ended)
    loop.lifetime.abort()
    return ended
  }

  async function stopAll(): Promise<void> {
    for (const watch of watches.values()) void stop(watch)
    if ((await withTimeout(Promise.all(ending.values()), stopLimitMs)) !== 'late') return
    log.warn({ sources: [...ending.keys()] }, `sources did not stop within ${stopLimitMs / 1000} s`)
  }

  return {
    get pollers() {
      return [...watches.values()].map(({ poller }) => poller)
    },
    get isRunning() {
      return current !== undefined
    },
    async setSources(sources) {
      const kept = new Set(sources)
      const removed = [...watches.values()].filter(({ poller }) => !kept.has(poller.source))
      for (const { poller } of removed) watches.delete(poller.source.id)
      const stopped = removed.map(stop)
      for (const source of sources) {
        if (watches.has(source.id)) continue
        const watch: Watch = { poller: createPoller({ ...deps, isSilenceCheckDue }, source) }
        watches.set(source.id, watch)
        if (current !== undefined) start(watch, current)
      }
      await Promise.all(stopped)
    },
    async run(signal, hooks = {}, manufacturer) {
      current = { signal, hooks, manufacturer }
      const registration = manufacturer === undefined ? registerPoller(signal) : undefined
      for (const watch of watches.values()) start(watch, current)
      const handlingRequests = handlePollRequests(deps, signal, (source) => {
        const watch = watches.get(source)
        return watch && pollIfHeld(watch, signal)
      })
      if (!signal.aborted) await once(signal, 'abort')
      current = undefined
      await stopAll()
      await handlingRequests
      await registration
    },
    async pollNow(manufacturers, signal, onPolled) {
      const selected = [...watches.values()].filter(({ poller }) => manufacturers.includes(poller.source.manufacturer))
      return Promise.all(
        selected.map(async (watch) => {
          const { source } = watch.poller
          const pollOnce = (lease: AcquiredLease) => {
            takeOver(deps.sourceRecords, source, lease)
            return watch.poller.poll(completeCycle(source, lease))
          }
          const report = await pollOrRequest(requestDeps, {
            source,
            signal,
            pollIfHeld: () => pollIfHeld(watch, signal),
            pollOnce: watch.loop === undefined ? pollOnce : null,
          })
          const { manufacturer, plugin, settings } = source
          const polled = { manufacturer, source: settings.baseUrl, plugin, report }
          onPolled?.(polled)
          return polled
        }),
      )
    },
  }
}
