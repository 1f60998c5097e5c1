/** Pictures of performers: upload, download, and their addresses in the bodies of performers. */

import { describe, expect, it } from 'vitest'
import type { Tx } from '../src/storage/database.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { openLive } from './support/live-client.ts'
import { sendForm } from './support/scan-upload.ts'
import { engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(100, 1)])
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')

async function addPerformer(app: TestApp, body: object) {
  const { status, json } = await app.post('/api/performers/', { name: 'Nora', ...body })
  expect(status).toBe(201)
  return json
}

function sendFiles(app: TestApp, files: Readonly<Record<string, Buffer>>) {
  const form = new FormData()
  for (const [name, bytes] of Object.entries(files)) form.append('file', new Blob([new Uint8Array(bytes)]), name)
  return sendForm(app, form, {}, '/api/performers/pictures/')
}

function upload(app: TestApp, id: number, body: Buffer, headers: Record<string, string> = {}) {
  return app.send('PUT', `/api/performers/${id}/picture/`, { headers, body })
}

const change = (app: TestApp, id: number, body: object) =>
  app.send('PUT', `/api/performers/${id}/`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe.concurrent.each(engines)('pictures of performers (%s)', (engine) => {
  // Conformance: C-16.1, C-16.2, C-16.3.
  it('are stored, served with an ETag, replaced and removed', async () => {
    const app = await startApp({ engine })
    const { id } = await addPerformer(app, {})
    const stored = await upload(app, id, png, { 'content-type': 'image/gif' })
    expect([stored.status, stored.json]).toEqual([
      200,
      {
        id,
        name: 'Nora',
        notes: '',
        picture: expect.stringMatching(/^\/api\/pictures\/[0-9a-f]{32}$/),
        version: expect.any(Number),
      },
    ])
    const { picture } = stored.json
    expect((await app.get(`/api/performers/${id}/`)).json).toEqual(stored.json)
    const served = await app.get(picture)
    expect([served.status, served.bytes]).toEqual([200, png])
    expect(served.headers).toMatchObject({ 'content-type': 'image/png', 'x-content-type-options': 'nosniff' })
    expect(served.headers['cache-control']).toContain('immutable')
    const etag = String(served.headers.etag)
    const again = await app.get(picture, { 'if-none-match': etag })
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, etag])
    expect((await app.get(picture, { 'if-none-match': '"other"' })).status).toBe(200)

    // A client may send back the body that it has read.
    expect((await change(app, id, stored.json)).json).toEqual(stored.json)
    const replaced = (await upload(app, id, jpeg)).json.picture
    expect(replaced).not.toBe(picture)
    expect((await app.get(replaced)).headers['content-type']).toBe('image/jpeg')
    expect((await app.get(picture)).status).toBe(404)

    const remove = () => app.send('DELETE', `/api/performers/${id}/picture/`)
    expect((await remove()).status).toBe(204)
    expect((await remove()).status).toBe(404)
    expect((await app.get(`/api/performers/${id}/`)).json.picture).toBe(null)
    expect((await app.get(replaced)).status).toBe(404)
  })

  // Conformance: C-16.4.
  it('are stored once for the same data URL, and removed once no performer and no undo needs them', async () => {
    const app = await startApp({ engine })
    const url = `data:image/webp;base64,${png.toString('base64')}`
    const [nora, ada] = [await addPerformer(app, { picture: url }), await addPerformer(app, { picture: url })]
    expect(nora.picture).toBe(ada.picture)
    expect((await app.get(nora.picture)).headers['content-type']).toBe('image/png')
    await app.send('DELETE', `/api/performers/${nora.id}/`)
    expect((await app.get(nora.picture)).status).toBe(200)
    // Any other address stays as it is.
    for (const picture of ['https://example.com/a.png', '/photos/ada.png', 'data:image/gif;base64,R0lGODlhAQ==']) {
      expect((await change(app, ada.id, { picture })).json.picture).toBe(picture)
    }
    expect((await app.get(nora.picture)).status).toBe(200)
    const expire = (tx: Tx) => tx.query.updateTable('undo_records').set({ created_at: 0 }).execute()
    await withDatabase(app, (db) => db.transaction(expire))
    await change(app, ada.id, { notes: 'Understudy' })
    expect((await app.get(nora.picture)).status).toBe(404)
    const tooLong = await change(app, ada.id, { picture: `data:image/svg+xml;base64,${'A'.repeat(262_144)}` })
    expect([tooLong.status, tooLong.json.details]).toEqual([
      400,
      expect.stringContaining('picture: expected text of at most 262144'),
    ])
  })
})

