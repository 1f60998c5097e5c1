/** Two services with one database and one Redis, also while Redis is unavailable. */

import { describe, expect, it } from 'vitest'
import { saveReceivers } from '../src/store/receivers.ts'
import { nextRevision } from '../src/store/revision.ts'
import { channelOf, entryOf, firstDevice, startApp, startShure, type TestApp, until } from './app.ts'
import { startRedis, type TestRedis } from './redis.ts'

const since = (startedAt: number) => performance.now() - startedAt

/** Two services on one database; only the first one polls. */
async function startTwo(redis: TestRedis, options: { manufacturers?: readonly object[]; limit?: object } = {}) {
  const { manufacturers = [], limit } = options
  const config = { redis_url: redis.url, ...(limit !== undefined && { rate_limit: limit }) }
  const first = await startApp({ manufacturers, config })
  const sharedStore = { databaseUrl: first.databaseUrl, dataDir: first.dataDir }
  const second = await startApp({ ...sharedStore, config, isScreenOnly: true })
  return [first, second] as const
}

const isUp = (...apps: readonly TestApp[]) => apps.every(({ runtime }) => runtime.redis?.isUp === true)
const isAlone = (...apps: readonly TestApp[]) => apps.every(({ runtime }) => runtime.redis?.isUp === false)

const hasLink = ({ runtime }: TestApp) =>
  runtime.connections.subscriptions().some(({ isEnabled, downSince }) => isEnabled && downSince === null)

async function statuses(app: TestApp, requests: number): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: requests }, () => app.get('/api/receivers/')))
  return responses.map(({ status }) => status)
}

const passed = (responses: readonly number[]) => responses.filter((status) => status === 200).length

describe('the rate limit with Redis', () => {
  // Conformance: S-8.3.
  // Reliability: D6.
  it('lets 120 of 240 requests to two services through', async () => {
    const [first, second] = await startTwo(await startRedis(), { limit: { max_requests: 120, window_seconds: 60 } })
    await until('both have Redis', () => isUp(first, second))
    const startedAt = performance.now()
    const responses = await Promise.all([statuses(first, 120), statuses(second, 120)])
    const earned = Math.ceil(since(startedAt) / 500)
    const let_through = passed(responses.flat())
    expect(let_through).toBeGreaterThanOrEqual(120)
    expect(let_through).toBeLessThanOrEqual(120 + earned)
    expect(responses.flat().every((status) => status === 200 || status === 429)).toBe(true)
    const { headers } = await second.get('/api/receivers/')
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '120', 'retry-after': '1' })
  })

  it('counts expensive requests separately, and does not count rejected ones', async () => {
    const overrides = { 'POST /api/discover/': { max_requests: 2, window_seconds: 60 } }
    const limit = { max_requests: 1000, window_seconds: 60, overrides }
    const [first, second] = await startTwo(await startRedis(), { limit })
    await until('both have Redis', () => isUp(first, second))
    const scan = (app: TestApp, scan_subnet: string) => app.post('/api/discover/', { scan_subnet })
    for (const app of [first, second, first]) expect((await scan(app, '8.8.8.0/24')).status).toBe(400)
    await scan(first, '127.0.0.0/30')
    expect((await first.get('/api/health/')).headers['x-ratelimit-limit']).toBe('1000')
  })

  // Reliability: D2, D4.
  it('applies to each service separately while Redis is unavailable, and to both together once it is back', async () => {
    const redis = await startRedis()
    const [first, second] = await startTwo(redis, { limit: { max_requests: 10, window_seconds: 600 } })
    await until('both have Redis', () => isUp(first, second))
    await redis.kill()
    await until('both detect it', () => isAlone(first, second))
    for (const app of [first, second]) expect(passed(await statuses(app, 20))).toBe(10)
    await redis.start()
    await until('both have Redis again', () => isUp(first, second), 5000)
    const responses = await Promise.all([statuses(first, 10), statuses(second, 10)])
    expect(passed(responses.flat())).toBe(10)
  })

  // Reliability: D5.
  it('ignores foreign values under its keys', async () => {
    const redis = await startRedis()
    const [first] = await startTwo(redis, { limit: { max_requests: 10, window_seconds: 600 } })
    await until('it has Redis', () => isUp(first))
    expect(passed(await statuses(first, 1))).toBe(1)
    const client = redis.client()
    const [key = ''] = await client.keys('*:bucket:*')
    for (const spoil of [
      () => client.set(key, 'not a bucket'),
      () => client.hset(key, 'tokens', 'many', 'at', 'noon'),
      () => client.hset(key, 'tokens', '1e308', 'at', '-1e308'),
      () => client.hset(key, 'tokens', 'nan', 'at', 'nan'),
    ]) {
      await client.del(key)
      await spoil()
      const [response] = await statuses(first, 1)
      expect(response).toBe(200)
      expect(Number(await client.hget(key, 'tokens'))).toBeCloseTo(9, 1)
    }
  })
})

