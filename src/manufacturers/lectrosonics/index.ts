/** Lectrosonics receivers that speak for themselves. */

import { parseConnection } from '../../upstream/connection-settings.ts'
import { adapterFor, type Plugin } from '../plugin.ts'
import { dsqd } from './dsqd.ts'
import { LectrosonicsApiError, LectrosonicsApiRateLimitError } from './errors.ts'

const forms = { 'tcp:': dsqd }
const ports = { 'tcp:': 4080 }

export const lectrosonics: Plugin = {
  code: 'lectrosonics',
  name: 'Lectrosonics',
  errors: { ApiError: LectrosonicsApiError, ApiRateLimitError: LectrosonicsApiRateLimitError },
  adapters: [dsqd],
  search: { ports },

  listSources(config) {
    const { addresses, username, authHeader, ...settings } = parseConnection(config, ports)
    return addresses.map(({ secret, ...address }) => ({
      ...settings,
      ...address,
      adapter: adapterFor(forms, address.baseUrl),
      credentials: { scheme: 'none' },
    }))
  },
}
