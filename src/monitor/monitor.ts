/** One loop a source: owns it, polls it, follows what it pushes. A source in trouble leaves its neighbours alone. */

import type { Plugin } from '../manufacturers/plugin.ts'
import type { HeardSource } from '../manufacturers/sources.ts'
import { type Ownership, whileOwner } from './ownership.ts'
import { type CycleReport, createPoller, type PollDeps, type Poller, pollForever } from './poller.ts'
import { type FollowDeps, followForever } from './realtime.ts'

export interface MonitorDeps extends PollDeps, FollowDeps {
  readonly owner: string
  /** The polling interval in force for a manufacturer. */
  intervalMs(heard: HeardSource): number
}

export interface Monitor {
  readonly pollers: readonly Poller[]
  /** Polls and follows these sources (all, unless told) until the signal aborts. */
  run(signal: AbortSignal, hooks?: MonitorHooks, pollers?: readonly Poller[]): Promise<void>
  /** One cycle of every source of these manufacturers, now; joins cycles that are under way. */
  pollNow(manufacturers: readonly string[], signal: AbortSignal): Promise<readonly PolledSource[]>
}

export interface MonitorHooks {
  onCycle?(heard: HeardSource, report: CycleReport): void
  /** Somebody else polls this source. */
  onStandBy?(heard: HeardSource, holder: string): void
}

export interface PolledSource {
  readonly manufacturer: string
  readonly plugin: Plugin
  readonly report: CycleReport
}

export function createMonitor(deps: MonitorDeps, sources: readonly HeardSource[]): Monitor {
  const pollers = sources.map((heard) => createPoller(deps, heard))
  const guards = new Map<Poller, Ownership['guard']>()

  async function runSource(poller: Poller, signal: AbortSignal, hooks: MonitorHooks): Promise<void> {
    const { heard } = poller
    const work = async (ownership: Ownership) => {
      guards.set(poller, ownership.guard)
      let following: Promise<void> | undefined
      await pollForever(deps, poller, {
        ...ownership,
        intervalMs: () => deps.intervalMs(heard),
        onCycle(report) {
          // Real-time subscriptions are started after polling: there must be something to subscribe to.
          if (report.error === null) following ??= followForever(deps, poller, ownership.signal)
          hooks.onCycle?.(heard, report)
        },
      })
      guards.delete(poller)
      await following
    }
    await whileOwner(deps, heard.id, signal, work, (holder) => hooks.onStandBy?.(heard, holder))
  }

  return {
    pollers,
    async run(signal, hooks = {}, chosen = pollers) {
      await Promise.all(chosen.map((poller) => runSource(poller, signal, hooks)))
    },
    async pollNow(manufacturers, signal) {
      const wanted = pollers.filter(({ heard }) => manufacturers.includes(heard.manufacturer))
      return Promise.all(
        wanted.map(async (poller) => {
          const { manufacturer, plugin } = poller.heard
          const guard = guards.get(poller)
          const options = {
            signal,
            intervalMs: deps.intervalMs(poller.heard),
            isComplete: true,
            ...(guard && { guard }),
          }
          return { manufacturer, plugin, report: await poller.poll(options) }
        }),
      )
    },
  }
}
