import { createHash } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { serveHttp, serveRaw } from '../../test/plugin-kit-server.ts'
import { timeLimit } from '../../test/time-limit.ts'
import { ApiError, ApiRateLimitError } from './errors.ts'
import { createLink, createTurnstile, type LinkSettings } from './link.ts'

const errors = { ApiError, ApiRateLimitError }
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

function keep<T extends { close(): unknown }>(one: T): T {
  open.push(one)
  return one
}

function linkTo(baseUrl: string, settings: Partial<LinkSettings> = {}, turnstile = createTurnstile()) {
  const pace = { perSecond: 10_000, burst: 10_000 }
  const defaults = { timeoutMs: 2000, verifySsl: true, pace, credentials: { scheme: 'none' } as const }
  return keep(createLink({ settings: { baseUrl, ...defaults, ...settings }, errors, turnstile }))
}

const digest = { scheme: 'digest', username: 'api', secret: 'key' } as const
const serve = async (onRequest: RequestListener) => keep(await serveHttp({ onRequest }))

describe('answers', () => {
  test('are parsed; an empty one has no body; a refusal that is accepted is not read', async () => {
    const server = await serve((request, response) => {
      const [status = '200', body = ''] = decodeURIComponent(request.url ?? '')
        .slice(1)
        .split(' ')
      response.writeHead(Number(status)).end(body)
    })
    const link = linkTo(server.url)
    expect(await link.request('GET', '/200%20[1]')).toMatchObject({ status: 200, body: [1] })
    expect(await link.request('GET', '/204')).toMatchObject({ status: 204, body: undefined })
    const page = await link.request('GET', '/404%20<h1>None</h1>', { accept: [404] })
    expect(page).toMatchObject({ status: 404, body: undefined })
    await expect(link.request('GET', '/404')).rejects.toMatchObject({ status: 404, message: /answered 404/ })
  })

  // Conformance: C-3.24.
  // Reliability: U19.
  test.each([
    ['two codings', { 'content-encoding': 'gzip, gzip' }, gzipSync(gzipSync('[]')), /cannot be decoded/],
    ['an unknown coding', { 'content-encoding': 'zstd' }, Buffer.alloc(500_000), /cannot be decoded/],
    ['a broken coding', { 'content-encoding': 'gzip' }, Buffer.from('no gzip at all'), /cannot be decoded/],
    ['half a coding', { 'content-encoding': 'gzip' }, gzipSync(`[${'1,'.repeat(9999)}1]`).subarray(0, 30), /decoded/],
    ['big headers', { 'x-big': 'x'.repeat(17 * 1024) }, Buffer.from('[]'), /larger than/],
    ['65 levels', {}, Buffer.from(`${'['.repeat(65)}${']'.repeat(65)}`), /nested deeper/],
  ])('%s: refused, and the connection is not blocked by what is left unread', async (_, headers, body, says) => {
    let isBroken = true
    const server = await serve((_request, response) => {
      if (isBroken) response.writeHead(200, headers).end(body)
      else response.end('[]')
    })
    const link = linkTo(server.url, { credentials: digest, timeoutMs: 1000 })
    await expect(link.request('GET', '/')).rejects.toMatchObject({ message: expect.stringMatching(says) })
    isBroken = false
    expect((await link.request('GET', '/')).body).toEqual([])
  })

  test('64 levels and one coding are read', async () => {
    const text = `${'['.repeat(64)}${']'.repeat(64)}`
    const server = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
    )
    expect(JSON.stringify((await linkTo(server.url).request('GET', '/')).body)).toBe(text)
  })

  // Conformance: C-3.24.
  test.each([
    ['chunked and cut', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n["a",\r\n'],
    ['shorter than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n["a"]'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ])('%s: nothing of it is used', async (_, text) => {
    const server = keep(await serveRaw((socket) => socket.once('data', () => socket.end(text))))
    const thrown = await linkTo(server.url)
      .request('GET', '/')
      .catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ApiError)
    expect(thrown).toMatchObject({ status: null })
  })
})

describe('the deadline', () => {
  // Conformance: C-3.23.
  // Reliability: U3.
  test.each([
    ['before a byte', () => ''],
    ['in the head', () => 'HTTP/1.1 200 OK\r\nx-a: '],
    ['in the body', () => 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n['],
  ])('holds %s, and the connection ends with it', async (_, first) => {
    const server = keep(
      await serveRaw((socket) => {
        socket.write(first())
        socket.resume()
        const timer = setInterval(() => first() && socket.write(' '), 50)
        socket.on('close', () => clearInterval(timer))
      }),
    )
    const startedAt = performance.now()
    await expect(linkTo(server.url, { timeoutMs: 300 }).request('GET', '/')).rejects.toThrow('within 0.3 s')
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(800))
    await expect.poll(() => server.connections).toBe(0)
  })

  test('begins when a request goes out, not while it waits for the connection', async () => {
    const server = await serve((_request, response) => void setTimeout(() => response.end('[]'), 100))
    const link = linkTo(server.url, { credentials: digest, timeoutMs: 400 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => link.request('GET', '/')))
    expect(answers).toHaveLength(8)
  })

  test('ends a request that the HTTP client never sends, and so does an abort', async () => {
    const challenge = { 'www-authenticate': 'Digest realm="r", nonce="n"' }
    const server = await serve((_request, response) => response.writeHead(401, challenge).end())
    // undici counts the connection of a request that it rejects as busy, for good.
    const link = linkTo(server.url, { credentials: { ...digest, username: 'b€nutzer' }, timeoutMs: 300 })
    await expect(link.request('GET', '/')).rejects.toThrow(ApiError)
    await expect(link.request('GET', '/')).rejects.toThrow('within 0.3 s')
    const stop = new AbortController()
    const waiting = link.request('GET', '/', { signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  test('an abort while waiting for the connection ends that one and no other', async () => {
    const server = await serve((_request, response) => void setTimeout(() => response.end('[]'), 100))
    const link = linkTo(server.url, { credentials: digest })
    const stop = new AbortController()
    const first = link.request('GET', '/')
    const second = link.request('GET', '/', { signal: stop.signal })
    const third = link.request('GET', '/')
    stop.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    await expect(link.request('GET', '/', { signal: stop.signal })).rejects.toThrow('enough')
    expect((await Promise.all([first, third])).map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('a hold', () => {
  // Conformance: C-3.26.
  test('keeps everything back that was not sent yet, then lets go', async () => {
    let now = 1_000_000
    let asked = 0
    const server = await serve((_request, response) => {
      asked++
      if (asked === 1) response.writeHead(429, { 'retry-after': '7' })
      response.end('[]')
    })
    // One connection for all, so that eleven wait in line while the first is told to.
    const link = linkTo(
      server.url,
      { credentials: digest },
      createTurnstile(() => now),
    )
    const settled = await Promise.allSettled(Array.from({ length: 12 }, () => link.request('GET', '/')))
    expect(settled.every((one) => one.status === 'rejected' && one.reason instanceof ApiRateLimitError)).toBe(true)
    expect(asked).toBe(1)
    now += 6999
    await expect(link.enter()).rejects.toMatchObject({ status: 429, retryAfter: 1 })
    expect(link.holdMs).toBe(1)
    now += 1
    expect(link.holdMs).toBe(0)
    expect((await link.request('GET', '/')).status).toBe(200)
  })

  test('reaches those who wait for their turn', async () => {
    let asked = 0
    const server = await serve((_request, response) => {
      asked++
      response.writeHead(429, { 'retry-after': '7' }).end()
    })
    const link = linkTo(server.url, { pace: { perSecond: 20, burst: 1 } })
    await Promise.allSettled(Array.from({ length: 4 }, () => link.request('GET', '/')))
    expect(asked).toBe(1)
  })

  const serverTime = Date.parse('2001-02-03T04:05:06Z')
  // Conformance: S-7.8.
  test.each<[number, string | undefined, number | null]>([
    [429, '7', 7],
    [429, '0', 1],
    [429, '-5', 1],
    [429, '9999999999', 300],
    [429, '1.5', null],
    [429, 'abc', null],
    [429, undefined, null],
    [429, new Date(serverTime + 9000).toUTCString(), 9],
    [429, new Date(serverTime - 9000).toUTCString(), 1],
    [503, '7', 7],
    [503, undefined, null],
    [500, '7', null],
  ])('%i with Retry-After %s', async (status, value, expected) => {
    const headers = {
      date: new Date(serverTime).toUTCString(),
      ...(value === undefined ? {} : { 'retry-after': value }),
    }
    const server = await serve((_request, response) => response.writeHead(status, headers).end())
    const link = linkTo(server.url)
    const thrown = await link.request('GET', '/').catch((error: unknown) => error)
    expect(thrown).toMatchObject({ status, retryAfter: expected, response: { status } })
    expect(thrown instanceof ApiRateLimitError).toBe(status === 429)
    expect(link.holdMs > 0).toBe(expected !== null)
  })

  test('is never shortened by a later answer', async () => {
    const server = await serve((request, response) => {
      const isLong = request.url === '/long'
      setTimeout(() => response.writeHead(429, { 'retry-after': isLong ? '90' : '1' }).end(), isLong ? 0 : 60)
    })
    const link = linkTo(server.url)
    await Promise.allSettled([link.request('GET', '/long'), link.request('GET', '/short')])
    expect(link.holdMs).toBeGreaterThan(80_000)
  })
})

describe('digest', () => {
  const challenge = (nonce: string, more = '') => `Digest realm="r", qop="auth", algorithm=MD5, nonce="${nonce}"${more}`
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  const parse = (request: IncomingMessage) => {
    const header = request.headers.authorization ?? ''
    const field = (name: string) => new RegExp(`\\b${name}="?([^",]+)`).exec(header)?.[1] ?? ''
    const { method } = request
    const [nonce, nc, cnonce] = [field('nonce'), field('nc'), field('cnonce')]
    const proof = md5(`${md5('api:r:key')}:${nonce}:${nc}:${cnonce}:auth:${md5(`${method}:${request.url}`)}`)
    return { isBare: header === '', isRight: field('response') === proof, nonce, nc: Number.parseInt(nc, 16), cnonce }
  }

  /** Accepts each nonce `uses` times; notes what came. */
  async function startDigest(about: { nonces: () => string; uses?: number; info?: () => string; right?: boolean }) {
    const seen: ReturnType<typeof parse>[] = []
    let nonce = about.nonces()
    let used = 0
    const server = await serve((request, response) => {
      const given = parse(request)
      seen.push(given)
      const isStale = given.nonce !== nonce || used >= (about.uses ?? Number.POSITIVE_INFINITY)
      if (given.isRight && !isStale && about.right !== false) {
        used++
        const info = about.info?.()
        if (info !== undefined) response.setHeader('authentication-info', info)
        return response.end('[]')
      }
      if (used > 0) nonce = about.nonces()
      used = 0
      const isStaleOnly = given.isRight && about.right !== false
      response.writeHead(401, { 'www-authenticate': challenge(nonce, isStaleOnly ? ', stale=true' : '') }).end()
    })
    return { server, seen }
  }

  const counter = () => {
    let at = 0
    return () => `nonce-${++at}`
  }

  // Conformance: S-5.1, C-3.13.
  // Reliability: U5.
  test('one challenge serves many calls, in a row and at once; counts rise, cnonces change', async () => {
    const { server, seen } = await startDigest({ nonces: counter() })
    const link = linkTo(server.url, { credentials: digest })
    await Promise.all(Array.from({ length: 10 }, () => link.request('GET', '/a?b=c')))
    for (let at = 0; at < 5; at++) await link.request('PUT', '/d', { body: {} })
    expect(seen.map(({ nc }) => nc || 0)).toEqual([0, ...Array.from({ length: 15 }, (_, at) => at + 1)])
    expect(new Set(seen.slice(1).map(({ cnonce }) => cnonce)).size).toBe(15)
  })

  // Conformance: C-3.13.
  test('a nonce that turns stale is replaced within the call', async () => {
    const { server, seen } = await startDigest({ nonces: counter(), uses: 3 })
    const link = linkTo(server.url, { credentials: digest })
    for (let at = 0; at < 7; at++) expect((await link.request('GET', '/')).status).toBe(200)
    expect(seen).toHaveLength(7 + 3)
    expect(seen.filter(({ isBare }) => isBare)).toHaveLength(1)
  })

  // Conformance: C-3.13.
  test('the next nonce is used without a challenge', async () => {
    let at = 1
    const seen: string[] = []
    const server = await serve((request, response) => {
      const { isBare, nonce } = parse(request)
      if (isBare) return response.writeHead(401, { 'www-authenticate': challenge('n1') }).end()
      seen.push(nonce)
      response.writeHead(200, { 'authentication-info': `nextnonce="n${++at}"` }).end('[]')
    })
    const link = linkTo(server.url, { credentials: digest })
    for (let call = 0; call < 3; call++) await link.request('GET', '/')
    expect(seen).toEqual(['n1', 'n2', 'n3'])
  })

  test.each([
    ['fresh nonces', counter()],
    ['always the same nonce', () => 'same'],
  ])('wrong credentials, %s: two requests a call at most', async (_, nonces) => {
    const { server, seen } = await startDigest({ nonces, right: false })
    const link = linkTo(server.url, { credentials: digest })
    for (let call = 1; call <= 3; call++) {
      await expect(link.request('GET', '/')).rejects.toMatchObject({ status: 401, message: /credentials rejected/ })
      expect(seen.length).toBeLessThanOrEqual(2 * call)
    }
  })

  test('two links that meet one nonce at once both pass', async () => {
    const { server } = await startDigest({ nonces: () => 'same' })
    const link = linkTo(server.url, { credentials: digest })
    await Promise.all([link.request('GET', '/a'), link.request('GET', '/b')])
  })

  test('a challenge of another scheme gets no credentials', async () => {
    const headers: IncomingMessage['headers'][] = []
    const server = await serve((request, response) => {
      headers.push(request.headers)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end()
    })
    await expect(linkTo(server.url, { credentials: digest }).request('GET', '/')).rejects.toMatchObject({ status: 401 })
    expect(headers).toHaveLength(1)
    expect(JSON.stringify(headers)).not.toContain('authorization')
  })
})

// Conformance: C-3.25.
test('a redirect is an error, and nothing follows it', async () => {
  let visits = 0
  const elsewhere = await serve((_request, response) => response.end(String(++visits)))
  const server = await serve((_request, response) => response.writeHead(307, { location: elsewhere.url }).end())
  const basic = { scheme: 'basic', username: 'api', secret: 'x' } as const
  const call = linkTo(server.url, { credentials: basic }).request('GET', '/')
  await expect(call).rejects.toMatchObject({ status: 307, message: /unexpected redirect/ })
  expect(visits).toBe(0)
})

test('an upstream that comes back is heard again', async () => {
  const first = await serveRaw((socket) => socket.resetAndDestroy())
  const link = linkTo(first.url)
  await expect(link.request('GET', '/')).rejects.toBeInstanceOf(ApiError)
  await first.close()
  const startedAt = performance.now()
  await expect(link.request('GET', '/')).rejects.toThrow('connection refused')
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(1000))
})

describe('the turnstile', () => {
  test('spaces calls out, keeps their order, and lets an abort through at once', async () => {
    const turnstile = createTurnstile()
    const pace = { perSecond: 20, burst: 3 }
    const order: number[] = []
    const startedAt = performance.now()
    const stop = new AbortController()
    const late = turnstile
      .pass('b', { perSecond: 0.1, burst: 1 })
      .then(() => turnstile.pass('b', { perSecond: 0.1, burst: 1 }, stop.signal))
    const passed = Array.from({ length: 6 }, (_, at) => turnstile.pass('a', pace).then(() => order.push(at)))
    await Promise.all(passed)
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(190)
    stop.abort(new Error('enough'))
    await expect(late).rejects.toThrow('enough')
  })

  test('a clock that stands still costs nobody a turn', async () => {
    let now = 0
    const turnstile = createTurnstile(() => now)
    const pace = { perSecond: 1000, burst: 2 }
    await turnstile.pass('a', pace)
    now = 1000
    await Promise.race([turnstile.pass('a', pace), pause(200).then(() => Promise.reject(new Error('waited')))])
  })
})
