/**
 * The adapter for Sennheiser systems that implement the common device API (`/api/v1/devices`): a device list over REST,
 * with changes pushed over an event stream.
 */

import type { UpstreamClient } from '../../upstream/client.ts'
import { deviceApi } from '../../upstream/device-api.ts'
import type { ApiDevice } from '../../upstream/device-fields.ts'
import { toDeviceReport } from '../../upstream/device-report.ts'
import { defineAdapter } from '../plugin.ts'
import { familyOf } from './family.ts'
import { subscribe } from './realtime.ts'
import { defaultUser } from './ssc2/sign-in.ts'

export const system = defineAdapter<ApiDevice>({
  ...deviceApi,
  listDevices: (client, signal, before) => deviceApi.listDevices(signedIn(client), signal, before),
  transformDeviceData: (device) => toDeviceReport(device, familyOf),
  transport: 'sse',
  subscribe: (client, targets, signal, onLevels) => subscribe(signedIn(client), targets, signal, onLevels),
})

/** The interface specification (see docs/conformance.md) requires this user name, so a configured one is ignored. */
function signedIn(client: UpstreamClient): UpstreamClient {
  client.authorizer.signInAs?.(defaultUser)
  return client
}
