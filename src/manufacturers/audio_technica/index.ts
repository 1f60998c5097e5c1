import { createErrors } from '../../upstream/errors.ts'
import { listConfiguredSources, type Plugin } from '../plugin.ts'
import { tables } from './fields.ts'
import { receiver } from './receiver.ts'
import { modelStatus } from './status.ts'

const adapters = { 'tcp:': receiver }
const ports = { 'tcp:': 17_200 }

export const audioTechnica: Plugin = {
  code: 'audio_technica',
  name: 'Audio-Technica',
  errors: createErrors('AudioTechnica'),
  fieldTables: [...tables],
  adapters: [receiver],
  modelStatus,
  audioFloors: new Map([['esw', -50]]),
  search: { ports },

  listSources: (config) => listConfiguredSources(config, { adapters, ports }),
}
