/** The plugin for other installations of Micwatch, whose equipment is shown beside local equipment. */

import { isHeaderValue } from '../../domain/text.ts'
import { ConfigError, parseConnection } from '../../upstream/connection-settings.ts'
import { createErrors } from '../../upstream/errors.ts'
import type { Plugin, PluginConfig } from '../plugin.ts'
import { adapter } from './adapter.ts'

const keys = ['api_base_url', 'token', 'ssl_verify', 'fingerprint', 'timeout', 'enabled'] as const

export const micwatch: Plugin = {
  code: 'micwatch',
  name: 'Another Micwatch',
  errors: createErrors('Micwatch'),
  adapters: [adapter],

  listSources(config) {
    const unknown = Object.keys(config).find((key) => !(keys as readonly string[]).includes(key))
    if (unknown !== undefined) throw new ConfigError(`${unknown}: unknown key; expected one of ${keys.join(', ')}`)
    const { token: _, ...connection } = config
    const { addresses, username: __, authHeader: ___, ...settings } = parseConnection(connection)
    const token = readToken(config)
    return addresses.map(({ baseUrl, name, fingerprint }) => ({
      ...settings,
      ...{ baseUrl, name, fingerprint, adapter },
      credentials: token === null ? ({ scheme: 'none' } as const) : ({ scheme: 'bearer', token } as const),
    }))
  },
}

/** Returns null without a token: an installation without users needs none. */
function readToken({ token = null }: PluginConfig): string | null {
  if (token === null || token === '') return null
  if (typeof token === 'string' && isHeaderValue(token)) return token
  throw new ConfigError('token: expected an API token of the other installation')
}
