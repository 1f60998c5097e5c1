/** deploy/Caddyfile in a real Caddy: which certificate each name gets, and which requests reach Micwatch. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { startApp, until } from './app.ts'
import { onTestEnd } from './cleanup.ts'
import { createTestFolder } from './databases.ts'
import { installDebianPackage } from './debian-package.ts'
import { freePort } from './postgres.ts'
import { addAdmin, password } from './users.ts'

const caddyfile = fileURLToPath(new URL('../deploy/Caddyfile', import.meta.url))

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

async function requireCaddy(): Promise<void> {
  try {
    execFileSync('caddy', ['version'], { stdio: 'ignore' })
  } catch {
    await installDebianPackage('caddy')
  }
}

function adapt(env: Record<string, string>): CaddyConfig {
  const args = ['adapt', '--config', caddyfile, '--adapter', 'caddyfile']
  const environment = { ...process.env, MICWATCH_SCREENS: '127.0.0.1:8080', ...env }
  return JSON.parse(execFileSync('caddy', args, { env: environment, stdio: ['ignore', 'pipe', 'ignore'] }).toString())
}

// Reliability: 3.13.2.
describe('deploy/Caddyfile', () => {
  beforeAll(requireCaddy, 300_000)

  it('asks a public authority for public names, and Caddy’s own for private names and IP addresses', () => {
    const { apps } = adapt({
      MICWATCH_PUBLIC_NAME: 'mics.example.org, wall.example.org',
      MICWATCH_PRIVATE_NAME: 'mics, mics.venue.lan',
      MICWATCH_ADDRESS: '192.168.1.20',
    })
    const { policies } = apps.tls.automation
    const internal = policies.filter(({ issuers }) => issuers?.[0]?.module === 'internal')
    expect(internal.flatMap(({ subjects = [] }) => subjects).sort()).toEqual(['192.168.1.20', 'mics', 'mics.venue.lan'])
    // A policy without issuers uses public authorities.
    for (const { issuers } of policies.filter((policy) => !internal.includes(policy))) expect(issuers).toBeUndefined()
    expect(JSON.stringify(apps.http)).toContain('{"host":["mics.example.org","wall.example.org"]}')
  })

  it('serves private names and the IP address with matching certificates, and rejects other names with a message', async () => {
    const names = { MICWATCH_PRIVATE_NAME: 'micwatch.local', MICWATCH_ADDRESS: '127.0.0.2' }
    const app = await startApp({
      config: {
        server: { host: '0.0.0.0', allowed_hosts: Object.values(names), trusted_proxies: ['127.0.0.0/8'] },
      },
    })
    await addAdmin(app)
    const { httpsPort, httpPort } = await startCaddy({ ...names, MICWATCH_SCREENS: `127.0.0.1:${app.port}` })

    const send = (name: string, options: object = {}, body?: string) =>
      requestOver(httpsPort, { headers: { host: name, 'content-type': 'application/json' }, ...options }, body)
    const health = (name: string, servername = name) => send(name, { path: '/healthz', servername })
    await until('Caddy responds', async () => (await health('micwatch.local')).status === 200, 20_000)
    expect(await health('micwatch.local')).toMatchObject({ status: 200, names: 'DNS:micwatch.local' })
    expect(await health('localhost')).toMatchObject({ status: 200, names: 'DNS:localhost' })
    // A browser that connects to an IP address sends no server name.
    expect(await health('127.0.0.2', '')).toMatchObject({ status: 200, names: 'IP Address:127.0.0.2' })

    const login = { method: 'POST', path: '/api/auth/login', servername: 'micwatch.local' }
    const { status, cookie } = await send('micwatch.local', login, JSON.stringify({ username: 'root', password }))
    expect([status, cookie]).toEqual([200, expect.stringMatching(/^__Host-micwatch_sid=.*; Secure(;|$)/)])

    expect(await health('127.0.0.3', '')).toMatchObject({
      status: 421,
      body: expect.stringContaining('MICWATCH_ADDRESS'),
    })
    await expect(health('other.local')).rejects.toThrow(/alert/)
    const plain = await fetch(`http://127.0.0.1:${httpPort}/`)
    expect([plain.status, await plain.text()]).toEqual([421, expect.stringContaining('MICWATCH_PRIVATE_NAME')])
  })
})

/** Starts Caddy with deploy/Caddyfile on free ports, without changing the certificates that this machine trusts. */
async function startCaddy(env: Record<string, string>) {
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
  const child = spawn('caddy', ['run', '--config', file], {
    env: { PATH: process.env.PATH, HOME: folder.path },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  onTestEnd(async () => {
    child.kill()
    await exited
    await folder.drop()
  })
  return { httpsPort, httpPort }
}

interface TlsResponse {
  readonly status: number
  readonly names: string
  readonly cookie: string | undefined
  readonly body: string
}

function requestOver(port: number, options: object, body?: string): Promise<TlsResponse> {
  return new Promise((resolve, reject) => {
    const requestOptions = { host: '127.0.0.1', port, rejectUnauthorized: false, agent: false, ...options }
    const clientRequest = request(requestOptions, async (response) => {
      const { subjectaltname = '' } = (response.socket as TLSSocket).getPeerCertificate()
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      const { statusCode: status = 0, headers } = response
      resolve({ status, names: subjectaltname, cookie: headers['set-cookie']?.[0], body: text })
    })
    clientRequest.on('error', reject)
    clientRequest.end(body)
  })
}
