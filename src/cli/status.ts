/**
 * check_api_health: checks the connection to every source. nodes: lists which process polls which source when several
 * processes share a database.
 */

import type { Command } from 'commander'
import type { ManufacturerHealth, NodesBody } from '../contract/health.ts'
import {
  addressOf,
  manufacturerHealth,
  noDeviceErrors,
  type ServiceHealth,
  type SourceError,
  type SourceRecord,
  serviceHealth,
} from '../domain/equipment/health.ts'
import { describeProcess, toNodes } from '../domain/nodes.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { Service } from '../service.ts'
import { listHeldLeases } from '../storage/leases.ts'
import { createLog } from './log.ts'
import { sourcesOf, withStore } from './store.ts'
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

interface HealthOptions extends CommonOptions {
  readonly manufacturer?: string
}

export function checkApiHealthCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('check_api_health', 'Check whether every manufacturer’s system responds')
    .option('--manufacturer <code>', 'only this manufacturer')
    .action(async (options: HealthOptions) => done(await checkApiHealth(options, terminal)))
}

async function checkApiHealth(options: HealthOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal)
  const service = await Service.open(config, { log: createLog(terminal, config), pid: terminal.pid })
  try {
    const sources = sourcesOf(service, options.manufacturer)
    const reports = await Promise.all(sources.map((source) => checkSource(service, source, terminal.signal)))
    const checkedCodes = new Set(reports.map(({ manufacturer }) => manufacturer))
    const monitored = new Map(
      service.sourceRegistry.manufacturers().map((manufacturer) => [manufacturer.code, manufacturer]),
    )
    const manufacturers = service
      .health()
      .manufacturers.filter(({ code }) => options.manufacturer === undefined || code === options.manufacturer)
      .map((stored): ManufacturerHealth => {
        const current = checkedCodes.has(stored.code) ? monitored.get(stored.code) : undefined
        return current === undefined ? stored : manufacturerHealth(current, reports, Date.now())
      })
    const status = overallStatus(manufacturers)
    const errors = [...reports.flatMap(toError), ...manufacturers.flatMap(toErrorWithoutSource)]
    const document = { status, manufacturers: manufacturers.map(toLine), ...(errors.length > 0 && { errors }) }
    if (options.json) printJson(terminal, document)
    else printHealth(terminal, status, manufacturers)
    for (const { manufacturer, error } of errors) terminal.err(`${manufacturer}: ${plain(error)}`)
    return status === 'healthy' ? exitCodes.ok : exitCodes.failed
  } finally {
    await service.close()
  }
}

/** Unlike the service's status, this one is unhealthy if all systems are. */
function overallStatus(manufacturers: readonly ManufacturerHealth[]): ServiceHealth['status'] {
  const used = manufacturers.filter(({ status }) => status !== 'disabled' && status !== 'unconfigured')
  const areAllDown = used.length > 0 && used.every(({ status }) => status === 'unhealthy')
  return areAllDown ? 'unhealthy' : serviceHealth(manufacturers, {}).status
}

function toError({ manufacturer, source, error }: SourceRecord): SourceError[] {
  return error === null ? [] : [{ manufacturer, source: addressOf(source, manufacturer), error }]
}

/** Returns the error of a manufacturer without sources because its configuration is invalid. */
function toErrorWithoutSource({ code, base_url, sources, error }: ManufacturerHealth): SourceError[] {
  return sources.length > 0 || error === null ? [] : [{ manufacturer: code, source: base_url, error }]
}

/**
 * Checks a source and builds the record that the service would report. After a failed check, the record has the stored
 * number of failures, but at least one. A pause that the system requested does not change the number.
 */
async function checkSource(service: Service, { id, manufacturer, checkHealth }: MonitoredSource, signal: AbortSignal) {
  const { status, error } = await checkHealth(signal)
  const before = service.sourceRecords.get(id)
  const failures = before?.consecutive_failures ?? 0
  return {
    manufacturer,
    source: id,
    consecutive_failures: status === 'healthy' ? 0 : status === 'degraded' ? failures : Math.max(1, failures),
    error,
    hold_until: 0,
    last_success_at: status === 'healthy' ? Date.now() : (before?.last_success_at ?? null),
    overruns: before?.overruns ?? 0,
    warning: before?.warning ?? null,
    device_errors: before?.device_errors ?? noDeviceErrors,
    silent_since: status === 'healthy' ? null : (before?.silent_since ?? null),
  } satisfies SourceRecord
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
  const rows = manufacturers.map(({ code, status, base_url, consecutive_failures }) => [
    code,
    status,
    base_url,
    consecutive_failures,
  ])
  terminal.out(formatTable(['manufacturer', 'status', 'address', 'consecutive failures'], rows))
  terminal.out(`Overall: ${status}`)
}

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
  if (nodes.length === 0) terminal.out('No sources are being polled.')
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
