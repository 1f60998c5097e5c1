/** check_connections and realtime_status: print the stored status of the real-time connections. */

import { type Command, Option } from 'commander'
import type { ConnectionBody } from '../contract/connections.ts'
import { type ConnectionStatus, connectionStatuses } from '../contract/values.ts'
import { sourceFailing, subscriptionLost, subscriptionSubject } from '../domain/alerts/source.ts'
import { type Connection, toConnectionBody } from '../domain/equipment/connection.ts'
import { addressOf, type SourceError, type SourceRecord } from '../domain/equipment/health.ts'
import { Service } from '../service.ts'
import { createLog } from './log.ts'
import { sourcesOf } from './store.ts'
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

interface CheckOptions extends CommonOptions {
  readonly manufacturer?: string
  readonly alert?: boolean
}

interface StatusOptions extends CommonOptions {
  readonly manufacturer?: string
  readonly status?: ConnectionStatus
  readonly verbose?: boolean
}

export function checkConnectionsCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('check_connections', 'Count the real-time connections, and list those that are down')
    .option('--manufacturer <code>', 'only this manufacturer')
    .option('--alert', 'raise an alert and exit with 1 if a subscription is down, or a source has never connected')
    .action(async (options: CheckOptions) =>
      done(await withConnections(options, terminal, (service, all) => check(service, all, options, terminal))),
    )
}

export function realtimeStatusCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('realtime_status', 'Show the real-time connection of every receiver and site')
    .option('--verbose', 'with times, errors and reconnect attempts')
    .option('--manufacturer <code>', 'only this manufacturer')
    .addOption(new Option('--status <status>', 'only connections in this state').choices(connectionStatuses))
    .action(async (options: StatusOptions) =>
      done(await withConnections(options, terminal, async (service, all) => show(service, all, options, terminal))),
    )
}

/**
 * Opens the service and reads the connections. Connections whose process was killed are closed first, so that they are
 * not shown as connected.
 */
async function withConnections(
  options: CommonOptions & { readonly manufacturer?: string },
  terminal: Terminal,
  work: (service: Service, connections: readonly Connection[]) => Promise<ExitCode>,
): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const service = await Service.open(config, { log: createLog(terminal, config), pid: terminal.pid })
  try {
    sourcesOf(service, options.manufacturer)
    await service.connections.closeOrphaned({ isAtOnce: true })
    const all = await service.connections.readAll()
    return await work(
      service,
      all.filter(({ manufacturer }) => options.manufacturer === undefined || manufacturer === options.manufacturer),
    )
  } finally {
    await service.close()
  }
}

