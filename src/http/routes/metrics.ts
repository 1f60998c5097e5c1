/**
 * `GET /metrics`: the counters of the service and of the process, and gauges that are computed for each request.
 * Battery, RF and audio levels of the channels change with every request, so they are only included with `?channels=1`.
 * Series of channels and receivers are labelled by id; `channel_info` and `receiver_info` have the names. Every series is
 * labelled with the installation, because one Prometheus may watch several.
 */

import { X509Certificate } from 'node:crypto'
import { readFile, statfs } from 'node:fs/promises'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { alertKinds } from '../../contract/alert-kinds.ts'
import { healthOperations } from '../../contract/health.ts'
import { connectionStatuses, queueStatuses, severities } from '../../contract/values.ts'
import type { ConditionState } from '../../domain/conditions/condition.ts'
import type { Service } from '../../service.ts'
import { countConnections } from '../../storage/connections.ts'
import { databaseSize } from '../../storage/database-size.ts'
import { countEntries } from '../../storage/discovery.ts'
import { findLastBackup } from '../../storage/meta.ts'
import { countDeliveries } from '../../storage/notification-deliveries.ts'
import type { ContractServer } from '../server/contract.ts'
import { sendBytes } from '../server/response.ts'
import { formatEquipmentMetrics } from './equipment-metrics.ts'

/** The metrics of the process, which several services in one process share. */
let processRegistry: Registry | undefined

function openProcessRegistry(): Registry {
  if (processRegistry !== undefined) return processRegistry
  processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry })
  return processRegistry
}

export function metricsRoutes(app: ContractServer, service: Service, version: string): void {
  // Its histograms begin at the start.
  openProcessRegistry()
  app.route({
    ...healthOperations.getMetrics,
    config: { needs: 'read' },
    handler: async (request, reply) => {
      const bytes = await formatMetrics(service, version, { withChannels: request.query.channels === '1' })
      return sendBytes(reply, bytes, Registry.PROMETHEUS_CONTENT_TYPE)
    },
  })
}

export async function formatMetrics(
  service: Service,
  version: string,
  { withChannels }: { readonly withChannels: boolean },
): Promise<Buffer> {
  const gauges = new Registry()
  const add = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name: `micwatch_${name}`, help, labelNames, registers: [gauges] })
  add('build_info', 'Always 1; the label is the version of the service.', ['version']).set({ version }, 1)
  describeUpstreams(service, add)
  describeDevices(service, add)
  describeConditions(service, add)
  await describeRecords(service, add)
  await describeHistory(service, add)
  await describeFiles(service, add)
  describeClocks(service, add)
  describeHeartbeat(service, add)
  add('websocket_clients', 'Connected WebSocket clients.').set(service.live.subscribers)
  add('audio_listeners', 'Listeners to channels of audio streams.').set(service.listening.count)
  add('feed_waiting_messages', 'Messages that are queued for slow clients.').set(service.live.version1.queued)
  const all = Registry.merge([service.counters.registry, gauges, openProcessRegistry()])
  all.setDefaultLabels({ installation: service.installationName })
  const equipment = await formatEquipmentMetrics(service, withChannels)
  return Buffer.concat([Buffer.from(await all.metrics()), equipment])
}

type Add = (name: string, help: string, labelNames?: readonly string[]) => Gauge

function describeUpstreams(service: Service, add: Add): void {
  const up = add('upstream_healthy', '1 while the systems of an enabled manufacturer are healthy, else 0.', [
    'manufacturer',
  ])
  const failures = add(
    'upstream_consecutive_failures',
    'Consecutive failed poll cycles. If the manufacturer has several sources, the lowest count among them.',
    ['manufacturer'],
  )
  for (const { code: manufacturer, status, consecutive_failures } of service.health().manufacturers) {
    if (status === 'disabled') continue
    up.set({ manufacturer }, status === 'healthy' ? 1 : 0)
    failures.set({ manufacturer }, consecutive_failures)
  }
}

/** Counts receivers by state, and channels as offline (like their receiver), idle (no transmitter) or live. */
function describeDevices(service: Service, add: Add): void {
  const devices = add('devices', 'Receivers.', ['manufacturer', 'state'])
  const channels = add(
    'channels',
    'Channels: live with a transmitter, idle without one, offline while their receiver is offline.',
    ['manufacturer', 'state'],
  )
  const manufacturers = new Set(service.health().manufacturers.map(({ code }) => code))
  const all = service.receiverStore.listFacts()
  for (const { manufacturer } of all) manufacturers.add(manufacturer)
  for (const manufacturer of manufacturers) {
    const count = { active: 0, inactive: 0, live: 0, idle: 0, offline: 0 }
    for (const receiver of all) {
      if (receiver.manufacturer !== manufacturer) continue
      count[receiver.is_active ? 'active' : 'inactive'] += 1
      for (const { transmitter } of receiver.channels) {
        count[!receiver.is_active ? 'offline' : transmitter === null ? 'idle' : 'live'] += 1
      }
    }
    for (const state of ['active', 'inactive'] as const) devices.set({ manufacturer, state }, count[state])
    for (const state of ['live', 'idle', 'offline'] as const) channels.set({ manufacturer, state }, count[state])
  }
}

