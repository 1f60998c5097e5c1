/** The examples of docs/reverse-proxy.md in front of the service: on port 443 and another one, at the root and below a path. */

import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../scripts/free-port.ts'
import { startApp, until } from './support/app.ts'
import { findProxy, proxies, startExample } from './support/proxy-examples.ts'
import { addAdmin, password } from './support/users.ts'

const name = 'mics.venue.example'

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Sends requests as a browser does whose address bar shows this origin. */
function browserAt(origin: string, port: number) {
  const { host } = new URL(origin)
  const connection = { host: '127.0.0.1', port, servername: name, rejectUnauthorized: false }
  return {
    send: (path: string, { method = 'GET', headers = {}, body }: Sent = {}) =>
      new Promise<IncomingMessage & { readonly text: string }>((resolve, reject) => {
        const json = body && { origin, 'content-type': 'application/json' }
        const options = { ...connection, agent: false, method, path, headers: { host, ...json, ...headers } }
        const sent = request(options, async (response) => {
          let text = ''
          for await (const chunk of response.setEncoding('utf8')) text += chunk
          resolve(Object.assign(response, { text }))
        })
        sent.on('error', reject)
        sent.end(body && JSON.stringify(body))
      }),
    /** Resolves with the first message. */
    openSocket: (path: string, headers: Readonly<Record<string, string>>) =>
      new Promise<string>((resolve, reject) => {
        const address = `wss://127.0.0.1:${port}${path}`
        const socket = new WebSocket(address, { ...connection, origin, headers: { host, ...headers } })
        socket.once('error', reject)
        socket.once('message', (message) => {
          socket.terminate()
          resolve(String(message))
        })
      }),
  }
}

// Conformance: C-26.6.
describe.each(proxies)('the example of %s', (proxy) => {
  beforeAll(() => findProxy(proxy), 300_000)

  it.each([
    { port: 443, mount: '' },
    { port: 443, mount: '/mics' },
    { port: null, mount: '' },
    { port: null, mount: '/mics' },
  ])('passes on what Micwatch needs: %o', async ({ port, mount }) => {
    const httpsPort = port ?? (await freePort())
    const origin = new URL(`https://${name}:${httpsPort}`).origin
    const app = await startApp({
      config: {
        server: { mount, public_url: origin, allowed_hosts: [name], trusted_proxies: ['127.0.0.1/32'] },
        require_login: true,
      },
    })
    await addAdmin(app)
    await startExample(proxy, { name, httpsPort, services: [`127.0.0.1:${app.port}`] })
    const { send, openSocket } = browserAt(origin, httpsPort)
    await until('the proxy responds', async () => (await send(`${mount}/healthz`)).statusCode === 200)

    const page = await send(`${mount}/`, { headers: { accept: 'text/html' } })
    expect(page.statusCode).toBe(302)
    expect(new URL(page.headers.location ?? '', origin).href).toMatch(`${origin}${mount}/`)
    const signedIn = await send(`${mount}/api/auth/login`, {
      method: 'POST',
      body: { username: 'root', password },
    })
    expect(signedIn).toMatchObject({ statusCode: 200 })
    const cookies = signedIn.headers['set-cookie'] ?? []
    expect(cookies.join()).toMatch(/; Secure/)
    const cookie = cookies.map((header) => header.split(';')[0]).join('; ')
    expect(JSON.parse(await openSocket(`${mount}/ws`, { cookie }))).toHaveProperty('type')
    const headers = { cookie, 'x-csrf-token': JSON.parse(signedIn.text).csrf_token }
    const stored = await send(`${mount}/api/performers/`, { method: 'POST', headers, body: { name: 'Nora' } })
    expect([stored.statusCode, stored.text]).toEqual([201, expect.stringContaining('Nora')])
    // From another port of the same host, a page may not change anything.
    const foreign = { ...headers, origin: `https://${name}:${httpsPort + 1}` }
    const refused = await send(`${mount}/api/performers/`, { method: 'POST', headers: foreign, body: { name: 'Ben' } })
    expect(refused.statusCode).toBe(403)
  })
})
