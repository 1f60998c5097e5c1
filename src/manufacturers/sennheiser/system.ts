/** A Sennheiser system in the form of the interface specification: a device list, and what changes over an event stream. */

import { type ApiDevice, deviceApi, toObservation } from '../../upstream/device-api.ts'
import { defineForm } from '../plugin.ts'
import { familyOf } from './family.ts'
import { subscribe } from './realtime.ts'

export const system = defineForm<ApiDevice>({
  ...deviceApi,
  transformDeviceData: (device) => toObservation(device, familyOf),
  transport: 'sse',
  subscribe,
})