function describeConditions({ receiverStore }: Service, add: Add): void {
  const gauge = add('channel_conditions', 'Channels by the state of their condition.', ['manufacturer', 'state'])
  const counts = new Map<string, Map<ConditionState, number>>()
  for (const { manufacturer, channels } of receiverStore.listFacts()) {
    const states = counts.get(manufacturer) ?? new Map<ConditionState, number>()
    counts.set(manufacturer, states)
    for (const { condition } of channels) states.set(condition.state, (states.get(condition.state) ?? 0) + 1)
  }
  for (const [manufacturer, states] of counts)
    for (const [state, count] of states) gauge.set({ manufacturer, state }, count)
}

/** Gauges of records. Those from the database are omitted while it cannot be read; the other metrics stay available. */
async function describeRecords({ db, alerts }: Service, add: Add): Promise<void> {
  const open = add('alerts_open', 'Alerts that are raised and not cleared.', ['kind', 'severity'])
  for (const kind of alertKinds) for (const severity of severities) open.set({ kind, severity }, 0)
  for (const { kind, severity, site } of alerts.list()) if (site === null) open.inc({ kind, severity })
  try {
    const connections = add('realtime_connections', 'Real-time connections of receivers and sites.', ['status'])
    const counts = await countConnections(db.read)
    for (const status of connectionStatuses) connections.set({ status }, counts.get(status) ?? 0)
    const queue = add('discovery_queue_entries', 'Devices in the review queue.', ['status'])
    for (const status of queueStatuses) queue.set({ status }, await countEntries(db.read, { status }))
    const pending = add('notification_deliveries_pending', 'Messages that are waiting to be sent.')
    pending.set(await countDeliveries(db.read, { status: 'pending' }))
    const lastBackup = await findLastBackup(db.read)
    if (lastBackup !== null)
      add('backup_last_success_timestamp_seconds', 'When a backup was last written.').set(lastBackup / 1000)
  } catch {
    add('store_reachable', '1 if the database can be read, otherwise 0.').set(0)
    return
  }
  add('store_reachable', '1 if the database can be read, otherwise 0.').set(1)
}

/** The size of the history is omitted while it is not known. */
async function describeHistory({ history }: Service, add: Add): Promise<void> {
  add('history_recording', '1 while this process records levels, else 0.').set(history.isRecording ? 1 : 0)
  set(add('history_bytes', 'Recorded levels on the disk, in bytes.'), {}, await history.size())
}

/** Sizes and dates that cannot be read are omitted. */
async function describeFiles({ files, db }: Service, add: Add): Promise<void> {
  const disk = await statfs(files.dataFolder).catch(() => null)
  if (disk !== null)
    add('disk_free_bytes', 'Free space on the disk of the data folder, in bytes.').set(disk.bavail * disk.bsize)
  const size = await databaseSize(db, files.database).catch(() => null)
  if (size !== null) add('database_bytes', 'Size of the database, in bytes.').set(size)
  const pem = files.certificate === null ? null : await readFile(files.certificate).catch(() => null)
  const expiry = pem && expiryOf(pem)
  if (expiry !== null) add('certificate_expiry_timestamp_seconds', 'When the TLS certificate expires.').set(expiry)
}

function expiryOf(pem: Buffer): number | null {
  try {
    return Date.parse(new X509Certificate(pem).validTo) / 1000
  } catch {
    return null
  }
}

function describeClocks({ sourceRegistry }: Service, add: Add): void {
  const offset = add(
    'source_clock_offset_seconds',
    'The clock of a source minus that of this machine, to a second; only of sources that report their time.',
    ['manufacturer', 'source'],
  )
  for (const { id: source, manufacturer, client } of sourceRegistry.sources())
    set(offset, { manufacturer, source }, client.clockOffsetSeconds)
}

/** Absent before the first one. */
function describeHeartbeat({ heartbeat }: Service, add: Add): void {
  const acceptedAt = heartbeat?.acceptedAt ?? null
  if (acceptedAt !== null)
    add('heartbeat_last_success_timestamp_seconds', 'When a heartbeat was last accepted.').set(acceptedAt / 1000)
}

/** Sets the gauge unless the value is unknown. */
function set(gauge: Gauge, labels: Record<string, string | number>, value: number | null): void {
  if (value !== null) gauge.set(labels, value)
}
