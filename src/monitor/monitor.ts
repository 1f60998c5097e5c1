/** One loop a source: owns it, polls it, follows what it pushes. A source in trouble leaves its neighbours alone. */

import { once } from 'node:events'
import type { Plugin } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { reconnectMs } from '../model/rate-limit.ts'
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
import { answerPollRequests, pollOrRequest } from './requested-polls.ts'
import { keepSubscribed, type SubscriptionDeps, type SubscriptionHooks } from './subscriptions.ts'
import { takeOver } from './take-over.ts'
import { childLifetime, type Lifetime, pause, untilAborted, withTimeout } from './wait.ts'

export interface MonitorDeps extends PollDeps, SubscriptionDeps {
  readonly nodeId: string
  readonly leaseManager: LeaseManager
  /** The polling interval in force for a manufacturer. */
  intervalMs(source: MonitoredSource): number
}

export interface Monitor {
  readonly pollers: readonly Poller[]
  /** `run` has not ended yet. */
  readonly isRunning: boolean
  /**
   * From now on these sources: loops of those that are no longer among them are told to end, new ones start while `run`
   * runs, the others go on undisturbed. A source that was changed is another object. Takes effect at once and waits for no
   * source; the promise resolves when the loops that were told to end have ended.
   */
  setSources(sources: readonly MonitoredSource[]): Promise<void>
  /**
   * Polls and follows the sources until the signal aborts, sharing them with other processes that do; those of one
   * manufacturer, if told, without sharing.
   */
  run(signal: AbortSignal, hooks?: MonitorHooks, manufacturer?: string): Promise<void>
  /** One cycle of every source of these manufacturers, now; joins cycles that are under way. `onPolled`: one is done. */
  pollNow(
    manufacturers: readonly string[],
    signal: AbortSignal,
    onPolled?: (polled: PollResult) => void,
  ): Promise<readonly PollResult[]>
}

export interface MonitorHooks {
  onCycle?(source: MonitoredSource, report: CycleReport): void
  /** Somebody else polls this source. */
  onStandBy?(source: MonitoredSource, holder: string): void
}

export interface PollResult {
  readonly manufacturer: string
  /** Its address. */
  readonly source: string
  readonly plugin: Plugin
  readonly report: CycleReport
}

/** A source that is listened to; what it does at the moment. */
interface Watch {
  readonly poller: Poller
  guard?: LeaseHandle['guard'] | undefined
  loop?: { readonly lifetime: Lifetime; readonly ended: Promise<void> }
}

/** A source that does not stop within this time is left behind when the service stops. */
const stopLimitMs = 3000

interface Run {
  readonly signal: AbortSignal
  readonly hooks: MonitorHooks
  readonly manufacturer: string | undefined
}

