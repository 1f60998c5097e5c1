/** The load that monitoring puts on an upstream: calls and rate, as counted by the simulated system. */

import { describe, expect, it, vi } from 'vitest'
import type { Simulator } from '../simulators/show/simulator.ts'
import { now } from '../src/platform/clock.ts'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  until,
  withoutPush,
} from './support/app.ts'
import { eventually } from './support/eventually.ts'
import { withDatabase } from './support/store/databases.ts'

const list = '/api/v1/devices'
const detail = /^\/api\/v1\/devices\/[^/]+$/
const levels = /\/(channels|transmitter)$/

/** Returns the configuration entry as an operator would write it, without rate settings. */
const defaultConfigFor = ({ manufacturer, config }: Simulator, more: object = {}) => ({
  code: manufacturer,
  config: { ...config, ...more },
})

interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** Expects that no period contains more calls than a token bucket of this size allows, with a margin of two calls. */
function expectRate({ requests }: Simulator, { perSecond, burst }: RateLimit): void {
  const times = requests.entries.map(({ at }) => at)
  for (let from = 0; from < times.length; from += 1) {
    for (let to = from + burst; to < times.length; to += 1) {
      const seconds = ((times[to] as number) - (times[from] as number)) / 1000
      expect(to - from + 1).toBeLessThanOrEqual(burst + perSecond * seconds + 2)
    }
    // Checks only periods that begin with one of about the first 200 calls, to save time.
    if (from > 200) break
  }
}

describe('a large venue', () => {
  // Conformance: S-8.5, S-8.7, C-3.8.
  // Reliability: U17.
  it.each([
    { receivers: 1000, rateLimit: { perSecond: 100, burst: 100 }, withinMs: 25_000 },
    { receivers: 60, rateLimit: { perSecond: 10, burst: 20 }, withinMs: 12_000 },
  ])(
    'reads all $receivers devices with their identity and without a single 429',
    async ({ receivers, rateLimit, withinMs }) => {
      const shure = await startShure({ receivers, channelsPerReceiver: 2, rateLimit, pushesPerSecond: 0 })
      const isDefault = rateLimit.perSecond === 10
      const more = isDefault ? {} : { calls_per_second: rateLimit.perSecond, burst: rateLimit.burst }
      const app = await startApp({ manufacturers: [defaultConfigFor(shure, { ...more, poll_interval: 1 })] })
      const serials = shure.show.devicesAt(shure.elapsed()).map(({ device }) => device.serial_number)
      await until('all receivers are listed', async () => (await app.receivers()).length === receivers, withinMs)
      expect(
        new Set(
          (await withDatabase(app, ({ read }) => read.selectFrom('receivers').select('serial_number').execute())).map(
            ({ serial_number }) => serial_number,
          ),
        ),
      ).toEqual(new Set(serials))
      expect((await app.get('/api/receivers/?page=1&page_size=1')).json.count).toBe(receivers)
      expect(shure.requests.limited).toBe(0)
      expect(shure.requests.entries.filter(({ status }) => status === 429)).toEqual([])
      expectRate(shure, rateLimit)
      await eventually(async () => (await app.get('/api/health/')).json.status).toBe('healthy')
    },
  )
})

