import { createHash } from 'node:crypto'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { startDemo } from '../src/manufacturers/demo.ts'
import { startSennheiserSimulator } from '../src/manufacturers/sennheiser/simulator.ts'
import { type ShureSimulatorOptions, startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import type { Fault } from '../src/simulation/faults.ts'
import type { Simulator } from '../src/simulation/simulator.ts'

const fast = { perSecond: 10_000, burst: 10_000 }
const basic = { authorization: `Basic ${Buffer.from('api:stage-right-password').toString('base64')}` }

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

function keep<T extends { close(): unknown }>(one: T): T {
  open.push(one)
  return one
}

const shureWith = async (options: ShureSimulatorOptions = {}) =>
  keep(await startShureSimulator({ rateLimit: fast, story: false, ...options }))
const sennheiserWith = async (options: Parameters<typeof startSennheiserSimulator>[0] = {}) =>
  keep(await startSennheiserSimulator({ rateLimit: fast, story: false, ...options }))

describe('digest', () => {
  it('is demanded in both algorithms, and each is accepted', async () => {
    const shure = await shureWith()
    const bare = await call(shure, 'GET', '/api/v1/devices')
    expect(bare.status).toBe(401)
    expect(challengesOf(bare).map((one) => [one.algorithm, one.qop])).toEqual([
      ['SHA-256', 'auth'],
      ['MD5', 'auth'],
    ])
    for (const algorithm of ['SHA-256', 'MD5']) {
      const answer = await signed(shure, 'GET', '/api/v1/devices', { algorithm })
      expect(answer.status).toBe(200)
      expect(answer.headers['authentication-info']).toMatch(/rspauth="[0-9a-f]+"/)
      expect(answer.json.devices).toHaveLength(13)
    }
  })

  it('is answered by this test as RFC 7616 section 3.9.1 has it', () => {
    const about = { realm: 'http-auth@example.org', nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v' }
    const given = { ...about, secret: 'Circle of Life', username: 'Mufasa', uri: '/dir/index.html', nc: 1 }
    const cnonce = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ'
    expect(sign('GET', { ...given, cnonce, algorithm: 'MD5' })).toContain('8ca523f5e9506fed4657c9700eebdbec')
    expect(sign('GET', { ...given, cnonce, algorithm: 'SHA-256' })).toContain('753927fa0e85d155564e2e272a28d180')
  })

  it('refuses a wrong secret, user, path and method, without calling them stale', async () => {
    const shure = await shureWith()
    const path = '/api/v1/devices'
    for (const wrong of [{ secret: 'no' }, { username: 'root' }, { uri: '/api/v1/else' }, { signedMethod: 'PUT' }]) {
      const answer = await signed(shure, 'GET', path, wrong)
      expect(answer.status).toBe(401)
      expect(String(answer.headers['www-authenticate'])).not.toContain('stale')
    }
    expect(shure.requests.entries.filter((entry) => entry.refusal === 'wrong-credentials')).toHaveLength(3)
  })

  it('refuses a nonce count that does not rise', async () => {
    const shure = await shureWith()
    const [challenge] = challengesOf(await call(shure, 'GET', '/api/v1/devices'))
    const withCount = (nc: number) => signed(shure, 'GET', '/api/v1/devices', { nc, challenge })
    expect((await withCount(2)).status).toBe(200)
    expect((await withCount(2)).status).toBe(401)
    expect((await withCount(1)).status).toBe(401)
    expect((await withCount(3)).status).toBe(200)
    expect(shure.requests.entries.filter((entry) => entry.refusal === 'replay')).toHaveLength(2)
  })

  it('calls a nonce stale after its uses or its time', async () => {
    let time = Date.now()
    const shure = await shureWith({ nonceUses: 2, nonceLifetimeMs: 5000, now: () => time })
    let [challenge] = challengesOf(await call(shure, 'GET', '/api/v1/devices'))
    const withCount = (nc: number) => signed(shure, 'GET', '/api/v1/devices', { nc, challenge })
    expect([(await withCount(1)).status, (await withCount(2)).status]).toEqual([200, 200])
    const spent = await withCount(3)
    expect(spent.status).toBe(401)
    ;[challenge] = challengesOf(spent)
    expect(challenge?.stale).toBe('true')
    time += 5001
    expect(challengesOf(await withCount(1))[0]?.stale).toBe('true')
  })

  it('names the next nonce when told to, and that one works', async () => {
    const shure = await shureWith({ nextNonce: true })
    const first = await signed(shure, 'GET', '/api/v1/devices')
    const [, nonce = ''] = /nextnonce="([^"]+)"/.exec(String(first.headers['authentication-info'])) ?? []
    const challenge = { realm: 'System API', nonce, algorithm: 'SHA-256' }
    expect((await signed(shure, 'GET', '/api/v1/devices', { challenge })).status).toBe(200)
  })

  it('can demand the vendor key as well', async () => {
    const shure = await shureWith({ demandVendorKey: true })
    expect(shure.config.auth_header).toBe(true)
    const headers = { 'x-vendor-auth-key': String(shure.config.shared_key) }
    const [challenge] = challengesOf(await call(shure, 'GET', '/api/v1/devices', { headers }))
    expect((await signed(shure, 'GET', '/api/v1/devices', { challenge })).status).toBe(401)
    expect((await signed(shure, 'GET', '/api/v1/devices', { challenge, headers })).status).toBe(200)
  })
})

