import { createErrors } from '../../upstream/errors.ts'
import { listConfiguredSources, type Plugin } from '../plugin.ts'
import { dsqd } from './dsqd.ts'
import { table } from './fields.ts'
import { modelStatus } from './status.ts'

const adapters = { 'tcp:': dsqd }
const ports = { 'tcp:': 4080 }

export const lectrosonics: Plugin = {
  code: 'lectrosonics',
  name: 'Lectrosonics',
  errors: createErrors('Lectrosonics'),
  fieldTables: [table],
  adapters: [dsqd],
  modelStatus,
  search: { ports },

  listSources: (config) => listConfiguredSources(config, { adapters, ports }),
}
