/** The load that monitoring puts on an upstream: calls and rate, as counted by the simulated system. */

import { describe, expect, it, vi } from 'vitest'
import type { Simulator } from '../src/simulation/simulator.ts'
import { channelOf, entryOf, firstDevice, startApp, startSennheiser, startShure, until, withoutPush } from './app.ts'

const list = '/api/v1/devices'
const detail = /^\/api\/v1\/devices\/[^/]+$/
const levels = /\/(channels|transmitter)$/

/** As in an operator's file, without rate settings. */
const plainEntry = ({ manufacturer, config }: Simulator, more: object = {}) => ({
  code: manufacturer,
  config: { ...config, ...more },
})

interface Pace {
  readonly perSecond: number
  readonly burst: number
}

/** Expects that no window has more calls than a token bucket of this size allows. */
function expectPace({ requests }: Simulator, { perSecond, burst }: Pace): void {
  const times = requests.entries.map(({ at }) => at)
  for (let from = 0; from < times.length; from += 1) {
    for (let to = from + burst; to < times.length; to += 1) {
      const seconds = ((times[to] as number) - (times[from] as number)) / 1000
      expect(to - from + 1).toBeLessThanOrEqual(burst + perSecond * seconds + 2)
    }
    // Pairs that are further apart follow from adjacent ones.
    if (from > 200) break
  }
}

describe('a large venue', () => {
  // Conformance: S-8.5, S-8.7, C-3.8.
  // Reliability: U17.
  it.each([
    { receivers: 1000, pace: { perSecond: 100, burst: 100 }, withinMs: 25_000 },
    { receivers: 60, pace: { perSecond: 10, burst: 20 }, withinMs: 12_000 },
  ])(
    'reads all $receivers devices with their identity and without a single 429',
    async ({ receivers, pace: rateLimit, withinMs }) => {
      const shure = await startShure({ receivers, channelsPerReceiver: 2, rateLimit, pushesPerSecond: 0 })
      const isDefault = rateLimit.perSecond === 10
      const more = isDefault ? {} : { calls_per_second: rateLimit.perSecond, burst: rateLimit.burst }
      const app = await startApp({ manufacturers: [plainEntry(shure, { ...more, poll_interval: 1 })] })
      const serials = shure.show.devicesAt(shure.elapsed()).map(({ device }) => device.serial_number)
      await until('all are there', async () => (await app.receivers()).length === receivers, withinMs)
      expect(
        new Set(
          (await app.runtime.db.read.selectFrom('receivers').select('serial_number').execute()).map(
            ({ serial_number }) => serial_number,
          ),
        ),
      ).toEqual(new Set(serials))
      expect((await app.get('/api/receivers/?page=1&page_size=1')).json.count).toBe(receivers)
      expect(shure.requests.limited).toBe(0)
      expect(shure.requests.entries.filter(({ status }) => status === 429)).toEqual([])
      expectPace(shure, rateLimit)
      expect((await app.get('/api/health/')).json.status).toBe('healthy')
    },
    30_000,
  )
})

