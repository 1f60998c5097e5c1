/** The plugin for receivers that scripts report through `POST /api/ingest/`. It polls nothing. */

import { ConfigError } from '../../upstream/connection-settings.ts'
import { createErrors } from '../../upstream/errors.ts'
import type { Plugin } from '../plugin.ts'

export const ingest: Plugin = {
  code: 'ingest',
  name: 'Reports from scripts',
  errors: createErrors('Ingest'),
  adapters: [],

  listSources(config) {
    const [key] = Object.keys(config)
    if (key !== undefined) throw new ConfigError(`${key}: unknown key; the plugin ingest has no configuration`)
    return []
  },
}
