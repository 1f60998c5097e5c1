import { createErrors } from '../../upstream/errors.ts'
import { listConfiguredSources, type Plugin, type ProtocolDetector } from '../plugin.ts'
import { beacon } from './beacon.ts'
import { modelStatus } from './status.ts'
import { strings, uhfrStrings } from './strings/adapter.ts'
import { tables as stringTables } from './strings/fields.ts'
import { system } from './system.ts'
import { table as systemApiTable } from './system-api/fields.ts'
import { identifySystemApi, isSystemApi, systemApi } from './system-api/index.ts'

/**
 * A system implements either the common device API or Shure's System API. Both list devices at `/api/v1/devices`, but
 * in different formats.
 */
const web: ProtocolDetector = {
  default: system,
  async detect(client, { assumed, error }, signal) {
    // Only a successful response that could not be parsed suggests another API.
    if (error.status !== 200) return null
    const detected = (await isSystemApi(client, signal)) ? systemApi : system
    return detected === assumed ? null : detected
  },
}

const adapters = { 'http:': web, 'https:': web, 'tcp:': strings, 'udp:': uhfrStrings }
const ports = { 'tcp:': 2202, 'udp:': 2202 }

export const shure: Plugin = {
  code: 'shure',
  name: 'Shure',
  errors: createErrors('Shure'),
  fieldTables: [...stringTables, systemApiTable],
  adapters: [system, systemApi, strings, uhfrStrings],
  modelStatus,
  audioFloors: new Map([
    ['ulxd', -50],
    ['qlxd', -50],
  ]),
  search: { ports, systems: { 'https:': { port: 10_000, identify: identifySystemApi } }, beacon },

  listSources: (config) =>
    listConfiguredSources(config, {
      adapters,
      ports,
      toCredentials: ({ username = 'api', secret, authHeader: header }) => ({
        scheme: 'digest',
        username,
        secret,
        header,
        keyHeader: 'x-api-key',
      }),
    }),
}