describe('devices', () => {
  it('are listed, detailed, and asked for channels and transmitters', async () => {
    const sennheiser = await sennheiserWith()
    const get = async (path: string) => (await call(sennheiser, 'GET', path, { headers: basic })).json
    const { devices } = await get('/api/v1/devices')
    expect(devices).toHaveLength(sennheiser.deviceCount)
    const fields = ['device_id', 'device_name', 'device_type', 'model', 'status', 'battery_percentage', 'rf_level']
    expect(Object.keys(devices[0])).toEqual(fields)
    const path = `/api/v1/devices/${devices[0].device_id}`
    expect(await get(path)).toMatchObject({ serial_number: expect.any(String), mac_address: expect.any(String) })
    const { channels } = await get(`${path}/channels`)
    expect(channels[0]).toMatchObject({ channel: 1, frequency: expect.stringMatching(/^\d{3}\.\d{3}$/) })
    const { transmitters } = await get(`${path}/transmitter`)
    expect(transmitters[0]).toMatchObject({ channel: 1, battery: expect.any(Number), rf_level: expect.any(Number) })
  })

  it('answer 404 without a transmitter, for an unknown id and for another manufacturer', async () => {
    const sennheiser = await sennheiserWith({ receivers: 1, channelsPerReceiver: 1 })
    const [state] = sennheiser.show.devicesAt(0)
    const id = state?.device.id ?? ''
    const status = async (path: string) => (await call(sennheiser, 'GET', path, { headers: basic })).status
    const transmitter = `/api/v1/devices/${id}/transmitter`
    expect(await status(transmitter)).toBe(200)
    sennheiser.show.set(id, { transmitter: false }, 1)
    expect(await status(transmitter)).toBe(404)
    expect(await status('/api/v1/devices/nobody')).toBe(404)
    expect(await status(`/api/v1/devices/${sennheiser.show.add('shure')}`)).toBe(404)
    expect((await call(sennheiser, 'DELETE', '/api/v1/devices', { headers: basic })).status).toBe(405)
  })

  it('carry everything in the list when told to', async () => {
    const sennheiser = await sennheiserWith({ richList: true, receivers: 3 })
    const { devices } = (await call(sennheiser, 'GET', '/api/v1/devices', { headers: basic })).json
    expect(devices[2]).toMatchObject({
      ip: expect.any(String),
      channels: [{ channel: 1 }, {}],
      transmitters: [{ channel: 2 }],
    })
  })
})

describe('the rate limit', () => {
  it('counts down in every answer, then answers 429 until a token is there', async () => {
    let time = 1_000_000
    const sennheiser = await sennheiserWith({ rateLimit: { perSecond: 1, burst: 2 }, now: () => time })
    const get = () => call(sennheiser, 'GET', '/api/v1/devices', { headers: basic })
    const first = await get()
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '1001',
    })
    expect((await get()).status).toBe(200)
    const refused = await get()
    expect(refused.status).toBe(429)
    expect(refused.headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'retry-after': '1' })
    expect(sennheiser.requests.limited).toBe(1)
    time += 1000
    expect((await get()).status).toBe(200)
    expect(sennheiser.requests.count('/api/v1/devices')).toBe(4)
    expect(sennheiser.requests.entries.map((entry) => entry.at - 1_000_000)).toEqual([0, 0, 0, 1000])
  })
})