describe('a service with Redis', () => {
  // Conformance: C-5.25.
  // Reliability: D1.
  it('starts and serves without it, reports that it is degraded, and uses it as soon as it is available', async () => {
    const redis = await startRedis({ isRunning: false })
    const app = await startApp({ config: { redis_url: redis.url } })
    const response = await app.get('/api/health/')
    expect([response.status, response.json]).toMatchObject([200, { status: 'degraded' }])
    expect((await app.get('/api/data.json')).status).toBe(200)
    await redis.start()
    await until('it has Redis', () => isUp(app), 5000)
    expect((await app.get('/api/health/')).json).toMatchObject({ status: 'healthy' })
  })

  // Reliability: D3.
  it('waits 200 ms at most three times when it hangs, then not at all, and uses it again when it resumes', async () => {
    const redis = await startRedis()
    const app = await startApp({ config: { redis_url: redis.url } })
    await until('it has Redis', () => isUp(app))
    redis.signal('SIGSTOP')
    const startedAt = performance.now()
    for (let n = 0; n < 60; n += 1) expect((await app.get('/api/receivers/')).status).toBe(200)
    // Three calls without a response, at most three more meanwhile, and the rest at once.
    expect(since(startedAt)).toBeLessThan(60 * 20 + 1200)
    expect(isAlone(app)).toBe(true)
    expect((await app.get('/api/health/')).json).toMatchObject({ status: 'degraded' })
    redis.signal('SIGCONT')
    await until('it has Redis again', () => isUp(app), 5000)
  })
})

