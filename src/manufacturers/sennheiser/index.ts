/** Sennheiser gear: systems that speak for many devices, and devices that speak for themselves. */

import { parseConnection } from '../../upstream/connection.ts'
import { formOf, type Plugin } from '../plugin.ts'
import { SennheiserApiError, SennheiserApiRateLimitError } from './errors.ts'
import { system } from './system.ts'

const forms = { 'http:': system, 'https:': system }

export const sennheiser: Plugin = {
  code: 'sennheiser',
  name: 'Sennheiser',
  errors: { ApiError: SennheiserApiError, ApiRateLimitError: SennheiserApiRateLimitError },
  forms: [system],

  listSources(config) {
    const { addresses, username, authHeader: _, ...settings } = parseConnection(config)
    return addresses.map(({ secret, ...address }) => ({
      ...settings,
      ...address,
      form: formOf(forms, address.baseUrl),
      credentials: { scheme: 'basic', username, secret },
    }))
  },
}
