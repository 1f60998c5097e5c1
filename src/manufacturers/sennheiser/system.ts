/**
 * The adapter for Sennheiser systems that implement the common device API (`/api/v1/devices`): a device list over REST,
 * with changes pushed over an event stream.
 */

import { deviceApi } from '../../upstream/device-api.ts'
import type { ApiDevice } from '../../upstream/device-fields.ts'
import { toDeviceReport } from '../../upstream/device-report.ts'
import { defineAdapter } from '../plugin.ts'
import { familyOf } from './family.ts'
import { subscribe } from './realtime.ts'

export const system = defineAdapter<ApiDevice>({
  ...deviceApi,
  transformDeviceData: (device) => toDeviceReport(device, familyOf),
  transport: 'sse',
  subscribe,
})