describe('a steady polling cycle', () => {
  // Conformance: S-9.1, C-3.7, C-8.10.
  // Reliability: U17.
  it('needs one list call while the subscription is up, whatever the levels do', async () => {
    const shure = await startShure({ receivers: 20, pushesPerSecond: 5 })
    const app = await startApp({ manufacturers: [entryOf(shure)] })
    await until('all are there', async () => (await app.receivers()).length === 20)
    await until('the subscription is connected', () => shure.push.connections === 1)
    await until('the levels of the start are read', async () => {
      const before = shure.requests.count(levels)
      await new Promise((resolve) => setTimeout(resolve, 1200))
      return shure.requests.count(levels) === before
    })
    shure.requests.clear()
    await until('three cycles have passed', () => shure.requests.count(list) >= 3)
    expect(shure.requests.total).toBe(shure.requests.count(list))
  })

  // Conformance: S-4.21, C-3.6.
  it('reads identities again when more than levels has changed, but not for levels', async () => {
    const shure = withoutPush(await startShure({ receivers: 3 }))
    const app = await startApp({ manufacturers: [entryOf(shure, { poll_interval: 3600 })] })
    await until('all are there', async () => (await app.receivers()).length === 3)
    const { id } = firstDevice(shure, 1)
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
  it('sends no further requests if the list of the system is complete', async () => {
    const shure = withoutPush(await startShure({ receivers: 5, richList: true }))
    const app = await startApp({ manufacturers: [entryOf(shure, { poll_interval: 3600 })] })
    await until('all are there', async () => (await app.receivers()).length === 5)
    expect((await app.post('/api/refresh/')).status).toBe(200)
    expect(shure.requests.count(/^\/api\/v1\/devices\//)).toBe(0)
  })
})

describe('one address', () => {
  // Conformance: C-1.11, C-3.11.
  // Reliability: U28.
  it('has one rate limit that all callers share: two manufacturers share it', async () => {
    // Slightly more than the configured rate: calls with correct spacing may arrive closer together on a busy machine.
    const rateLimit = { perSecond: 24, burst: 16 }
    const shure = withoutPush(await startShure({ receivers: 10, rateLimit }))
    const config = { ...shure.config, calls_per_second: 20, burst: 10, poll_interval: 1 }
    const app = await startApp({
      manufacturers: [
        { code: 'house-left', plugin: 'shure', config },
        { code: 'house-right', plugin: 'shure', config },
      ],
    })
    await until('both have been polled', async () => {
      const { manufacturers } = (await app.get('/api/health/')).json
      return manufacturers.every(({ status }: { status: string }) => status === 'healthy')
    })
    await until('many calls have been sent', () => shure.requests.total > 60)
    expect(shure.requests.limited).toBe(0)
  })
})

describe('a system that sends Retry-After', () => {
  // Conformance: S-1.23, S-7.8, C-5.28.
  it('is not called until then, is degraded meanwhile, and stored data is served', async () => {
    const shure = withoutPush(await startShure())
    const app = await startApp({ manufacturers: [entryOf(shure)] })
    await until('both are known', async () => (await app.receivers()).length === 2)
    shure.setFault({ type: 'status', status: 429, headers: { 'retry-after': '3' } })
    await until('it has sent Retry-After', () => shure.requests.entries.at(-1)?.status === 429)
    const heldAt = performance.now()
    const held = shure.requests.total
    const { status } = await until('health reports it', async () => {
      const { vendor_api } = (await app.get('/api/health/')).json
      return /rate limited/.test(vendor_api.details.join()) && vendor_api
    })
    expect(status).toBe('healthy')
    withoutPush(shure)
    expect(await app.receivers()).toHaveLength(2)
    await until('it gets another request', () => shure.requests.total > held)
    expect(performance.now() - heldAt).toBeGreaterThan(2500)
    await until('it is healthy', async () => (await app.get('/api/health/')).json.status === 'healthy')
  })
})

describe('frames of the Shure System API', () => {
  // Conformance: C-3.16, C-3.17, C-7.7.
  it('are merged part by part; unknown frames are ignored; a removed device is offline', async () => {
    const shure = await startShure({ pushesPerSecond: 0 })
    const app = await startApp({ manufacturers: [entryOf(shure, { poll_interval: 3600 })] })
    await until('both are known', async () => (await app.receivers()).length === 2)
    await until('the subscription is connected', () => shure.push.connections === 1)
    const { id: device_id } = firstDevice(shure)
    const before = channelOf(await app.receiver(device_id), 2)
    await until('its channels are known', async () => channelOf(await app.receiver(device_id)).transmitter !== null)
    const send = (frame: object) => shure.push.send(JSON.stringify(frame))
    const first = async () => channelOf(await app.receiver(device_id))

    for (const text of ['{', '[]', '7', '{"type":"nonsense"}', '{"type":"device_update"}']) shure.push.send(text)
    send({ type: 'device_update', device_id: 'nobody', device_name: 'Nobody' })
    const whole = await first()
    send({ type: 'device_update', device_id, transmitter: { channel: 1, battery: 57 } })
    await until('the part is merged', async () => (await first()).transmitter?.battery === 57)
    expect((await first()).transmitter).toEqual({ ...whole.transmitter, battery: 57 })
    send({ type: 'status_update', device_id, channels: [{ channel: 1, name: 'Pushed Name' }] })
    await until('the channel is renamed', async () => (await first()).name === 'Pushed Name')
    expect((await first()).frequency).toBe(whole.frequency)
    send({ type: 'device_update', device_id, channels: [{ channel: 1, transmitter: null }] })
    await until('the transmitter is gone', async () => (await first()).transmitter === null)
    expect(channelOf(await app.receiver(device_id), 2).slot).toBe(before.slot)
    send({ type: 'device_removed', device_id })
    await until('it is offline', async () => (await app.receiver(device_id)).is_active === false)
    expect(await app.receivers()).toHaveLength(2)
  })
})

describe('the event stream', () => {
  // Conformance: C-3.18.
  it('reports a device as its resource describes it', async () => {
    const sennheiser = await startSennheiser({ pushesPerSecond: 0 })
    const app = await startApp({ manufacturers: [entryOf(sennheiser, { poll_interval: 3600 })] })
    await until('both are known', async () => (await app.receivers()).length === 2)
    await until('the stream is open', () => sennheiser.push.connections === 1)
    const [{ id }, neighbour] = [firstDevice(sennheiser), firstDevice(sennheiser, 1)]
    const requests = sennheiser.requests.entries
    expect(requests.some(({ method, path }) => method === 'GET' && path === '/api/ssc/state/subscriptions')).toBe(true)
    await until('the resources are stored', () =>
      sennheiser.requests.entries.some(
        ({ method, path }) => method === 'PUT' && path.startsWith('/api/ssc/state/subscriptions/'),
      ),
    )
    const other = await app.receiver(neighbour.id)
    sennheiser.show.set(id, { battery: 23 }, 1)
    await until('the change is published', async () => {
      sennheiser.push.flush()
      return channelOf(await app.receiver(id)).transmitter?.battery === 23
    })
    expect((await app.receiver(neighbour.id)).name).toBe(other.name)
  })
})

describe('an elapsed minute', () => {
  // Conformance: C-4.18.
  it('makes a receiver without reports inactive', async () => {
    const pass = createTimeLapse()
    const shure = withoutPush(await startShure({ richList: true }))
    const app = await startApp({ manufacturers: [entryOf(shure)] })
    await until('both are known', async () => (await app.receivers()).length === 2)
    shure.setFault({ type: 'reset' })
    await until('it fails', async () => (await app.get('/api/health/')).json.vendor_api.status === 'degraded')
    const { last_seen } = (await app.get('/api/receivers/')).json[0]
    const activity = async () => (await app.receivers()).map(({ is_active }) => is_active)
    const failedPolls = async (count: number) => {
      const before = shure.requests.total
      await until('it gets further requests', () => shure.requests.total >= before + count, 20_000)
    }
    pass(57_000 - (Date.now() - Date.parse(last_seen)))
    await failedPolls(1)
    expect(await activity()).toEqual([true, true])
    pass(6_000)
    await until('both are inactive', async () => (await activity()).every((one) => one === false))
    expect(await app.receivers()).toHaveLength(2)
  }, 40_000)
})

/** Advances both clocks of this process at once. There is no way back, because a monotonic clock never goes back. */
function createTimeLapse(): (ms: number) => void {
  let passedMs = 0
  const [wall, monotonic] = [Date.now, performance.now.bind(performance)]
  vi.spyOn(Date, 'now').mockImplementation(() => wall() + passedMs)
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + passedMs)
  return (ms) => {
    passedMs += ms
  }
}
