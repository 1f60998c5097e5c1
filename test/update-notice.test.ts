import { expect, it } from 'vitest'
import { startApp, until } from './support/app.ts'
import { serveFile } from './support/served-file.ts'

// Conformance: C-26.24.
it.concurrent('health has a newer version; the request says nothing about the installation', async () => {
  const release = { version: '999.0.0', url: 'https://micwatch.example/releases/999.0.0' }
  const { url, requests } = await serveFile(JSON.stringify(release))
  const app = await startApp({ config: { update_notice: { url } } })
  await until('health has it', async () => (await app.get('/api/health/')).json.update !== null)
  expect((await app.get('/api/health/')).json).toMatchObject({ status: 'healthy', update: release })
  expect(requests).toHaveLength(1)
  const [request] = requests
  expect(request).toMatchObject({ method: 'GET', url: '/latest.json' })
  expect(request?.headers).toEqual({
    host: new URL(url).host,
    connection: 'keep-alive',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Micwatch',
  })
})

// Conformance: C-26.24.
it.concurrent.each(['{"version": "999.0.0"}', '<html>'])('health has no version of a file that is %s', async (text) => {
  const { url, requests } = await serveFile(text)
  const app = await startApp({ config: { update_notice: { url } } })
  await until('it is read', () => requests.length === 1)
  expect((await app.get('/api/health/')).json).toMatchObject({ status: 'healthy', update: null })
})

// Conformance: C-26.24.
it.concurrent('the update notice is off by default', async () => {
  const app = await startApp()
  expect(app.service.updateNotice).toBeNull()
  expect((await app.get('/api/health/')).json.update).toBeNull()
})