async function check(
  service: Service,
  connections: readonly Connection[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const counts = Object.fromEntries(connectionStatuses.map((status) => [status, 0])) as Record<ConnectionStatus, number>
  for (const { status } of connections) counts[status] += 1
  // Sources that are not monitored (disabled manufacturers, removed receivers) have no subscription that could be down.
  const monitoredIds = new Set(service.sourceRegistry.sources().map(({ id }) => id))
  const down = connections.filter(
    ({ status, source }) =>
      source !== null && monitoredIds.has(source) && (status === 'disconnected' || status === 'error'),
  )
  const problems = down.map((connection) => bodyOf(service, connection))
  const unconnected = options.alert ? listUnconnected(service, connections, options.manufacturer) : []
  // For a site, only repeated failures raise an alert.
  if (options.alert)
    await raiseAlerts(
      service,
      down.filter(({ receiver }) => receiver !== null),
      unconnected,
    )
  const errors = [...failingSources(service, options.manufacturer), ...unconnected.flatMap(toUnknownError)]
  if (options.json) printJson(terminal, { counts, problems, ...(errors.length > 0 && { errors }) })
  else terminal.out(formatTable(connectionStatuses, [connectionStatuses.map((status) => counts[status])]))
  for (const { receiver_name, manufacturer, status, error_message } of problems) {
    terminal.err(`${manufacturer}: ${plain(receiver_name ?? 'connection')} is ${status}: ${plain(error_message)}`)
  }
  for (const { manufacturer, error } of errors) terminal.err(`${manufacturer}: ${plain(error)}`)
  const hasFailed = problems.length > 0 || unconnected.length > 0
  return options.alert && hasFailed ? exitCodes.failed : exitCodes.ok
}

/** A source from which nothing was ever received. It has no receivers, and therefore no connections that could be down. */
interface UnconnectedSource {
  readonly manufacturer: string
  readonly source: string
  /** Null if no process has contacted it yet. */
  readonly record: SourceRecord | null
}

function listUnconnected(
  { sourceRegistry, sourceRecords }: Service,
  connections: readonly Connection[],
  selected: string | undefined,
): UnconnectedSource[] {
  const connected = new Set(connections.flatMap(({ source, connected_at }) => (connected_at === null ? [] : [source])))
  return sourceRegistry.sources().flatMap(({ id, manufacturer }) => {
    const record = sourceRecords.get(id) ?? null
    const isKnown = connected.has(id) || (record !== null && record.last_success_at !== null)
    return isKnown || (selected !== undefined && manufacturer !== selected)
      ? []
      : [{ manufacturer, source: id, record }]
  })
}

/** Describes a source for which no error is stored. */
function toUnknownError({ manufacturer, source, record }: UnconnectedSource): SourceError[] {
  if (record !== null && record.error !== null) return []
  const error = 'it was never contacted; start micwatch serve or micwatch poll_devices'
  return [{ manufacturer, source: addressOf(source, manufacturer), error }]
}

/**
 * Returns the sources with a stored error. The list of connections does not show all of them: a source that has never
 * responded has no receivers and therefore no connections.
 */
function failingSources(service: Service, manufacturer: string | undefined): SourceError[] {
  return service
    .health()
    .manufacturers.filter(({ code }) => manufacturer === undefined || code === manufacturer)
    .flatMap(({ code, sources }) =>
      sources.flatMap(({ source, error }) => (error === null ? [] : [{ manufacturer: code, source, error }])),
    )
}

/**
 * Raises one alert per lost subscription, and per source that has failed and was never connected. They are the alerts
 * that the service would raise, and are cleared when the subscription or the source responds.
 */
async function raiseAlerts(
  { alerts }: Service,
  down: readonly Connection[],
  unconnected: readonly UnconnectedSource[],
): Promise<void> {
  const lost = new Map(
    down.flatMap(({ manufacturer, source }) =>
      source === null ? [] : [[subscriptionSubject(source), subscriptionLost(manufacturer, source)] as const],
    ),
  )
  const failing = unconnected.flatMap(({ manufacturer, source, record }) =>
    record === null || record.consecutive_failures === 0
      ? []
      : sourceFailing({
          manufacturer,
          source,
          unsuccessful_cycles: record.consecutive_failures,
          error: record.error,
        }),
  )
  await alerts.raise([...lost.values(), ...failing])
}

function show(
  service: Service,
  connections: readonly Connection[],
  options: StatusOptions,
  terminal: Terminal,
): ExitCode {
  const selected = connections.filter(({ status }) => options.status === undefined || status === options.status)
  const bodies = selected.map((connection) => bodyOf(service, connection))
  if (options.json) printJson(terminal, { connections: bodies })
  else if (bodies.length === 0) terminal.out('No real-time connections match.')
  else printConnections(bodies, options.verbose === true, terminal)
  return exitCodes.ok
}

function printConnections(bodies: readonly ConnectionBody[], isVerbose: boolean, terminal: Terminal): void {
  const head = ['receiver', 'name', 'manufacturer', 'transport', 'status', 'seconds connected']
  const more = ['connected', 'disconnected', 'last message', 'errors', 'attempts', 'error']
  const rows = bodies.map((body) => {
    const row = [
      body.receiver,
      body.receiver_name,
      body.manufacturer,
      body.transport,
      body.status,
      body.duration_seconds,
    ]
    if (!isVerbose) return row
    const { connected_at, disconnected_at, last_message_at, error_count, reconnect_attempts, error_message } = body
    return [...row, connected_at, disconnected_at, last_message_at, error_count, reconnect_attempts, error_message]
  })
  terminal.out(formatTable(isVerbose ? [...head, ...more] : head, rows))
}

function bodyOf({ receiverStore }: Service, connection: Connection): ConnectionBody {
  return toConnectionBody(connection, receiverStore.get(connection.id)?.name ?? null, Date.now())
}
