/** Two services with one database and one Redis, which is sometimes unavailable. */

import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { listReceivers, saveReceivers } from '../src/storage/receivers.ts'
import { currentRevision, nextRevision } from '../src/storage/revision.ts'
import { channelOf, configFor, deviceOf, startApp, startShure, type TestApp, until } from './support/app.ts'
import { isDown, isUp, openSubscriptions } from './support/internals.ts'
import { withDatabase } from './support/store/databases.ts'
import { startRedis, type TestRedis } from './support/store/redis.ts'
import { timeLimit } from './support/time-limit.ts'

const elapsedSince = (startedAt: number) => performance.now() - startedAt

/** Starts two services on one database; only the first one polls. */
async function startTwo(redis: TestRedis, options: { manufacturers?: readonly object[]; limit?: object } = {}) {
  const { manufacturers = [], limit } = options
  const config = { redis_url: redis.url, ...(limit !== undefined && { rate_limit: limit }) }
  const first = await startApp({ manufacturers, config })
  const sharedStore = { databaseUrl: first.databaseUrl, dataDir: first.dataDir }
  const second = await startApp({ ...sharedStore, config, servesOnly: true })
  return [first, second] as const
}

const isSubscribed = (app: TestApp) => openSubscriptions(app) > 0

/** Sends ten requests at a time, because Redis is treated as down if a busy process has no answer within 200 ms. */
async function getStatuses(app: TestApp, requests: number): Promise<number[]> {
  const statuses: number[] = []
  while (statuses.length < requests) {
    const batch = Array.from({ length: Math.min(10, requests - statuses.length) }, () => app.get('/api/receivers/'))
    for (const { status } of await Promise.all(batch)) statuses.push(status)
  }
  return statuses
}

const countAccepted = (responses: readonly number[]) => responses.filter((status) => status === 200).length

describe('the rate limit with Redis', () => {
  // Conformance: S-8.3.
  // Reliability: D6.
  it('lets 120 of 240 requests to two services through', async () => {
    const [first, second] = await startTwo(await startRedis(), { limit: { max_requests: 120, window_seconds: 60 } })
    await until('both services use Redis', () => isUp(first, second))
    const startedAt = performance.now()
    const responses = await Promise.all([getStatuses(first, 120), getStatuses(second, 120)])
    const refilled = Math.ceil(elapsedSince(startedAt) / 500)
    const accepted = countAccepted(responses.flat())
    expect(accepted).toBeGreaterThanOrEqual(120)
    // A service that is too busy to receive a response from Redis in time limits one batch with its own counter.
    expect(accepted).toBeLessThanOrEqual(120 + refilled + 10)
    expect(responses.flat().every((status) => status === 200 || status === 429)).toBe(true)
    const { headers } = await until('one more request is rejected', async () => {
      const response = await second.get('/api/receivers/')
      return response.status === 429 && response
    })
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '120', 'retry-after': '1' })
  })

  it('counts expensive requests separately, and does not count rejected ones', async () => {
    const overrides = { 'POST /api/discover/': { max_requests: 2, window_seconds: 60 } }
    const limit = { max_requests: 1000, window_seconds: 60, overrides }
    const [first, second] = await startTwo(await startRedis(), { limit })
    await until('both services use Redis', () => isUp(first, second))
    const scan = (app: TestApp, scan_subnet: string) => app.post('/api/discover/', { scan_subnet })
    for (const app of [first, second, first]) expect((await scan(app, '8.8.8.0/24')).status).toBe(400)
    await scan(first, '127.0.0.0/30')
    expect((await first.get('/api/health/')).headers['x-ratelimit-limit']).toBe('1000')
  })

  // Reliability: D2, D4.
  it('applies to each service separately while Redis is unavailable, and to both together once it is back', async () => {
    const redis = await startRedis()
    const [first, second] = await startTwo(redis, { limit: { max_requests: 10, window_seconds: 600 } })
    await until('both services use Redis', () => isUp(first, second))
    await redis.kill()
    await until('both detect the outage', () => isDown(first, second))
    for (const app of [first, second]) expect(countAccepted(await getStatuses(app, 20))).toBe(10)
    await redis.start()
    await until('both services use Redis again', () => isUp(first, second), 5000)
    const responses = await Promise.all([getStatuses(first, 10), getStatuses(second, 10)])
    expect(countAccepted(responses.flat())).toBe(10)
  })

  // Reliability: D5.
  it('ignores foreign values under its keys', async () => {
    const redis = await startRedis()
    const [first] = await startTwo(redis, { limit: { max_requests: 10, window_seconds: 600 } })
    await until('the service uses Redis', () => isUp(first))
    expect(countAccepted(await getStatuses(first, 1))).toBe(1)
    const client = redis.client()
    const [key = ''] = await client.keys('*:bucket:*')
    for (const setInvalidValue of [
      () => client.set(key, 'not a bucket'),
      () => client.hset(key, 'tokens', 'many', 'at', 'noon'),
      () => client.hset(key, 'tokens', '1e308', 'at', '-1e308'),
      () => client.hset(key, 'tokens', 'nan', 'at', 'nan'),
    ]) {
      await client.del(key)
      await setInvalidValue()
      const [response] = await getStatuses(first, 1)
      expect(response).toBe(200)
      expect(Number(await client.hget(key, 'tokens'))).toBeCloseTo(9, 1)
    }
  })
})

