/** Sennheiser systems, in the form of the interface specification: Basic, a device list, an event stream. */

import { parseConnection } from '../../upstream/connection.ts'
import { type ApiDevice, deviceApi, toObservation } from '../../upstream/device-api.ts'
import { definePlugin, reportHealth } from '../plugin.ts'
import { SennheiserApiError, SennheiserApiRateLimitError } from './errors.ts'
import { familyOf } from './family.ts'
import { subscribe } from './realtime.ts'

export const sennheiser = definePlugin<ApiDevice>({
  code: 'sennheiser',
  name: 'Sennheiser',
  errors: { ApiError: SennheiserApiError, ApiRateLimitError: SennheiserApiRateLimitError },

  listSources(config) {
    const { addresses, username, ...settings } = parseConnection(config)
    return addresses.map(({ baseUrl, secret }) => ({
      ...settings,
      baseUrl,
      credentials: { scheme: 'basic', username, secret },
    }))
  },

  ...deviceApi,
  transformDeviceData: (device) => toObservation(device, familyOf),
  checkHealth: (link, signal) => reportHealth(link, () => deviceApi.listDevices(link, signal)),

  transport: 'sse',
  subscribe,
})
