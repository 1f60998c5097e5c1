/** A Shure system in the form of the interface specification: a device list, and what changes over a WebSocket. */

import { type ApiDevice, deviceApi, toObservation } from '../../upstream/device-api.ts'
import { defineForm } from '../plugin.ts'
import { addDiscoveryIps, getDiscoveryIps, removeDiscoveryIps } from './discovery.ts'
import { familyOf } from './family.ts'
import { subscribe } from './realtime.ts'

export const system = defineForm<ApiDevice>({
  ...deviceApi,
  transformDeviceData: (device) => toObservation(device, familyOf),
  transport: 'websocket',
  subscribe,
  discovery: { getDiscoveryIps, addDiscoveryIps, removeDiscoveryIps },
})
