/** Runs deploy/Caddyfile in a real Caddy. */

import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../scripts/free-port.ts'
import { runProxy } from './proxy-examples.ts'
import { createTestFolder } from './store/databases.ts'

const caddyfile = fileURLToPath(new URL('../../deploy/Caddyfile', import.meta.url))

interface CaddyConfig {
  readonly apps: {
    readonly tls: { readonly automation: { readonly policies: readonly Policy[] } }
    readonly http: { readonly servers: Record<string, { listen: string[] }> }
  }
}

interface Policy {
  readonly subjects?: readonly string[]
  readonly issuers?: readonly { readonly module: string }[]
}

export function adapt(env: Record<string, string>): CaddyConfig {
  const args = ['adapt', '--config', caddyfile, '--adapter', 'caddyfile']
  const environment = { ...process.env, MICWATCH_SCREENS: '127.0.0.1:8080', ...env }
  return JSON.parse(execFileSync('caddy', args, { env: environment, stdio: ['ignore', 'pipe', 'ignore'] }).toString())
}

/** Starts Caddy with deploy/Caddyfile on free ports, without changing the certificates that this machine trusts. */
export async function startCaddy(env: Record<string, string>) {
  const folder = await createTestFolder()
  const [httpsPort, httpPort] = [await freePort(), await freePort()]
  const { apps } = adapt(env)
  for (const server of Object.values(apps.http.servers)) {
    server.listen = server.listen.map((address) => (address === ':443' ? `:${httpsPort}` : `:${httpPort}`))
  }
  const config = {
    admin: { disabled: true },
    apps: {
      ...apps,
      http: { ...apps.http, https_port: httpsPort, http_port: httpPort },
      pki: { certificate_authorities: { local: { install_trust: false } } },
    },
  }
  const file = join(folder.path, 'caddy.json')
  await writeFile(file, JSON.stringify(config))
  runProxy('caddy', ['run', '--config', file], folder)
  return { httpsPort, httpPort }
}
