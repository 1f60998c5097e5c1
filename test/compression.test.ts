/** How texts are sent: the files that a page names, compression, ranges and ETags. */

import { readdir, readFile } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { configFor, startApp, startShure, until } from './support/app.ts'

async function startService() {
  const shure = await startShure({ receivers: 3 })
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('all receivers are known', async () => (await app.receivers()).length === 3)
  return { app }
}

describe('the HTML of a page', () => {
  it('names the scripts and styles that the page needs', async () => {
    const { app } = await startService()
    const filesOf = async (path: string) => {
      const html = (await app.get(path)).bytes.toString()
      return [...html.matchAll(/<link rel="(?:modulepreload|stylesheet)" crossorigin href="(.*?)"/g)].map(
        ([, file]) => `${file}`,
      )
    }
    const files = await filesOf('/wall')
    expect(files.filter((file) => /\/wall-[^/]*\.(js|css)$/.test(file))).toHaveLength(2)
    expect(await filesOf('/alerts')).not.toEqual(files)
    for (const file of files) expect((await app.get(file)).status).toBe(200)
  })
})

describe('texts over 1 kB', () => {
  it('are compressed as the client accepts, and support HEAD, ranges and ETags', async () => {
    const { app } = await startService()
    const folder = new URL('../dist/web/assets/', import.meta.url)
    const script = (await readdir(folder)).find((name) => /^app-.*\.js$/.test(name))
    const source = await readFile(new URL(`${script}`, folder))
    const path = `/assets/${script}`
    for (const [accepted, encoding, decode] of [
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip, br;q=0', 'gzip', gunzipSync],
      ['identity', undefined, (bytes: Buffer) => bytes],
    ] as const) {
      const headers = { 'accept-encoding': accepted }
      const response = await app.get(path, headers)
      expect(response.headers).toMatchObject({
        vary: 'accept-encoding',
        'cache-control': expect.stringMatching(/immut/),
      })
      expect([response.headers['content-type'], response.headers['content-encoding']]).toEqual([
        expect.stringMatching(/javascript; charset=utf-8/),
        encoding,
      ])
      expect(decode(response.bytes)).toEqual(source)
      const head = await app.send('HEAD', path, { headers })
      expect([head.headers['content-length'], head.headers['content-encoding'], head.bytes.length]).toEqual([
        String(response.bytes.length),
        encoding,
        0,
      ])
      expect((await app.get(path, { ...headers, 'if-none-match': response.headers.etag })).status).toBe(304)
      const part = await app.get(path, { ...headers, range: 'bytes=10-19' })
      expect([part.status, part.bytes]).toEqual([206, response.bytes.subarray(10, 20)])
    }

    for (const [path, status] of [
      ['/api/channels/', 200],
      ['/api/frequencies/', 200],
      ['/api/openapi.json', 200],
      ['/help/index.html', 200],
      ['/help/help.css', 200],
      ['/metrics', 200],
    ] as const) {
      const headers = { 'accept-encoding': 'gzip' }
      const response = await app.get(path, headers)
      expect([path, response.status, response.headers['content-encoding']]).toEqual([path, status, 'gzip'])
      expect(response.headers.vary?.toLowerCase()).toBe('accept-encoding')
      expect(gunzipSync(response.bytes).length).toBeGreaterThan(1023)
      const head = await app.send('HEAD', path, { headers })
      expect([path, head.headers['content-encoding'], head.bytes.length]).toEqual([path, 'gzip', 0])
      expect((await app.get(path)).headers['content-encoding']).toBeUndefined()
    }

    for (const path of ['/healthz', '/app/icon-192.png', '/api/nothing/', '/api/auth/me']) {
      const response = await app.get(path, { 'accept-encoding': 'gzip, br' })
      expect([path, response.headers['content-encoding']]).toEqual([path, undefined])
    }
  })
})