describe('a steady polling cycle', () => {
  // Conformance: S-9.1, C-3.7, C-8.10.
  // Reliability: U17.
  it('needs one list call while the subscription is up, whatever the levels do', async () => {
    const shure = await startShure({ receivers: 20, pushesPerSecond: 5 })
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('all receivers are listed', async () => (await app.receivers()).length === 20)
    await until('the subscription is connected', () => shure.push.connections === 1)
    await until('the initial levels are read', async () => {
      const before = shure.requests.count(levels)
      await new Promise((resolve) => setTimeout(resolve, 1200))
      return shure.requests.count(levels) === before
    })
    shure.requests.clear()
    await until('three cycles have passed', () => shure.requests.count(list) >= 3)
    expect(shure.requests.total).toBe(shure.requests.count(list))
  })

  // Conformance: S-4.21, C-3.6.
  it('reads identities again when values other than levels have changed, but not for levels', async () => {
    const shure = withoutPush(await startShure({ receivers: 3 }))
    const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    await until('all receivers are listed', async () => (await app.receivers()).length === 3)
    const { id } = deviceOf(shure, 1)
    expect((await app.post('/api/refresh/')).status).toBe(200)
    shure.requests.clear()
    shure.show.set(id, { battery: 41, rf_level: -71 }, 1)
    expect((await app.post('/api/refresh/')).status).toBe(200)
    expect(shure.requests.count(list)).toBe(1)
    expect(shure.requests.count(detail)).toBe(0)
    expect(channelOf(await app.receiver(id)).transmitter).toMatchObject({ battery: 41, rf_level: -71 })
    shure.requests.clear()
    shure.show.set(id, { name: 'Renamed', firmware_version: '7.7.7' })
    expect((await app.post('/api/refresh/')).status).toBe(200)
    expect(shure.requests.entries.filter(({ path }) => detail.test(path)).map(({ path }) => path)).toEqual([
      `${list}/${id}`,
    ])
    expect(await app.receiver(id)).toMatchObject({ name: 'Renamed', firmware_version: '7.7.7' })
  })

  // Conformance: C-3.4.
  it('sends no further requests if the device list is complete', async () => {
    const shure = withoutPush(await startShure({ receivers: 5, richList: true }))
    const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    await until('all receivers are listed', async () => (await app.receivers()).length === 5)
    expect((await app.post('/api/refresh/')).status).toBe(200)
    expect(shure.requests.count(/^\/api\/v1\/devices\//)).toBe(0)
  })
})

describe('one address', () => {
  // Conformance: C-1.11, C-3.11.
  // Reliability: U28.
  it('has one rate limit, which all callers share, even two manufacturers', async () => {
    // The system allows slightly more than the configured rate, because calls with correct spacing may arrive closer
    // together on a busy machine.
    const rateLimit = { perSecond: 24, burst: 16 }
    const shure = withoutPush(await startShure({ receivers: 10, rateLimit }))
    const config = { ...shure.config, calls_per_second: 20, burst: 10, poll_interval: 1 }
    const app = await startApp({
      manufacturers: [
        { code: 'stage-left', plugin: 'shure', config },
        { code: 'stage-right', plugin: 'shure', config },
      ],
    })
    await until('both systems have been polled', async () => {
      const { manufacturers } = (await app.get('/api/health/')).json
      return manufacturers.every(({ status }: { status: string }) => status === 'healthy')
    })
    await until('many calls have been sent', () => shure.requests.total > 60)
    expect(shure.requests.limited).toBe(0)
  })
})

describe('a system that sends Retry-After', () => {
  // Conformance: S-1.23, S-7.8, C-5.28.
  it('is not called before the given time, is reported as rate limited, and its stored data is served', async () => {
    const shure = withoutPush(await startShure())
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    shure.setFault({ type: 'status', status: 429, headers: { 'retry-after': '3' } })
    const limited = await until('the system has sent Retry-After', () => {
      const last = shure.requests.entries.at(-1)
      return last?.status === 429 && last
    })
    const requestsBefore = shure.requests.total
    const { status } = await until('health reports the failure', async () => {
      const { vendor_api } = (await app.get('/api/health/')).json
      return /rate limited/.test(vendor_api.details.join()) && vendor_api
    })
    expect(status).toBe('healthy')
    withoutPush(shure)
    expect(await app.receivers()).toHaveLength(2)
    const next = await until('the system receives another request', () => shure.requests.entries[requestsBefore])
    expect(next.at - limited.at).toBeGreaterThan(2500)
    await until('the status is healthy', async () => (await app.get('/api/health/')).json.status === 'healthy')
  })
})

describe('frames of the Shure System API', () => {
  // Conformance: C-3.16, C-3.17, C-7.7.
  it('are merged part by part; unknown frames are ignored; a removed device is offline', async () => {
    const shure = await startShure({ pushesPerSecond: 0 })
    const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    await until('the subscription is connected', () => shure.push.connections === 1)
    const { id: device_id } = deviceOf(shure)
    const before = channelOf(await app.receiver(device_id), 2)
    await until('its channels are known', async () => channelOf(await app.receiver(device_id)).transmitter !== null)
    const send = (frame: object) => shure.push.send(JSON.stringify(frame))
    const first = async () => channelOf(await app.receiver(device_id))

    for (const text of ['{', '[]', '7', '{"type":"nonsense"}', '{"type":"device_update"}']) shure.push.send(text)
    send({ type: 'device_update', device_id: 'nobody', device_name: 'Nobody' })
    const complete = await first()
    send({ type: 'device_update', device_id, transmitter: { channel: 1, battery: 57 } })
    await until('the part is merged', async () => (await first()).transmitter?.battery === 57)
    expect((await first()).transmitter).toEqual({ ...complete.transmitter, battery: 57 })
    send({ type: 'status_update', device_id, channels: [{ channel: 1, name: 'Pushed Name' }] })
    await until('the channel is renamed', async () => (await first()).name === 'Pushed Name')
    expect((await first()).frequency).toBe(complete.frequency)
    send({ type: 'device_update', device_id, channels: [{ channel: 1, transmitter: null }] })
    await until('the transmitter is removed', async () => (await first()).transmitter === null)
    expect(channelOf(await app.receiver(device_id), 2).slot).toBe(before.slot)
    send({ type: 'device_removed', device_id })
    await until('the receiver is offline', async () => (await app.receiver(device_id)).is_active === false)
    expect(await app.receivers()).toHaveLength(2)
  })
})

describe('the event stream', () => {
  // Conformance: C-3.18.
  it('reports a device as its resource describes it', async () => {
    const sennheiser = await startSennheiser({ pushesPerSecond: 0 })
    const app = await startApp({ manufacturers: [configFor(sennheiser, { poll_interval: 3600 })] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    await until('the stream is open', () => sennheiser.push.connections === 1)
    const [{ id }, other] = [deviceOf(sennheiser), deviceOf(sennheiser, 1)]
    const requests = sennheiser.requests.entries
    expect(requests.some(({ method, path }) => method === 'GET' && path === '/api/ssc/state/subscriptions')).toBe(true)
    await until('the resources are stored', () =>
      sennheiser.requests.entries.some(
        ({ method, path }) => method === 'PUT' && path.startsWith('/api/ssc/state/subscriptions/'),
      ),
    )
    const otherReceiver = await app.receiver(other.id)
    sennheiser.show.set(id, { battery: 23 }, 1)
    await until('the change is published', async () => {
      sennheiser.push.flush()
      return channelOf(await app.receiver(id)).transmitter?.battery === 23
    })
    expect((await app.receiver(other.id)).name).toBe(otherReceiver.name)
  })
})

describe('an elapsed minute', () => {
  // Conformance: C-4.18.
  it('makes a receiver without reports inactive', async () => {
    const advance = createTimeLapse()
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    shure.setFault({ type: 'reset' })
    await until('the poll fails', async () => (await app.get('/api/health/')).json.vendor_api.status === 'degraded')
    const { last_seen } = (await app.get('/api/receivers/')).json[0]
    const listActive = async () => (await app.receivers()).map(({ is_active }) => is_active)
    const waitForRequests = async (count: number) => {
      const before = shure.requests.total
      await until('the system receives further requests', () => shure.requests.total >= before + count, 20_000)
    }
    advance(50_000 - (now() - Date.parse(last_seen)))
    await waitForRequests(1)
    expect(await listActive()).toEqual([true, true])
    advance(13_000)
    await until('both receivers are inactive', async () => (await listActive()).every((isActive) => isActive === false))
    expect(await app.receivers()).toHaveLength(2)
  })
})

/**
 * Returns a function that advances the wall clock and the monotonic clock of this process together. It cannot set them
 * back, because a monotonic clock never goes back.
 */
function createTimeLapse(): (ms: number) => void {
  let elapsedMs = 0
  const [wall, monotonic] = [Date.now, performance.now.bind(performance)]
  vi.spyOn(Date, 'now').mockImplementation(() => wall() + elapsedMs)
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + elapsedMs)
  return (ms) => {
    elapsedMs += ms
  }
}
