/** nodes: lists which process polls which source when several processes share a database. */

import type { Command } from 'commander'
import type { NodesBody } from '../contract/health.ts'
import { describeProcess, toNodes } from '../domain/nodes.ts'
import { listHeldLeases } from '../storage/leases.ts'
import { withStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  formatTable,
  plain,
  printJson,
  readOptions,
  type Terminal,
} from './terminal.ts'

export function nodesCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('nodes', 'Show which process polls which source').action(async (options: CommonOptions) =>
    done(await nodes(options, terminal)),
  )
}

async function nodes(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const found = toNodes(await withStore(config, (db) => listHeldLeases(db.read)))
  if (options.json) printJson(terminal, found)
  else print(terminal, found)
  return exitCodes.ok
}

function print(terminal: Terminal, { nodes, processes }: NodesBody): void {
  if (nodes.length === 0) terminal.out('No process is polling a source.')
  else {
    const head = ['host', 'pid', 'work', 'manufacturer', 'source', 'epoch', 'seconds left']
    const rows = nodes.map(({ host, pid, work, manufacturer, source, epoch, seconds_left }) => [
      host,
      pid,
      work,
      manufacturer,
      source,
      epoch,
      seconds_left,
    ])
    terminal.out(formatTable(head, rows))
  }
  const idle = processes.filter(({ owner }) => !nodes.some((node) => node.owner === owner))
  for (const idleProcess of idle) terminal.out(`Running without a source: ${plain(describeProcess(idleProcess))}`)
}
