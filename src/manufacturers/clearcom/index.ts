/** The plugin for Clear-Com intercom stations, whose belt packs are shown like other packs. */

import { createErrors } from '../../upstream/errors.ts'
import { listConfiguredSources, type Plugin } from '../plugin.ts'
import { identifyStation, stations } from './clearcom.ts'
import { table } from './fields.ts'
import { modelStatus } from './status.ts'

const adapters = { 'http:': stations, 'https:': stations }

export const clearcom: Plugin = {
  code: 'clearcom',
  name: 'Clear-Com',
  errors: createErrors('Clear-Com'),
  fieldTables: [table],
  adapters: [stations],
  modelStatus,
  search: { ports: { 'http:': 80 }, identify: { 'http:': identifyStation } },

  listSources: (config) =>
    listConfiguredSources(config, {
      adapters,
      ports: {},
      // The session signs in by Basic or by a login, as the station requests.
      toCredentials: ({ secret }) => ({ scheme: 'basic', username: null, secret }),
    }),
}
