/** Health of the service and of what it monitors, and the result of a poll. */

import Type from 'typebox'
import { type Body, listOf, named, oneOf, text, textOrNull, time, timeOrNull, whole } from '../described.ts'
import { sourceStatuses, upstreamStatuses } from '../values.ts'
import { manufacturer } from './common.ts'

export const silent_since = timeOrNull(
  'When anything last came, if an answer or a level of a fixed meter rate is due and nothing came for 3 s; null otherwise.',
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
})
export type HealthBody = Body<typeof Health>

export const Probe = named('Probe', 'The result of a probe.', {
  status: oneOf(['ok', 'unavailable'], '`unavailable` while the service is unhealthy.'),
})

/** The field `errors` of a response. */
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