export function createMonitor(deps: MonitorDeps): Monitor {
  const { log } = deps
  const watches = new Map<string, Watch>()
  /** Loops that were told to end and may still run, by source. */
  const ending = new Map<string, Promise<void>>()
  let current: Run | undefined
  /** Not the loops' own name: a lease taken for one cycle must not be taken for theirs. */
  const asker: LeaseDeps = { ...deps, nodeId: `${deps.nodeId}:now` }

  async function runSource(watch: Watch, signal: AbortSignal, { hooks, manufacturer }: Run): Promise<void> {
    const { poller } = watch
    const { source } = poller
    const work = async (ownership: SharedLease) => {
      takeOver(deps.sourceRecords, source, ownership)
      watch.guard = ownership.guard
      let following: Promise<void> | undefined
      const follow = (signal: AbortSignal) =>
        keepSubscribed(deps, source, signal, subscriptionHooks).catch((error) => {
          log.error({ source: source.id, err: error }, 'the real-time subscription failed; starting it again')
          following = undefined
        })
      const subscriptionHooks: SubscriptionHooks = {
        onConnectionChange: poller.setSubscribed,
        onLevelsReceived: poller.noteLevelsReceived,
        onHold: poller.recordHold,
        isReplaced: poller.isReplaced,
        wasAcceptedAfter: poller.wasAcceptedAfter,
      }
      await runPollLoop(deps, poller, {
        ...ownership,
        intervalMs: () => deps.intervalMs(source),
        onCycle(report) {
          // Real-time subscriptions are started after polling: there must be something to subscribe to.
          if (report.error === null && source.adapter.subscribe) following ??= follow(ownership.signal)
          hooks.onCycle?.(source, report)
          // Between two cycles, so that whoever is next neither misses one nor repeats it.
          if (ownership.isExcess()) ownership.release()
        },
      })
      watch.guard = undefined
      await following
    }
    const onStandBy = (holder: string) => hooks.onStandBy?.(source, holder)
    await deps.leaseManager.runWhileHeld(source.id, signal, work, { isShared: manufacturer === undefined, onStandBy })
  }

  /** One source's unexpected failure is logged and ends neither its monitoring nor that of others. */
  async function keepRunning(watch: Watch, signal: AbortSignal, run: Run): Promise<void> {
    const { id } = watch.poller.source
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        await runSource(watch, signal, run)
      } catch (error) {
        watch.guard = undefined
        log.error({ source: id, err: error }, 'monitoring of the source failed; starting it again')
        await pause(reconnectMs(failures), signal)
      }
    }
  }

  /** Others count this process among those who poll. */
  function share(signal: AbortSignal): Promise<void> {
    const { nodeId, leaseManager } = deps
    return leaseManager.runWhileHeld(pollerLease(nodeId), signal, (ownership) => untilAborted(ownership.signal))
  }

  /** A cycle now, where this process holds the lease. */
  function pollOwn({ poller, guard }: Watch, signal: AbortSignal): Promise<CycleReport> | undefined {
    return guard && poller.poll(completely(poller.source, { guard, signal }))
  }

  function completely(source: MonitoredSource, ownership: LeaseHandle): CycleOptions {
    return { ...ownership, intervalMs: deps.intervalMs(source), isComplete: true }
  }

  function start(watch: Watch, run: Run): void {
    const { id, manufacturer } = watch.poller.source
    if (run.manufacturer !== undefined && manufacturer !== run.manufacturer) return
    const lifetime = childLifetime(run.signal)
    // A source that was changed may have the same address, and so the same lease.
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
      const leaving = [...watches.values()].filter(({ poller }) => !kept.has(poller.source))
      for (const { poller } of leaving) watches.delete(poller.source.id)
      const stopped = leaving.map(stop)
      for (const source of sources) {
        if (watches.has(source.id)) continue
        const watch: Watch = { poller: createPoller(deps, source) }
        watches.set(source.id, watch)
        if (current !== undefined) start(watch, current)
      }
      await Promise.all(stopped)
    },
    async run(signal, hooks = {}, manufacturer) {
      current = { signal, hooks, manufacturer }
      const sharing = manufacturer === undefined ? share(signal) : undefined
      for (const watch of watches.values()) start(watch, current)
      const answering = answerPollRequests(deps, signal, (source) => {
        const watch = watches.get(source)
        return watch && pollOwn(watch, signal)
      })
      if (!signal.aborted) await once(signal, 'abort')
      current = undefined
      await stopAll()
      await answering
      await sharing
    },
    async pollNow(manufacturers, signal, onPolled) {
      const wanted = [...watches.values()].filter(({ poller }) => manufacturers.includes(poller.source.manufacturer))
      return Promise.all(
        wanted.map(async (watch) => {
          const { source: heard } = watch.poller
          const pollOnce = (ownership: AcquiredLease) => {
            takeOver(deps.sourceRecords, heard, ownership)
            return watch.poller.poll(completely(heard, ownership))
          }
          const report = await pollOrRequest(asker, {
            source: heard,
            signal,
            pollOwn: () => pollOwn(watch, signal),
            pollOnce: watch.loop === undefined ? pollOnce : null,
          })
          const { manufacturer, plugin, settings } = heard
          const polled = { manufacturer, source: settings.baseUrl, plugin, report }
          onPolled?.(polled)
          return polled
        }),
      )
    },
  }
}
