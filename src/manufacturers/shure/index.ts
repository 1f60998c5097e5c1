/** Shure gear: systems that speak for many devices, and devices that speak for themselves. */

import { parseConnection } from '../../upstream/connection.ts'
import { formOf, type Plugin } from '../plugin.ts'
import { ShureApiError, ShureApiRateLimitError } from './errors.ts'
import { strings, uhfrStrings } from './strings/form.ts'
import { system } from './system.ts'

const forms = { 'http:': system, 'https:': system, 'tcp:': strings, 'udp:': uhfrStrings }
const devicePorts = { 'tcp:': 2202, 'udp:': 2202 }

export const shure: Plugin = {
  code: 'shure',
  name: 'Shure',
  errors: { ApiError: ShureApiError, ApiRateLimitError: ShureApiRateLimitError },
  forms: [system, strings, uhfrStrings],

  listSources(config) {
    const { addresses, username, authHeader, ...settings } = parseConnection(config, devicePorts)
    return addresses.map(({ secret, ...address }) => ({
      ...settings,
      ...address,
      form: formOf(forms, address.baseUrl),
      credentials: { scheme: 'digest', username, secret, header: authHeader },
    }))
  },
}
