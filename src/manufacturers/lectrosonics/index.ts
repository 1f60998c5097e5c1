import { listConfiguredSources, type Plugin } from '../plugin.ts'
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

  listSources: (config) => listConfiguredSources(config, { adapters, ports }),
}
