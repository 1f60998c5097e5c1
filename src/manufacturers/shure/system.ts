/** The adapter for Shure systems with the API of the interface specification: a device list, and changes over a WebSocket. */

import { type ApiDevice, deviceApi, toDeviceReport } from '../../upstream/device-api.ts'
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