describe('discovery addresses', () => {
  const path = '/api/v1/config/discovery/ips'

  it('are replaced by PUT and taken away by PATCH', async () => {
    const shure = await shureWith()
    expect((await signed(shure, 'GET', path)).json).toEqual({ ips: [] })
    expect((await signed(shure, 'PUT', path, { body: { ips: ['10.0.0.1', '10.0.0.2'] } })).status).toBe(202)
    expect((await signed(shure, 'PATCH', `${path}/remove`, { body: { ips: ['10.0.0.1'] } })).status).toBe(202)
    expect(shure.discoveryIps).toEqual(['10.0.0.2'])
    expect((await signed(shure, 'PUT', path, { body: { ips: 'all' } })).status).toBe(400)
    expect(shure.discoveryIps).toEqual(['10.0.0.2'])
  })

  it('may want POST instead of PATCH', async () => {
    const shure = await shureWith({ refusePatch: true })
    const refused = await signed(shure, 'PATCH', `${path}/remove`, { body: { ips: [] } })
    expect([refused.status, refused.headers.allow]).toEqual([405, 'POST'])
    expect((await signed(shure, 'POST', `${path}/remove`, { body: { ips: [] } })).status).toBe(202)
  })
})

describe('the WebSocket', () => {
  it('is refused without credentials, and at another path', async () => {
    const shure = await shureWith()
    expect(await upgradeStatus(shure, '/api/v1/ws', {})).toBe(401)
    const authorization = await authorizationFor(shure, '/api/v1/other')
    expect(await upgradeStatus(shure, '/api/v1/other', { authorization })).toBe(404)
  })

  it('pushes what changed and nothing else', async () => {
    const shure = await shureWith({ pushesPerSecond: 0 })
    const { id, number } = pickTransmitter(shure)
    const { frames } = await connect(shure)
    shure.show.set(id, { battery: 7, rf_level: -71, audio_level: -9 }, number)
    shure.push.flush()
    const update = await frames.find((frame) => frame.device_id === id && frame.transmitters !== undefined)
    expect(update.type).toBe('device_update')
    const levels = { channel: number, rf_level: -71, audio_level: -9 }
    expect(update.channels.find((one: { channel: number }) => one.channel === number)).toEqual(levels)
    const told = update.transmitters.find((one: { channel: number }) => one.channel === number)
    expect(told).toEqual({ ...levels, battery: 7 })

    shure.show.set(id, { ip: '10.7.7.7' })
    shure.show.set(id, { transmitter: false }, number)
    shure.push.flush()
    const second = await frames.find((frame) => frame.ip === '10.7.7.7')
    expect(second).not.toHaveProperty('serial_number')
    expect(second.channels.find((one: { channel: number }) => one.channel === number).transmitter).toBeNull()
  })

  it('tells of devices that go offline, come, and are removed', async () => {
    const shure = await shureWith({ receivers: 2, pushesPerSecond: 50 })
    const [first, second] = shure.show.devicesAt(0).map(({ device }) => device.id)
    const { frames } = await connect(shure)
    shure.show.set(first ?? '', { online: false })
    await frames.find(
      (frame) => frame.type === 'status_update' && frame.device_id === first && frame.status === 'offline',
    )
    shure.show.remove(second ?? '')
    expect(await frames.find((frame) => frame.type === 'device_removed')).toEqual({
      type: 'device_removed',
      device_id: second,
    })
    const added = shure.show.add('shure', { serial_number: 'NEW' })
    expect(await frames.find((frame) => frame.device_id === added)).toMatchObject({
      serial_number: 'NEW',
      status: 'online',
    })
  })

  it('pushes levels about five times a second a device', async () => {
    const shure = await shureWith({ receivers: 1 })
    const { frames } = await connect(shure)
    await pause(1100)
    expect(frames.all.length).toBeGreaterThanOrEqual(4)
    expect(frames.all.length).toBeLessThanOrEqual(6)
  })

  it('answers pings, falls silent, and drops its links', async () => {
    const shure = await shureWith({ pushesPerSecond: 20 })
    const { socket, frames } = await connect(shure)
    let pongs = 0
    socket.on('pong', () => pongs++)
    socket.ping()
    await until(() => pongs === 1)
    shure.setFault({ type: 'silent-links' })
    socket.ping()
    const heard = frames.all.length
    await pause(200)
    expect(pongs).toBe(1)
    expect(frames.all.length).toBeLessThanOrEqual(heard + 1)
    shure.setFault({ type: 'close-links' })
    await until(() => socket.readyState === WebSocket.CLOSED)
    expect(shure.push.links).toBe(0)
  })

  it('says goodbye with 1001', async () => {
    const shure = await startShureSimulator({ rateLimit: fast })
    const { socket } = await connect(shure)
    const code = new Promise((resolve) => socket.once('close', resolve))
    await shure.close()
    expect(await code).toBe(1001)
  })
})

