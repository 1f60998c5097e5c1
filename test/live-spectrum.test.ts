/** The live spectrum of analysers: waterfall, kept and reset maximum, sweeps for open pages, and unknown carriers. */

import { setTimeout as pause } from 'node:timers/promises'
import { Check } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { LiveServerMessage } from '../src/contract/live-messages.ts'
import { channelOf, configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { addPlaceholders } from './support/frequency-requests.ts'
import { openLive } from './support/live-client.ts'
import { tokenHeaders } from './support/tokens.ts'

const noise = [-98, -97, -99, -96, -98]

/** Pushes a sweep, once the rate limit allows it. */
async function push(app: TestApp, dbm: readonly (number | null)[], more: object = {}) {
  const body = { source: 'roof', mhz_from: 470, mhz_step: 0.025, dbm, ...more }
  await until('the sweep is accepted', async () => (await app.post('/api/sweeps/', body)).status === 201)
}

const spectrumOf = async (app: TestApp, source = 'roof') => (await app.get(`/api/sweeps/${source}/`)).json

describe.concurrent('the live spectrum', () => {
  // Conformance: C-23.80.
  it('has a waterfall of the last 100 sweeps of one range', async () => {
    const app = await startApp()
    const rows = Array.from({ length: 103 }, (_, index) => {
      const time = `19:${String(30 + Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}`
      return `2026-11-22, ${time}, 470000000, 470125000, 25000, 1, ${-100 + index / 10}, -97, -99, -96, -98\n`
    })
    // A stream unites rows that arrive faster than four sweeps a second.
    for (let index = 0; index < 103; index += 1) {
      const body = Buffer.from(rows[index] ?? '')
      const headers = { 'content-type': 'text/csv' }
      expect((await app.send('PUT', '/api/sweeps/?source=roof', { headers, body })).status).toBe(200)
    }
    const { waterfall, last, at } = await spectrumOf(app)
    expect(waterfall).toHaveLength(100)
    expect(waterfall[0].dbm[0]).toBe(-99.7)
    expect(waterfall.at(-1)).toEqual({ at, dbm: last })
    await push(app, noise, { mhz_from: 500 })
    expect((await spectrumOf(app)).waterfall).toHaveLength(1)
  })

  // Conformance: C-23.80.
  it('has at most 2,000 levels a line, each the highest of its neighbours', async () => {
    const app = await startApp()
    const dbm = Array.from({ length: 20_000 }, (_, index) => (index === 15_007 ? -40 : -90))
    await push(app, dbm)
    const { waterfall, last } = await spectrumOf(app)
    expect([last.length, waterfall[0].dbm.length]).toEqual([20_000, 2000])
    expect(waterfall[0].dbm.flatMap((level: number, index: number) => (level > -90 ? [[index, level]] : []))).toEqual([
      [1500, -40],
    ])
  })

  // Conformance: C-23.81.
  it('is kept as a scan, by operators', async () => {
    const app = await startApp({ config: { require_login: true } })
    const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
    const sweep = { source: 'roof', started_at: '2026-11-22T19:30:05Z', mhz_from: 470, mhz_step: 0.025 }
    await app.post('/api/sweeps/', { ...sweep, dbm: [...noise, null] }, operator)
    await app.post('/api/sweeps/', { ...sweep, dbm: [-50, -98, -99, -97, -98, null] }, operator)
    const keep = (body: object, headers = operator, source = 'roof') =>
      app.post(`/api/sweeps/${source}/keep/`, body, headers)
    expect((await keep({ name: 'Hall' }, viewer)).status).toBe(403)
    expect((await keep({ name: 'Hall' }, operator, 'cellar')).status).toBe(404)
    expect(await keep({ name: ' ' })).toMatchObject({ status: 400, json: { details: expect.stringContaining('name') } })
    expect((await keep({})).json.details).toContain('name: missing')
    const { status, json: scan } = await keep({ name: 'Hall, evening' })
    expect([status, scan]).toEqual([
      201,
      expect.objectContaining({
        ...{ name: 'Hall, evening', format: 'sweeps', unit: 'dBm', calibrated: true, points: 5, step_khz: 25 },
        ...{ from_mhz: '470.000', to_mhz: '470.100', taken_at: '2026-11-22T19:30:05.000Z' },
      }),
    ])
    expect((await app.get(`/api/scans/${scan.id}/`, operator)).json).toMatchObject({
      mhz: ['470.000', '470.025', '470.050', '470.075', '470.100'],
      dbm: [-50, -97, -99, -96, -98],
    })
    const admin = await tokenHeaders(app, 'admin')
    expect((await app.get('/api/admin/audit/?action=scan.keep', admin)).json).toMatchObject([
      { target: `scan ${scan.id}`, details: { source: 'roof', name: 'Hall, evening' } },
    ])
    await app.post('/api/sweeps/', { ...sweep, source: 'narrow', dbm: [-90, -91] }, operator)
    expect(await keep({ name: 'Few' }, operator, 'narrow')).toMatchObject({
      status: 409,
      json: { error: 'The sweeps have 2 frequencies, and a scan has at least 5.' },
    })
  })

  // Conformance: C-23.82.
  it('begins its maximum again on request', async () => {
    const app = await startApp({ config: { require_login: true } })
    const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
    const sweep = { source: 'roof', mhz_from: 470, mhz_step: 0.025 }
    await app.post('/api/sweeps/', { ...sweep, dbm: [-50, -50, -50, -50, -50] }, operator)
    await app.post('/api/sweeps/', { ...sweep, dbm: noise }, operator)
    const reset = (body?: object, headers = operator) => app.post('/api/sweeps/roof/reset/', body, headers)
    expect((await reset({}, viewer)).status).toBe(403)
    expect((await reset({ after_minutes: 0 })).json.details).toContain('after_minutes')
    expect((await app.get('/api/sweeps/roof/', viewer)).json.max[0]).toBe(-50)
    const { status, json } = await reset()
    expect([status, json.max, json.waterfall.length, json.reset_minutes]).toEqual([200, noise, 2, undefined])
    expect((await reset({ after_minutes: 30 })).json.reset_minutes).toBe(30)
    expect((await reset({ after_minutes: null })).json).not.toHaveProperty('reset_minutes')
    expect((await app.post('/api/sweeps/cellar/reset/', {}, operator)).status).toBe(404)
  })
})

describe.concurrent('sweeps on the WebSocket', () => {
  // Conformance: C-23.83.
  it('are sent only to clients that have selected their source', async () => {
    const app = await startApp()
    const [client, observer] = [await openLive(app), await openLive(app, '&ack=1')]
    observer.send({ type: 'select_sweeps', source: 'cellar' })
    client.send({ type: 'select_sweeps', source: 'roof' })
    // The answer to the ping shows that the selection was read.
    for (const one of [client, observer]) {
      one.send({ type: 'ping', id: 1 })
      await one.next(({ type }) => type === 'pong')
    }
    const started_at = '2026-11-22T19:30:05.000Z'
    await push(app, [...noise, null], { started_at })
    const message = await client.next(({ type }) => type === 'sweep')
    expect(message).toMatchObject({
      ...{ source: 'roof', sentAt: started_at, from_mhz: 470, step_mhz: 0.025, dbm: [...noise, null] },
    })
    expect(message).not.toHaveProperty('seq')
    const { sentAt: at, ...sent } = message
    expect(Check(LiveServerMessage, { ...sent, at })).toBe(true)
    client.send({ type: 'select_sweeps', source: null })
    client.send({ type: 'ping', id: 2 })
    await client.next(({ type, id }) => type === 'pong' && id === 2)
    await push(app, noise)
    await push(app, noise, { source: 'cellar' })
    await observer.next(({ type }) => type === 'sweep')
    await client.receiveAll()
    expect([client.ofType('sweep').length, observer.ofType('sweep').length]).toEqual([1, 1])
    for (const source of [undefined, 5, 'a/b', '']) {
      client.send({ type: 'select_sweeps', source })
      expect(await client.next(({ type }) => type === 'error')).toMatchObject({
        error: expect.stringContaining('source: expected null'),
      })
    }
  })
})

describe.concurrent('unknown carriers', () => {
  async function startMonitored() {
    const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 1 }))
    const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 1 })] })
    const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
    const channel = channelOf(receiver)
    const mhz = Number(channel.frequency)
    /** Signals by their distance from the channel in MHz. */
    const sweep = (signals: Readonly<Record<string, number>>, source = 'roof') => {
      const dbm = Array.from({ length: 81 }, (_, index) => {
        const distance = Math.round((index - 40) * 25) / 1000
        return signals[String(distance)] ?? -100
      })
      return push(app, dbm, { source, mhz_from: Math.round((mhz - 1) * 1000) / 1000 })
    }
    const open = async () => (await app.get('/api/alerts/?kind=unknown_carrier&state=open')).json
    return { app, channel, mhz, sweep, open }
  }

  // Conformance: C-23.85.
  it('raise an alert after two sweeps and two seconds, which names both and is cleared 10 s after the last', async () => {
    const { app, channel, mhz, sweep, open } = await startMonitored()
    for (let index = 0; index < 12; index += 1) await sweep({ 0: -30, 0.3: -45 })
    expect(await open()).toEqual([])
    await app.post('/api/config/', { key: 'alert_unknown_carrier_enabled', value: 'true' })
    const raised = await until('an alert', async () => {
      await sweep({ 0: -30, 0.3: -45 })
      return (await open())[0]
    })
    expect(raised).toMatchObject({
      channel_id: channel.id,
      severity: 'warning',
      data: { carrier_mhz: (mhz + 0.3).toFixed(3), carrier_dbm: -45, near_mhz: mhz.toFixed(3), sweep_source: 'roof' },
    })
    expect(raised.data.sweep_seconds).toBeGreaterThan(0)
    expect(raised.message).toMatch(
      new RegExp(
        `: unknown carrier at ${raised.data.carrier_mhz} MHz \\(-45 dBm, near ${raised.data.near_mhz} MHz, sweep time [\\d.]+ s\\)`,
      ),
    )
    const endedAt = performance.now()
    await until('it is cleared', async () => {
      await sweep({ 0: -30 })
      return (await open()).length === 0
    })
    // The last sweep with the signal was sent before.
    expect(performance.now() - endedAt).toBeGreaterThan(9000)
    const [cleared] = (await app.get('/api/alerts/?kind=unknown_carrier')).json
    expect(cleared.message).toMatch(/^Resolved: /)
  })

  // Conformance: C-23.85.
  it('are neither planned nor tuned carriers, nor single sweeps, nor relative levels', async () => {
    const { app, mhz, sweep, open } = await startMonitored()
    await app.post('/api/config/', { key: 'alert_unknown_carrier_enabled', value: 'true' })
    await addPlaceholders(app, [(mhz + 0.3).toFixed(3)], 40)
    const slot = await app.send('PUT', '/api/slots/41/', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ planned: { frequency: (mhz - 0.3).toFixed(3) } }),
    })
    expect(slot.status).toBeLessThan(300)
    const plan = { title: 'Evening', carriers: [{ mhz: (mhz + 0.475).toFixed(3) }] }
    const { id } = (await app.post('/api/frequency-plans/', plan)).json
    await app.post(`/api/frequency-plans/${id}/use`)
    const end = performance.now() + 4000
    for (let index = 0; performance.now() < end; index += 1) {
      await sweep({ 0: -30, 0.3: -45, '-0.3': -45, 0.475: -40, 0.75: -40, [index % 2 === 0 ? '-0.475' : '9']: -40 })
      const [second, low] = [String(index % 60).padStart(2, '0'), Math.round((mhz + 0.4) * 1000) * 1000]
      const row = `2026-11-22, 19:30:${second}, ${low - 25_000}, ${low + 50_000}, 25000, 1, -99, -20, -99\n`
      const rows = { headers: { 'content-type': 'text/csv' }, body: Buffer.from(row) }
      expect((await app.send('PUT', '/api/sweeps/?source=stick', rows)).status).toBe(200)
      await pause(300)
    }
    expect(await open()).toEqual([])
  })
})
