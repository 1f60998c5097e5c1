/** The plugin for Sennheiser systems, which report many devices, and individual devices that are monitored directly. */

import type { UpstreamClient } from '../../upstream/client.ts'
import { deviceApi } from '../../upstream/device-api.ts'
import type { ApiDevice } from '../../upstream/device-fields.ts'
import { toDeviceReport } from '../../upstream/device-report.ts'
import { createErrors } from '../../upstream/errors.ts'
import { defineAdapter, listConfiguredSources, type Plugin, type ProtocolDetector } from '../plugin.ts'
import { table as mcpTable } from './mcp/fields.ts'
import { mcp } from './mcp/session.ts'
import { familyOf, subscribe } from './realtime.ts'
import { tables as ssc1Tables } from './ssc1/fields.ts'
import { ssc1 } from './ssc1/session.ts'
import { findProduct, identifySsc2, ssc2 } from './ssc2/adapter.ts'
import { tables as ssc2Tables } from './ssc2/fields.ts'
import { blockIfRejected, defaultUser } from './ssc2/sign-in.ts'
import { modelStatus } from './status.ts'
import { table as wsmTable } from './wsm/fields.ts'
import { beacon, wsm, wsmPort } from './wsm/session.ts'

/**
 * Systems that implement the common device API (`/api/v1/devices`): a device list over REST, with changes pushed over an
 * event stream.
 */
export const system = defineAdapter<ApiDevice>({
  protocol: 'device-api',
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

/** An HTTP address belongs either to a system with the common device API or to an individual SSC 2 device. */
const web: ProtocolDetector = {
  default: system,
  async detect(client, { assumed, error }, signal) {
    if (assumed === ssc2) return error.status === 404 ? system : null
    if (error.status !== 401 && error.status !== 404) return null
    const product = await findProduct(client, signal)
    if (product === null) return null
    blockIfRejected(client, product, error)
    return ssc2
  },
}

/** The first request to a device has no credentials, because devices count wrong ones. */
const webDevice: ProtocolDetector = { ...web, default: ssc2 }

const adapters = { 'http:': web, 'https:': web, 'ssc1:': ssc1, 'mcp:': mcp, 'wsm:': wsm }
const deviceAdapters = { ...adapters, 'http:': webDevice, 'https:': webDevice }
/** Devices with MCP also reply to this port. */
export const mcpPort = 53_212
const devicePorts = { 'ssc1:': 45, 'mcp:': mcpPort }

export const sennheiser: Plugin = {
  code: 'sennheiser',
  name: 'Sennheiser',
  errors: createErrors('Sennheiser'),
  fieldTables: [...ssc2Tables, ...ssc1Tables, mcpTable, wsmTable],
  adapters: [system, ssc2, ssc1, mcp, wsm],
  modelStatus,
  audioFloors: new Map([['ew', -50]]),
  search: {
    ports: { 'https:': 443, ...devicePorts },
    services: { '_ssc._udp': 'ssc1:' },
    identify: { 'https:': identifySsc2 },
    beacon,
  },

  listSources: (config) =>
    listConfiguredSources(config, {
      adapters,
      deviceAdapters,
      ports: { ...devicePorts, 'wsm:': wsmPort },
      toCredentials: ({ secret, isSystem }) => ({ scheme: 'basic', username: isSystem ? defaultUser : null, secret }),
    }),
}