describe('a service with Redis', () => {
  // Conformance: C-5.25.
  // Reliability: D1.
  it('starts and serves without Redis, reports that it is degraded, and uses it as soon as it is available', async () => {
    const redis = await startRedis({ isRunning: false })
    const app = await startApp({ config: { redis_url: redis.url } })
    const response = await app.get('/api/health/')
    expect([response.status, response.json]).toMatchObject([200, { status: 'degraded' }])
    expect((await app.get('/api/data.json')).status).toBe(200)
    await redis.start()
    await until('the service uses Redis', () => isUp(app), 5000)
    expect((await app.get('/api/health/')).json).toMatchObject({ status: 'healthy' })
  })

  // Reliability: D3.
  it('waits 200 ms at most three times when Redis hangs, then not at all, and uses Redis again when it resumes', async () => {
    const redis = await startRedis()
    const app = await startApp({ config: { redis_url: redis.url } })
    await until('the service uses Redis', () => isUp(app))
    redis.signal('SIGSTOP')
    const startedAt = performance.now()
    for (let count = 0; count < 60; count += 1) expect((await app.get('/api/receivers/')).status).toBe(200)
    // Three requests wait 200 ms each until Redis is treated as down. The limit has a margin of three more such waits,
    // and allows 20 ms for each request.
    expect(elapsedSince(startedAt)).toBeLessThan(timeLimit(60 * 20 + 1200))
    expect(isDown(app)).toBe(true)
    expect((await app.get('/api/health/')).json).toMatchObject({ status: 'degraded' })
    redis.signal('SIGCONT')
    await until('the service uses Redis again', () => isUp(app), 5000)
  })
})

