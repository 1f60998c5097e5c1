/** The plugin for Lectrosonics receivers. */

import { parseConnection } from '../../upstream/connection-settings.ts'
import { adapterFor, type Plugin } from '../plugin.ts'
import { dsqd } from './dsqd.ts'
import { LectrosonicsApiError, LectrosonicsApiRateLimitError } from './errors.ts'

const adapters = { 'tcp:': dsqd }
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
      adapter: adapterFor(adapters, address.baseUrl),
      credentials: { scheme: 'none' },
    }))
  },
}
