/** Malformed requests and frames, byte by byte: each has one defined response, and the service continues. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { startApp, until } from '../support/app.ts'
import { frame, openRaw } from '../support/faults/raw-socket.ts'

const close = 'Connection: close\r\n\r\n'
const json = 'Content-Type: application/json\r\n'

/** Description, bytes to send, and expected status of the response. */
const requests: readonly (readonly [string, string, number])[] = [
  ['two hosts', `GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n${close}`, 421],
  ['no host', `GET /healthz HTTP/1.1\r\n${close}`, 421],
  ['no host with HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 421],
  ['an empty host', `GET /healthz HTTP/1.1\r\nHost:\r\n${close}`, 421],
  ['a foreign host', `GET /healthz HTTP/1.1\r\nHost: evil.example\r\n${close}`, 421],
  [
    'an absolute URL with a foreign host',
    `GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n${close}`,
    421,
  ],
  ['an absolute URL with a password', `GET http://a:b@localhost/healthz HTTP/1.1\r\nHost: localhost\r\n${close}`, 421],
  ['an absolute URL with another scheme', `GET https://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n${close}`, 421],
  [
    'a length and a transfer encoding',
    `POST /api/group/ HTTP/1.1\r\nHost: localhost\r\n${json}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  [
    'two lengths',
    `POST /api/group/ HTTP/1.1\r\nHost: localhost\r\n${json}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `,
    400,
  ],
  [
    'a chunk without a size',
    `POST /api/group/ HTTP/1.1\r\nHost: localhost\r\n${json}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n`,
    400,
  ],
  ['a head of 20 KiB', `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n${close}`, 431],
  ['a URL of 9 KiB', `GET /healthz?${'x'.repeat(9000)} HTTP/1.1\r\nHost: localhost\r\n${close}`, 414],
  ['a URL of 20 KiB', `GET /healthz?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n${close}`, 431],
  ['a NUL in a header', `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n${close}`, 400],
  ['a header without a colon', `GET /healthz HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n${close}`, 400],
  ['a space before the colon', `GET /healthz HTTP/1.1\r\nHost : localhost\r\n${close}`, 400],
  ['an unknown method', `FOO /healthz HTTP/1.1\r\nHost: localhost\r\n${close}`, 400],
  ['an unknown version', `GET /healthz HTTP/9.9\r\nHost: localhost\r\n${close}`, 400],
  ['the beginning of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
  ['a NUL in the path', `GET /api/receivers/%00/ HTTP/1.1\r\nHost: localhost\r\n${close}`, 400],
  ['an invalid escape', `GET /api/receivers/%zz/ HTTP/1.1\r\nHost: localhost\r\n${close}`, 400],
  ['a path outside the folder', `GET /assets/..%2f..%2fmain.js HTTP/1.1\r\nHost: localhost\r\n${close}`, 404],
  ['an encoded slash', `GET /api%2Fadmin%2Fusers HTTP/1.1\r\nHost: localhost\r\n${close}`, 404],
  ['an unsupported method', `DELETE /api/health/ HTTP/1.1\r\nHost: localhost\r\n${close}`, 405],
  [
    'text instead of JSON',
    `POST /api/group/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n${close}{}`,
    415,
  ],
  [
    'JSON with a suffix after a tab',
    `POST /api/group/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\ta\r\nContent-Length: 2\r\n${close}{}`,
    415,
  ],
  [
    'JSON in a charset that is not UTF-8',
    `POST /api/group/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json; charset=latin1\r\nContent-Length: 2\r\n${close}{}`,
    415,
  ],
  [
    'a Content-Length that is too large',
    `POST /api/group/ HTTP/1.1\r\nHost: localhost\r\n${json}Content-Length: 1048577\r\n${close}`,
    413,
  ],
  [
    'an upgrade of a URL without WebSocket',
    `GET /api/data.json HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    400,
  ],
  [
    'an upgrade of an unknown URL',
    'GET /no/where HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    404,
  ],
]

describe('a request', () => {
  // Reliability: 1.5, 3.3.4, 3.10.1, 3.12.2.
  it('results in the expected status, with the standard error body', async () => {
    const app = await startApp()
    for (const [name, text, status] of requests) {
      const response = await app.raw(text)
      const [head = '', body = ''] = response.split('\r\n\r\n')
      expect([name, Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1])]).toEqual([name, status])
      expect([name, JSON.parse(body)]).toEqual([name, expect.objectContaining({ status, error: expect.any(String) })])
      expect(head).toMatch(/\r\ncontent-type: application\/json/i)
      expect(head).toMatch(/\r\ncontent-security-policy: default-src 'none'/i)
      expect(head).toMatch(/\r\nx-content-type-options: nosniff/i)
      expect(head).not.toMatch(/\r\n(server|x-powered-by):/i)
      if (status === 405) expect(head).toMatch(/\r\nallow: GET, HEAD/i)
    }
    expect((await app.get('/healthz')).status).toBe(200)
  })

  // Conformance: C-7.25.
  it('for an upgrade that is rejected results in Connection: close, and the connection is closed', async () => {
    const app = await startApp()
    const appWithoutWebSocket = await startApp({ config: { settings: { WEBSOCKET_BROADCASTING: false } } })
    const local = 'Host: localhost\r\n'
    const table: readonly (readonly [what: string, target: string, head: string, status: number, at?: typeof app])[] = [
      ['an unknown URL', '/no/where', local, 404],
      ['a URL without WebSocket', '/api/data.json', local, 400],
      ['a duplicate filter', '/ws?manufacturer=a&manufacturer=b', local, 400],
      ['an invalid escape', '/ws/%zz', local, 400],
      ['a long URL', `/ws?${'x'.repeat(9000)}`, local, 414],
      ['another site', '/ws', `${local}Origin: http://evil.example\r\n`, 403],
      ['no credentials', '/ws', `${local}Via: 1.1 proxy\r\n`, 401],
      ['a foreign host', '/ws', 'Host: evil.example\r\n', 421],
      ['real-time updates disabled', '/ws', local, 503, appWithoutWebSocket],
    ]
    for (const [name, target, head, status, service = app] of table) {
      for (const protocol of ['websocket', 'h2c']) {
        const upgrade = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==`
        const response = await service.raw(`GET ${target} HTTP/1.1\r\n${head}${upgrade}\r\n\r\n`)
        const [, code] = /^HTTP\/1\.1 (\d+)/.exec(response) ?? []
        const connection = [...response.matchAll(/\r\nconnection: (.*)/gi)].map(([, value]) => value?.toLowerCase())
        expect([name, protocol, connection]).toEqual([name, protocol, [expect.stringMatching(/close$/)]])
        if (protocol === 'websocket') expect([name, Number(code)]).toEqual([name, status])
      }
    }
  })

  // Reliability: 3.12.1.
  it('may have as many JSON values as their route needs, and not more', async () => {
    const app = await startApp()
    const headers = { 'content-type': 'application/json' }
    const values = (count: number) => `[${'0,'.repeat(count - 1)}0]`
    for (const [path, limit] of [
      ['/api/group/', 40_000],
      ['/api/frequencies/check', 100_000],
      ['/api/frequencies/suggest', 100_000],
      ['/api/ingest/', 200_000],
    ] as const) {
      const post = async (body: string) => {
        const { status, json } = await app.send('POST', path, { headers, body })
        return [path, status, json.details]
      }
      expect(await post(values(limit))).toEqual([path, 400, 'body: expected an object'])
      const excess = `body: more than ${limit} values and keys`
      expect(await post(values(limit + 1))).toEqual([path, 413, excess])
      expect(await post(`[${'[],'.repeat(limit / 2)}0]`)).toEqual([path, 413, excess])
      expect(await post(`{${'"a":0,'.repeat(limit / 2)}"a":0}`)).toEqual([path, 413, excess])
    }
    const long = JSON.stringify({ carriers: 'x'.repeat(512 * 1024) })
    expect((await app.send('POST', '/api/frequencies/check', { headers, body: long })).status).toBe(413)
  })

  it('may have headers named like object members, and an unsupported Expect', async () => {
    const app = await startApp()
    for (const header of ['__proto__: x', 'constructor: x', 'Expect: nonsense', 'Upgrade-Insecure-Requests: 1']) {
      const response = await app.raw(`GET /healthz HTTP/1.1\r\nHost: localhost\r\n${header}\r\n${close}`)
      expect([header, response.slice(0, 12)]).toEqual([header, 'HTTP/1.1 200'])
    }
  })

  // Reliability: 3.3.4, 3.12.1, 3.12.8.
  it('may have a body of at most 1 MiB and 64 levels, with any transfer encoding', async () => {
    const app = await startApp()
    const headers = { 'content-type': 'application/json' }
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const post = (body: string, otherHeaders = {}) =>
      app.send('POST', '/api/group/', { headers: { ...headers, ...otherHeaders }, body })
    const deep = await post(nested(65))
    expect([deep.status, deep.json.details]).toEqual([400, 'body: nested deeper than 64 levels'])
    expect((await post(nested(100_000))).json.details).toBe('body: nested deeper than 64 levels')
    expect((await post(nested(64))).json.details).toBe('body: expected an object')
    expect((await post(' '.repeat(1024 * 1024 + 1))).status).toBe(413)
    expect((await post(' '.repeat(1024 * 1024 + 1), { 'transfer-encoding': 'chunked' })).status).toBe(413)
    expect((await post('{"title":"x","__proto__":{"a":1}}')).status).toBe(400)
    // A body is ignored where none is expected.
    const get = (body: string, headers = {}) => app.send('GET', '/api/health/', { headers, body })
    const chunked = { 'transfer-encoding': 'chunked' }
    const length = (bytes: number) => ({ 'content-length': bytes })
    expect((await get('x=y', length(3))).status).toBe(200)
    expect((await get('x'.repeat(1024 * 1024), chunked)).status).toBe(200)
    expect((await get('x'.repeat(1024 * 1024 + 1), chunked)).status).toBe(413)
    const large = await get('x'.repeat(1024 * 1024 + 1), length(1024 * 1024 + 1))
    expect([large.status, large.json.status]).toEqual([413, 413])
  })
})

/** Description, frame to send after the upgrade, and expected close code of the connection. */
const frames: readonly (readonly [string, Buffer, number])[] = [
  ['without a mask', frame('{"type":"ping"}', { isMasked: false }), 1002],
  ['with a reserved bit', frame('x', { first: 0xc1 }), 1002],
  ['with an unknown opcode', frame('x', { first: 0x83 }), 1002],
  ['with a reserved control opcode', frame('x', { first: 0x8b }), 1002],
  ['a fragmented ping', frame('x', { first: 0x09 }), 1002],
  ['a ping of 126 bytes', frame('x'.repeat(126), { first: 0x89 }), 1002],
  ['a continuation without a message', frame('x', { first: 0x80 }), 1002],
  ['a new message within a message', Buffer.concat([frame('a', { first: 0x01 }), frame('b')]), 1002],
  ['text that is not UTF-8', frame(Buffer.from([0xc3, 0x28])), 1007],
  ['a close frame with a reserved code', frame(Buffer.from([0x03, 0xed]), { first: 0x88 }), 1002],
  ['a close frame of one byte', frame('x', { first: 0x88 }), 1002],
  ['with an enormous length', frame('', { declaredLength: 1n << 62n }), 1009],
  ['with a length of 64 KiB and one byte', frame('', { declaredLength: 65_537n }), 1009],
  ['binary', frame('{"type":"ping"}', { first: 0x82 }), 1003],
  [
    'in thousands of empty fragments',
    Buffer.concat([frame('{', { first: 0x01 }), ...Array.from({ length: 2000 }, () => frame('', { first: 0x00 }))]),
    1008,
  ],
]

describe('a frame', () => {
  // Reliability: 1.20, C5.
  it('that breaks the rules closes its connection with the matching code, and no other connection', async () => {
    const app = await startApp()
    const otherSocket = await app.socket()
    for (const [name, bytes, code] of frames) {
      const { socket, status, closeCode } = await openRaw(app.port)
      onTestFinished(() => void socket.destroy())
      expect([name, status]).toEqual([name, 101])
      socket.write(bytes)
      expect([name, await closeCode]).toEqual([name, code])
      socket.destroy()
    }
    otherSocket.send({ type: 'ping', id: 1 })
    await otherSocket.next(({ id }) => id === 1)
  })

  it('may arrive in fragments, one byte at a time', async () => {
    const app = await startApp()
    const { socket } = await openRaw(app.port)
    onTestFinished(() => void socket.destroy())
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    const bytes = Buffer.concat([
      frame('{"type":', { first: 0x01 }),
      frame('x', { first: 0x89 }),
      frame('"ping"}', { first: 0x80 }),
    ])
    for (const byte of bytes) socket.write(Buffer.from([byte]))
    await until('the ping is answered', () => received.includes('"pong"'))
  })

  // Reliability: C5, 3.12.8.
  it('with deeply nested JSON or too many values is rejected, and the process continues', async () => {
    const app = await startApp()
    const socket = await app.socket()
    socket.sendRaw(`{"type":"ping","id":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)
    expect((await socket.next(({ type }) => type === 'error')).error).toBe('Nested deeper than 64 levels.')
    socket.sendRaw(`{"type":"ping","id":[${'0,'.repeat(5000)}0]}`)
    await socket.next(({ error }) => error === 'More than 4000 values and keys.')
    socket.send({ type: 'ping', id: 'last' })
    await socket.next(({ id }) => id === 'last')
  })
})
