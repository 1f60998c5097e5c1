/** A running service while its PostgreSQL restarts, hangs, or rejects connections. */

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { channelOf, createInstallation, startApp, type TestApp, until } from '../support/app.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { startNetwork } from '../support/faults/network.ts'
import { longestGapMs, monitorResponsiveness } from '../support/faults/responsiveness.ts'
import { device, respondJson, startSystem } from '../support/faults/system.ts'
import { createPostgresDatabase, startPostgres, type TestPostgres } from '../support/store/postgres.ts'
import { timeLimit } from '../support/time-limit.ts'
import { tokenHeaders } from '../support/tokens.ts'

const elapsedSince = (startedAt: number) => performance.now() - startedAt
const receiverWithLevel = (rf_level: number) =>
  device(1, { transmitters: [{ channel: 1, slot: 1, name: 'Pack', battery: 80, rf_level }] })
const level = (rf_level: number) => respondJson({ devices: [receiverWithLevel(rf_level)] })

// A separate server, because these tests stop it. It allows few connections, so that a test can use all of them.
let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres({ maxConnections: 25 })
})
afterAll(() => server.stop())

async function start(config: object = {}, viaProxy: (url: string) => string = (url) => url) {
  const database = await createPostgresDatabase(server.url)
  onTestFinished(async () => {
    await server.restart()
    await database.drop()
  })
  const system = await startSystem(level(-60))
  const manufacturers = [system.entry('shure')]
  const app = await startApp({ databaseUrl: viaProxy(database.url), manufacturers, config })
  const admin = await tokenHeaders(app, 'admin')
  await until('the system is polled', async () => (await app.get('/api/receivers/', admin)).json.length === 1)
  expect((await app.get('/api/admin/audit/', admin)).status).toBe(200)
  return { app, admin, system }
}

const write = (app: TestApp, admin: Record<string, string>, title: string) => app.post('/api/group/', { title }, admin)

async function isHealthy(app: TestApp, admin: Record<string, string>): Promise<boolean> {
  const { status, json } = await app.get('/api/health/', admin)
  return status === 200 && json.status === 'healthy' && (await write(app, admin, 'normal again')).status === 201
}

describe('a restart of PostgreSQL', () => {
  // Reliability: 2.1.5, 2.1.6, 2.1.7, S7.
  it('keeps the process and sessions; cached data is served, and other requests result in 503 until it is back', async () => {
    const { app, admin, system } = await start({ require_login: true })
    const pulse = await monitorResponsiveness({
      get: (path) => app.get(path, admin),
      socket: () => app.socket('/ws', { headers: admin }),
    })
    const polls = system.requests.length
    await server.halt()
    for (const path of ['/api/admin/discovery-queue/', '/api/discovery/pending/', '/api/movements/unacknowledged/']) {
      const rejected = await app.get(path, admin)
      expect([path, rejected.status, rejected.headers['retry-after']]).toEqual([path, 503, '5'])
    }
    expect(await write(app, admin, 'lost')).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    const health = await until('health reports the failure', async () => {
      const response = await app.get('/api/health/', admin)
      return response.status === 503 && response
    })
    expect(health.json).toMatchObject({ status: 'unhealthy', vendor_api: { status: 'healthy' } })
    const unknownToken = { authorization: `Bearer micwatch_1_${'x'.repeat(43)}` }
    expect((await app.get('/api/receivers/', unknownToken)).status).toBe(503)
    const cached = await app.get('/api/data.json', admin)
    expect([cached.status, Number(cached.headers.age) >= 0]).toEqual([200, true])

    system.respondWith(level(-41))
    await until('polling continues in memory', async () => {
      const { json } = await app.get('/api/data.json', admin)
      return channelOf(json.receivers[0]).transmitter?.rf_level === -41
    })
    system.respondWith(respondJson({ devices: [receiverWithLevel(-41), device(2)] }))
    const refreshed = await app.post('/api/refresh/', undefined, admin)
    expect(refreshed).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect(refreshed.json).toMatchObject({ error: expect.stringMatching(/^The database is/), status: 503 })
    expect(refreshed.json.details).toMatch(/^shure: the cycle could not be stored/)
    await server.restart()
    const restartedAt = performance.now()
    await until('the status is healthy', () => isHealthy(app, admin), 15_000)
    expect(elapsedSince(restartedAt)).toBeLessThan(timeLimit(5000))
    expect(await pulse.longestMs()).toBeLessThan(timeLimit(500))
    expect(longestGapMs(system.requests.slice(polls))).toBeLessThan(timeLimit(1500))
    expect((await app.get('/api/groups/', admin)).json).toMatchObject([{ title: 'normal again' }])
  })
})

