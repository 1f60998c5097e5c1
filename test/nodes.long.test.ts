/**
 * Several nodes of a large installation, on one PostgreSQL and one Redis. Every client sees the readings of every node,
 * even when a node is killed or replaced, or the database restarts.
 */

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ShureSimulator } from '../simulators/shure/device-api.ts'
import {
  channelOf,
  type client,
  configFor,
  createInstallation,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  until,
  withoutPush,
} from './support/app.ts'
import { monitorResponsiveness } from './support/faults/responsiveness.ts'
import { isUp } from './support/internals.ts'
import type { TestSocket } from './support/socket-client.ts'
import { withDatabase } from './support/store/databases.ts'
import { createPostgresDatabase, startPostgres, type TestPostgres } from './support/store/postgres.ts'
import { startRedis } from './support/store/redis.ts'
import { timeLimit } from './support/time-limit.ts'

const elapsedSince = (startedAt: number) => performance.now() - startedAt

// A separate server, because one of these tests stops it.
let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

/** Creates everything that nodes share, and two systems: one that pushes, and one that is only polled. */
async function startInstallation() {
  const database = await createPostgresDatabase(server.url)
  onTestFinished(async () => {
    await server.restart()
    await database.drop()
  })
  const redis = await startRedis()
  const pushing = await startShure()
  const polled = withoutPush(await startSennheiser())
  // Readings change only when a test changes them, so that changes can be counted.
  for (const { show } of [pushing, polled]) {
    for (const { device, channels } of show.devicesAt(0)) {
      for (const { channel } of channels) show.set(device.id, { audio_level: -20, rf_level: -60, battery: 80 }, channel)
    }
  }
  const manufacturers = [configFor(pushing), configFor(polled)]
  const shared = { redis_url: redis.url, secret_key: 'ab'.repeat(32) }
  return { databaseUrl: database.url, pushing, polled, manufacturers, shared }
}

/** Starts two services in this process that both poll. */
async function startTwo({ databaseUrl, manufacturers, shared }: Awaited<ReturnType<typeof startInstallation>>) {
  const options = { databaseUrl, manufacturers, config: shared }
  const apps = [await startApp(options), await startApp(options)] as const
  await until('both services use Redis', () => isUp(...apps))
  await until('both know every device', async () => {
    const counts = await Promise.all(apps.map(async (app) => (await app.receivers()).length))
    return counts.every((count) => count === 4)
  })
  await until('each polls one system', async () => (await pollers(apps[0])).length === 2, 20_000)
  return apps
}

/** Returns the processes that hold the lease of a source. */
async function pollers(app: TestApp): Promise<string[]> {
  const leases = await withDatabase(app, ({ read }) => read.selectFrom('leases').select(['source', 'owner']).execute())
  const owners = leases.filter(({ source }) => /^(shure|sennheiser):/.test(source)).map(({ owner }) => owner ?? '')
  return [...new Set(owners)].filter((owner) => owner !== '')
}

const isSubscribed = ({ push }: ShureSimulator) => push.connections > 0

/**
 * Counts how often a client received this battery level for the first channel of an update. The condition that follows
 * from it may be announced later; the highest number of updates with the same condition counts.
 */
function countUpdates(socket: TestSocket, battery: number): number {
  const counts = new Map<string, number>()
  for (const { data } of socket.ofType('device_update')) {
    const channel = data.channels?.[0]
    if (channel?.transmitter?.battery !== battery) continue
    const condition = JSON.stringify(channel.condition)
    counts.set(condition, (counts.get(condition) ?? 0) + 1)
  }
  return Math.max(0, ...counts.values())
}

async function showsBattery(service: Pick<ReturnType<typeof client>, 'receiver'>, id: string, battery: number) {
  return channelOf(await service.receiver(id)).transmitter?.battery === battery
}

