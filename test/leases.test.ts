/**
 * Several polling services on one database: each source is polled by one service, and sources are shared out evenly.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { acquireLease, releaseLease } from '../src/storage/leases.ts'
import { configFor, createInstallation, deviceOf, startApp, startShure, until, withoutPush } from './support/app.ts'
import { device, respondError, respondJson, startSystem } from './support/faults/system.ts'
import { heldSources, pollerOf } from './support/internals.ts'
import { engines, withDatabase } from './support/store/databases.ts'

/** Starts systems of one manufacturer, each a separate source. Their data is the same, which does not matter here. */
async function startSystems(count: number) {
  const systems = await Promise.all(Array.from({ length: count }, () => startShure({ receivers: 1 })))
  for (const system of systems) withoutPush(system)
  const [first] = systems
  if (first === undefined) throw new Error('no system')
  const devices = systems.map(({ config }) => config.api_base_url as string)
  const { api_base_url: _, ...config } = first.config as Record<string, unknown>
  const entry = { code: 'shure', config: { ...config, devices, calls_per_second: 1000, burst: 1000, poll_interval: 1 } }
  return { systems, entry }
}

describe.concurrent.each(engines)('sources on %s', (engine) => {
  it('are distributed evenly among pollers, and taken over from one that stops', async () => {
    const { systems, entry } = await startSystems(4)
    const first = await startApp({ manufacturers: [entry], engine })
    await until('the first process holds all sources', async () => (await heldSources(first)).length === 4)
    await until('all systems are polled', () => systems.every(({ requests }) => requests.total > 0))

    const sharedStore = { databaseUrl: first.databaseUrl, dataDir: first.dataDir }
    const second = await startApp({ manufacturers: [entry], ...sharedStore })
    const countSources = async () => [(await heldSources(first)).length, (await heldSources(second)).length]
    await until('each process holds half of the sources', async () => String(await countSources()) === '2,2')
    const third = await startApp({ ...sharedStore })
    await until('the remaining sources are assigned', async () => {
      const counts = [...(await countSources()), (await heldSources(third)).length]
      return counts.reduce((sum, count) => sum + count) === 4 && Math.min(...counts) === 1
    })

    await third.close()
    await until('the sources of the stopped process are taken over', async () => String(await countSources()) === '2,2')
    const before = systems.map(({ requests }) => requests.total)
    await second.close()
    await until('one process holds all sources again', async () => (await heldSources(first)).length === 4)
    await until('all systems are still polled', () =>
      systems.every(({ requests }, index) => requests.total > (before[index] ?? 0) + 1),
    )
  })

  it('are polled once for a refresh, also by a process that starts while the refresh waits', async () => {
    const shure = withoutPush(await startShure())
    const screen = await startApp({
      manufacturers: [configFor(shure, { poll_interval: 3600 })],
      engine,
      servesOnly: true,
    })
    const { source } = pollerOf(screen, 'shure')
    await withDatabase(screen, (db) => db.transaction((tx) => acquireLease(tx, source.id, 'other-node', 60_000)))
    const app = await startApp({ databaseUrl: screen.databaseUrl, dataDir: screen.dataDir })
    const refresh = app.post('/api/refresh/')
    const requested = () => withDatabase(screen, (db) => db.read.selectFrom('polls').selectAll().execute())
    await until('a refresh is requested', async () => (await requested()).length === 1)
    expect(shure.requests.total).toBe(0)
    await withDatabase(screen, (db) => db.transaction((tx) => releaseLease(tx, source.id, 'other-node')))
    expect((await refresh).json).toMatchObject({ status: 'success', receivers_updated: 2 })
    const listRequests = shure.requests.count('/api/v1/devices')
    await pause(1_000)
    expect(shure.requests.count('/api/v1/devices')).toBe(listRequests)
  })
})

it.concurrent('a second process publishes changes pushed to the first within a second, though they share only a database', async () => {
  const shure = await startShure()
  const installation = await createInstallation({ manufacturers: [configFor(shure, { poll_interval: 60 })] })
  const first = await installation.serve()
  await until('the devices are known', async () => (await first.receivers()).length === 2)
  const second = await installation.serve()
  const socket = await second.socket('/ws')
  const { id } = deviceOf(shure)
  await until('the second process detects the first', async () => {
    const battery = 20 + Math.floor(Math.random() * 70)
    const changedAt = performance.now()
    shure.show.set(id, { battery }, 1)
    const isReceived = () => JSON.stringify(socket.ofType('device_update')).includes(`"battery":${battery}`)
    await until('the change is received', isReceived, 3000)
    return performance.now() - changedAt < 1000
  })
})

describe.concurrent('a system whose lease changes hands', () => {
  const devices = respondJson({ devices: [device(1)] })

  async function startFirst(more: object = {}) {
    const system = await startSystem(devices)
    const first = await startApp({ manufacturers: [system.entry('shure', { poll_interval: 3600, ...more })] })
    await until('the system is polled', async () => (await first.receivers()).length === 1)
    const startSecond = () => startApp({ databaseUrl: first.databaseUrl, dataDir: first.dataDir })
    return { system, first, startSecond }
  }

  // Reliability: P12.
  it('is called by both processes together within its rate limit', async () => {
    const { system, first, startSecond } = await startFirst({ calls_per_second: 1, burst: 10 })
    const calls = () => [...system.requests, ...system.upgrades].map(({ at }) => at).sort((a, b) => a - b)
    // The service reserves a tenth of the burst, so only nine calls are sent at once.
    while (calls().length < 9) await first.post('/api/refresh/')
    await first.close()
    const before = calls().length
    const second = await startSecond()
    while (calls().length < before + 6) await second.post('/api/refresh/')
    const [firstAt = 0, ...later] = calls()
    for (const [index, at] of later.entries()) {
      // Two calls more than the limit are accepted, because delays may move calls closer together.
      expect(index + 2).toBeLessThanOrEqual(9 + 2 + (at - firstAt) / 1000)
    }
  })

  // Reliability: P12.
  it('is not called by the next process while Retry-After of the previous one applies', async () => {
    const { system, first, startSecond } = await startFirst()
    // A refresh joins the first cycle if it is still running.
    await first.post('/api/refresh/')
    system.respondWith(respondError(429, { 'retry-after': '60' }))
    expect((await first.post('/api/refresh/')).status).toBe(503)
    await first.close()
    const requestsBefore = system.requests.length
    const second = await startSecond()
    await until('the process holds the lease', async () => (await heldSources(second)).length === 1)
    const { status, json } = await second.post('/api/refresh/')
    expect({ status, json }).toMatchObject({
      status: 503,
      json: { details: expect.stringMatching(/is rate limited/) },
    })
    expect(system.requests.length).toBe(requestsBefore)
  })
})
