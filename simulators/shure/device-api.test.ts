/** The simulated Shure system, tested with an independent client. */

import { createHash } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { onTestEnd } from '../../test/support/cleanup.ts'
import { eventually } from '../../test/support/eventually.ts'
import {
  call,
  collect,
  findTransmitter,
  type SimulatorResponse,
  unlimitedRate,
  until,
} from '../../test/support/simulator-client.ts'
import { timeLimit } from '../../test/support/time-limit.ts'
import type { Simulator } from '../show/simulator.ts'
import { type ShureSimulatorOptions, startShureSimulator } from './device-api.ts'

async function startShure(options: ShureSimulatorOptions = {}) {
  const shure = await startShureSimulator({ rateLimit: unlimitedRate, story: false, ...options })
  onTestEnd(() => shure.close())
  return shure
}

describe('digest authentication', () => {
  it('offers both algorithms, and accepts each', async () => {
    const shure = await startShure()
    const bare = await call(shure, 'GET', '/api/v1/devices')
    expect(bare.status).toBe(401)
    expect(challengesOf(bare).map((challenge) => [challenge.algorithm, challenge.qop])).toEqual([
      ['SHA-256', 'auth'],
      ['MD5', 'auth'],
    ])
    for (const algorithm of ['SHA-256', 'MD5']) {
      const response = await callSigned(shure, 'GET', '/api/v1/devices', { algorithm })
      expect(response.status).toBe(200)
      expect(response.headers['authentication-info']).toMatch(/rspauth="[0-9a-f]+"/)
      expect(response.json.devices).toHaveLength(13)
    }
  })

  it('is computed by this test as in RFC 7616 section 3.9.1', () => {
    const signature = { realm: 'http-auth@example.org', nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v' }
    const parameters = { ...signature, secret: 'Circle of Life', username: 'Mufasa', uri: '/dir/index.html', nc: 1 }
    const cnonce = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ'
    expect(sign('GET', { ...parameters, cnonce, algorithm: 'MD5' })).toContain('8ca523f5e9506fed4657c9700eebdbec')
    expect(sign('GET', { ...parameters, cnonce, algorithm: 'SHA-256' })).toContain('753927fa0e85d155564e2e272a28d180')
  })

  it('rejects a wrong secret, user, path and method without the stale flag', async () => {
    const shure = await startShure()
    const path = '/api/v1/devices'
    for (const wrong of [{ secret: 'no' }, { username: 'root' }, { uri: '/api/v1/else' }, { signedMethod: 'PUT' }]) {
      const response = await callSigned(shure, 'GET', path, wrong)
      expect(response.status).toBe(401)
      expect(String(response.headers['www-authenticate'])).not.toContain('stale')
    }
    expect(shure.requests.entries.filter((entry) => entry.refusal === 'wrong-credentials')).toHaveLength(3)
  })

  it('rejects a nonce count that does not increase', async () => {
    const shure = await startShure()
    const [challenge] = challengesOf(await call(shure, 'GET', '/api/v1/devices'))
    const withCount = (nc: number) => callSigned(shure, 'GET', '/api/v1/devices', { nc, challenge })
    expect((await withCount(2)).status).toBe(200)
    expect((await withCount(2)).status).toBe(401)
    expect((await withCount(1)).status).toBe(401)
    expect((await withCount(3)).status).toBe(200)
    expect(shure.requests.entries.filter((entry) => entry.refusal === 'replay')).toHaveLength(2)
  })

  it('marks a nonce as stale after its uses or its time', async () => {
    let time = Date.now()
    const shure = await startShure({ nonceUses: 2, nonceLifetimeMs: 5000, now: () => time })
    let [challenge] = challengesOf(await call(shure, 'GET', '/api/v1/devices'))
    const withCount = (nc: number) => callSigned(shure, 'GET', '/api/v1/devices', { nc, challenge })
    expect([(await withCount(1)).status, (await withCount(2)).status]).toEqual([200, 200])
    const expired = await withCount(3)
    expect(expired.status).toBe(401)
    ;[challenge] = challengesOf(expired)
    expect(challenge?.stale).toBe('true')
    time += 5001
    expect(challengesOf(await withCount(1))[0]?.stale).toBe('true')
  })

  it('sends the next nonce if configured, and accepts it', async () => {
    const shure = await startShure({ nextNonce: true })
    const first = await callSigned(shure, 'GET', '/api/v1/devices')
    const [, nonce = ''] = /nextnonce="([^"]+)"/.exec(String(first.headers['authentication-info'])) ?? []
    const challenge = { realm: 'System API', nonce, algorithm: 'SHA-256' }
    expect((await callSigned(shure, 'GET', '/api/v1/devices', { challenge })).status).toBe(200)
  })

  it('can also require the vendor key', async () => {
    const shure = await startShure({ demandVendorKey: true })
    expect(shure.config.auth_header).toBe(true)
    const headers = { 'x-vendor-auth-key': String(shure.config.shared_key) }
    const [challenge] = challengesOf(await call(shure, 'GET', '/api/v1/devices', { headers }))
    expect((await callSigned(shure, 'GET', '/api/v1/devices', { challenge })).status).toBe(401)
    expect((await callSigned(shure, 'GET', '/api/v1/devices', { challenge, headers })).status).toBe(200)
  })
})