describe('readings that one service receives', () => {
  // Conformance: C-1.7.
  // Reliability: D6.
  it('are sent to clients of the other within a second, once each, without being stored', async () => {
    const redis = await startRedis()
    const shure = await startShure()
    const { id } = deviceOf(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [configFor(shure, { poll_interval: 60 })] })
    await until('both services use Redis', () => isUp(first, second))
    await until('both know the devices', async () => (await second.receivers()).length === 2)
    await until('the subscription is connected', () => isSubscribed(first))
    const socket = await second.socket('/ws')
    const revision = await withDatabase(first, (db) => currentRevision(db.read))
    for (const battery of [61, 42, 23]) {
      const changedAt = performance.now()
      shure.show.set(id, { battery }, 1)
      const matching = () => socket.ofType('device_update').filter((message) => batteryOf(message) === battery)
      await until(`battery ${battery}% is received`, () => matching().length > 0)
      expect(elapsedSince(changedAt)).toBeLessThan(timeLimit(1000))
      expect(matching()).toHaveLength(1)
      expect(channelOf(await second.receiver(id), 1).transmitter?.battery).toBe(battery)
    }
    // The condition of the channel is stored; the readings are not.
    expect(await withDatabase(first, (db) => listReceivers(db.read, revision))).toEqual([])
  })

  it('are published complete when they change, and not at all if a receiver only reports the same again', async () => {
    const redis = await startRedis()
    // The clock of the show is stopped, so the levels do not change.
    const startedAt = now()
    const shure = await startShure({ receivers: 3, richList: true, pushesPerSecond: 0, now: () => startedAt })
    const { id } = deviceOf(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    await until('both services use Redis', () => isUp(first, second))
    await until('both know the devices', async () => (await second.receivers()).length === 3)
    await until('the subscription is connected', () => isSubscribed(first))
    const client = redis.client()
    const topic = await findTopic(client)
    const published: { id: number; last_seen: number; channels: readonly unknown[] }[] = []
    client.on('message', (_, text) => published.push(...JSON.parse(text).receivers))
    await client.subscribe(topic)
    const ids = (await second.receivers()).map((receiver) => receiver.id)
    const receiverId = (await second.receiver(id)).id
    const lastSeen = async () =>
      Date.parse((await second.summaries()).find((receiver) => receiver.id === receiverId)?.last_seen ?? '')

    // The first message about each receiver after the start contains its channels even if they have not changed. The
    // changes below trigger these first messages now, so that they do not arrive later in the test.
    for (const device of shure.show.devicesAt(shure.elapsed())) shure.show.set(device.device.id, { battery: 61 }, 1)
    shure.push.flush()
    await until('all receivers are published', () =>
      ids.every((known) => published.some((receiver) => receiver.id === known)),
    )
    expect(published.every(({ channels }) => channels.length === 2)).toBe(true)

    // Each change may be published twice: when it is received, and when it is stored.
    await until('a report without news is published without channels', async () => {
      published.length = 0
      const lastSeenBefore = await lastSeen()
      expect((await first.post('/api/refresh/')).status).toBe(200)
      await until('the other service has the new time', async () => (await lastSeen()) > lastSeenBefore)
      await until('the new time is published', () => published.length > 0)
      return published.every(({ channels }) => channels.length === 0)
    })

    published.length = 0
    shure.show.set(id, { battery: 42 }, 1)
    shure.push.flush()
    await until(
      'the change is received',
      async () => channelOf(await second.receiver(id), 1).transmitter?.battery === 42,
    )
    // The times of the last reports, which are published every two seconds, have no channels.
    const complete = () => published.filter(({ channels }) => channels.length > 0)
    await until('the change is published', () => complete().length > 0)
    expect(complete().map((receiver) => [receiver.id, receiver.channels.length])).toEqual([[receiverId, 2]])
  })

  it('are not overwritten by older ones from the database', async () => {
    const redis = await startRedis()
    const shure = await startShure()
    const { id } = deviceOf(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [configFor(shure, { poll_interval: 60 })] })
    await until('both services use Redis', () => isUp(first, second))
    await until('both know the devices', async () => (await second.receivers()).length === 2)
    const client = redis.client()
    const topic = await findTopic(client)
    const socket = await second.socket('/ws')
    const receiver = await second.receiver(id)
    const stored = (await withDatabase(second, (db) => listReceivers(db.read))).find(
      (known) => known.id === receiver.id,
    )
    if (stored === undefined) throw new Error('it is not known')
    // Simulates a process that has received more than it has stored.
    const transmitter = { ...channelOf(receiver, 1).transmitter, battery: 11 }
    const readings = {
      id: receiver.id,
      last_seen: now() + 5000,
      is_active: true,
      channels: [{ channel: 1, transmitter }],
    }
    await client.publish(topic, JSON.stringify({ owner: 'x', receivers: [readings] }))
    await until(
      'the change is received',
      async () => channelOf(await second.receiver(id), 1).transmitter?.battery === 11,
    )
    await withDatabase(first, (db) =>
      db.transaction(async (tx) => saveReceivers(tx, await nextRevision(tx), [{ ...stored, name: 'Renamed' }])),
    )
    await until('the other service has the name', async () => (await second.receiver(id)).name === 'Renamed')
    expect(channelOf(await second.receiver(id), 1).transmitter?.battery).toBe(11)
    await socket.receiveAll()
    const updates = socket.ofType('device_update').filter(({ receiver_id }) => receiver_id === receiver.id)
    const batteries = updates.map(batteryOf).filter((battery) => battery !== undefined)
    expect(batteries.slice(batteries.indexOf(11)).every((battery) => battery === 11)).toBe(true)
  })
})

