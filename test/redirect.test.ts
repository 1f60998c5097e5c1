import { request } from 'node:http'
import { expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { startApp } from './support/app.ts'

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