describe('PostgreSQL that does not respond', () => {
  // Reliability: 2.1.5, S8.
  it('times out; reads and polling do not wait for it', async () => {
    const { app, admin, system } = await start()
    const pulse = await monitorResponsiveness(app)
    await suspendServer()
    const polls = system.requests.length
    const suspendedAt = performance.now()
    const [queue, written] = await Promise.all([
      app.get('/api/admin/discovery-queue/', admin),
      write(app, admin, 'lost'),
    ])
    expect([queue.status, written.status, written.headers['retry-after']]).toEqual([503, 503, '5'])
    // The statement timeout is five seconds.
    expect(elapsedSince(suspendedAt)).toBeGreaterThan(4000)
    expect(elapsedSince(suspendedAt)).toBeLessThan(timeLimit(6000))
    system.respondWith(level(-41))
    await until('polling continues in memory', async () => {
      const [receiver] = await app.receivers()
      return receiver && channelOf(receiver).transmitter?.rf_level === -41
    })
    const isReported = async () => (await app.get('/api/health/')).status === 503
    await until('health reports the failure', isReported, timeLimit(1000))
    await server.signal('SIGCONT')
    const restartedAt = performance.now()
    await until('the status is healthy', () => isHealthy(app, admin), 15_000)
    expect(elapsedSince(restartedAt)).toBeLessThan(timeLimit(5000))
    expect(await pulse.longestMs()).toBeLessThan(timeLimit(500))
    expect(longestGapMs(system.requests.slice(polls))).toBeLessThan(timeLimit(1500))
    expect(await countConnections()).toBeLessThanOrEqual(10)
  })

  // Reliability: P2.
  it('does not prevent the service from stopping within 10 s', async () => {
    const database = await createPostgresDatabase(server.url)
    onTestFinished(() => database.drop())
    const system = await startSystem(level(-60))
    const installation = await createInstallation({
      manufacturers: [system.entry('shure')],
      database_url: database.url,
    })
    const service = await installation.serve()
    await until('the system is polled', async () => (await service.receivers()).length === 1)
    await suspendServer()
    service.kill('SIGTERM')
    const stoppedAt = performance.now()
    expect(await service.ended).toBe(0)
    expect(elapsedSince(stoppedAt)).toBeLessThan(timeLimit(10_000))
    await server.signal('SIGCONT')
  })
})

describe('PostgreSQL with too many connections', () => {
  // Reliability: S9.
  it('is sent at most two connection attempts a second, and is used again as soon as connections are free', async () => {
    const network = await startNetwork(onTestEnd, server.url)
    const { app, admin } = await start({}, (url) => url.replace(new URL(url).host, new URL(network.url).host))
    const others = await takeEveryConnection()
    await until('health reports the failure', async () => (await app.get('/api/health/')).status === 503)
    expect(await write(app, admin, 'lost')).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    const before = network.created
    const exhaustedAt = performance.now()
    await Promise.all(Array.from({ length: 40 }, () => app.get('/api/admin/discovery-queue/', admin)))
    await until('a while has passed', () => elapsedSince(exhaustedAt) > 3000)
    expect(network.created - before).toBeLessThanOrEqual(Math.ceil(elapsedSince(exhaustedAt) / 500) + 1)
    expect((await app.get('/api/receivers/')).json).toHaveLength(1)
    await Promise.all(others.map((other) => other.end()))
    const restartedAt = performance.now()
    await until('the status is healthy', () => isHealthy(app, admin), 15_000)
    expect(elapsedSince(restartedAt)).toBeLessThan(timeLimit(5000))
  })
})

/** Suspends PostgreSQL until SIGCONT or the end of the test. */
async function suspendServer(): Promise<void> {
  onTestFinished(() => server.signal('SIGCONT'))
  await server.signal('SIGSTOP')
}

const serviceConnections = `from pg_stat_activity where application_name = 'micwatch'`

/** Takes every connection, including those of the service. */
async function takeEveryConnection(): Promise<pg.Client[]> {
  const clients: pg.Client[] = []
  onTestFinished(async () => void (await Promise.all(clients.map((openClient) => openClient.end()))))
  for (;;) {
    const client = new pg.Client({ connectionString: server.url })
    client.on('error', () => {})
    const isConnected = await client.connect().then(
      () => true,
      () => false,
    )
    if (isConnected) {
      clients.push(client)
      continue
    }
    const { rows } = (await clients[0]?.query(`select pg_terminate_backend(pid) ${serviceConnections}`)) ?? { rows: [] }
    if (rows.length === 0) return clients
  }
}

async function countConnections(): Promise<number> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return (await client.query(`select 1 ${serviceConnections}`)).rows.length
  } finally {
    await client.end()
  }
}