describe('the event stream', () => {
  const path = '/api/ssc/state/subscriptions'

  it('opens a session, takes a list of paths, and tells their values and changes', async () => {
    const sennheiser = await sennheiserWith({ pushesPerSecond: 0 })
    const { id, number } = pickTransmitter(sennheiser)
    const device = `/api/v1/devices/${id}`
    const stream = await listen(sennheiser)
    const opened = await stream.events.find((one) => one.event === 'open')
    expect(stream.headers['content-location']).toBe(opened.data.path)
    expect(opened.data.path).toBe(`${path}/${opened.data.sessionUUID}`)

    const put = (to: string, body: unknown) => call(sennheiser, 'PUT', to, { headers: basic, body })
    expect((await put(opened.data.path, [device])).status).toBe(200)
    const current = await stream.events.find((one) => one.event === 'message')
    expect(current.data[device]).toMatchObject({ status: 'online', serial_number: expect.any(String) })

    sennheiser.show.set(id, { battery: 7 }, number)
    sennheiser.push.flush()
    const change = await stream.events.find(
      (one) => one.data[device]?.serial_number === undefined && one.event === 'message',
    )
    expect(Object.keys(change.data)).toEqual([device])
    const told = change.data[device].transmitters.find((one: { channel: number }) => one.channel === number)
    expect(told.battery).toBe(7)

    sennheiser.show.set(id, { online: false })
    sennheiser.push.flush()
    await stream.events.find((one) => one.data[device]?.status === 'offline')
    sennheiser.show.remove(id)
    sennheiser.push.flush()
    await stream.events.find((one) => one.data[device] === null)
  })

  it('refuses what it cannot serve', async () => {
    const sennheiser = await sennheiserWith()
    const send = (method: string, to: string, body?: unknown) => call(sennheiser, method, to, { headers: basic, body })
    expect((await send('GET', path)).status).toBe(400)
    expect((await send('PUT', `${path}/nobody`, [])).status).toBe(422)
    const stream = await listen(sennheiser)
    const { data } = await stream.events.find((one) => one.event === 'open')
    const good = `/api/v1/devices/${sennheiser.show.devicesAt(0)[0]?.device.id}`
    const refused = await send('PUT', data.path, [good, '/api/v1/devices/nobody'])
    expect([refused.status, refused.json]).toEqual([404, { path: '/api/v1/devices/nobody', error: 404 }])
    expect((await send('GET', data.path)).json).toEqual([])
    expect((await send('PUT', data.path, { no: 'array' })).status).toBe(400)
  })

  it('keeps alive by comments and says close at the end', async () => {
    const sennheiser = await startSennheiserSimulator({ rateLimit: fast, keepAliveMs: 30 })
    const stream = await listen(sennheiser)
    await until(() => stream.text().includes(': keep-alive\n\n'))
    await sennheiser.close()
    await stream.events.find((one) => one.event === 'close')
  })

  it('ends when access is switched off', async () => {
    const sennheiser = await sennheiserWith()
    const stream = await listen(sennheiser)
    sennheiser.setAccess(false)
    await stream.events.find((one) => one.event === 'close')
    expect((await call(sennheiser, 'GET', '/api/v1/devices', { headers: basic })).status).toBe(403)
    sennheiser.setAccess(true)
    expect((await call(sennheiser, 'GET', '/api/v1/devices', { headers: basic })).status).toBe(200)
    expect((await call(sennheiser, 'GET', '/api/v1/devices')).status).toBe(401)
    const wrong = { authorization: `Basic ${Buffer.from('api:wrong').toString('base64')}` }
    expect((await call(sennheiser, 'GET', '/api/v1/devices', { headers: wrong })).status).toBe(401)
  })
})

