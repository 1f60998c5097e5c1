/** A Sennheiser device that speaks SSC 2 for itself: found out, asked, followed, and never locked out. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { getDevices, type Interest, type PushEvent } from '../src/manufacturers/plugin.ts'
import { sennheiser } from '../src/manufacturers/sennheiser/index.ts'
import { startSennheiserSimulator } from '../src/manufacturers/sennheiser/simulator.ts'
import { ssc2 } from '../src/manufacturers/sennheiser/ssc2/form.ts'
import { meters } from '../src/manufacturers/sennheiser/ssc2/simulated-resources.ts'
import { type Ssc2SimulatorOptions, startSsc2Simulator } from '../src/manufacturers/sennheiser/ssc2/simulator.ts'
import { hearSource } from '../src/manufacturers/sources.ts'
import { createLink } from '../src/upstream/link.ts'
import { expectCommonFormat } from './plugin-kit-fixtures.ts'
import { caught, leastResources, resources, until } from './plugin-kit-resources.ts'
import { serveHttp } from './plugin-kit-server.ts'
import { timeLimit } from './time-limit.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})
const keep = <T extends { close(): unknown }>(one: T): T => {
  open.push(one)
  return one
}

const password = 'stage-right-password'
const never = new AbortController().signal
const anybody: Interest = { ids: () => [], changed: () => new Promise(() => {}) }
const { ApiError } = sennheiser.errors

async function start(options: Ssc2SimulatorOptions = {}) {
  return keep(await startSsc2Simulator(options))
}

function hear(device: string | object, config: object = {}) {
  const [source] = sennheiser.listSources({
    devices: [device],
    password,
    timeout: 2,
    calls_per_second: 1000,
    ...config,
  })
  if (source === undefined) throw new Error('the configuration names no source')
  const link = keep(createLink({ settings: source, errors: sennheiser.errors }))
  return hearSource({ id: 'sennheiser:test', manufacturer: 'sennheiser', plugin: sennheiser, source, link })
}

/** Over a session that has told everything it was asked for at the beginning. */
async function follow(heard: ReturnType<typeof hear>, signal = never) {
  const { subscribe } = await heard.findForm()
  const events = subscribe?.(heard.link, anybody, signal)
  if (events === undefined) throw new Error('it cannot subscribe')
  const iterator = events[Symbol.asyncIterator]()
  open.push({ close: () => iterator.return?.() })
  expect((await iterator.next()).value).toEqual({ type: 'open' })
  return iterator
}

async function find(iterator: AsyncIterator<PushEvent>, isIt: (event: PushEvent) => unknown): Promise<PushEvent> {
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) throw new Error('the subscription ended')
    if (isIt(value)) return value
  }
}

async function drain(iterator: AsyncIterator<PushEvent>): Promise<void> {
  while (!(await iterator.next()).done);
}

const transmitterOf = (event: PushEvent) =>
  event.type === 'told' ? event.observation.channels?.[0]?.transmitter : undefined

describe('which form a web address speaks', () => {
  // Conformance: C-3.12.
  test('a device that knows no list of devices is met in its own', async () => {
    const simulator = await start({ product: 'EWDX4CHDS' })
    const heard = hear(simulator.url)
    const { devices } = await heard.listDevices()
    expect(devices).toMatchObject([{ id: 'sscv2:1234567890' }])
    await heard.listDevices()
    expect(simulator.requests.filter((one) => one.includes('/api/v1/'))).toHaveLength(1)
  })

  test('a system stays one, also when it refuses', async () => {
    const simulator = keep(await startSennheiserSimulator({ pushesPerSecond: 0, receivers: 2, password }))
    const heard = hear(simulator.baseUrl)
    expect((await heard.listDevices()).devices).toHaveLength(2)
    simulator.setFault({ type: 'status', status: 404 })
    await expect(heard.listDevices()).rejects.toMatchObject({ status: 404 })
    simulator.setFault({ type: 'status', status: 401 })
    await expect(heard.listDevices()).rejects.toMatchObject({ status: 401 })
    simulator.setFault(null)
    expect((await heard.listDevices()).devices).toHaveLength(2)
  })

  test('what took its place at the address is met as what it is', async () => {
    const simulator = await start()
    const heard = hear(simulator.url)
    await heard.listDevices()
    await simulator.close()
    const port = Number(new URL(simulator.url).port)
    keep(await startSennheiserSimulator({ pushesPerSecond: 0, receivers: 2, password, port }))
    // The connection that was kept from before is the first thing to fail.
    const { devices } = await heard.listDevices().catch(() => heard.listDevices())
    expect(devices).toHaveLength(2)
  })
})

