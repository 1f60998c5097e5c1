/** start_<vendor>_websocket and start_sse_subscriptions: real-time subscriptions in a process of their own. */

import type { Command } from 'commander'
import { now } from '../clock.ts'
import { type House, openHouse } from '../house.ts'
import { plugins } from '../manufacturers/index.ts'
import type { HeardSource } from '../manufacturers/sources.ts'
import { saveLevelsForever } from '../monitor/levels.ts'
import { followForever } from '../monitor/realtime.ts'
import { childOf, type Lifetime, pause } from '../monitor/wait.ts'
import { sourcesOf } from './sources.ts'
import { surviveExceptions } from './survive.ts'
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

interface FollowOptions extends CommonOptions {
  readonly manufacturer?: string
}

/** A manufacturer that was added, changed or disabled meanwhile is seen within this time. */
const lookEveryMs = 1000

/** One for every plugin with a WebSocket, and one for all event streams. */
export function followCommands(terminal: Terminal, done: (code: ExitCode) => void): Command[] {
  const byWebSocket = plugins.filter(({ forms }) => forms.some(({ transport }) => transport === 'websocket'))
  return [
    ...byWebSocket.map((plugin) =>
      createFollowCommand(
        {
          name: `start_${plugin.code}_websocket`,
          description: `Keep the WebSocket subscriptions of ${plugin.name} systems`,
        },
        ({ plugin: { code }, form }) => code === plugin.code && form.transport === 'websocket',
      ),
    ),
    createFollowCommand(
      { name: 'start_sse_subscriptions', description: 'Keep the subscriptions of systems that push event streams' },
      ({ form }) => form.transport === 'sse',
    ),
  ]

  function createFollowCommand(
    { name, description }: { name: string; description: string },
    concerns: (heard: HeardSource) => boolean,
  ): Command {
    return createCommand(name, description)
      .option('--manufacturer <code>', 'only this manufacturer, where several are meant')
      .action(async (options: FollowOptions) => done(await follow(concerns, options, terminal)))
  }
}

async function follow(
  concerns: (heard: HeardSource) => boolean,
  options: FollowOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { signal } = terminal
  const config = readOptions(options, terminal)
  const log = createLog(terminal, 'error')
  surviveExceptions(terminal, log)
  const house = await openHouse(config, { log, pid: terminal.pid })
  try {
    const wanted = (): HeardSource[] => {
      const meant = house.sources.filter(concerns)
      return meant.filter((one) => options.manufacturer === undefined || one.manufacturer === options.manufacturer)
    }
    sourcesOf(house, options.manufacturer)
    if (wanted().length === 0) {
      if (options.manufacturer !== undefined) {
        throw new UsageError(`manufacturer ${options.manufacturer} has no subscription of this kind`)
      }
      terminal.err('micwatch: no enabled manufacturer has a subscription of this kind')
      return exitCodes.failed
    }
    const levels = { ...house, log }
    await Promise.all([
      house.keepUp(signal),
      saveLevelsForever(levels, () => house.shared?.isUp !== true, signal),
      followAll(house, wanted, (heard, lifetime) => followOne(house, heard, lifetime, options, terminal), signal),
    ])
    return exitCodes.ok
  } finally {
    await house.close()
  }
}

/** Follows the sources there are, whichever those are at the moment. */
async function followAll(
  house: House,
  wanted: () => readonly HeardSource[],
  start: (heard: HeardSource, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const loops = new Map<HeardSource, { readonly lifetime: Lifetime; readonly ended: Promise<void> }>()
  do {
    const sources = wanted()
    const leaving = [...loops].filter(([heard]) => !sources.includes(heard))
    for (const [heard, { lifetime, ended }] of leaving) {
      lifetime.end()
      await ended
      loops.delete(heard)
    }
    for (const heard of sources) {
      if (loops.has(heard)) continue
      const lifetime = childOf(signal)
      loops.set(heard, { lifetime, ended: start(heard, lifetime.signal) })
    }
  } while (await pause(lookEveryMs, signal))
  await Promise.all([...loops.values()].map(({ ended }) => ended))
  await house.alerts.settled()
}

function followOne(
  house: House,
  heard: HeardSource,
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
  const deps = { ...house, log: createLog(terminal, 'error'), now, random: Math.random }
  return followForever(deps, heard, signal, {
    onLink(up) {
      if (up === isUp) return
      isUp = up
      say(up ? 'connected' : 'lost', up ? 'real-time link is up' : 'real-time link is down')
    },
    onStandBy: (holder) => say('standing_by', `standing by; ${plain(holder)} keeps this link`, { holder }),
  })
}
