/** Shure gear: systems that speak for many devices, and devices that speak for themselves. */

import { parseConnection } from '../../upstream/connection-settings.ts'
import { adapterFor, type Plugin, type ProtocolDetector } from '../plugin.ts'
import { beacon } from './beacon.ts'
import { ShureApiError, ShureApiRateLimitError } from './errors.ts'
import { strings, uhfrStrings } from './strings/adapter.ts'
import { system } from './system.ts'
import { meetSystemApi, speaksSystemApi, systemApi } from './system-api/index.ts'

/** A system speaks as the specification has it, or as Shure's own server does; its device list tells which. */
const web: ProtocolDetector = {
  default: system,
  async detect(client, { assumed, error }, signal) {
    // An answer came, and made no sense; nothing else says that another form is spoken.
    if (error.status !== 200) return null
    const met = (await speaksSystemApi(client, signal)) ? systemApi : system
    return met === assumed ? null : met
  },
}

const forms = { 'http:': web, 'https:': web, 'tcp:': strings, 'udp:': uhfrStrings }
const ports = { 'tcp:': 2202, 'udp:': 2202 }

export const shure: Plugin = {
  code: 'shure',
  name: 'Shure',
  errors: { ApiError: ShureApiError, ApiRateLimitError: ShureApiRateLimitError },
  adapters: [system, systemApi, strings, uhfrStrings],
  search: { ports, systems: { 'https:': { port: 10_000, identify: meetSystemApi } }, beacon },

  listSources(config) {
    const { addresses, username, authHeader, ...settings } = parseConnection(config, ports)
    return addresses.map(({ secret, ...address }) => ({
      ...settings,
      ...address,
      adapter: adapterFor(forms, address.baseUrl),
      credentials: { scheme: 'digest', username, secret, header: authHeader, keyHeader: 'x-api-key' },
    }))
  },
}