describe('asked one by one', () => {
  test.each(['EWDX2CHS', 'EWDX4CHDS', 'Spectera Base Station'] as const)(
    '%s becomes the common format',
    async (product) => {
      const simulator = await start({ product })
      const heard = hear(simulator.url)
      await heard.listDevices()
      const devices = await getDevices(heard.form, heard.link)
      const seen = devices.map((device) => heard.form.transformDeviceData(device))
      for (const observation of seen) expectCommonFormat(observation)
      expect(seen[0]?.channels?.[0]?.transmitter?.battery).toEqual(expect.any(Number))
      expect(heard.form.hasIdentity(devices[0] ?? { id: '' })).toBe(true)
    },
  )

  test('a transmitter that is not linked is none', async () => {
    const simulator = await start()
    simulator.link(2, false)
    const heard = hear(simulator.url)
    await heard.listDevices()
    const [device] = await getDevices(heard.form, heard.link)
    const channels = device && heard.form.transformDeviceData(device).channels
    expect(channels?.map(({ transmitter }) => transmitter === null)).toEqual([false, true])
  })

  test('a steady device is known again by its identity', async () => {
    const simulator = await start()
    const heard = hear(simulator.url)
    const [first] = (await heard.listDevices()).devices
    if (first === undefined) throw new Error('no device')
    const before = await heard.form.readPart(heard.link, first, 'identity')
    const [second] = (await heard.listDevices()).devices
    if (second === undefined) throw new Error('no device')
    expect(heard.form.isSameIdentity(second, before)).toBe(true)
    expect(heard.form.hasIdentity(heard.form.withEarlierIdentity(second, before))).toBe(true)
    simulator.set('/api/device/site', { deviceName: 'OTHER' })
    const [renamed] = (await heard.listDevices()).devices
    expect(renamed && heard.form.isSameIdentity(renamed, before)).toBe(false)
  })
})

