/** One source that hangs or throws an unexpected error, and the effect on all others. */

import { expect, it } from 'vitest'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { pollerOf } from './support/internals.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'

async function startPair() {
  const [hanging, healthy] = [withoutPush(await startShure()), withoutPush(await startShure())]
  const app = await startApp({
    manufacturers: [
      { ...configFor(hanging), code: 'stuck', plugin: 'shure' },
      { ...configFor(healthy), code: 'healthy', plugin: 'shure' },
    ],
  })
  await until('both systems are polled', () => hanging.requests.total > 0 && healthy.requests.total > 0)
  const headers = { ...(await tokenHeaders(app, 'admin')), 'content-type': 'application/json' }
  const change = (code: string, body: object) =>
    app.send('PATCH', `/api/admin/manufacturers/${code}/`, { headers, body: JSON.stringify(body) })
  return { app, hanging, healthy, change }
}

/** Makes polls of this source hang until `release` is called, even if they are aborted. */
async function hang(app: TestApp, manufacturer: string): Promise<{ release(): void }> {
  let release = () => {}
  let calls = 0
  const listDevices = async () => {
    calls += 1
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return { devices: [], malformed: 0 }
  }
  Object.assign(pollerOf(app, manufacturer).source, { listDevices })
  await until('a poll hangs', () => calls > 0)
  return { release }
}

// Reliability: U29.
it('a source that does not stop delays no write, and starts again once its last poll has ended', async () => {
  const { app, hanging, healthy, change } = await startPair()
  const { release } = await hang(app, 'stuck')
  expect((await change('stuck', { config: { timeout: 7 } })).status).toBe(200)
  expect((await app.post('/api/group/', { title: 'Band' })).status).toBe(201)
  expect((await change('healthy', { config: { timeout: 7 } })).status).toBe(200)
  expect((await app.post('/api/config/', { key: 'alert_battery_threshold', value: '33' })).status).toBe(200)
  const requestsBefore = healthy.requests.total
  await until('the other system is still polled', () => healthy.requests.total > requestsBefore + 1)

  const before = hanging.requests.total
  release()
  await until('the system is polled again', () => hanging.requests.total > before)
})

// Reliability: U29.
it('the service stops even if two sources hang, one of which was disabled before', async () => {
  const { app, change } = await startPair()
  await hang(app, 'stuck')
  await hang(app, 'healthy')
  expect((await change('stuck', { api_enabled: false })).status).toBe(200)
  const startedAt = performance.now()
  await app.close()
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(6000))
})

// Reliability: U29.
it('monitoring starts again after an unexpected error, and other sources are not affected', async () => {
  const { app, hanging, healthy } = await startPair()
  const poller = pollerOf(app, 'stuck')
  const { poll } = poller
  let failures = 0
  Object.assign(poller, {
    async poll() {
      failures += 1
      Object.assign(poller, { poll })
      throw new Error('on purpose')
    },
  })
  await until('the poll has failed', () => failures === 1)
  const before = [hanging.requests.total, healthy.requests.total]
  await until('both systems are still polled', () =>
    [hanging, healthy].every(({ requests }, index) => requests.total > (before[index] ?? 0) + 1),
  )
})