describe('readings that one service receives, despite trouble with Redis', () => {
  // Reliability: D2, D4.
  it('reach the other through the database while Redis is unavailable, and by message again once it is back', async () => {
    const redis = await startRedis()
    const shure = await startShure()
    const { id } = deviceOf(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [configFor(shure, { poll_interval: 60 })] })
    await until('both know the devices', async () => (await second.receivers()).length === 2)
    await until('the subscription is connected', () => isSubscribed(first))
    await redis.kill()
    await until('both detect the outage', () => isDown(first, second))
    const changedAt = performance.now()
    shure.show.set(id, { battery: 17 }, 1)
    await until(
      'the change is received',
      async () => channelOf(await second.receiver(id), 1).transmitter?.battery === 17,
    )
    expect(elapsedSince(changedAt)).toBeLessThan(timeLimit(2000))

    await redis.start()
    await until('both services use Redis again', () => isUp(first, second), 5000)
    const client = redis.client()
    await findTopic(client)
    const revision = await withDatabase(first, (db) => currentRevision(db.read))
    shure.show.set(id, { battery: 16 }, 1)
    await until(
      'the change is received again',
      async () => channelOf(await second.receiver(id), 1).transmitter?.battery === 16,
    )
    expect(await withDatabase(first, (db) => listReceivers(db.read, revision))).toEqual([])
  })

  // Reliability: D5.
  it('are not affected by foreign messages', async () => {
    const redis = await startRedis()
    const shure = await startShure()
    const { id } = deviceOf(shure)
    const [first, second] = await startTwo(redis, { manufacturers: [configFor(shure)] })
    await until('both services use Redis', () => isUp(first, second))
    await until('both know the devices', async () => (await second.receivers()).length === 2)
    const client = redis.client()
    const topic = await findTopic(client)
    const receiverId = (await second.receiver(id)).id
    for (const text of [
      'not JSON',
      'null',
      '{"owner":"x","receivers":5}',
      `{"owner":"x","receivers":[{"id":${receiverId},"last_seen":1e999,"is_active":true,"channels":[]}]}`,
      `{"owner":"x","receivers":[{"id":${receiverId},"last_seen":9e15,"is_active":true,"channels":[null]}]}`,
      '{"owner":"x","receivers":[{"id":987654321,"last_seen":1,"is_active":true,"channels":[]}]}',
    ]) {
      await client.publish(topic, text)
    }
    await until('the service continues', async () => (await second.get('/healthz')).status === 200)
    expect(await second.receivers()).toHaveLength(2)
  })
})

/** Returns the name of the Redis channel for levels, once both services are subscribed to it. */
function findTopic(client: ReturnType<TestRedis['client']>): Promise<string> {
  return until('both services are subscribed', async () => {
    const [topic = ''] = (await client.pubsub('CHANNELS', '*:levels')) as string[]
    return (await client.pubsub('NUMSUB', topic))[1] === 2 && topic
  })
}

/** Returns the battery of the first channel in a message. */
function batteryOf(message: object): number | null | undefined {
  const { data } = message as { data: { channels?: readonly { transmitter: { battery: number | null } | null }[] } }
  return data.channels?.[0]?.transmitter?.battery
}
