/** The simulated Sennheiser system, tested with an independent client, and the faults that any system can simulate. */

import { type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { onTestEnd } from '../../test/support/cleanup.ts'
import { call, collect, findTransmitter, unlimitedRate, until } from '../../test/support/simulator-client.ts'
import type { Fault } from '../show/faults.ts'
import type { Simulator } from '../show/simulator.ts'
import { type SennheiserSimulatorOptions, startSennheiserSimulator } from './system.ts'

const basic = { authorization: `Basic ${Buffer.from('api:stage-right-password').toString('base64')}` }

async function startSennheiser(options: SennheiserSimulatorOptions = {}) {
  const sennheiser = await startSennheiserSimulator({ rateLimit: unlimitedRate, story: false, ...options })
  onTestEnd(() => sennheiser.close())
  return sennheiser
}

describe('devices', () => {
  it('are listed, and have details, channels and transmitters', async () => {
    const sennheiser = await startSennheiser()
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

  it('return 404 without a transmitter, for an unknown id and for another manufacturer', async () => {
    const sennheiser = await startSennheiser({ receivers: 1, channelsPerReceiver: 1 })
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

  it('have all fields in the list if configured', async () => {
    const sennheiser = await startSennheiser({ richList: true, receivers: 3 })
    const { devices } = (await call(sennheiser, 'GET', '/api/v1/devices', { headers: basic })).json
    expect(devices[2]).toMatchObject({
      ip: expect.any(String),
      channels: [{ channel: 1 }, {}],
      transmitters: [{ channel: 2 }],
    })
  })
})

describe('the rate limit', () => {
  it('counts down in every response, then returns 429 until a token is available', async () => {
    let time = 1_000_000
    const sennheiser = await startSennheiser({ rateLimit: { perSecond: 1, burst: 2 }, now: () => time })
    const get = () => call(sennheiser, 'GET', '/api/v1/devices', { headers: basic })
    const first = await get()
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '1001',
    })
    expect((await get()).status).toBe(200)
    const rejected = await get()
    expect(rejected.status).toBe(429)
    expect(rejected.headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'retry-after': '1' })
    expect(sennheiser.requests.limited).toBe(1)
    time += 1000
    expect((await get()).status).toBe(200)
    expect(sennheiser.requests.count('/api/v1/devices')).toBe(4)
    expect(sennheiser.requests.entries.map((entry) => entry.at - 1_000_000)).toEqual([0, 0, 0, 1000])
  })
})

describe('the event stream', () => {
  const path = '/api/ssc/state/subscriptions'

  it('opens a session, accepts a list of paths, and sends their values and changes', async () => {
    const sennheiser = await startSennheiser({ pushesPerSecond: 0 })
    const { id, number } = findTransmitter(sennheiser)
    const device = `/api/v1/devices/${id}`
    const stream = await listen(sennheiser)
    const opened = await stream.events.find((event) => event.event === 'open')
    expect(stream.headers['content-location']).toBe(opened.data.path)
    expect(opened.data.path).toBe(`${path}/${opened.data.sessionUUID}`)

    const putJson = (url: string, body: unknown) => call(sennheiser, 'PUT', url, { headers: basic, body })
    expect((await putJson(opened.data.path, [device])).status).toBe(200)
    const current = await stream.events.find((event) => event.event === 'message')
    expect(current.data[device]).toMatchObject({ status: 'online', serial_number: expect.any(String) })

    sennheiser.show.set(id, { battery: 7 }, number)
    sennheiser.push.flush()
    const change = await stream.events.find(
      (event) => event.data[device]?.serial_number === undefined && event.event === 'message',
    )
    expect(Object.keys(change.data)).toEqual([device])
    const transmitter = change.data[device].transmitters.find(
      (transmitter: { channel: number }) => transmitter.channel === number,
    )
    expect(transmitter.battery).toBe(7)

    sennheiser.show.set(id, { online: false })
    sennheiser.push.flush()
    await stream.events.find((event) => event.data[device]?.status === 'offline')
    sennheiser.show.remove(id)
    sennheiser.push.flush()
    await stream.events.find((event) => event.data[device] === null)
  })

  it('rejects invalid paths', async () => {
    const sennheiser = await startSennheiser()
    const send = (method: string, url: string, body?: unknown) =>
      call(sennheiser, method, url, { headers: basic, body })
    expect((await send('GET', path)).status).toBe(400)
    expect((await send('PUT', `${path}/nobody`, [])).status).toBe(422)
    const stream = await listen(sennheiser)
    const { data } = await stream.events.find((event) => event.event === 'open')
    const validPath = `/api/v1/devices/${sennheiser.show.devicesAt(0)[0]?.device.id}`
    const rejected = await send('PUT', data.path, [validPath, '/api/v1/devices/nobody'])
    expect([rejected.status, rejected.json]).toEqual([404, { path: '/api/v1/devices/nobody', error: 404 }])
    expect((await send('GET', data.path)).json).toEqual([])
    expect((await send('PUT', data.path, { no: 'array' })).status).toBe(400)
  })

  it('sends comments as keep-alive and a close event at the end', async () => {
    const sennheiser = await startSennheiserSimulator({ rateLimit: unlimitedRate, keepAliveMs: 30 })
    const stream = await listen(sennheiser)
    await until(() => stream.text().includes(': keep-alive\n\n'))
    await sennheiser.close()
    await stream.events.find((event) => event.event === 'close')
  })

  it('ends when access is disabled', async () => {
    const sennheiser = await startSennheiser()
    const stream = await listen(sennheiser)
    sennheiser.setAccess(false)
    await stream.events.find((event) => event.event === 'close')
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

  it('apply to the next n requests, on matching paths only', async () => {
    const sennheiser = await startSennheiser()
    sennheiser.setFault({ type: 'status', status: 500 }, { times: 2, path: /channels$/ })
    const channels = `/api/v1/devices/${sennheiser.show.devicesAt(0)[0]?.device.id}/channels`
    const status = async (path: string) => (await call(sennheiser, 'GET', path, { headers: basic })).status
    expect(await status('/api/v1/devices')).toBe(200)
    expect([await status(channels), await status(channels), await status(channels)]).toEqual([500, 500, 200])
    sennheiser.setFault({ type: 'reset' })
    sennheiser.setFault(null)
    expect(await status(channels)).toBe(200)
  })

  it('return any status with headers and body', async () => {
    const sennheiser = await startSennheiser()
    const date = new Date(Date.now() + 60_000).toUTCString()
    const status = { type: 'status', status: 429, headers: { 'retry-after': date }, body: { error: 'slow' } } as const
    sennheiser.setFault(status, { times: 1 })
    const limited = await get(sennheiser)
    expect([limited.status, limited.headers['retry-after'], limited.json]).toEqual([429, date, { error: 'slow' }])
    sennheiser.setFault({ type: 'status', status: 302, headers: { location: 'http://127.0.0.1:1/' } })
    expect((await get(sennheiser)).headers.location).toBe('http://127.0.0.1:1/')
  })

  it('can hang, drip and reset', async () => {
    const sennheiser = await startSennheiser()
    sennheiser.setFault({ type: 'hang' }, { times: 1 })
    await expect(get(sennheiser, AbortSignal.timeout(300))).rejects.toThrow()
    sennheiser.setFault({ type: 'drip' }, { times: 1 })
    expect(await measureDrip(sennheiser, 3)).toBeGreaterThan(900)
    sennheiser.setFault({ type: 'reset' }, { times: 1 })
    await expect(get(sennheiser)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('return unusable bodies', async () => {
    const sennheiser = await startSennheiser()
    const getWithFault = (fault: Fault) => {
      sennheiser.setFault(fault, { times: 1 })
      return get(sennheiser)
    }
    const html = await getWithFault({ type: 'html' })
    expect([html.status, html.headers['content-type']]).toEqual([200, 'text/html'])
    expect((await getWithFault({ type: 'not-json' })).json).toBeUndefined()
    expect((await getWithFault({ type: 'wrong-shape' })).json).toEqual({ devices: null })
    await expect(getWithFault({ type: 'truncated' })).rejects.toThrow()
    expect((await getWithFault({ type: 'huge' })).bytes).toBeGreaterThan(16 * 1024 * 1024)
    const bomb = await getWithFault({ type: 'gzip-bomb' })
    expect(bomb.headers['content-encoding']).toBe('gzip')
    expect(bomb.bytes).toBeLessThan(100_000)
    expect((await getWithFault({ type: 'deep' })).bytes).toBeGreaterThan(200_000)
  })

  it('can affect only one device in the list', async () => {
    const sennheiser = await startSennheiser({ receivers: 3 })
    const list = async (how: 'id-missing' | 'battery-word' | 'name-object') => {
      sennheiser.setFault({ type: 'malformed-device', how })
      return (await get(sennheiser)).json.devices
    }
    const [malformed, ...others] = await list('id-missing')
    expect(malformed).not.toHaveProperty('device_id')
    expect(others).toHaveLength(2)
    expect((await list('battery-word'))[0].battery_percentage).toBe('x')
    expect((await list('name-object'))[0].device_name).toBeTypeOf('object')
  })
})

it('closing the simulator ends hanging requests', async () => {
  const sennheiser = await startSennheiserSimulator({ rateLimit: unlimitedRate })
  sennheiser.setFault({ type: 'hang' })
  const hanging = call(sennheiser, 'GET', '/api/v1/devices', { headers: basic }).catch((error: Error) => error)
  await until(() => sennheiser.requests.total === 1)
  await sennheiser.close()
  expect(await hanging).toBeInstanceOf(Error)
})

async function listen(simulator: Simulator) {
  const headers = { ...basic, accept: 'text/event-stream' }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const clientRequest = request(
      `${simulator.baseUrl}/api/ssc/state/subscriptions`,
      { headers, agent: false },
      resolve,
    )
    clientRequest.on('error', reject).end()
    onTestEnd(() => clientRequest.destroy())
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

/** Returns the time until this many bytes of the response have arrived, in milliseconds. */
async function measureDrip(simulator: Simulator, count: number): Promise<number> {
  const startedAt = performance.now()
  let bytes = 0
  const clientRequest = request(`${simulator.baseUrl}/api/v1/devices`, { headers: basic, agent: false }, (response) => {
    response.on('error', () => {})
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
  })
  clientRequest.on('error', () => {}).end()
  await until(() => bytes >= count)
  clientRequest.destroy()
  return performance.now() - startedAt
}
