/** Shure systems, in the form of the interface specification: Digest, a device list, a WebSocket. */

import { parseConnection } from '../../upstream/connection.ts'
import { type ApiDevice, deviceApi, toObservation } from '../../upstream/device-api.ts'
import { definePlugin, reportHealth } from '../plugin.ts'
import { addDiscoveryIps, getDiscoveryIps, removeDiscoveryIps } from './discovery.ts'
import { ShureApiError, ShureApiRateLimitError } from './errors.ts'
import { familyOf } from './family.ts'
import { subscribe } from './realtime.ts'

export const shure = definePlugin<ApiDevice>({
  code: 'shure',
  name: 'Shure',
  errors: { ApiError: ShureApiError, ApiRateLimitError: ShureApiRateLimitError },

  listSources(config) {
    const { addresses, username, authHeader, ...settings } = parseConnection(config)
    return addresses.map(({ baseUrl, secret }) => ({
      ...settings,
      baseUrl,
      credentials: { scheme: 'digest', username, secret, header: authHeader },
    }))
  },

  ...deviceApi,
  transformDeviceData: (device) => toObservation(device, familyOf),
  checkHealth: (link, signal) => reportHealth(link, () => deviceApi.listDevices(link, signal)),

  transport: 'websocket',
  subscribe,
  discovery: { getDiscoveryIps, addDiscoveryIps, removeDiscoveryIps },
})
