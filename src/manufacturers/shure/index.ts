/** Shure gear: systems that speak for many devices, and devices that speak for themselves. */

import { parseConnection } from '../../upstream/connection.ts'
import { type FormChoice, formOf, type Plugin } from '../plugin.ts'
import { announcements } from './announced.ts'
import { ShureApiError, ShureApiRateLimitError } from './errors.ts'
import { strings, uhfrStrings } from './strings/form.ts'
import { system } from './system.ts'
import { meetSystemApi, speaksSystemApi, systemApi } from './system-api/index.ts'

/** A system speaks as the specification has it, or as Shure's own server does; its device list tells which. */
const web: FormChoice = {
  usual: system,
  async detect(link, { assumed, trouble }, signal) {
    // An answer came, and made no sense; nothing else says that another form is spoken.
    if (trouble.status !== 200) return null
    const met = (await speaksSystemApi(link, signal)) ? systemApi : system
    return met === assumed ? null : met
  },
}

const forms = { 'http:': web, 'https:': web, 'tcp:': strings, 'udp:': uhfrStrings }
const ports = { 'tcp:': 2202, 'udp:': 2202 }

export const shure: Plugin = {
  code: 'shure',
  name: 'Shure',
  errors: { ApiError: ShureApiError, ApiRateLimitError: ShureApiRateLimitError },
  forms: [system, systemApi, strings, uhfrStrings],
  search: { ports, systems: { 'https:': { port: 10_000, meet: meetSystemApi } }, beacon: announcements },

  listSources(config) {
    const { addresses, username, authHeader, ...settings } = parseConnection(config, ports)
    return addresses.map(({ secret, ...address }) => ({
      ...settings,
      ...address,
      form: formOf(forms, address.baseUrl),
      credentials: { scheme: 'digest', username, secret, header: authHeader, keyHeader: 'x-api-key' },
    }))
  },
}
