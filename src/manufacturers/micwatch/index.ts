/** The plugin for other installations of Micwatch, whose equipment is shown beside local equipment. */

import { isHeaderValue } from '../../domain/text.ts'
import { parseFingerprint } from '../../upstream/certificate.ts'
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
    const { token: _, fingerprint: __, ...connection } = config
    const { addresses, username: ___, authHeader: ____, ...settings } = parseConnection(connection)
    const token = readToken(config)
    const fingerprint = readFingerprint(config)
    return addresses.map(({ baseUrl, name }) => ({
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

function readFingerprint({ fingerprint = null }: PluginConfig): string | null {
  if (fingerprint === null || fingerprint === '') return null
  const parsed = typeof fingerprint === 'string' ? parseFingerprint(fingerprint) : null
  if (parsed !== null) return parsed
  throw new ConfigError("fingerprint: expected the certificate's SHA-256 fingerprint, 64 hex digits")
}