describe('faults', () => {
  const get = (simulator: Simulator, signal?: AbortSignal) =>
    call(simulator, 'GET', '/api/v1/devices', { headers: basic, signal })

  it('strike the next n requests, on matching paths only', async () => {
    const sennheiser = await sennheiserWith()
    sennheiser.setFault({ type: 'status', status: 500 }, { times: 2, path: /channels$/ })
    const channels = `/api/v1/devices/${sennheiser.show.devicesAt(0)[0]?.device.id}/channels`
    const status = async (path: string) => (await call(sennheiser, 'GET', path, { headers: basic })).status
    expect(await status('/api/v1/devices')).toBe(200)
    expect([await status(channels), await status(channels), await status(channels)]).toEqual([500, 500, 200])
    sennheiser.setFault({ type: 'reset' })
    sennheiser.setFault(null)
    expect(await status(channels)).toBe(200)
  })

  it('answer any status with headers and body', async () => {
    const sennheiser = await sennheiserWith()
    const date = new Date(Date.now() + 60_000).toUTCString()
    const status = { type: 'status', status: 429, headers: { 'retry-after': date }, body: { error: 'slow' } } as const
    sennheiser.setFault(status, { times: 1 })
    const limited = await get(sennheiser)
    expect([limited.status, limited.headers['retry-after'], limited.json]).toEqual([429, date, { error: 'slow' }])
    sennheiser.setFault({ type: 'status', status: 302, headers: { location: 'http://127.0.0.1:1/' } })
    expect((await get(sennheiser)).headers.location).toBe('http://127.0.0.1:1/')
  })

  it('hang, drip and reset', async () => {
    const sennheiser = await sennheiserWith()
    sennheiser.setFault({ type: 'hang' }, { times: 1 })
    await expect(get(sennheiser, AbortSignal.timeout(300))).rejects.toThrow()
    sennheiser.setFault({ type: 'drip' }, { times: 1 })
    const bytes = await dripped(sennheiser, 1300)
    expect(bytes).toBeGreaterThanOrEqual(2)
    expect(bytes).toBeLessThanOrEqual(4)
    sennheiser.setFault({ type: 'reset' }, { times: 1 })
    await expect(get(sennheiser)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('answer bodies that nobody can use', async () => {
    const sennheiser = await sennheiserWith()
    const struck = (fault: Fault) => {
      sennheiser.setFault(fault, { times: 1 })
      return get(sennheiser)
    }
    const html = await struck({ type: 'html' })
    expect([html.status, html.headers['content-type']]).toEqual([200, 'text/html'])
    expect((await struck({ type: 'not-json' })).json).toBeUndefined()
    expect((await struck({ type: 'wrong-shape' })).json).toEqual({ devices: null })
    await expect(struck({ type: 'truncated' })).rejects.toThrow()
    expect((await struck({ type: 'huge' })).bytes).toBeGreaterThan(16 * 1024 * 1024)
    const bomb = await struck({ type: 'gzip-bomb' })
    expect(bomb.headers['content-encoding']).toBe('gzip')
    expect(bomb.bytes).toBeLessThan(100_000)
    expect((await struck({ type: 'deep' })).bytes).toBeGreaterThan(200_000)
  })

  it('break one device of the list and leave the others', async () => {
    const sennheiser = await sennheiserWith({ receivers: 3 })
    const list = async (how: 'id-missing' | 'battery-word' | 'name-object') => {
      sennheiser.setFault({ type: 'malformed-device', how })
      return (await get(sennheiser)).json.devices
    }
    const [broken, ...others] = await list('id-missing')
    expect(broken).not.toHaveProperty('device_id')
    expect(others).toHaveLength(2)
    expect((await list('battery-word'))[0].battery_percentage).toBe('x')
    expect((await list('name-object'))[0].device_name).toBeTypeOf('object')
  })

  it('strike upgrades as well', async () => {
    const shure = await shureWith()
    shure.setFault({ type: 'status', status: 503 }, { path: '/api/v1/ws' })
    const authorization = await authorizationFor(shure, '/api/v1/ws')
    expect(await upgradeStatus(shure, '/api/v1/ws', { authorization })).toBe(503)
  })
})

it('close ends a request that hangs', async () => {
  const sennheiser = await startSennheiserSimulator({ rateLimit: fast })
  sennheiser.setFault({ type: 'hang' })
  const hanging = call(sennheiser, 'GET', '/api/v1/devices', { headers: basic }).catch((error: Error) => error)
  await until(() => sennheiser.requests.total === 1)
  await sennheiser.close()
  expect(await hanging).toBeInstanceOf(Error)
})

it('the demo is two systems with one show, and a rack of single devices', async () => {
  const demo = keep(await startDemo({ seed: 5 }))
  expect(demo.manufacturers.map((one) => [one.code, one.name])).toEqual([
    ['shure', 'Shure'],
    ['sennheiser', 'Sennheiser'],
    ['lectrosonics', 'Lectrosonics'],
  ])
  const url = String(demo.manufacturers[1]?.config.api_base_url)
  const { json } = await call({ baseUrl: url }, 'GET', '/api/v1/devices', { headers: basic })
  expect(json.devices).toHaveLength(11)
  const devices = demo.manufacturers[0]?.config.devices as { url: string }[]
  expect(devices.map(({ url }) => new URL(url).protocol)).toEqual([...Array(6).fill('tcp:'), 'udp:'])
  const others = demo.manufacturers[1]?.config.devices as { url: string }[]
  expect([...new Set(others.map(({ url }) => new URL(url).protocol))].sort()).toEqual(['http:', 'mcp:', 'ssc1:'])
  const small = keep(await startDemo({ receivers: 2 }))
  expect(small.manufacturers.map(({ config }) => config.devices)).toEqual([undefined, undefined])
})

// --- A client of its own: bare sockets and a digest written here ------------------------------------------------------

interface Heard {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON the simulator sent
  readonly json: any
}

function call(
  to: { baseUrl: string },
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown; signal?: AbortSignal | undefined } = {},
): Promise<Heard> {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body)
  const headers = { ...options.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const request = httpRequest(to.baseUrl + path, { method, headers, signal: options.signal, agent: false })
    request.on('error', reject)
    request.on('response', async (response) => {
      try {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        const whole = Buffer.concat(chunks)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes: whole.length,
          json: tryJson(whole),
        })
      } catch (error) {
        reject(error)
      }
    })
    request.end(body)
  })
}