describe('discovery addresses', () => {
  const path = '/api/v1/config/discovery/ips'

  it('are replaced by PUT and removed by PATCH', async () => {
    const shure = await startShure()
    expect((await callSigned(shure, 'GET', path)).json).toEqual({ ips: [] })
    expect((await callSigned(shure, 'PUT', path, { body: { ips: ['10.0.0.1', '10.0.0.2'] } })).status).toBe(202)
    expect((await callSigned(shure, 'PATCH', `${path}/remove`, { body: { ips: ['10.0.0.1'] } })).status).toBe(202)
    expect(shure.discoveryIps).toEqual(['10.0.0.2'])
    expect((await callSigned(shure, 'PUT', path, { body: { ips: 'all' } })).status).toBe(400)
    expect(shure.discoveryIps).toEqual(['10.0.0.2'])
  })

  it('can require POST instead of PATCH', async () => {
    const shure = await startShure({ refusePatch: true })
    const rejected = await callSigned(shure, 'PATCH', `${path}/remove`, { body: { ips: [] } })
    expect([rejected.status, rejected.headers.allow]).toEqual([405, 'POST'])
    expect((await callSigned(shure, 'POST', `${path}/remove`, { body: { ips: [] } })).status).toBe(202)
  })
})

describe('the WebSocket', () => {
  it('rejects connections without credentials and at another path', async () => {
    const shure = await startShure()
    expect(await upgradeStatus(shure, '/api/v1/ws', {})).toBe(401)
    const authorization = await authorizationFor(shure, '/api/v1/other')
    expect(await upgradeStatus(shure, '/api/v1/other', { authorization })).toBe(404)
  })

  it('pushes only what changed', async () => {
    const shure = await startShure({ pushesPerSecond: 0 })
    const { id, number } = findTransmitter(shure)
    const { frames } = await connect(shure)
    shure.show.set(id, { battery: 7, rf_level: -71, audio_level: -9 }, number)
    shure.push.flush()
    const update = await frames.find((frame) => frame.device_id === id && frame.transmitters !== undefined)
    expect(update.type).toBe('device_update')
    const levels = { channel: number, rf_level: -71, audio_level: -9 }
    expect(update.channels.find((channel: { channel: number }) => channel.channel === number)).toEqual(levels)
    const transmitter = update.transmitters.find((transmitter: { channel: number }) => transmitter.channel === number)
    expect(transmitter).toEqual({ ...levels, battery: 7 })

    shure.show.set(id, { ip: '10.7.7.7' })
    shure.show.set(id, { transmitter: false }, number)
    shure.push.flush()
    const second = await frames.find((frame) => frame.ip === '10.7.7.7')
    expect(second).not.toHaveProperty('serial_number')
    expect(second.channels.find((channel: { channel: number }) => channel.channel === number).transmitter).toBeNull()
  })

  it('reports devices that go offline, appear and are removed', async () => {
    const shure = await startShure({ receivers: 2, pushesPerSecond: 50 })
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

  it('pushes levels about five times a second for each device', async () => {
    const shure = await startShure({ receivers: 1 })
    const { frames } = await connect(shure)
    const startedAt = performance.now()
    await eventually(() => frames.all.length).toBeGreaterThanOrEqual(5)
    const seconds = (performance.now() - startedAt) / 1000
    expect(seconds).toBeLessThan(timeLimit(1200) / 1000)
    expect(frames.all.length).toBeLessThanOrEqual(2 + 5 * seconds)
  })

  it('answers pings, and can stop responding and drop its connections', async () => {
    const shure = await startShure({ pushesPerSecond: 20 })
    const { socket, frames } = await connect(shure)
    let pongs = 0
    socket.on('pong', () => pongs++)
    socket.ping()
    await until(() => pongs === 1)
    shure.setFault({ type: 'silent-connections' })
    socket.ping()
    // Data sent before still arrives.
    await pause(500)
    await nextTurn()
    const countBefore = frames.all.length
    await pause(500)
    expect(pongs).toBe(1)
    expect(frames.all.length).toBe(countBefore)
    shure.setFault({ type: 'close-connections' })
    await until(() => socket.readyState === WebSocket.CLOSED)
    await eventually(() => shure.push.connections).toBe(0)
  })

  it('closes with 1001', async () => {
    const shure = await startShureSimulator({ rateLimit: unlimitedRate })
    const { socket } = await connect(shure)
    const code = new Promise((resolve) => socket.once('close', resolve))
    await shure.close()
    expect(await code).toBe(1001)
  })

  it('is also affected by simulated faults', async () => {
    const shure = await startShure()
    shure.setFault({ type: 'status', status: 503 }, { path: '/api/v1/ws' })
    const authorization = await authorizationFor(shure, '/api/v1/ws')
    expect(await upgradeStatus(shure, '/api/v1/ws', { authorization })).toBe(503)
  })
})

// --- An independent digest implementation ----------------------------------------------------------------------------

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

async function callSigned(
  simulator: Simulator,
  method: string,
  path: string,
  signature: Signature = {},
): Promise<SimulatorResponse> {
  const authorization = await authorizationFor(simulator, path, { signedMethod: method, ...signature })
  return call(simulator, method, path, { headers: { ...signature.headers, authorization }, body: signature.body })
}

async function authorizationFor(simulator: Simulator, path: string, signature: Signature = {}): Promise<string> {
  const { algorithm = 'SHA-256', secret = String(simulator.config.shared_key), signedMethod = 'GET' } = signature
  const offered =
    signature.challenge === undefined ? challengesOf(await call(simulator, 'GET', path)) : [signature.challenge]
  const challenge =
    offered.find((candidate) => signature.challenge !== undefined || candidate.algorithm === algorithm) ?? {}
  const { realm = '', nonce = '' } = challenge
  const parameters = { username: 'api', uri: path, nc: 1, cnonce: 'abc', ...signature, secret, realm, nonce }
  return sign(signedMethod, { ...parameters, algorithm: challenge.algorithm ?? algorithm })
}

function sign(
  method: string,
  signature: {
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
  const { algorithm, realm, nonce, secret, username, uri, cnonce } = signature
  const hash = (text: string) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex')
  const nc = signature.nc.toString(16).padStart(8, '0')
  const a1 = hash(`${username}:${realm}:${secret}`)
  const response = hash(`${a1}:${nonce}:${nc}:${cnonce}:auth:${hash(`${method}:${uri}`)}`)
  const quoted = { username, realm, nonce, uri, cnonce, response }
  const list = Object.entries(quoted).map(([name, value]) => `${name}="${value}"`)
  return `Digest ${[...list, `algorithm=${algorithm}`, 'qop=auth', `nc=${nc}`].join(', ')}`
}

function challengesOf(response: SimulatorResponse): Record<string, string>[] {
  const header = String(response.headers['www-authenticate'] ?? '')
  return header
    .split(/,\s*(?=Digest )/)
    .map((part) =>
      Object.fromEntries([...part.matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)].map(([, name, a, b]) => [name, a ?? b])),
    )
}

function upgradeStatus(
  simulator: Simulator,
  path: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  const socket = new WebSocket(simulator.baseUrl.replace('http', 'ws') + path, { headers })
  return new Promise((resolve, reject) => {
    socket.on('unexpected-response', (request, response) => {
      request.destroy()
      resolve(response.statusCode)
    })
    socket.on('open', () => reject(new Error('the connection was accepted')))
    socket.on('error', () => {})
  })
}

async function connect(simulator: Simulator) {
  const authorization = await authorizationFor(simulator, '/api/v1/ws')
  const socket = new WebSocket(`${simulator.baseUrl.replace('http', 'ws')}/api/v1/ws`, { headers: { authorization } })
  onTestEnd(() => socket.terminate())
  const frames = collect()
  socket.on('message', (data) => frames.all.push(JSON.parse(String(data))))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  await until(() => simulator.push.connections > 0)
  return { socket, frames }
}
