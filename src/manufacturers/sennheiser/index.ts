/** Sennheiser gear: systems that speak for many devices, and devices that speak for themselves. */

import { parseConnection } from '../../upstream/connection-settings.ts'
import { adapterFor, type Plugin, type ProtocolDetector } from '../plugin.ts'
import { SennheiserApiError, SennheiserApiRateLimitError } from './errors.ts'
import { mcp } from './mcp/session.ts'
import { ssc1 } from './ssc1/session.ts'
import { blockAfterUnauthorized, identifySsc2, isSsc2, ssc2 } from './ssc2/adapter.ts'
import { system } from './system.ts'

/** A web address is a system in the specification's form, or a device that knows no list of devices, only itself. */
const web: ProtocolDetector = {
  default: system,
  async detect(client, { assumed, error }, signal) {
    if (assumed === ssc2) return error.status === 404 ? system : null
    const isPossible = error.status === 401 || error.status === 404
    if (!isPossible || !(await isSsc2(client, signal))) return null
    blockAfterUnauthorized(client, error)
    return ssc2
  },
}

const adapters = { 'http:': web, 'https:': web, 'ssc1:': ssc1, 'mcp:': mcp }
/** Fixed by the gear and the interface specification, whatever is configured. */
const username = 'api'
const devicePorts = { 'ssc1:': 45, 'mcp:': 53_212 }

export const sennheiser: Plugin = {
  code: 'sennheiser',
  name: 'Sennheiser',
  errors: { ApiError: SennheiserApiError, ApiRateLimitError: SennheiserApiRateLimitError },
  adapters: [system, ssc2, ssc1, mcp],
  search: {
    ports: { 'https:': 443, ...devicePorts },
    services: { '_ssc._udp': 'ssc1:' },
    identify: { 'https:': identifySsc2 },
  },

  listSources(config) {
    const { addresses, username: _, authHeader: __, ...settings } = parseConnection(config, devicePorts)
    return addresses.map(({ secret, ...address }) => ({
      ...settings,
      ...address,
      adapter: adapterFor(adapters, address.baseUrl),
      credentials: { scheme: 'basic', username, secret },
    }))
  },
}
