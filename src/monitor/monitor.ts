/** One loop a source: owns it, polls it, follows what it pushes. A source in trouble leaves its neighbours alone. */

import { once } from 'node:events'
import type { Plugin } from '../manufacturers/plugin.ts'
import type { HeardSource } from '../manufacturers/sources.ts'
import { type Keeper, type Ownership, pollerPresenceOf, type SharedOwnership } from './ownership.ts'
import { pollForever } from './poll-forever.ts'
import { type CycleOptions, type CycleReport, createPoller, type PollDeps, type Poller } from './poller.ts'
import { type FollowDeps, followForever } from './realtime.ts'
import { answerForever, pollWhereHeld } from './refreshes.ts'
import { childOf, type Lifetime, untilAborted } from './wait.ts'

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
   * From now on these sources: loops of those that are no longer among them end, new ones start while `run` runs, the
   * others go on undisturbed. A source that was changed is another object. Call it again only after it has resolved.
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

interface Run {
  readonly signal: AbortSignal
  readonly hooks: MonitorHooks
  readonly manufacturer: string | undefined
}

export function createMonitor(deps: MonitorDeps): Monitor {
  const watches = new Map<string, Watch>()
  let current: Run | undefined
  /** Not the loops' own name: a lease taken for one cycle must not be taken for theirs. */
  const asker = { ...deps, owner: `${deps.owner}:now` }

  async function runSource(watch: Watch, signal: AbortSignal, { hooks, manufacturer }: Run): Promise<void> {
    const { poller } = watch
    const { heard } = poller
    const work = async (ownership: SharedOwnership) => {
      watch.guard = ownership.guard
      let following: Promise<void> | undefined
      const { setLinked: onLink, noteTold: onTold, noteHeld: onHeld, isReplaced, wasAcceptedAfter } = poller
      const hooksOfLink = { onLink, onTold, onHeld, isReplaced, wasAcceptedAfter }
      await pollForever(deps, poller, {
        ...ownership,
        intervalMs: () => deps.intervalMs(heard),
        onCycle(report) {
          // Real-time subscriptions are started after polling: there must be something to subscribe to.
          if (report.error === null && heard.form.subscribe)
            following ??= followForever(deps, heard, ownership.signal, hooksOfLink)
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
    if (run.manufacturer !== undefined && watch.poller.heard.manufacturer !== run.manufacturer) return
    const lifetime = childOf(run.signal)
    watch.loop = { lifetime, ended: runSource(watch, lifetime.signal, run) }
  }

  async function stop({ loop }: Watch): Promise<void> {
    loop?.lifetime.end()
    await loop?.ended
  }

  return {
    get pollers() {
      return [...watches.values()].map(({ poller }) => poller)
    },
    get isRunning() {
      return current !== undefined
    },
    async setSources(sources) {
      const leaving = [...watches].filter(([, { poller }]) => !sources.includes(poller.heard))
      for (const [id] of leaving) watches.delete(id)
      // Before others start: one that was changed may have the same address, and so the same lease.
      await Promise.all(leaving.map(([, watch]) => stop(watch)))
      for (const heard of sources) {
        if (watches.has(heard.id)) continue
        const watch: Watch = { poller: createPoller(deps, heard) }
        watches.set(heard.id, watch)
        if (current !== undefined) start(watch, current)
      }
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
      await Promise.all([...watches.values()].map(stop))
      await answering
      await sharing
    },
    async pollNow(manufacturers, signal, onPolled) {
      const wanted = [...watches.values()].filter(({ poller }) => manufacturers.includes(poller.heard.manufacturer))
      return Promise.all(
        wanted.map(async (watch) => {
          const { heard } = watch.poller
          const pollOnce = (ownership: Ownership) => watch.poller.poll(completely(heard, ownership))
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
