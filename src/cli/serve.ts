/** Everything in one process: pages, REST, WebSocket, poller, subscriptions. */

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createApp } from '../app.ts'
import type { Config } from '../config.ts'
import { fitHeap } from '../heap.ts'
import { type Demo, startDemo } from '../manufacturers/demo.ts'
import type { AuditRecord } from '../model/access.ts'
import { surviveExceptions } from './survive.ts'
import {
  type CommonOptions,
  createCommand,
  createLog,
  type ExitCode,
  exitCodes,
  printJson,
  readOptions,
  type Terminal,
  wholeOption,
} from './terminal.ts'

interface ServeOptions extends CommonOptions {
  readonly demo?: boolean
  readonly seed: number
  readonly receivers?: number
  readonly poll: boolean
  readonly strict?: boolean
}

export function serveCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('serve', 'Run the service: pages, REST, WebSocket, polling and subscriptions')
    .option('--demo', 'add simulated systems, so that there is something to see')
    .addOption(wholeOption('--seed <n>', 'with --demo: which show', 0, 2 ** 31 - 1).default(1))
    .addOption(wholeOption('--receivers <n>', 'with --demo: how many', 1, 20_000))
    .option('--no-poll', 'leave polling and subscriptions to other processes')
    .option('--strict', 'end when the database is damaged, rather than go on with its newest snapshot')
    .action(async (options: ServeOptions) => done(await serve(options, terminal)))
}

async function serve(options: ServeOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal)
  if (!options.demo) return run(config, options, terminal, [])
  const { seed, receivers } = options
  const demo = await startDemo({ seed, ...(receivers !== undefined && { receivers }) })
  try {
    return await withDemoData(config, options, terminal, (prepared) =>
      run(prepared, options, terminal, demo.manufacturers),
    )
  } finally {
    await demo.close()
  }
}

/** A demo leaves nothing behind and mixes with nothing, unless it is told where to keep its data. */
async function withDemoData<T>(
  config: Config,
  options: ServeOptions,
  terminal: Terminal,
  work: (config: Config) => Promise<T>,
): Promise<T> {
  const isPlaced =
    options.dataDir ?? options.databaseUrl ?? terminal.env.MICWATCH_DATA_DIR ?? terminal.env.MICWATCH_DATABASE_URL
  if (isPlaced !== undefined) return work(config)
  const data_dir = await mkdtemp(join(tmpdir(), 'micwatch-demo-'))
  try {
    return await work({
      ...config,
      data_dir,
      database_url: `sqlite:${join(data_dir, 'micwatch.db')}`,
      manufacturers: [],
    })
  } finally {
    await rm(data_dir, { recursive: true, force: true })
  }
}

async function run(
  config: Config,
  options: ServeOptions,
  terminal: Terminal,
  manufacturers: Demo['manufacturers'],
): Promise<ExitCode> {
  const { pid, version, webRoot, signal } = terminal
  const log = createLog(terminal, options.demo ? 'error' : 'info')
  const say = (line: string) => terminal.err(line)
  /** One line a deed; with --json standard output has room for one document alone. */
  const onAudit = ({ at, ...record }: AuditRecord) => {
    const audit = { ...record, at: new Date(at).toISOString() }
    if (options.json) log.info({ audit }, 'audit')
    else terminal.out(JSON.stringify({ audit }))
  }
  surviveExceptions(terminal, log)
  const hear = { log, say, onAudit, droppedLines: () => terminal.droppedLines }
  const app = await createApp(config, {
    ...hear,
    pid,
    version,
    webRoot,
    manufacturers,
    isScreenOnly: !options.poll,
    isStrict: options.strict === true,
  })
  fitHeap(() => app.house.latest.size, signal)
  const { address } = app
  if (options.json) printJson(terminal, { address, pid })
  else terminal.out(`Micwatch ${options.demo ? 'shows a simulated venue' : 'is listening'} at ${address}`)
  if (!signal.aborted) await once(signal, 'abort')
  await app.close()
  return exitCodes.ok
}