describe('two nodes with a client on each', () => {
  // Conformance: C-1.7, C-1.8, C-9.11.
  // Reliability: D6.
  it('send every change to both once and within a second: pushed, polled, or written by a user', async () => {
    const installation = await startInstallation()
    const apps = await startTwo(installation)
    await until('the subscription is connected', () => isSubscribed(installation.pushing))
    const sockets = await Promise.all(apps.map((app) => app.socket('/ws')))
    for (const battery of [61, 42, 23]) {
      const changedAt = performance.now()
      installation.pushing.show.set(deviceOf(installation.pushing).id, { battery }, 1)
      // This system is polled once a second; all other delays together take up to another second.
      installation.polled.show.set(deviceOf(installation.polled).id, { battery: battery + 1 }, 1)
      await until('the pushed change is received', () => sockets.every((socket) => countUpdates(socket, battery) > 0))
      expect(elapsedSince(changedAt)).toBeLessThan(timeLimit(1500))
      await until('the polled change is received', () =>
        sockets.every((socket) => countUpdates(socket, battery + 1) > 0),
      )
      expect(elapsedSince(changedAt)).toBeLessThan(timeLimit(3500))
    }
    for (const [index, app] of apps.entries()) {
      const title = `written at ${index}`
      expect((await app.post('/api/group/', { title })).status).toBe(201)
      const writtenAt = performance.now()
      const hasGroup = async (service: TestApp) =>
        ((await service.get('/api/groups/')).json as { title: string }[]).some((group) => group.title === title)
      await until('both have the group', async () => (await Promise.all(apps.map(hasGroup))).every(Boolean))
      expect(elapsedSince(writtenAt)).toBeLessThan(timeLimit(1500))
    }
    // Everything has been stored and read back by now, and there was no second message.
    for (const socket of sockets) {
      for (const battery of [61, 42, 23, 62, 43, 24])
        expect([battery, countUpdates(socket, battery)]).toEqual([battery, 1])
    }
  })

  // Reliability: S7.
  it('keep both connected while PostgreSQL restarts under load: levels are published, writes fail and then recover', async () => {
    const installation = await startInstallation()
    const apps = await startTwo(installation)
    await until('the subscription is connected', () => isSubscribed(installation.pushing))
    const { id } = deviceOf(installation.pushing)
    const sockets = await Promise.all(apps.map((app) => app.socket('/ws')))
    const monitors = await Promise.all(apps.map(monitorResponsiveness))
    await server.halt()
    for (const battery of [61, 42]) {
      installation.pushing.show.set(id, { battery }, 1)
      await until('both clients receive the change without the database', () =>
        sockets.every((socket) => countUpdates(socket, battery) === 1),
      )
    }
    for (const app of apps) {
      const rejected = await app.post('/api/group/', { title: 'lost' })
      expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '5'])
    }
    await server.restart()
    const restartedAt = performance.now()
    const isHealthy = async (app: TestApp) => {
      const { status, json } = await app.get('/api/health/')
      return (
        status === 200 && json.status === 'healthy' && (await app.post('/api/group/', { title: 'back' })).status === 201
      )
    }
    for (const app of apps) await until('the status is healthy', () => isHealthy(app), 15_000)
    // The promised limit is five seconds; the rest is a margin for a busy machine.
    expect(elapsedSince(restartedAt)).toBeLessThan(timeLimit(8000))
    for (const monitor of monitors) expect(await monitor.longestMs()).toBeLessThan(timeLimit(3000))
    installation.pushing.show.set(id, { battery: 23 }, 1)
    // The clients are still connected, and receive the change on the same connections as before.
    await until('both receive the next change', () => sockets.every((socket) => countUpdates(socket, 23) === 1))
    expect((await apps[1].get('/api/groups/')).json).not.toContainEqual(expect.objectContaining({ title: 'lost' }))
  })
})

describe('nodes in separate processes', () => {
  // Conformance: C-9.23.
  // Reliability: P5.
  it('continue when a poller is killed: the other takes over its systems within 20 s, and clients receive changes again', async () => {
    const { databaseUrl, manufacturers, shared, ...systems } = await startInstallation()
    const installation = await createInstallation({ ...shared, manufacturers, database_url: databaseUrl })
    const screen = await installation.serve(['--no-poll'])
    const [first, second] = [
      installation.start(['poll_devices', '--json']),
      installation.start(['poll_devices', '--json']),
    ]
    const hasPolled = (poller: typeof first) => poller.lines().length > 0
    await until('both processes poll', () => hasPolled(first) && hasPolled(second), 30_000)
    await until('the subscription is connected', () => isSubscribed(systems.pushing))
    const socket = await screen.socket('/ws')
    first.kill('SIGKILL')
    const killedAt = performance.now()
    const batteries = { pushed: 31, polled: 32 }
    systems.pushing.show.set(deviceOf(systems.pushing).id, { battery: batteries.pushed }, 1)
    systems.polled.show.set(deviceOf(systems.polled).id, { battery: batteries.polled }, 1)
    const areReceived = () => Object.values(batteries).every((battery) => countUpdates(socket, battery) > 0)
    await until('the client receives changes of both', areReceived, 30_000)
    expect(elapsedSince(killedAt)).toBeLessThan(timeLimit(20_000))
    expect(second.isRunning()).toBe(true)
  })

  it('are replaced one by one: a client that reconnects to the next node receives the same state at once', async () => {
    const { databaseUrl, manufacturers, shared, ...systems } = await startInstallation()
    const installation = await createInstallation({ ...shared, manufacturers, database_url: databaseUrl })
    const { id } = deviceOf(systems.pushing)
    let [stopping, staying] = [await installation.serve(), await installation.serve()]
    await until('both know every device', async () => {
      const counts = await Promise.all([stopping, staying].map(async (service) => (await service.receivers()).length))
      return counts.every((count) => count === 4)
    })
    for (const battery of [61, 42]) {
      await until('the subscription is connected', () => isSubscribed(systems.pushing), 20_000)
      const socket = await stopping.socket('/ws')
      systems.pushing.show.set(id, { battery }, 1)
      await until('the change is received', () => countUpdates(socket, battery) > 0)
      stopping.kill('SIGTERM')
      expect(await socket.closed).toBe(1001)
      await until('the other node reports the change', () => showsBattery(staying, id, battery), 2000)
      const again = await staying.socket('/ws')
      expect(await stopping.ended).toBe(0)
      systems.pushing.show.set(id, { battery: battery + 1 }, 1)
      await until('the next change is published', () => countUpdates(again, battery + 1) > 0, 20_000)
      ;[stopping, staying] = [staying, await installation.serve()]
    }
  })
})