describe('readings that one service receives', () => {
  // Conformance: C-1.7.
  // Reliability: D6.
  it('are sent to clients of the other within a second, once each, without a database write', async () => {
    const redis = await startRedis()
    const shure = await startShure()
    const { id } = firstDevice(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [entryOf(shure, { poll_interval: 60 })] })
    await until('both have Redis', () => isUp(first, second))
    await until('both know the devices', async () => (await second.receivers()).length === 2)
    await until('the subscription is connected', () => hasLink(first))
    const socket = await second.socket('/ws')
    const revision = first.runtime.receiverStore.revision
    for (const battery of [61, 42, 23]) {
      const changedAt = performance.now()
      shure.show.set(id, { battery }, 1)
      const seen = () => socket.ofType('device_update').filter((message) => batteryOf(message) === battery)
      await until(`${battery} % is seen`, () => seen().length > 0)
      expect(since(changedAt)).toBeLessThan(1000)
      expect(seen()).toHaveLength(1)
      expect(channelOf(await second.receiver(id), 1).transmitter?.battery).toBe(battery)
    }
    expect(first.runtime.receiverStore.revision).toBe(revision)
  })

  it('are published complete when they change, and not at all if a receiver only reports again', async () => {
    const redis = await startRedis()
    // The clock of the show is stopped, and with it the levels.
    const startedAt = Date.now()
    const shure = await startShure({ receivers: 3, richList: true, pushesPerSecond: 0, now: () => startedAt })
    const { id } = firstDevice(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [entryOf(shure, { poll_interval: 3600 })] })
    await until('both have Redis', () => isUp(first, second))
    await until('both know the devices', async () => (await second.receivers()).length === 3)
    await until('the subscription is connected', () => hasLink(first))
    const client = redis.client()
    const topic = await topicOf(client)
    const told: { id: number; last_seen: number; channels: readonly unknown[] }[] = []
    client.on('message', (_, text) => told.push(...JSON.parse(text).receivers))
    await client.subscribe(topic)
    const ids = (await second.receivers()).map((receiver) => receiver.id)
    const one = (await second.receiver(id)).id
    const seenAt = () => second.runtime.receiverStore.get(one)?.last_seen ?? 0

    // The first message for each receiver after the start is complete, even without a change.
    for (const device of shure.show.devicesAt(shure.elapsed())) shure.show.set(device.device.id, { battery: 61 }, 1)
    shure.push.flush()
    await until('all are published', () => ids.every((known) => told.some((word) => word.id === known)))
    expect(told.every(({ channels }) => channels.length === 2)).toBe(true)

    told.length = 0
    const seenBefore = seenAt()
    expect((await first.post('/api/refresh/')).status).toBe(200)
    await until('it is still there, for the other too', () => seenAt() > seenBefore)
    await until('the change is published', () => told.length > 0)
    expect(told.every(({ channels }) => channels.length === 0)).toBe(true)

    told.length = 0
    shure.show.set(id, { battery: 42 }, 1)
    shure.push.flush()
    await until(
      'the change is received',
      async () => channelOf(await second.receiver(id), 1).transmitter?.battery === 42,
    )
    await until('the change is published', () => told.length > 0)
    expect(told.map((word) => [word.id, word.channels.length])).toEqual([[one, 2]])
  })

  it('are not overwritten by older ones from the database', async () => {
    const redis = await startRedis()
    const shure = await startShure()
    const { id } = firstDevice(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [entryOf(shure, { poll_interval: 60 })] })
    await until('both have Redis', () => isUp(first, second))
    await until('both know the devices', async () => (await second.receivers()).length === 2)
    const client = redis.client()
    const topic = await topicOf(client)
    const socket = await second.socket('/ws')
    const one = await second.receiver(id)
    const stored = second.runtime.receiverStore.get(one.id)
    if (stored === undefined) throw new Error('it is not known')
    // As from a process that has received more than it has stored.
    const transmitter = { ...channelOf(one, 1).transmitter, battery: 11 }
    const readings = {
      id: one.id,
      last_seen: Date.now() + 5000,
      is_active: true,
      channels: [{ channel: 1, transmitter }],
    }
    await client.publish(topic, JSON.stringify({ owner: 'x', receivers: [readings] }))
    await until(
      'the change is received',
      async () => channelOf(await second.receiver(id), 1).transmitter?.battery === 11,
    )
    await first.runtime.db.transaction(async (tx) =>
      saveReceivers(tx, await nextRevision(tx), [{ ...stored, name: 'Renamed' }]),
    )
    await until('the other service has the name', async () => (await second.receiver(id)).name === 'Renamed')
    expect(channelOf(await second.receiver(id), 1).transmitter?.battery).toBe(11)
    await socket.caughtUp()
    const told = socket.ofType('device_update').filter(({ receiver_id }) => receiver_id === one.id)
    const batteries = told.map(batteryOf).filter((battery) => battery !== undefined)
    expect(batteries.slice(batteries.indexOf(11)).every((battery) => battery === 11)).toBe(true)
  })

  // Reliability: D2, D4.
  it('reach it through the database while Redis is unavailable, and by message again once it is back', async () => {
    const redis = await startRedis()
    const shure = await startShure()
    const { id } = firstDevice(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [entryOf(shure, { poll_interval: 60 })] })
    await until('both know the devices', async () => (await second.receivers()).length === 2)
    await until('the subscription is connected', () => hasLink(first))
    await redis.kill()
    await until('both detect it', () => isAlone(first, second))
    const changedAt = performance.now()
    shure.show.set(id, { battery: 17 }, 1)
    await until(
      'the change is received',
      async () => channelOf(await second.receiver(id), 1).transmitter?.battery === 17,
    )
    expect(since(changedAt)).toBeLessThan(2000)

    await redis.start()
    await until('both have Redis again', () => isUp(first, second), 5000)
    const client = redis.client()
    await until('both listen', async () => (await client.pubsub('NUMSUB', await topicOf(client)))[1] === 2)
    const revision = first.runtime.receiverStore.revision
    shure.show.set(id, { battery: 16 }, 1)
    await until(
      'the change is received again',
      async () => channelOf(await second.receiver(id), 1).transmitter?.battery === 16,
    )
    expect(first.runtime.receiverStore.revision).toBe(revision)
  })

  // Reliability: D5.
  it('are not affected by foreign messages', async () => {
    const redis = await startRedis()
    const shure = await startShure()
    const { id } = firstDevice(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [entryOf(shure)] })
    await until('both have Redis', () => isUp(first, second))
    await until('both know the devices', async () => (await second.receivers()).length === 2)
    const client = redis.client()
    const topic = await topicOf(client)
    const one = (await second.receiver(id)).id
    for (const text of [
      'not JSON',
      'null',
      '{"owner":"x","receivers":5}',
      `{"owner":"x","receivers":[{"id":${one},"last_seen":1e999,"is_active":true,"channels":[]}]}`,
      `{"owner":"x","receivers":[{"id":${one},"last_seen":9e15,"is_active":true,"channels":[null]}]}`,
      '{"owner":"x","receivers":[{"id":987654321,"last_seen":1,"is_active":true,"channels":[]}]}',
    ]) {
      await client.publish(topic, text)
    }
    await until('the service continues', async () => (await second.get('/healthz')).status === 200)
    expect(await second.receivers()).toHaveLength(2)
  })
})

/** Topic for readings. */
async function topicOf(client: ReturnType<TestRedis['client']>): Promise<string> {
  const [topic = ''] = (await client.pubsub('CHANNELS', '*:levels')) as string[]
  return topic
}

/** Of the first channel. */
function batteryOf(message: object): number | null | undefined {
  const { data } = message as { data: { channels?: readonly { transmitter: { battery: number | null } | null }[] } }
  return data.channels?.[0]?.transmitter?.battery
}
