/**
 * The adapter for Shure systems that implement the common device API (`/api/v1/devices`): a device list over REST, with
 * changes pushed over a WebSocket.
 */

import { deviceApi } from '../../upstream/device-api.ts'
import type { ApiDevice } from '../../upstream/device-fields.ts'
import { toDeviceReport } from '../../upstream/device-report.ts'
import { defineAdapter } from '../plugin.ts'
import { addDiscoveryIps, getDiscoveryIps, removeDiscoveryIps } from './discovery.ts'
import { familyOf } from './family.ts'
import { subscribe } from './realtime.ts'

export const system = defineAdapter<ApiDevice>({
  ...deviceApi,
  transformDeviceData: (device) => toDeviceReport(device, familyOf),
  transport: 'websocket',
  subscribe,
  discovery: { getDiscoveryIps, addDiscoveryIps, removeDiscoveryIps },
})
