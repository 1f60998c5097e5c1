/** start_<vendor>_websocket and start_sse_subscriptions: run the real-time subscriptions in a separate process. */

import type { Command } from 'commander'
import { keepSavingLevels } from '../ingest/levels.ts'
import { plugins } from '../manufacturers/index.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { childLifetime, type Lifetime, pause } from '../platform/wait.ts'
import { Service } from '../service.ts'
import { keepSubscribed } from '../sources/subscriptions.ts'
import { createLog } from './log.ts'
import { sourcesOf } from './store.ts'
import {
  type CommonOptions,
  createCommand,
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

/** The interval for applying changes to the manufacturers. */
const refreshEveryMs = 1000

/** Creates one command for every plugin with WebSocket subscriptions, and one for all event streams. */
export function followCommands(terminal: Terminal, done: (code: ExitCode) => void): Command[] {
  const byWebSocket = plugins.filter(({ adapters }) =>
    adapters.some(({ transport, subscribe }) => transport === 'websocket' && subscribe !== undefined),
  )
  return [
    ...byWebSocket.map((plugin) =>
      createFollowCommand(
        {
          name: `start_${plugin.code}_websocket`,
          description: `Run the WebSocket subscriptions of ${plugin.name} systems`,
        },
        ({ plugin: { code }, adapter }) => code === plugin.code && adapter.transport === 'websocket',
      ),
    ),
    createFollowCommand(
      { name: 'start_sse_subscriptions', description: 'Run the subscriptions of systems that push event streams' },
      ({ adapter }) => adapter.transport === 'sse',
    ),
  ]

  function createFollowCommand(
    { name, description }: { name: string; description: string },
    matches: (source: MonitoredSource) => boolean,
  ): Command {
    return createCommand(name, description)
      .option('--manufacturer <code>', 'only this manufacturer')
      .action(async (options: FollowOptions) => done(await follow(matches, options, terminal)))
  }
}

async function follow(
  matches: (source: MonitoredSource) => boolean,
  options: FollowOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { signal } = terminal
  const config = readOptions(options, terminal)
  const log = createLog(terminal, config)
  surviveExceptions(terminal, log)
  const service = await Service.open(config, { log, pid: terminal.pid })
  try {
    const selectSources = (): MonitoredSource[] => {
      const matching = service.sourceRegistry.sources().filter(matches)
      return matching.filter(
        (source) => options.manufacturer === undefined || source.manufacturer === options.manufacturer,
      )
    }
    sourcesOf(service, options.manufacturer)
    if (selectSources().length === 0) {
      if (options.manufacturer !== undefined) {
        throw new UsageError(`manufacturer ${options.manufacturer} has no subscription of this kind`)
      }
      terminal.err('micwatch: no enabled manufacturer has a subscription of this kind')
      return exitCodes.failed
    }
    await Promise.all([
      service.follow(signal),
      keepSavingLevels(service, () => service.redis?.isUp !== true, signal),
      followAll(
        service,
        selectSources,
        (source, lifetime) => followOne(service, source, lifetime, options, terminal),
        signal,
      ),
    ])
    return exitCodes.ok
  } finally {
    await service.close()
  }
}

/** Runs a subscription for every selected source, and starts and stops them as the selection changes. */
async function followAll(
  service: Service,
  selectSources: () => readonly MonitoredSource[],
  start: (source: MonitoredSource, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const loops = new Map<MonitoredSource, { readonly lifetime: Lifetime; readonly ended: Promise<void> }>()
  do {
    const sources = selectSources()
    const removed = [...loops].filter(([source]) => !sources.includes(source))
    for (const [source, { lifetime, ended }] of removed) {
      lifetime.abort()
      await ended
      loops.delete(source)
    }
    for (const source of sources) {
      if (loops.has(source)) continue
      const lifetime = childLifetime(signal)
      loops.set(source, { lifetime, ended: start(source, lifetime.signal) })
    }
  } while (await pause(refreshEveryMs, signal))
  await Promise.all([...loops.values()].map(({ ended }) => ended))
  await service.alerts.flushed()
}

function followOne(
  service: Service,
  source: MonitoredSource,
  signal: AbortSignal,
  options: FollowOptions,
  terminal: Terminal,
): Promise<void> {
  const print = (status: 'connected' | 'lost' | 'standing_by', line: string, details: object = {}) => {
    const { id, manufacturer } = source
    if (options.json) terminal.out(JSON.stringify({ source: id, manufacturer, status, ...details }))
    else terminal.out(`${new Date().toISOString()} ${plain(id)}: ${line}`)
  }
  let isUp = false
  return keepSubscribed(service, source, signal, {
    onConnectionChange(up) {
      if (up === isUp) return
      isUp = up
      print(up ? 'connected' : 'lost', up ? 'subscription is up' : 'subscription is down')
    },
    onStandBy: (holder) => print('standing_by', `standing by; ${plain(holder)} runs this subscription`, { holder }),
  })
}
