/** The plugin for receivers that scripts report through `POST /api/ingest/`. It polls nothing. */

import { ConfigError } from '../../upstream/connection-settings.ts'
import type { Plugin } from '../plugin.ts'
import { IngestApiError, IngestApiRateLimitError } from './errors.ts'

export const ingest: Plugin = {
  code: 'ingest',
  name: 'Reports from scripts',
  errors: { ApiError: IngestApiError, ApiRateLimitError: IngestApiRateLimitError },
  adapters: [],

  listSources(config) {
    const [key] = Object.keys(config)
    if (key !== undefined) throw new ConfigError(`${key}: unknown key; the plugin ingest has no configuration`)
    return []
  },
}