// Conformance: C-21.62.
it('are stored by file name, without the files that are no pictures or match nobody', async () => {
  const app = await startApp()
  const ids: Record<string, number> = {}
  for (const name of ['Nóra Åberg', 'Bo', 'Cy', 'Cy']) ids[name] = (await addPerformer(app, { name })).id
  const { status, headers, json } = await sendFiles(app, {
    ...{ 'nora_aberg.JPG': jpeg, 'bo.png': png, 'Bo.jpeg': jpeg, 'cy.png': png, 'Who.png': png, 'notes.txt': svg },
    'large.png': Buffer.concat([png, Buffer.alloc(2_000_000)]),
  })
  const undo_id = Number(headers['x-undo-id'])
  expect([status, json]).toEqual([
    200,
    {
      matched: [
        { file: 'nora_aberg.JPG', performer_id: ids['Nóra Åberg'], name: 'Nóra Åberg' },
        { file: 'bo.png', performer_id: ids.Bo, name: 'Bo' },
      ],
      unmatched: ['Bo.jpeg', 'cy.png', 'Who.png', 'notes.txt', 'large.png'],
      failures: [
        { file: 'Bo.jpeg', reason: 'bo.png is already the picture of Bo.' },
        { file: 'cy.png', reason: 'Several performers have this name.' },
        { file: 'notes.txt', reason: 'The file is not a PNG, JPEG or WebP picture.' },
        { file: 'large.png', reason: 'The file is larger than 2 MB.' },
      ],
      undo_id,
    },
  ])
  const [nora, bo] = (await app.get('/api/performers/')).json
  expect([(await app.get(nora.picture)).bytes, (await app.get(bo.picture)).bytes]).toEqual([jpeg, png])
  expect((await app.post(`/api/undo/${undo_id}`)).status).toBe(200)
  expect((await app.get('/api/performers/')).json[0].picture).toBeNull()
  const empty = await sendFiles(app, {})
  expect([empty.status, empty.json.details]).toEqual([400, 'file: missing'])
  expect((await app.post('/api/performers/pictures/', {})).status).toBe(415)
})

describe.concurrent('uploads', () => {
  // Conformance: C-16.2.
  it('are refused unless they are PNG, JPEG or WebP pictures of at most 2 MB', async () => {
    const app = await startApp()
    const { id } = await addPerformer(app, {})
    for (const body of [svg, Buffer.from('GIF89a'), Buffer.from('{}'), Buffer.alloc(0)]) {
      expect((await upload(app, id, body, { 'content-type': 'image/png' })).status).toBe(415)
    }
    const largest = Buffer.concat([png, Buffer.alloc(2_000_000 - png.length)])
    expect((await upload(app, id, largest)).status).toBe(200)
    expect((await upload(app, id, Buffer.concat([largest, Buffer.alloc(1)]))).status).toBe(413)
    expect((await upload(app, 99, png)).status).toBe(404)
    expect((await app.send('PUT', `/api/performers/${id}/`, { body: largest })).status).toBe(413)
  })

  // Conformance: C-16.1, C-16.3.
  it('need the role operator, downloads the role viewer; downloads are not rate-limited', async () => {
    const app = await startApp({
      config: { require_login: true, rate_limit: { max_requests: 20, window_seconds: 3600 } },
    })
    const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
    const { id } = (await app.post('/api/performers/', { name: 'Nora' }, operator)).json
    expect((await upload(app, id, png, viewer)).status).toBe(403)
    const { picture } = (await upload(app, id, png, operator)).json
    for (let count = 0; count < 30; count += 1) expect((await app.get(picture, viewer)).status).toBe(200)
    expect((await app.get('/api/performers/', viewer)).status).toBe(200)
    expect((await app.get(picture)).status).toBe(401)
  })
})

// Conformance: C-16.1.
it('announces a new picture by its address, which includes the mount prefix', async () => {
  const app = await startApp({ config: { server: { mount: '/stage' } } })
  const { id } = await addPerformer(app, {})
  const client = await openLive(app)
  const { json } = await upload(app, id, png)
  expect(json.picture).toMatch(/^\/stage\/api\/pictures\//)
  await until('the picture is announced', () => client.data().performers[0]?.picture === json.picture)
  expect((await app.withBasePath('/').get(json.picture)).status).toBe(200)
  expect((await change(app, id, json)).json).toEqual(json)
})
