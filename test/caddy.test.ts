/** deploy/Caddyfile in a real Caddy: certificates and host names. */

import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { beforeAll, describe, expect, it } from 'vitest'
import { startApp, until } from './support/app.ts'
import { adapt, startCaddy } from './support/caddy.ts'
import { findProxy } from './support/proxy-examples.ts'
import { addAdmin, password } from './support/users.ts'

// Reliability: 3.13.2.
describe('deploy/Caddyfile', () => {
  beforeAll(() => findProxy('caddy'), 300_000)

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
