/** check_api_health: asks every source now. */

import type { Command } from 'commander'
import { openHouse } from '../house.ts'
import { type ManufacturerHealth, type ServiceHealth, serviceHealth } from '../model/health.ts'
import { sourcesOf } from './sources.ts'
import {
  type CommonOptions,
  createCommand,
  createLog,
  type ExitCode,
  exitCodes,
  formatTable,
  plain,
  printJson,
  readOptions,
  type Terminal,
} from './terminal.ts'

interface HealthOptions extends CommonOptions {
  readonly manufacturer?: string
}

export function checkApiHealthCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('check_api_health', 'Ask every manufacturer’s system whether it answers')
    .option('--manufacturer <code>', 'only this manufacturer')
    .action(async (options: HealthOptions) => done(await checkApiHealth(options, terminal)))
}

async function checkApiHealth(options: HealthOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal)
  const house = await openHouse(config, { log: createLog(terminal, 'error'), pid: terminal.pid })
  try {
    const sources = sourcesOf(house, options.manufacturer)
    const asked = await Promise.all(
      sources.map(async (heard) => ({ heard, report: await heard.checkHealth(terminal.signal) })),
    )
    const stored = house.health().manufacturers
    const manufacturers = stored
      .filter(({ code }) => options.manufacturer === undefined || code === options.manufacturer)
      .map((before): ManufacturerHealth => {
        const own = asked.filter(({ heard }) => heard.manufacturer === before.code).map(({ report }) => report)
        if (own.length === 0) return before
        const isWell = own.every((report) => report.status === 'healthy')
        const isLost = own.every((report) => report.status === 'unhealthy')
        const error = own.find((report) => report.error !== null)?.error ?? null
        const status = isWell ? 'healthy' : isLost ? 'unhealthy' : 'degraded'
        return { ...before, status, error, consecutive_failures: isWell ? 0 : Math.max(1, before.consecutive_failures) }
      })
    const { status } = serviceHealth(manufacturers, {})
    if (options.json) printJson(terminal, { status, manufacturers: manufacturers.map(toLine) })
    else printHealth(terminal, status, manufacturers)
    for (const { code, error } of manufacturers) if (error !== null) terminal.err(`${code}: ${plain(error)}`)
    return status === 'healthy' ? exitCodes.ok : exitCodes.failed
  } finally {
    await house.close()
  }
}

function toLine({ code, status, base_url, consecutive_failures, error }: ManufacturerHealth) {
  return { code, status, base_url, consecutive_failures, error }
}

function printHealth(
  terminal: Terminal,
  status: ServiceHealth['status'],
  manufacturers: readonly ManufacturerHealth[],
): void {
  if (manufacturers.length === 0) {
    terminal.out('No manufacturer is configured.')
    return
  }
  const rows = manufacturers.map((one) => [one.code, one.status, one.base_url, one.consecutive_failures])
  terminal.out(formatTable(['manufacturer', 'status', 'address', 'failed in a row'], rows))
  terminal.out(`All in all: ${status}`)
}