describe('a session', () => {
  test('tells everything, then what changes; what means nothing is passed over', async () => {
    const simulator = await start()
    const iterator = await follow(hear(simulator.url))
    await find(iterator, (event) => transmitterOf(event)?.battery === 83)
    simulator.set('/api/transmitters/0/battery', { gauge: 30 })
    await find(iterator, (event) => transmitterOf(event)?.battery === 30)
    simulator.say('no sense')
    await find(iterator, ({ type }) => type === 'ignored')
    simulator.say('{"path":"/api/transmitters/0/battery","value":{"gauge":12}}')
    await find(iterator, (event) => transmitterOf(event)?.battery === 12)
  })

  test('one path that is refused does not cost its neighbours; it is asked for again when somebody is linked', async () => {
    const simulator = await start({ product: 'EWDX4CHDS' })
    simulator.link(1, false)
    const iterator = await follow(hear(simulator.url))
    const gone = await find(iterator, (event) => transmitterOf(event) === null)
    expect(gone).toMatchObject({ type: 'told', isWhole: true })
    await expect.poll(() => simulator.requests.filter((one) => one.endsWith('/add')).length).toBeGreaterThan(10)
    simulator.link(1, true)
    await find(iterator, (event) => transmitterOf(event)?.battery === 83)
    simulator.link(1, false)
    await find(iterator, (event) => transmitterOf(event) === null)
  })

  test('many packs of one base station', async () => {
    const simulator = await start({ product: 'Spectera Base Station' })
    const iterator = await follow(hear(simulator.url))
    const names = (event: PushEvent) =>
      event.type === 'told' ? event.observation.channels?.map(({ channel, name }) => `${channel} ${name}`).join() : ''
    await find(iterator, (event) => names(event) === '1 LEAD,4 BASS')
    simulator.say('{"/api/mts/paired/all":{},"/api/mts/paired/12":{"name":"BASS 2"}}')
    await find(iterator, (event) => names(event) === '1 LEAD,4 BASS 2')
    simulator.say('{"/api/mts/paired/12":null}')
    const gone = await find(iterator, (event) => names(event) === '1 LEAD,4 undefined')
    expect(gone).toMatchObject({ observation: { channels: [{}, { channel: 4, rf_level: null, transmitter: null }] } })
  })

  test('meters that come faster than anybody looks are told ten times a second, everything else at once', async () => {
    const simulator = await start({ product: 'Spectera Base Station', fastEveryMs: 10 })
    const iterator = await follow(hear(simulator.url))
    const audioOf = (event: PushEvent) => event.type === 'told' && event.observation.channels?.[0]?.audio_level
    await find(iterator, (event) => audioOf(event) === -20)
    const startedAt = performance.now()
    let told = 0
    await find(iterator, () => performance.now() - startedAt > 1000 || ++told > 100)
    expect(told).toBeGreaterThan(4)
    expect(told).toBeLessThanOrEqual(12)
    simulator.set('/api/audio/metering', meters([{ peak: -3, rms: -9 }]))
    simulator.set('/api/mts/paired/all', [
      { mtUid: 11, name: 'LEAD', state: 'Connected', micAudiolinkId: 0, batteryFillLevel: 12 },
    ])
    const next = await find(iterator, () => true)
    expect(transmitterOf(next)?.battery).toBe(12)
    await find(iterator, (event) => audioOf(event) === -9)
  })

  test('ends with an error when it is closed, dropped, or has nothing to give', async () => {
    const simulator = await start()
    const closed = await follow(hear(simulator.url))
    simulator.setAccess(false)
    await expect(drain(closed)).rejects.toThrow(/closed the session/)
    simulator.setAccess(true)
    const dropped = await follow(hear(simulator.url))
    await simulator.close()
    await expect(drain(dropped)).rejects.toBeInstanceOf(ApiError)
    const full = await start({ mostSessions: 0 })
    await expect(follow(hear(full.url))).rejects.toMatchObject({ status: 503 })
  })

  test('a device that says nothing more and does not answer either is lost within seconds', async () => {
    const simulator = await start()
    const iterator = await follow(hear(simulator.url, { timeout: 1 }))
    // The last path of the last list, told at once.
    const firmware = ({ type, ...told }: PushEvent) => type === 'told' && JSON.stringify(told).includes('4.0.2')
    await find(iterator, firmware)
    await pause(100)
    simulator.setSilent(true)
    await expect(drain(iterator)).rejects.toThrow(/no answer/)
    expect(simulator.requests.filter((one) => one === 'GET /api/ssc/version')).toHaveLength(2)
  }, 10_000)

  test('a device that only has nothing to say is kept', async () => {
    const simulator = await start({ fastEveryMs: 1_000_000 })
    const iterator = await follow(hear(simulator.url))
    await find(iterator, (event) => transmitterOf(event)?.battery === 83)
    const next = find(iterator, (event) => transmitterOf(event)?.battery === 30)
    await pause(4000)
    simulator.set('/api/transmitters/0/battery', { gauge: 30 })
    await next
  }, 10_000)

  test('an abort at any moment ends it at once and leaves nothing behind', async () => {
    const simulator = await start({ product: 'EWDX4CHDS' })
    for (const afterMs of [0, 3, 20, 200]) {
      const idle = await leastResources()
      const heard = hear(simulator.url)
      const stop = new AbortController()
      const listing = caught(heard.listDevices(stop.signal))
      const following = caught(follow(heard, stop.signal).then(drain))
      await pause(afterMs)
      stop.abort('enough')
      const abortedAt = performance.now()
      const [listed] = await Promise.all([listing, following])
      expect(performance.now() - abortedAt, `after ${afterMs} ms`).toBeLessThan(timeLimit(100))
      expect([undefined, 'enough'], `after ${afterMs} ms`).toContain(listed)
      await heard.link.close()
      await until(() => simulator.sessions === 0 && resources() <= idle, `nothing is left after ${afterMs} ms`)
    }
  })

  test('an abort ends it quietly and lets the session go', async () => {
    const simulator = await start()
    const stop = new AbortController()
    const iterator = await follow(hear(simulator.url), stop.signal)
    await find(iterator, ({ type }) => type === 'told')
    const ended = drain(iterator)
    stop.abort()
    await ended
    await expect.poll(() => simulator.sessions).toBe(0)
  })
})

