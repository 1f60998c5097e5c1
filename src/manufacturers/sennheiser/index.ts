/** Sennheiser gear: systems that speak for many devices, and devices that speak for themselves. */

import { parseConnection } from '../../upstream/connection.ts'
import { formOf, type Plugin } from '../plugin.ts'
import { SennheiserApiError, SennheiserApiRateLimitError } from './errors.ts'
import { mcp } from './mcp/dialogue.ts'
import { ssc1 } from './ssc1/dialogue.ts'
import { system } from './system.ts'

const forms = { 'http:': system, 'https:': system, 'ssc1:': ssc1, 'mcp:': mcp }
const devicePorts = { 'ssc1:': 45, 'mcp:': 53_212 }

export const sennheiser: Plugin = {
  code: 'sennheiser',
  name: 'Sennheiser',
  errors: { ApiError: SennheiserApiError, ApiRateLimitError: SennheiserApiRateLimitError },
  forms: [system, ssc1, mcp],

  listSources(config) {
    const { addresses, username, authHeader: _, ...settings } = parseConnection(config, devicePorts)
    return addresses.map(({ secret, ...address }) => ({
      ...settings,
      ...address,
      form: formOf(forms, address.baseUrl),
      credentials: { scheme: 'basic', username, secret },
    }))
  },
}
