/** start_<vendor>_websocket and start_sse_subscriptions: real-time subscriptions in a process of their own. */

import type { Command } from 'commander'
import { now } from '../clock.ts'
import { plugins } from '../manufacturers/index.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { keepSavingLevels } from '../monitor/levels.ts'
import { keepSubscribed } from '../monitor/subscriptions.ts'
import { childLifetime, type Lifetime, pause } from '../monitor/wait.ts'
import { openRuntime, type Runtime } from '../runtime.ts'
import { sourcesOf } from './sources.ts'
import {
  type CommonOptions,
  createCommand,
  createLog,
  type ExitCode,
  exitCodes,
  plain,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'
import { surviveExceptions } from './uncaught-exceptions.ts'

interface FollowOptions extends CommonOptions {
  readonly manufacturer?: string
}

/** A manufacturer that was added, changed or disabled meanwhile is seen within this time. */
const lookEveryMs = 1000

/** One for every plugin with a WebSocket, and one for all event streams. */
export function followCommands(terminal: Terminal, done: (code: ExitCode) => void): Command[] {
  const byWebSocket = plugins.filter(({ adapters }) => adapters.some(({ transport }) => transport === 'websocket'))
  return [
    ...byWebSocket.map((plugin) =>
      createFollowCommand(
        {
          name: `start_${plugin.code}_websocket`,
          description: `Keep the WebSocket subscriptions of ${plugin.name} systems`,
        },
        ({ plugin: { code }, adapter }) => code === plugin.code && adapter.transport === 'websocket',
      ),
    ),
    createFollowCommand(
      { name: 'start_sse_subscriptions', description: 'Keep the subscriptions of systems that push event streams' },
      ({ adapter }) => adapter.transport === 'sse',
    ),
  ]

  function createFollowCommand(
    { name, description }: { name: string; description: string },
    concerns: (source: MonitoredSource) => boolean,
  ): Command {
    return createCommand(name, description)
      .option('--manufacturer <code>', 'only this manufacturer, where several are meant')
      .action(async (options: FollowOptions) => done(await follow(concerns, options, terminal)))
  }
}

async function follow(
  concerns: (source: MonitoredSource) => boolean,
  options: FollowOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { signal } = terminal
  const config = readOptions(options, terminal)
  const log = createLog(terminal, 'error')
  surviveExceptions(terminal, log)
  const runtime = await openRuntime(config, { log, pid: terminal.pid })
  try {
    const wanted = (): MonitoredSource[] => {
      const meant = runtime.sources.filter(concerns)
      return meant.filter((one) => options.manufacturer === undefined || one.manufacturer === options.manufacturer)
    }
    sourcesOf(runtime, options.manufacturer)
    if (wanted().length === 0) {
      if (options.manufacturer !== undefined) {
        throw new UsageError(`manufacturer ${options.manufacturer} has no subscription of this kind`)
      }
      terminal.err('micwatch: no enabled manufacturer has a subscription of this kind')
      return exitCodes.failed
    }
    const levels = { ...runtime, log }
    await Promise.all([
      runtime.follow(signal),
      keepSavingLevels(levels, () => runtime.redis?.isUp !== true, signal),
      followAll(runtime, wanted, (source, lifetime) => followOne(runtime, source, lifetime, options, terminal), signal),
    ])
    return exitCodes.ok
  } finally {
    await runtime.close()
  }
}

/** Follows the sources there are, whichever those are at the moment. */
async function followAll(
  runtime: Runtime,
  wanted: () => readonly MonitoredSource[],
  start: (source: MonitoredSource, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const loops = new Map<MonitoredSource, { readonly lifetime: Lifetime; readonly ended: Promise<void> }>()
  do {
    const sources = wanted()
    const leaving = [...loops].filter(([source]) => !sources.includes(source))
    for (const [source, { lifetime, ended }] of leaving) {
      lifetime.abort()
      await ended
      loops.delete(source)
    }
    for (const source of sources) {
      if (loops.has(source)) continue
      const lifetime = childLifetime(signal)
      loops.set(source, { lifetime, ended: start(source, lifetime.signal) })
    }
  } while (await pause(lookEveryMs, signal))
  await Promise.all([...loops.values()].map(({ ended }) => ended))
  await runtime.alerts.flushed()
}

function followOne(
  runtime: Runtime,
  heard: MonitoredSource,
  signal: AbortSignal,
  options: FollowOptions,
  terminal: Terminal,
): Promise<void> {
  const say = (status: 'connected' | 'lost' | 'standing_by', line: string, more: object = {}) => {
    const { id: source, manufacturer } = heard
    if (options.json) terminal.out(JSON.stringify({ source, manufacturer, status, ...more }))
    else terminal.out(`${new Date().toISOString()} ${plain(source)}: ${line}`)
  }
  let isUp = false
  const deps = { ...runtime, log: createLog(terminal, 'error'), now, random: Math.random }
  return keepSubscribed(deps, heard, signal, {
    onConnectionChange(up) {
      if (up === isUp) return
      isUp = up
      say(up ? 'connected' : 'lost', up ? 'real-time link is up' : 'real-time link is down')
    },
    onStandBy: (holder) => say('standing_by', `standing by; ${plain(holder)} keeps this link`, { holder }),
  })
}
