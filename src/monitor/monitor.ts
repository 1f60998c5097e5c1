/** One loop a source: owns it, polls it, follows what it pushes. A source in trouble leaves its neighbours alone. */

import { once } from 'node:events'
import type { Plugin } from '../manufacturers/plugin.ts'
import type { HeardSource } from '../manufacturers/sources.ts'
import { reconnectMs } from '../model/pace.ts'
import {
  type Keeper,
  type Ownership,
  pollerPresenceOf,
  type SharedOwnership,
  type TakenOwnership,
} from './ownership.ts'
import { pollForever } from './poll-forever.ts'
import { type CycleOptions, type CycleReport, createPoller, type PollDeps, type Poller } from './poller.ts'
import { type FollowDeps, followForever } from './realtime.ts'
import { answerForever, pollWhereHeld } from './refreshes.ts'
import { takeOver } from './take-over.ts'
import { childOf, type Lifetime, pause, untilAborted, within } from './wait.ts'

export interface MonitorDeps extends PollDeps, FollowDeps {
  readonly owner: string
  readonly keeper: Keeper
  /** The polling interval in force for a manufacturer. */
  intervalMs(heard: HeardSource): number
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
  setSources(sources: readonly HeardSource[]): Promise<void>
  /**
   * Polls and follows the sources until the signal aborts, sharing them with other processes that do; those of one
   * manufacturer, if told, without sharing.
   */
  run(signal: AbortSignal, hooks?: MonitorHooks, manufacturer?: string): Promise<void>
  /** One cycle of every source of these manufacturers, now; joins cycles that are under way. `onPolled`: one is done. */
  pollNow(
    manufacturers: readonly string[],
    signal: AbortSignal,
    onPolled?: (polled: PolledSource) => void,
  ): Promise<readonly PolledSource[]>
}

export interface MonitorHooks {
  onCycle?(heard: HeardSource, report: CycleReport): void
  /** Somebody else polls this source. */
  onStandBy?(heard: HeardSource, holder: string): void
}

export interface PolledSource {
  readonly manufacturer: string
  /** Its address. */
  readonly source: string
  readonly plugin: Plugin
  readonly report: CycleReport
}

/** A source that is listened to; what it does at the moment. */
interface Watch {
  readonly poller: Poller
  guard?: Ownership['guard'] | undefined
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
  const asker = { ...deps, owner: `${deps.owner}:now` }

  async function runSource(watch: Watch, signal: AbortSignal, { hooks, manufacturer }: Run): Promise<void> {
    const { poller } = watch
    const { heard } = poller
    const work = async (ownership: SharedOwnership) => {
      takeOver(deps.reports, heard, ownership)
      watch.guard = ownership.guard
      let following: Promise<void> | undefined
      const follow = (signal: AbortSignal) =>
        followForever(deps, heard, signal, hooksOfLink).catch((error) => {
          log.error({ source: heard.id, err: error }, 'the real-time subscription failed; starting it again')
          following = undefined
        })
      const { setLinked: onLink, noteTold: onTold, noteHeld: onHeld, isReplaced, wasAcceptedAfter } = poller
      const hooksOfLink = { onLink, onTold, onHeld, isReplaced, wasAcceptedAfter }
      await pollForever(deps, poller, {
        ...ownership,
        intervalMs: () => deps.intervalMs(heard),
        onCycle(report) {
          // Real-time subscriptions are started after polling: there must be something to subscribe to.
          if (report.error === null && heard.form.subscribe) following ??= follow(ownership.signal)
          hooks.onCycle?.(heard, report)
          // Between two cycles, so that whoever is next neither misses one nor repeats it.
          if (ownership.isExcess()) ownership.leave()
        },
      })
      watch.guard = undefined
      await following
    }
    const onStandBy = (holder: string) => hooks.onStandBy?.(heard, holder)
    await deps.keeper.whileOwner(heard.id, signal, work, { isShared: manufacturer === undefined, onStandBy })
  }

  /** One source's unexpected failure is logged and ends neither its monitoring nor that of others. */
  async function keepRunning(watch: Watch, signal: AbortSignal, run: Run): Promise<void> {
    const { id } = watch.poller.heard
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
    const { owner, keeper } = deps
    return keeper.whileOwner(pollerPresenceOf(owner), signal, (ownership) => untilAborted(ownership.signal))
  }

  /** A cycle now, where this process holds the lease. */
  function pollOwn({ poller, guard }: Watch, signal: AbortSignal): Promise<CycleReport> | undefined {
    return guard && poller.poll(completely(poller.heard, { guard, signal }))
  }

  function completely(heard: HeardSource, ownership: Ownership): CycleOptions {
    return { ...ownership, intervalMs: deps.intervalMs(heard), isComplete: true }
  }

  function start(watch: Watch, run: Run): void {
    const { id, manufacturer } = watch.poller.heard
    if (run.manufacturer !== undefined && manufacturer !== run.manufacturer) return
    const lifetime = childOf(run.signal)
    // A source that was changed may have the same address, and so the same lease.
    const ended = (ending.get(id) ?? Promise.resolve()).then(() => keepRunning(watch, lifetime.signal, run))
    watch.loop = { lifetime, ended }
  }

  function stop({ poller, loop }: Watch): Promise<void> {
    if (loop === undefined) return Promise.resolve()
    const { id } = poller.heard
    const ended = loop.ended.finally(() => {
      if (ending.get(id) === ended) ending.delete(id)
    })
    ending.set(id, ended)
    loop.lifetime.end()
    return ended
  }

  async function stopAll(): Promise<void> {
    for (const watch of watches.values()) void stop(watch)
    if ((await within(Promise.all(ending.values()), stopLimitMs)) !== 'late') return
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
      const leaving = [...watches.values()].filter(({ poller }) => !kept.has(poller.heard))
      for (const { poller } of leaving) watches.delete(poller.heard.id)
      const stopped = leaving.map(stop)
      for (const heard of sources) {
        if (watches.has(heard.id)) continue
        const watch: Watch = { poller: createPoller(deps, heard) }
        watches.set(heard.id, watch)
        if (current !== undefined) start(watch, current)
      }
      await Promise.all(stopped)
    },
    async run(signal, hooks = {}, manufacturer) {
      current = { signal, hooks, manufacturer }
      const sharing = manufacturer === undefined ? share(signal) : undefined
      for (const watch of watches.values()) start(watch, current)
      const answering = answerForever(deps, signal, (source) => {
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
      const wanted = [...watches.values()].filter(({ poller }) => manufacturers.includes(poller.heard.manufacturer))
      return Promise.all(
        wanted.map(async (watch) => {
          const { heard } = watch.poller
          const pollOnce = (ownership: TakenOwnership) => {
            takeOver(deps.reports, heard, ownership)
            return watch.poller.poll(completely(heard, ownership))
          }
          const report = await pollWhereHeld(asker, {
            heard,
            signal,
            pollOwn: () => pollOwn(watch, signal),
            pollOnce: watch.loop === undefined ? pollOnce : null,
          })
          const { manufacturer, plugin, source } = heard
          const polled = { manufacturer, source: source.baseUrl, plugin, report }
          onPolled?.(polled)
          return polled
        }),
      )
    },
  }
}
