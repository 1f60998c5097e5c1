import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { startApp } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'

function get(port: number, path: string, host: string) {
  return new Promise<{ status: number | undefined; location: string | undefined; text: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode, location: response.headers.location, text }))
    })
    sent.on('error', reject).end()
  })
}

// Conformance: C-26.14.
it('server.redirect_port redirects http to https with 308, except /healthz', async () => {
  const port = await freePort()
  const app = await startApp({ config: { tls: 'auto', server: { redirect_port: port, mount: '/mic' } } })
  expect(await get(port, '/mic/wall?a=1', `mics.example:${port}`)).toMatchObject({
    status: 308,
    location: `https://mics.example:${app.port}/mic/wall?a=1`,
  })
  expect(await get(port, '/', '[::1]')).toMatchObject({ status: 308, location: `https://[::1]:${app.port}/mic/` })
  expect(await get(port, '/healthz', 'localhost')).toMatchObject({ status: 200, text: '{"status":"ok"}' })
  expect(await get(port, '/', 'a/@evil.example')).toMatchObject({ status: 400, location: undefined })
})

// Conformance: C-26.14.
it('an http address in public_url does not redirect to http', async () => {
  const port = await freePort()
  const server = { redirect_port: port, public_url: 'http://mics.example' }
  const app = await startApp({ config: { tls: 'auto', server } })
  expect(await get(port, '/wall', 'mics.example')).toMatchObject({
    status: 308,
    location: `https://mics.example:${app.port}/wall`,
  })
})

// Conformance: C-26.14.
it('a redirect port in use ends the start, and is named by its key', async () => {
  const blocker = createServer().listen(0, '127.0.0.1')
  onTestEnd(() => void blocker.close())
  await once(blocker, 'listening')
  const { port } = blocker.address() as AddressInfo
  const started = startApp({ config: { tls: 'auto', server: { redirect_port: port } } })
  await expect(started).rejects.toThrow(`server.redirect_port: 127.0.0.1:${port} is in use by another program`)
})
