/** One source that hangs or fails in an unforeseen way, and everything else that has to go on. */

import { expect, it } from 'vitest'
import { entryOf, startApp, startShure, type TestApp, until, withoutLink } from './app.ts'
import { timeLimit } from './time-limit.ts'
import { tokenHeaders } from './tokens.ts'

async function startPair() {
  const [stuck, healthy] = [withoutLink(await startShure()), withoutLink(await startShure())]
  const app = await startApp({
    manufacturers: [
      { ...entryOf(stuck), code: 'stuck', plugin: 'shure' },
      { ...entryOf(healthy), code: 'healthy', plugin: 'shure' },
    ],
  })
  await until('both are polled', () => stuck.requests.total > 0 && healthy.requests.total > 0)
  const headers = { ...(await tokenHeaders(app.house, 'admin')), 'content-type': 'application/json' }
  const change = (code: string, body: object) =>
    app.send('PATCH', `/api/admin/manufacturers/${code}/`, { headers, body: JSON.stringify(body) })
  return { app, stuck, healthy, change }
}

function heardOf(app: TestApp, manufacturer: string) {
  const poller = app.house.monitor.pollers.find(({ heard }) => heard.manufacturer === manufacturer)
  if (poller === undefined) throw new Error(`no source of ${manufacturer}`)
  return poller.heard
}

/** From now on a poll of this source ends only when `release` is called, whatever aborts it. */
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
  Object.assign(heardOf(app, manufacturer), { listDevices })
  await until('a poll hangs', () => calls > 0)
  return { release }
}

it('a source that does not stop holds up no write; it starts again once its last poll has ended', async () => {
  const { app, stuck, healthy, change } = await startPair()
  const { release } = await hang(app, 'stuck')
  expect((await change('stuck', { config: { timeout: 7 } })).status).toBe(200)
  expect((await app.post('/api/group/', { title: 'Band' })).status).toBe(201)
  expect((await change('healthy', { config: { timeout: 7 } })).status).toBe(200)
  expect((await app.post('/api/config/', { key: 'alert_battery_threshold', value: '33' })).status).toBe(200)
  const asked = healthy.requests.total
  await until('the neighbour is polled on', () => healthy.requests.total > asked + 1)

  const before = stuck.requests.total
  release()
  await until('it is polled again', () => stuck.requests.total > before)
})

it('the service stops although two sources do not, one of them disabled before', async () => {
  const { app, change } = await startPair()
  await hang(app, 'stuck')
  await hang(app, 'healthy')
  expect((await change('stuck', { api_enabled: false })).status).toBe(200)
  const startedAt = performance.now()
  await app.close()
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(6000))
})

it('monitoring that fails in an unforeseen way starts again, and its neighbours are not disturbed', async () => {
  const { app, stuck, healthy } = await startPair()
  const poller = app.house.monitor.pollers.find(({ heard }) => heard.manufacturer === 'stuck')
  const poll = poller?.poll
  let failures = 0
  Object.assign(poller ?? {}, {
    async poll() {
      failures += 1
      Object.assign(poller ?? {}, { poll })
      throw new Error('on purpose')
    },
  })
  await until('it has failed', () => failures === 1)
  const before = [stuck.requests.total, healthy.requests.total]
  await until('both are polled on', () =>
    [stuck, healthy].every(({ requests }, at) => requests.total > (before[at] ?? 0) + 1),
  )
})
