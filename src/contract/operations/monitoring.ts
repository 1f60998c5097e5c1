/** Receivers, health, settings in force, alerts, real-time connections and probes. */

import Type from 'typebox'
import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { IngestRequest } from '../ingest-request.ts'
import {
  AlertQuery,
  ByAlert,
  ById,
  ConnectionQuery,
  DataQuery,
  EquipmentList,
  HealthQuery,
  LocalList,
  MetricsQuery,
  ReadinessQuery,
  RemovedSetting,
  Scope,
  SettingScope,
} from '../queries.ts'
import {
  AlertAcknowledgement,
  AlertSnooze,
  ConnectionIds,
  IdentifyReceiver,
  NewSilence,
  SettingChange,
} from '../requests.ts'
import { Alert, Silence } from '../resources/alerts.ts'
import { RealtimeConnection } from '../resources/connections.ts'
import { Data } from '../resources/data.ts'
import { Health, Probe, Refresh } from '../resources/health.ts'
import { IngestResult } from '../resources/ingest.ts'
import { Micboard } from '../resources/micboard.ts'
import { Identified, ReceiverSummary, ReceiverWithSources } from '../resources/receivers.ts'
import { Review } from '../resources/review.ts'
import { Configuration } from '../resources/settings.ts'
import { Summary } from '../resources/summary.ts'

export const getData = endpoint('GET', '/api/data.json', {
  ...operation('Monitoring', 'getData', 'All receivers with their channels, discovered devices, settings and groups.'),
  querystring: DataQuery,
  response: { 200: Data, 304: NoContent },
})

export const getDataAlias = endpoint('GET', '/api/data/', {
  ...operation('Monitoring', 'getDataAlias', 'The same as `/api/data.json`.'),
  querystring: DataQuery,
  response: { 200: Data, 304: NoContent },
})

export const getMicboardData = endpoint('GET', '/data.json', {
  ...operation(
    'Monitoring',
    'getMicboardData',
    'The same in the shape of micboard, for programs written for micboard.',
  ),
  response: { 200: Micboard, 304: NoContent },
})

export const listReceivers = endpoint('GET', '/api/receivers/', {
  ...operation('Monitoring', 'listReceivers', 'Summaries of all receivers.'),
  querystring: EquipmentList,
  response: { 200: pagedOf(ReceiverSummary), 304: NoContent },
})

export const getReceiver = endpoint('GET', '/api/receivers/:id/', {
  ...operation('Monitoring', 'getReceiver', 'One receiver with all known details.'),
  params: ById,
  querystring: Scope,
  response: { 200: ReceiverWithSources, 304: NoContent },
})

export const identifyReceiver = endpoint('POST', '/api/receivers/:id/identify/', {
  ...operation(
    'Monitoring',
    'identifyReceiver',
    'Makes the lights of a receiver, or of one of its channels, flash for some seconds, 10 by default.',
  ),
  params: ById,
  body: IdentifyReceiver,
  response: { 200: Identified, 409: ErrorResponse },
})

export const getSummary = endpoint('GET', '/api/summary/', {
  ...operation('Monitoring', 'getSummary', 'How many channels there are, and how many need attention.'),
  querystring: DataQuery,
  response: { 200: Summary },
})

export const getHealth = endpoint('GET', '/api/health/', {
  ...operation(
    'Monitoring',
    'getHealth',
    'Health of the service and its upstreams; 503 with the same body while the database is unreachable.',
  ),
  querystring: HealthQuery,
  response: { 200: Health, 503: Health },
})

export const refresh = endpoint('POST', '/api/refresh/', {
  ...operation('Monitoring', 'refresh', 'Polls immediately.'),
  querystring: Scope,
  response: { 200: Refresh, 404: ErrorResponse, 409: ErrorResponse },
})

export const ingestReceivers = endpoint('POST', '/api/ingest/', {
  ...operation('Monitoring', 'ingestReceivers', 'Stores receivers that a script reports.'),
  body: IngestRequest,
  response: { 202: IngestResult },
})

export const getConfig = endpoint('GET', '/api/config/', {
  ...operation(
    'Monitoring',
    'getConfig',
    'The effective settings: the global ones, or those of one manufacturer or group.',
  ),
  querystring: SettingScope,
  response: { 200: Configuration, 404: ErrorResponse },
})

export const changeConfig = endpoint('POST', '/api/config/', {
  ...operation('Monitoring', 'changeConfig', 'Changes one setting and returns the effective settings.'),
  querystring: SettingScope,
  body: SettingChange,
  response: { 200: Configuration, 404: ErrorResponse },
})

