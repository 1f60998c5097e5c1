import { createHash } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { serveHttp, serveRaw } from '../../test/support/plugins/plugin-kit-server.ts'
import { timeLimit } from '../../test/support/time-limit.ts'
import { createUpstreamClient, type UpstreamSettings } from './client.ts'
import { ApiError, ApiRateLimitError } from './errors.ts'
import { createRequestThrottle } from './request-throttle.ts'

const errors = { ApiError, ApiRateLimitError }
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource.close()
})

function closeLater<T extends { close(): unknown }>(resource: T): T {
  open.push(resource)
  return resource
}

function createClient(baseUrl: string, settings: Partial<UpstreamSettings> = {}, throttle = createRequestThrottle()) {
  const rateLimit = { perSecond: 10_000, burst: 10_000 }
  const defaults = { timeoutMs: 20_000, verifySsl: true, rateLimit, credentials: { scheme: 'none' } as const }
  return closeLater(createUpstreamClient({ settings: { baseUrl, ...defaults, ...settings }, errors, throttle }))
}

const digest = { scheme: 'digest', username: 'api', secret: 'key' } as const
const serve = async (onRequest: RequestListener) => closeLater(await serveHttp({ onRequest }))

describe('responses', () => {
  test('are parsed; an empty response has no body; an accepted error response is not read', async () => {
    const server = await serve((request, response) => {
      const [status = '200', body = ''] = decodeURIComponent(request.url ?? '')
        .slice(1)
        .split(' ')
      response.writeHead(Number(status)).end(body)
    })
    const client = createClient(server.url)
    await expect(client.request('GET', '/500')).rejects.toMatchObject({ status: 500 })
    expect(client.receivedAt).toBe(Number.NEGATIVE_INFINITY)
    expect(await client.request('GET', '/200%20[1]')).toMatchObject({ status: 200, body: [1] })
    expect(client.receivedAt).toBeGreaterThan(0)
    expect(await client.request('GET', '/204')).toMatchObject({ status: 204, body: undefined })
    const page = await client.request('GET', '/404%20<h1>None</h1>', { accept: [404] })
    expect(page).toMatchObject({ status: 404, body: undefined })
    await expect(client.request('GET', '/404')).rejects.toMatchObject({ status: 404, message: /status 404/ })
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
  ])('%s: rejected, and the unread body does not block the connection', async (_, headers, body, message) => {
    let isBroken = true
    const server = await serve((_request, response) => {
      if (isBroken) response.writeHead(200, headers).end(body)
      else response.end('[]')
    })
    const client = createClient(server.url, { credentials: digest })
    await expect(client.request('GET', '/')).rejects.toMatchObject({ message: expect.stringMatching(message) })
    isBroken = false
    expect((await client.request('GET', '/')).body).toEqual([])
  })

  test('may be nested 64 levels deep and have one content encoding', async () => {
    const text = `${'['.repeat(64)}${']'.repeat(64)}`
    const server = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
    )
    expect(JSON.stringify((await createClient(server.url).request('GET', '/')).body)).toBe(text)
  })

  // Conformance: C-3.24.
  test.each([
    ['chunked and cut', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n["a",\r\n'],
    ['shorter than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n["a"]'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ])('%s: rejected completely', async (_, text) => {
    const server = closeLater(await serveRaw((socket) => socket.once('data', () => socket.end(text))))
    const thrown = await createClient(server.url)
      .request('GET', '/')
      .catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ApiError)
    expect(thrown).toMatchObject({ status: null })
  })
})

describe('request timeout', () => {
  // Conformance: C-3.23.
  // Reliability: U3.
  test.each([
    ['before a byte', () => ''],
    ['in the head', () => 'HTTP/1.1 200 OK\r\nx-a: '],
    ['in the body', () => 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n['],
  ])('applies to %s, and closes the connection', async (_, first) => {
    const server = closeLater(
      await serveRaw((socket) => {
        socket.write(first())
        socket.resume()
        const timer = setInterval(() => first() && socket.write(' '), 50)
        socket.on('close', () => clearInterval(timer))
      }),
    )
    const startedAt = performance.now()
    await expect(createClient(server.url, { timeoutMs: 300 }).request('GET', '/')).rejects.toThrow('within 0.3 s')
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(800))
    await eventually(() => server.connections).toBe(0)
  })

  test('starts when a request is sent, not while it waits for a connection', async () => {
    const server = await serve((_request, response) => void setTimeout(() => response.end('[]'), 500))
    const client = createClient(server.url, { credentials: digest, timeoutMs: 2000 })
    const answers = await Promise.all(Array.from({ length: 6 }, () => client.request('GET', '/')))
    expect(answers).toHaveLength(6)
  })

  test('ends a request that the HTTP client never sends, as does an abort', async () => {
    const challenge = { 'www-authenticate': 'Digest realm="r", nonce="n"' }
    const server = await serve((_request, response) => response.writeHead(401, challenge).end())
    // When undici rejects a request, as it does for this user name, it then treats its connection as busy.
    const client = createClient(server.url, { credentials: { ...digest, username: 'b€nutzer' }, timeoutMs: 300 })
    await expect(client.request('GET', '/')).rejects.toThrow(ApiError)
    await expect(client.request('GET', '/')).rejects.toThrow('within 0.3 s')
    const stop = new AbortController()
    const waiting = client.request('GET', '/', { signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  test('an abort while waiting for a connection ends only that request', async () => {
    const server = await serve((_request, response) => void setTimeout(() => response.end('[]'), 100))
    const client = createClient(server.url, { credentials: digest })
    const stop = new AbortController()
    const first = client.request('GET', '/')
    const second = client.request('GET', '/', { signal: stop.signal })
    const third = client.request('GET', '/')
    stop.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    await expect(client.request('GET', '/', { signal: stop.signal })).rejects.toThrow('enough')
    expect((await Promise.all([first, third])).map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('Retry-After', () => {
  // Conformance: C-3.26.
  test('blocks all unsent requests until it expires', async () => {
    let now = 1_000_000
    let requestCount = 0
    const server = await serve((_request, response) => {
      requestCount++
      if (requestCount === 1) response.writeHead(429, { 'retry-after': '7' })
      response.end('[]')
    })
    // Digest requests share one connection, so eleven requests are queued when the first one receives Retry-After.
    const client = createClient(
      server.url,
      { credentials: digest },
      createRequestThrottle(() => now),
    )
    const settled = await Promise.allSettled(Array.from({ length: 12 }, () => client.request('GET', '/')))
    expect(
      settled.every((resource) => resource.status === 'rejected' && resource.reason instanceof ApiRateLimitError),
    ).toBe(true)
    expect(requestCount).toBe(1)
    now += 6999
    await expect(client.waitForTurn()).rejects.toMatchObject({ status: 429, retryAfter: 1 })
    expect(client.holdMs).toBe(1)
    now += 1
    expect(client.holdMs).toBe(0)
    expect((await client.request('GET', '/')).status).toBe(200)
  })

  test('rejects requests that wait for the rate limit', async () => {
    let requestCount = 0
    const server = await serve((_request, response) => {
      requestCount++
      response.writeHead(429, { 'retry-after': '7' }).end()
    })
    // The second request waits for two seconds, so the response arrives first even on a busy machine.
    const client = createClient(server.url, { rateLimit: { perSecond: 0.5, burst: 1 } })
    await Promise.allSettled([client.request('GET', '/'), client.request('GET', '/')])
    expect(requestCount).toBe(1)
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
  ])('is read from %i with Retry-After %s', async (status, value, expected) => {
    const headers = {
      date: new Date(serverTime).toUTCString(),
      ...(value === undefined ? {} : { 'retry-after': value }),
    }
    const server = await serve((_request, response) => response.writeHead(status, headers).end())
    const standingClock = () => 0
    const client = createClient(server.url, {}, createRequestThrottle(standingClock))
    const thrown = await client.request('GET', '/').catch((error: unknown) => error)
    expect(thrown).toMatchObject({ status, retryAfter: expected, response: { status } })
    expect(thrown instanceof ApiRateLimitError).toBe(status === 429)
    expect(client.holdMs > 0).toBe(expected !== null)
  })

  test('is never shortened by a later response', async () => {
    const server = await serve((request, response) => {
      const isLong = request.url === '/long'
      setTimeout(() => response.writeHead(429, { 'retry-after': isLong ? '90' : '1' }).end(), isLong ? 0 : 60)
    })
    const client = createClient(server.url)
    await Promise.allSettled([client.request('GET', '/long'), client.request('GET', '/short')])
    expect(client.holdMs).toBeGreaterThan(80_000)
  })
})

describe('digest authentication', () => {
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

  /** Starts a server that accepts each nonce `uses` times and records the requests. */
  async function startDigest(options: {
    nonces: () => string
    uses?: number
    info?: () => string
    isPasswordCorrect?: boolean
  }) {
    const received: ReturnType<typeof parse>[] = []
    let nonce = options.nonces()
    let used = 0
    const server = await serve((request, response) => {
      const credentials = parse(request)
      received.push(credentials)
      const isStale = credentials.nonce !== nonce || used >= (options.uses ?? Number.POSITIVE_INFINITY)
      if (credentials.isRight && !isStale && options.isPasswordCorrect !== false) {
        used++
        const info = options.info?.()
        if (info !== undefined) response.setHeader('authentication-info', info)
        return response.end('[]')
      }
      if (used > 0) nonce = options.nonces()
      used = 0
      const isStaleOnly = credentials.isRight && options.isPasswordCorrect !== false
      response.writeHead(401, { 'www-authenticate': challenge(nonce, isStaleOnly ? ', stale=true' : '') }).end()
    })
    return { server, received }
  }

  const counter = () => {
    let index = 0
    return () => `nonce-${++index}`
  }

  // Conformance: S-5.1, C-3.13.
  // Reliability: U5.
  test('uses one challenge for many sequential and parallel calls, with rising counts and new cnonces', async () => {
    const { server, received } = await startDigest({ nonces: counter() })
    const client = createClient(server.url, { credentials: digest })
    await Promise.all(Array.from({ length: 10 }, () => client.request('GET', '/a?b=c')))
    for (let index = 0; index < 5; index++) await client.request('PUT', '/d', { body: {} })
    expect(received.map(({ nc }) => nc || 0)).toEqual([0, ...Array.from({ length: 15 }, (_, index) => index + 1)])
    expect(new Set(received.slice(1).map(({ cnonce }) => cnonce)).size).toBe(15)
  })

  // Conformance: C-3.13.
  test('replaces a stale nonce within the call', async () => {
    const { server, received } = await startDigest({ nonces: counter(), uses: 3 })
    const client = createClient(server.url, { credentials: digest })
    for (let index = 0; index < 7; index++) expect((await client.request('GET', '/')).status).toBe(200)
    expect(received).toHaveLength(7 + 3)
    expect(received.filter(({ isBare }) => isBare)).toHaveLength(1)
  })

  // Conformance: C-3.13.
  test('repeats a request that parallel requests have overtaken twice', async () => {
    let rejections = 2
    const server = await serve((request, response) => {
      const { isBare } = parse(request)
      if (!isBare && rejections-- <= 0) return response.end('[]')
      const staleness = isBare ? '' : ', stale=true'
      response.writeHead(401, { 'www-authenticate': challenge(`nonce-${rejections}`, staleness) }).end()
    })
    const client = createClient(server.url, { credentials: digest })
    expect((await client.request('GET', '/')).status).toBe(200)
  })

  // Conformance: C-3.13.
  test('uses the next nonce without a new challenge', async () => {
    let index = 1
    const received: string[] = []
    const server = await serve((request, response) => {
      const { isBare, nonce } = parse(request)
      if (isBare) return response.writeHead(401, { 'www-authenticate': challenge('n1') }).end()
      received.push(nonce)
      response.writeHead(200, { 'authentication-info': `nextnonce="n${++index}"` }).end('[]')
    })
    const client = createClient(server.url, { credentials: digest })
    for (let call = 0; call < 3; call++) await client.request('GET', '/')
    expect(received).toEqual(['n1', 'n2', 'n3'])
  })

  test.each([
    ['fresh nonces', counter()],
    ['always the same nonce', () => 'same'],
  ])('sends at most two requests per call with wrong credentials, %s', async (_, nonces) => {
    const { server, received } = await startDigest({ nonces, isPasswordCorrect: false })
    const client = createClient(server.url, { credentials: digest })
    for (let call = 1; call <= 3; call++) {
      await expect(client.request('GET', '/')).rejects.toMatchObject({ status: 401, message: /credentials rejected/ })
      expect(received.length).toBeLessThanOrEqual(2 * call)
    }
  })

  test('two parallel requests with the same nonce both succeed', async () => {
    const { server } = await startDigest({ nonces: () => 'same' })
    const client = createClient(server.url, { credentials: digest })
    await Promise.all([client.request('GET', '/a'), client.request('GET', '/b')])
  })

  test('sends no credentials for a challenge of another scheme', async () => {
    const headers: IncomingMessage['headers'][] = []
    const server = await serve((request, response) => {
      headers.push(request.headers)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end()
    })
    await expect(createClient(server.url, { credentials: digest }).request('GET', '/')).rejects.toMatchObject({
      status: 401,
    })
    expect(headers).toHaveLength(1)
    expect(JSON.stringify(headers)).not.toContain('authorization')
  })
})

// Conformance: C-3.25.
test('rejects a redirect without following it', async () => {
  let visits = 0
  const target = await serve((_request, response) => response.end(String(++visits)))
  const server = await serve((_request, response) => response.writeHead(307, { location: target.url }).end())
  const basic = { scheme: 'basic', username: 'api', secret: 'x' } as const
  const call = createClient(server.url, { credentials: basic }).request('GET', '/')
  await expect(call).rejects.toMatchObject({ status: 307, message: /unexpected redirect/ })
  expect(visits).toBe(0)
})

test('reconnects when the upstream is available again', async () => {
  const first = await serveRaw((socket) => socket.resetAndDestroy())
  const client = createClient(first.url)
  await expect(client.request('GET', '/')).rejects.toBeInstanceOf(ApiError)
  await first.close()
  const startedAt = performance.now()
  await expect(client.request('GET', '/')).rejects.toThrow('connection refused')
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(1000))
})

describe('request throttle', () => {
  test('spaces out calls in order, and rejects immediately on abort', async () => {
    const throttle = createRequestThrottle()
    const rateLimit = { perSecond: 20, burst: 3 }
    const order: number[] = []
    const startedAt = performance.now()
    const stop = new AbortController()
    const late = throttle
      .waitForTurn('b', { perSecond: 0.1, burst: 1 })
      .then(() => throttle.waitForTurn('b', { perSecond: 0.1, burst: 1 }, stop.signal))
    const passed = Array.from({ length: 6 }, (_, index) =>
      throttle.waitForTurn('a', rateLimit).then(() => order.push(index)),
    )
    await Promise.all(passed)
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(190)
    stop.abort(new Error('enough'))
    await expect(late).rejects.toThrow('enough')
  })

  test('does not delay calls within the burst when the clock stands still', async () => {
    let now = 0
    const throttle = createRequestThrottle(() => now)
    const rateLimit = { perSecond: 1000, burst: 2 }
    await throttle.waitForTurn('a', rateLimit)
    now = 1000
    await Promise.race([
      throttle.waitForTurn('a', rateLimit),
      pause(200).then(() => Promise.reject(new Error('waited'))),
    ])
  })
})
