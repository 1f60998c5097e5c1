/** Health of the service and of the monitored systems; processes, metrics and polls. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  body,
  boundedWhole,
  choiceOf,
  flag,
  listOf,
  manufacturer,
  NoContent,
  named,
  oneOf,
  orNull,
  query,
  Scope,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
} from './schema.ts'
import { logLevels, sourceStatuses, upstreamStatuses } from './values.ts'

export const silent_since = timeOrNull(
  'When data last arrived, if a response or a level of a fixed meter rate is due and nothing has arrived for 3 s; null otherwise.',
)

export const upstreamStatus = {
  status: oneOf(
    upstreamStatuses,
    "Status of the manufacturer's systems; `unknown` if no poll has succeeded yet, or none within the last day.",
  ),
  base_url: text("The configured address of the manufacturer's system."),
  consecutive_failures: whole(
    'Consecutive failed poll cycles. If the manufacturer has several sources, the lowest count among them.',
  ),
}

export const upstreamDetails = {
  error: textOrNull('What is wrong and how to fix it; null while there is no error.'),
  overruns: whole('Poll cycles that took longer than the interval.'),
  details: listOf(Type.String(), 'Problems that do not affect the status, one sentence each.'),
  sources: listOf(
    Type.Object({
      source: text('Address of the system or device.'),
      status: oneOf(sourceStatuses, 'Status of this source.'),
      consecutive_failures: whole('Consecutive failed poll cycles.'),
      error: textOrNull('What is wrong; null while it is healthy.'),
      silent_since,
    }),
    'Every monitored system and every individually monitored device.',
  ),
  device_errors: listOf(
    Type.Object({
      device: text('Id of the device, or its index in the list if it has no id.'),
      error: text('What is wrong.'),
    }),
    'Devices that are listed but whose data cannot be read; at most 100.',
  ),
  more: whole('Number of such devices that are not in `device_errors`.'),
}

const ManufacturerStatus = named('ManufacturerHealth', 'Health of a manufacturer.', {
  code: text('Code of the manufacturer.'),
  name: text('Display name of the manufacturer.'),
  ...upstreamStatus,
  ...upstreamDetails,
})
export type ManufacturerHealth = Body<typeof ManufacturerStatus>

export const Health = named('Health', 'Health of the service and its upstreams.', {
  status: oneOf(['healthy', 'degraded', 'unhealthy'], 'Status of the service.'),
  vendor_api: Type.Object(
    { ...upstreamStatus, ...Type.Partial(Type.Object(upstreamDetails)).properties },
    { description: 'The requested manufacturer; by default the one with the worst status.' },
  ),
  manufacturers: listOf(ManufacturerStatus, 'All manufacturers.'),
  details: listOf(text('A sentence.'), 'Problems of the service itself, one sentence each.'),
  store: Type.Object(
    {
      status: oneOf(['healthy', 'restored', 'not_writable', 'damaged', 'unreachable'], 'Status of the database.'),
      details: textOrNull('What is wrong and how to fix it; null while there is no problem.'),
    },
    { description: 'The database.' },
  ),
  timestamp: time('Time of this response.'),
  version: text('Version of the service.'),
  commit: textOrNull('The commit that it was built from; null if the sources came without one.'),
  project_url: textOrNull('The repository with the issues of this build; null if the build names none.'),
  public_url: textOrNull('`server.public_url`, for links in messages; null if it is not configured.'),
  update: orNull(
    Type.Object({ version: text('The latest version.'), url: text('Where to read about it.') }),
    'A version that is newer than this one; null without one, or if `update_notice` is not configured.',
  ),
})
export type HealthBody = Body<typeof Health>

const Probe = named('Probe', 'The result of a probe.', {
  status: oneOf(['ok', 'unavailable'], '`unavailable` while the service is unhealthy.'),
})

export const sourceErrors = Type.Optional(
  listOf(
    Type.Object({
      manufacturer,
      source: text('Address of the system or device.'),
      error: text('What is wrong.'),
    }),
    'Sources that failed; absent if all succeeded.',
  ),
)

export const Refresh = named('Refresh', 'Result of a poll.', {
  status: oneOf(['success', 'partial'], '`partial` if a source failed.'),
  receivers_updated: whole('Number of receivers that were reported.'),
  timestamp: time('Time of this response.'),
  errors: sourceErrors,
})
export type RefreshBody = Body<typeof Refresh>

const processFields = {
  owner: text('Id under which the process holds leases.'),
  host: text('Host name of the machine on which the process runs.'),
  pid: whole('Process id.'),
}

export const Nodes = named('Nodes', 'The processes that use this database, and the sources assigned to them.', {
  nodes: listOf(
    Type.Object({
      ...processFields,
      work: oneOf(
        ['polling', 'link'],
        '`polling`: the process polls the source; `link`: it runs the real-time subscription.',
      ),
      source: text('The source: code of the manufacturer, colon, address.'),
      manufacturer,
      epoch: whole('Incremented when another process takes over.'),
      seconds_left: whole('Seconds until the lease expires unless it is renewed.'),
    }),
    'The sources, each with the process that currently holds it.',
  ),
  processes: listOf(Type.Object(processFields), 'All running processes, with or without a source.'),
})
export type NodesBody = Body<typeof Nodes>

export const StoreAcknowledged = named('StoreAcknowledged', 'Whether there was an incident to acknowledge.', {
  acknowledged: flag('False if there was no incident.'),
  message: text('Message for users.'),
})
export type Acknowledged = Body<typeof StoreAcknowledged>

const maxLogMinutes = 1440

const LogLevel = named('LogLevel', 'The log level of this process.', {
  level: text('The lowest level of events that are logged.'),
  until: timeOrNull('When the configured level applies again; null while it does.'),
})
export type LogLevelBody = Body<typeof LogLevel>

const LogLevelChange = body({ level: choiceOf(logLevels), minutes: boundedWhole(1, maxLogMinutes) })

const anything = (description: string) => Type.Unknown({ description })

const SupportBundle = named('SupportBundle', 'Facts for those who help with a problem, without secrets.', {
  created_at: time('When it was created.'),
  with_names: flag('Whether names of people, channels and equipment are included.'),
  version: anything('Version and commit of the service.'),
  system: anything('The machine.'),
  configuration: anything('The configuration, manufacturers and settings. Secrets are `********`.'),
  health: anything('As `GET /api/health/`.'),
  metrics: textOrNull('As `GET /metrics`; null if the service could not be read.'),
  database: anything('Engine, sizes, schema version, and the number of rows of each table.'),
  connections: Type.Array(Type.Unknown(), { description: 'The real-time connections.' }),
  log: Type.Array(Type.Unknown(), { description: 'The latest lines of the log, the oldest first.' }),
})
export type SupportBundleBody = Body<typeof SupportBundle>

const SupportBundleQuery = query({
  names: oneOf(['0', '1'], 'With `1`, names of people, channels and equipment are included.'),
})

const ReadinessQuery = query({
  exclude: oneOf(
    ['database'],
    'With `database`, the database need not be reachable: the last known state is still served.',
  ),
})

const HealthQuery = query({
  manufacturer: text('Code of the manufacturer for `vendor_api`.'),
})

const MetricsQuery = query({
  channels: oneOf(['0', '1'], 'With `1`, the levels of every channel are included.'),
})

export const healthOperations = operationsOf({
  getHealth: endpoint('GET', '/api/health/', {
    ...about(
      'Monitoring',
      'Health of the service and its upstreams; 503 with the same body while the database is unreachable.',
    ),
    querystring: HealthQuery,
    response: { 200: Health, 503: Health },
  }),

  refresh: endpoint('POST', '/api/refresh/', {
    ...about('Monitoring', 'Polls immediately.'),
    querystring: Scope,
    response: { 200: Refresh, 404: ErrorResponse, 409: ErrorResponse },
  }),

  getLiveness: endpoint('GET', '/healthz', {
    ...about('Monitoring', 'Whether the process responds.'),
    response: { 200: Probe },
  }),

  getReadiness: endpoint('GET', '/readyz', {
    ...about('Monitoring', 'Whether the service can serve requests: 503 if it is unhealthy or about to stop.'),
    querystring: ReadinessQuery,
    response: { 200: Probe, 503: Probe },
  }),

  getReadinessAlias: endpoint('GET', '/api/health/ready/', {
    ...about('Monitoring', 'The same as `/readyz`.'),
    querystring: ReadinessQuery,
    response: { 200: Probe, 503: Probe },
  }),

  getMetrics: endpoint('GET', '/metrics', {
    ...about('Monitoring', 'Metrics in the text format of Prometheus.'),
    querystring: MetricsQuery,
    response: { 200: Type.String({ contentMediaType: 'text/plain', description: 'One line per sample.' }) },
  }),

  getOpenApi: endpoint('GET', '/api/openapi.json', {
    ...about('Monitoring', 'This document.'),
    response: {
      200: Type.Record(Type.String(), Type.Unknown(), { description: 'An OpenAPI 3.1 document.' }),
      304: NoContent,
    },
  }),

  getAsyncApi: endpoint('GET', '/api/asyncapi.json', {
    ...about('Monitoring', 'A description of the WebSocket.'),
    response: {
      200: Type.Record(Type.String(), Type.Unknown(), { description: 'An AsyncAPI 3.1 document.' }),
      304: NoContent,
    },
  }),

  listNodes: endpoint('GET', '/api/admin/nodes/', {
    ...about('Administration', 'The processes that use this database, and the sources assigned to them.'),
    response: { 200: Nodes },
  }),

  getLogLevel: endpoint('GET', '/api/admin/log-level/', {
    ...about('Administration', 'The log level of the process that responds.'),
    response: { 200: LogLevel },
  }),

  setLogLevel: endpoint('PUT', '/api/admin/log-level/', {
    ...about(
      'Administration',
      'Changes the log level of the process that responds, for this number of minutes. Afterwards, the configured level applies again.',
    ),
    body: LogLevelChange,
    response: { 200: LogLevel },
  }),

  getSupportBundle: endpoint('GET', '/api/admin/support-bundle.json', {
    ...about('Administration', 'A file with facts for those who help with a problem, without secrets.'),
    querystring: SupportBundleQuery,
    response: { 200: SupportBundle },
  }),

  acknowledgeStore: endpoint('POST', '/api/admin/store/acknowledge', {
    ...about('Administration', 'Acknowledges that the database was missing or damaged when the service started.'),
    response: { 200: StoreAcknowledged },
  }),
})
