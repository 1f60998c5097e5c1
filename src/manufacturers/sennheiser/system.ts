/** A Sennheiser system as in the interface specification: a device list over REST and changes over an event stream. */

import { type ApiDevice, deviceApi, toDeviceReport } from '../../upstream/device-api.ts'
import { defineAdapter } from '../plugin.ts'
import { familyOf } from './family.ts'
import { subscribe } from './realtime.ts'

export const system = defineAdapter<ApiDevice>({
  ...deviceApi,
  transformDeviceData: (device) => toDeviceReport(device, familyOf),
  transport: 'sse',
  subscribe,
})