describe('a door that locks itself', () => {
  test('after one wrong password nothing more is asked, whoever asks', async () => {
    const simulator = await start()
    const heard = hear(simulator.url, { password: 'wrong' })
    await expect(heard.listDevices()).rejects.toMatchObject({
      status: 401,
      message: expect.stringMatching(/check the key or password .* not asked again/),
    })
    const { length } = simulator.requests
    for (let times = 0; times < 10; times += 1) await expect(heard.listDevices()).rejects.toMatchObject({ status: 401 })
    expect(await heard.checkHealth()).toMatchObject({ status: 'unhealthy' })
    expect(simulator.requests).toHaveLength(length)
    expect(simulator.isLocked).toBe(false)
    expect((await hear(simulator.url).listDevices()).devices).toHaveLength(1)
  })

  test('a password changed on the device costs one try', async () => {
    const simulator = await start()
    const heard = hear(simulator.url)
    const iterator = await follow(heard)
    simulator.setPassword('another-password')
    await expect(drain(iterator)).rejects.toThrow(/closed the session/)
    const { length } = simulator.requests
    for (let times = 0; times < 5; times += 1) await expect(heard.listDevices()).rejects.toMatchObject({ status: 401 })
    expect(simulator.requests.length - length).toBe(2)
  })

  test('access that is off says what to do, and is tried again', async () => {
    const simulator = await start()
    const heard = hear(simulator.url)
    await heard.listDevices()
    simulator.setAccess(false)
    await expect(heard.listDevices()).rejects.toMatchObject({
      status: 403,
      message: expect.stringMatching(/disabled .* enable/),
    })
    simulator.setAccess(true)
    expect((await heard.listDevices()).devices).toHaveLength(1)
  })
})

test('a self-signed certificate is believed when it is pinned', async () => {
  const pem = readFileSync(new URL('./fixtures/self-signed.pem', import.meta.url))
  const simulator = await start({ tls: { key: pem, cert: pem } })
  await expect(hear(simulator.url).listDevices()).rejects.toThrow(/certificate/)
  const heard = hear({ url: simulator.url, fingerprint: new X509Certificate(pem).fingerprint256 })
  expect((await heard.listDevices()).devices).toHaveLength(1)
  await find(await follow(heard), (event) => transmitterOf(event)?.battery === 83)
})

test.each([
  ['no identity', '[]', 'application/json', /not a device's identity/],
  ['a web page', '<html>', 'text/html', /web page/],
])('a device that answers %s is its ApiError', async (_, body, type, says) => {
  const server = await serveHttp({
    onRequest: (_request, response) => response.writeHead(200, { 'content-type': type }).end(body),
  })
  open.push(server)
  const { link } = hear(server.url)
  await expect(ssc2.listDevices(link)).rejects.toBeInstanceOf(ApiError)
  await expect(ssc2.listDevices(link)).rejects.toThrow(says)
})
