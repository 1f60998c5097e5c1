/**
 * The adapter for Shure systems that implement the common device API (`/api/v1/devices`): a device list over REST, with
 * changes pushed over a WebSocket.
 */

import { isRecord } from '../../domain/json.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { deviceApi } from '../../upstream/device-api.ts'
import type { ApiDevice } from '../../upstream/device-fields.ts'
import { toDeviceReport } from '../../upstream/device-report.ts'
import { defineAdapter } from '../plugin.ts'
import { familyOf, subscribe } from './realtime.ts'

export const system = defineAdapter<ApiDevice>({
  protocol: 'device-api',
  ...deviceApi,
  transformDeviceData: (device) => toDeviceReport(device, familyOf),
  transport: 'websocket',
  subscribe,
  discovery: { getDiscoveryIps, addDiscoveryIps, removeDiscoveryIps },
})

const path = '/api/v1/config/discovery/ips'

export async function getDiscoveryIps(client: UpstreamClient, signal?: AbortSignal): Promise<readonly string[]> {
  const { body } = await client.request('GET', path, { signal })
  const ips = isRecord(body) ? body.ips : undefined
  if (!Array.isArray(ips))
    throw new client.errors.ApiError('invalid response: not a list of discovery addresses', { status: 200 })
  return ips.filter((ip) => typeof ip === 'string')
}

/** The system can only replace the whole list, so it is read and merged first. */
export async function addDiscoveryIps(
  client: UpstreamClient,
  ips: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const known = await getDiscoveryIps(client, signal)
  const merged = [...new Set([...known, ...ips])]
  if (merged.length > known.length) await client.request('PUT', path, { body: { ips: merged }, signal })
}

/** Some systems accept PATCH, others only POST. */
export async function removeDiscoveryIps(
  client: UpstreamClient,
  ips: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const options = { body: { ips }, signal }
  const { status } = await client.request('PATCH', `${path}/remove`, { ...options, accept: [404, 405, 501] })
  if (status >= 400) await client.request('POST', `${path}/remove`, options)
}