export const removeConfig = endpoint('DELETE', '/api/config/', {
  ...operation(
    'Monitoring',
    'removeConfig',
    'Deletes a stored setting of a scope, so that the value that it overrode applies again.',
  ),
  querystring: RemovedSetting,
  response: { 204: NoContent, 404: ErrorResponse },
})

export const getLiveness = endpoint('GET', '/healthz', {
  ...operation('Monitoring', 'getLiveness', 'Whether the process responds.'),
  response: { 200: Probe },
})

export const getReadiness = endpoint('GET', '/readyz', {
  ...operation(
    'Monitoring',
    'getReadiness',
    'Whether the service can serve requests: 503 if it is unhealthy or about to stop.',
  ),
  querystring: ReadinessQuery,
  response: { 200: Probe, 503: Probe },
})

export const getReadinessAlias = endpoint('GET', '/api/health/ready/', {
  ...operation('Monitoring', 'getReadinessAlias', 'The same as `/readyz`.'),
  querystring: ReadinessQuery,
  response: { 200: Probe, 503: Probe },
})

export const listAlerts = endpoint('GET', '/api/alerts/', {
  ...operation('Monitoring', 'listAlerts', 'Open and cleared alerts, newest first; at most 1000 without paging.'),
  querystring: AlertQuery,
  response: { 200: pagedOf(Alert) },
})

export const acknowledgeAlert = endpoint('POST', '/api/alerts/:id/acknowledge', {
  ...operation(
    'Monitoring',
    'acknowledgeAlert',
    'Acknowledges an alert for all users; the first acknowledgement counts.',
  ),
  params: ByAlert,
  body: AlertAcknowledgement,
  response: { 200: Alert, 409: ErrorResponse },
})

export const snoozeAlert = endpoint('POST', '/api/alerts/:id/snooze', {
  ...operation('Monitoring', 'snoozeAlert', 'Snoozes an alert for all users.'),
  params: ByAlert,
  body: AlertSnooze,
  response: { 200: Alert, 409: ErrorResponse },
})

export const listSilences = endpoint('GET', '/api/silences/', {
  ...operation('Monitoring', 'listSilences', 'Silences in effect.'),
  querystring: LocalList,
  response: { 200: pagedOf(Silence) },
})

export const addSilence = endpoint('POST', '/api/silences/', {
  ...operation('Monitoring', 'addSilence', 'Silences the matching alerts until a time.'),
  body: NewSilence,
  response: { 201: Silence },
})

export const removeSilence = endpoint('DELETE', '/api/silences/:id/', {
  ...operation('Monitoring', 'removeSilence', 'Ends a silence.'),
  params: ById,
  response: { 204: NoContent },
})

export const listRealtimeConnections = endpoint('GET', '/api/admin/realtime-connections/', {
  ...operation(
    'Review',
    'listRealtimeConnections',
    'The real-time subscriptions of receivers, and the connections to sites.',
  ),
  querystring: ConnectionQuery,
  response: { 200: pagedOf(RealtimeConnection) },
})

export const stopRealtimeConnections = endpoint('POST', '/api/admin/realtime-connections/stop', {
  ...operation('Review', 'stopRealtimeConnections', 'Stops subscriptions until a user starts them again.'),
  body: ConnectionIds,
  response: { 200: Review, 409: ErrorResponse },
})

export const startRealtimeConnections = endpoint('POST', '/api/admin/realtime-connections/start', {
  ...operation('Review', 'startRealtimeConnections', 'Starts subscriptions that were stopped.'),
  body: ConnectionIds,
  response: { 200: Review, 409: ErrorResponse },
})

export const getMetrics = endpoint('GET', '/metrics', {
  ...operation('Monitoring', 'getMetrics', 'Metrics in the text format of Prometheus.'),
  querystring: MetricsQuery,
  response: { 200: Type.String({ contentMediaType: 'text/plain', description: 'One line per sample.' }) },
})

export const getOpenApi = endpoint('GET', '/api/openapi.json', {
  ...operation('Monitoring', 'getOpenApi', 'This document.'),
  response: {
    200: Type.Record(Type.String(), Type.Unknown(), { description: 'An OpenAPI 3.1 document.' }),
    304: NoContent,
  },
})

export const getAsyncApi = endpoint('GET', '/api/asyncapi.json', {
  ...operation('Monitoring', 'getAsyncApi', 'The description of the WebSocket.'),
  response: {
    200: Type.Record(Type.String(), Type.Unknown(), { description: 'An AsyncAPI 3.1 document.' }),
    304: NoContent,
  },
})
