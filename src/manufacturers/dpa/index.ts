import { createErrors } from '../../upstream/errors.ts'
import { listConfiguredSources, type Plugin } from '../plugin.ts'
import { table } from './fields.ts'
import { defaultPort, ndr1 } from './ndr1.ts'
import { modelStatus } from './status.ts'

const adapters = { 'tcp:': ndr1 }
const ports = { 'tcp:': defaultPort }

export const dpa: Plugin = {
  code: 'dpa',
  name: 'DPA Microphones',
  errors: createErrors('Dpa'),
  fieldTables: [table],
  adapters: [ndr1],
  modelStatus,
  search: { ports },

  listSources: (config) => listConfiguredSources(config, { adapters, ports }),
}
