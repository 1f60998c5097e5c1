/** simulate: runs simulated systems. migrate: migrates the database. */

import { once } from 'node:events'
import type { Command } from 'commander'
import { stringify as toYaml } from 'yaml'
import { withNewStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  printJson,
  readOptions,
  type Terminal,
  wholeOption,
} from './terminal.ts'

interface SimulateOptions extends CommonOptions {
  readonly seed: number
  readonly receivers?: number
}

export function simulateCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('simulate', 'Run simulated manufacturers’ systems, and print their addresses')
    .addOption(
      wholeOption('--seed <n>', 'seed of the simulation; the same seed gives the same show', 0, 2 ** 31 - 1).default(1),
    )
    .addOption(wholeOption('--receivers <n>', 'total number of receivers of all simulated manufacturers', 1, 20_000))
    .action(async (options: SimulateOptions) => done(await simulate(options, terminal)))
}

/** Runs the simulated systems. `--port` is the port of the first system; the second uses the next port. */
async function simulate(options: SimulateOptions, terminal: Terminal): Promise<ExitCode> {
  const { seed, receivers } = options
  const { server } = readOptions(options, terminal, { isOffline: true })
  const port = options.port === undefined ? 0 : server.port
  const { startDemo } = await import('../../simulators/demo.ts')
  const demo = await startDemo({ seed, port, receivers })
  const { manufacturers } = demo
  if (options.json) printJson(terminal, { manufacturers })
  else {
    terminal.out('# Simulated systems are running. Add this to micwatch.yaml to monitor them:')
    terminal.out(toYaml({ manufacturers }).trimEnd())
  }
  if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
  await demo.close()
  return exitCodes.ok
}

export function migrateCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('migrate', 'Migrate the database to the schema of this version').action(
    async (options: CommonOptions) => done(await runMigrations(options, terminal)),
  )
}

async function runMigrations(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const applied = await withNewStore(config, async (_db, migrations) => migrations)
  if (options.json) printJson(terminal, { applied })
  else terminal.out(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`)
  return exitCodes.ok
}