function tryJson(bytes: Buffer): unknown {
  try {
    return bytes.length > 1_000_000 ? undefined : JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

interface Signature {
  readonly secret?: string
  readonly username?: string
  readonly uri?: string
  readonly signedMethod?: string
  readonly algorithm?: string
  readonly nc?: number
  readonly challenge?: Record<string, string> | undefined
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

async function signed(to: Simulator, method: string, path: string, about: Signature = {}): Promise<Heard> {
  const authorization = await authorizationFor(to, path, { signedMethod: method, ...about })
  return call(to, method, path, { headers: { ...about.headers, authorization }, body: about.body })
}

async function authorizationFor(to: Simulator, path: string, about: Signature = {}): Promise<string> {
  const { algorithm = 'SHA-256', secret = String(to.config.shared_key), signedMethod = 'GET' } = about
  const offered = about.challenge === undefined ? challengesOf(await call(to, 'GET', path)) : [about.challenge]
  const challenge = offered.find((one) => about.challenge !== undefined || one.algorithm === algorithm) ?? {}
  const { realm = '', nonce = '' } = challenge
  const given = { username: 'api', uri: path, nc: 1, cnonce: 'abc', ...about, secret, realm, nonce }
  return sign(signedMethod, { ...given, algorithm: challenge.algorithm ?? algorithm })
}

function sign(
  method: string,
  about: {
    algorithm: string
    realm: string
    nonce: string
    secret: string
    username: string
    uri: string
    nc: number
    cnonce: string
  },
): string {
  const { algorithm, realm, nonce, secret, username, uri, cnonce } = about
  const hash = (text: string) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex')
  const nc = about.nc.toString(16).padStart(8, '0')
  const a1 = hash(`${username}:${realm}:${secret}`)
  const response = hash(`${a1}:${nonce}:${nc}:${cnonce}:auth:${hash(`${method}:${uri}`)}`)
  const quoted = { username, realm, nonce, uri, cnonce, response }
  const list = Object.entries(quoted).map(([name, value]) => `${name}="${value}"`)
  return `Digest ${[...list, `algorithm=${algorithm}`, 'qop=auth', `nc=${nc}`].join(', ')}`
}

function challengesOf(answer: Heard): Record<string, string>[] {
  const header = String(answer.headers['www-authenticate'] ?? '')
  return header
    .split(/,\s*(?=Digest )/)
    .map((one) =>
      Object.fromEntries([...one.matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)].map(([, name, a, b]) => [name, a ?? b])),
    )
}

function upgradeStatus(to: Simulator, path: string, headers: Record<string, string>): Promise<number | undefined> {
  const socket = new WebSocket(to.baseUrl.replace('http', 'ws') + path, { headers })
  return new Promise((resolve, reject) => {
    socket.on('unexpected-response', (request, response) => {
      request.destroy()
      resolve(response.statusCode)
    })
    socket.on('open', () => reject(new Error('it opened')))
    socket.on('error', () => {})
  })
}

// biome-ignore lint/suspicious/noExplicitAny: whatever JSON the simulator sent
type Frame = any

/** Everything heard so far, and a wait for what is still to come. */
function collect() {
  const all: Frame[] = []
  const find = async (wanted: (frame: Frame) => boolean): Promise<Frame> => {
    await until(() => all.some(wanted))
    return all.find(wanted)
  }
  return { all, find }
}

async function connect(to: Simulator) {
  const authorization = await authorizationFor(to, '/api/v1/ws')
  const socket = new WebSocket(`${to.baseUrl.replace('http', 'ws')}/api/v1/ws`, { headers: { authorization } })
  keep({ close: () => socket.terminate() })
  const frames = collect()
  socket.on('message', (data) => frames.all.push(JSON.parse(String(data))))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  await until(() => to.push.links > 0)
  return { socket, frames }
}

async function listen(to: Simulator) {
  const headers = { ...basic, accept: 'text/event-stream' }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest(`${to.baseUrl}/api/ssc/state/subscriptions`, { headers, agent: false }, resolve)
    request.on('error', reject).end()
    keep({ close: () => request.destroy() })
  })
  const events = collect()
  let text = ''
  let rest = ''
  response.on('error', () => {})
  response.on('data', (chunk: Buffer) => {
    text += chunk
    const parts = (rest + chunk).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const [, event] = /^event: (.*)$/m.exec(part) ?? []
      const [, data] = /^data: (.*)$/m.exec(part) ?? []
      if (event !== undefined) events.all.push({ event, data: JSON.parse(data ?? 'null') })
    }
  })
  return { headers: response.headers, events, text: () => text }
}

async function dripped(to: Simulator, forMs: number): Promise<number> {
  let bytes = 0
  const request = httpRequest(`${to.baseUrl}/api/v1/devices`, { headers: basic, agent: false }, (response) => {
    response.on('error', () => {})
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
  })
  request.on('error', () => {}).end()
  await pause(forMs)
  request.destroy()
  return bytes
}

function pickTransmitter(of: Simulator): { id: string; number: number } {
  for (const { device, channels } of of.show.devicesAt(0, of.manufacturer)) {
    const channel = channels.find((one) => one.transmitter !== null)
    if (channel !== undefined) return { id: device.id, number: channel.channel }
  }
  throw new Error('nobody sends')
}

async function until(isSo: () => boolean): Promise<void> {
  for (const giveUpAt = Date.now() + 5000; !isSo(); await pause(10)) {
    if (Date.now() > giveUpAt) throw new Error(`waited in vain for ${isSo}`)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
