/** Sweeps that analysers push: in JSON, and as rows with curl. */

import { type ChildProcess, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { startApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { tokenHeaders } from './support/tokens.ts'

const sweep = { source: 'stage', started_at: '2026-11-22T19:30:05Z', mhz_from: 470, mhz_step: 0.025 }
const dbm = [-98.5, -97, -61.3, null, -101.2]
const row = (second: number, level: number) =>
  `2026-11-22, 19:30:${String(second).padStart(2, '0')}, 470000000, 470125000, 25000, 1, ${[level, level - 1, level - 2, level - 3, level - 4].join(', ')}\n`

type App = Awaited<ReturnType<typeof startApp>>
type Texts = Readonly<Record<string, string>>

/** Runs curl with the rows of its standard input as the body. */
function curl(app: App, args: readonly string[], query = '?source=stick'): ChildProcess & { output: Promise<string> } {
  const child = spawn('curl', ['-sS', '-w', '\n%{http_code}', ...args, `${app.url}/api/sweeps/${query}`])
  onTestEnd(() => void child.kill())
  child.stdin.on('error', () => {})
  return Object.assign(child, { output: text(child.stdout) })
}

const raw = (app: App, method: string, body: string | Buffer, headers: Texts, query = '?source=stick') =>
  app.send(method, `/api/sweeps/${query}`, { headers, body: Buffer.from(body) })

describe.concurrent('sweeps in JSON', () => {
  // Conformance: C-23.24.
  it('are kept with the highest level at each frequency, listed and deleted', async () => {
    const app = await startApp()
    expect((await app.get('/api/sweeps/')).json).toEqual([])
    const first = await app.post('/api/sweeps/', { ...sweep, dbm })
    expect([first.status, first.json]).toEqual([201, { source: 'stage', sweeps: 1, rows_read: 1, rows_skipped: [] }])
    const found = {
      ...{ source: 'stage', from_mhz: 470, step_mhz: 0.025, last: dbm, max: dbm, calibrated: true },
      ...{ sweep_seconds: null, at: '2026-11-22T19:30:05.000Z' },
      waterfall: [{ at: '2026-11-22T19:30:05.000Z', dbm }],
    }
    expect((await app.get('/api/sweeps/stage/')).json).toEqual(found)
    const texts = { mhz_from: '470.000', mhz_step: '0.025', dbm: ['-90', '-99', '-99.0', '-99', null] }
    const started_at = '2026-11-22T19:30:07.500Z'
    expect((await app.post('/api/sweeps/', { ...sweep, ...texts, started_at })).status).toBe(201)
    const last = [-90, -99, -99, -99, null]
    const waterfall = [...found.waterfall, { at: started_at, dbm: last }]
    const held = { ...found, last, max: [-90, -97, -61.3, -99, -101.2], waterfall }
    expect((await app.get('/api/sweeps/')).json).toEqual([{ ...held, sweep_seconds: 2.5, at: started_at }])
    expect((await app.post('/api/sweeps/', { ...sweep, mhz_from: 500, dbm })).status).toBe(201)
    expect((await app.get('/api/sweeps/stage/')).json).toMatchObject({ from_mhz: 500, max: dbm })
    const remove = () => app.send('DELETE', '/api/sweeps/stage/')
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404])
    expect((await app.get('/api/sweeps/stage/')).status).toBe(404)
  })

  // Conformance: C-23.26.
  it.each([
    [{ dbm: undefined }, 'dbm: missing'],
    [{ mhz_step: -0.025 }, 'mhz_step: expected a number from 0.000001 to 30000'],
    [{ mhz_step: '-0.025' }, 'mhz_step: expected a number from 0.000001 to 30000'],
    [{ mhz_step: 20_000 }, 'mhz_step: the sweep ends at 80470 MHz, above 30000 MHz'],
    [{ mhz_from: 'x' }, 'mhz_from: expected a number from 0.001 to 30000'],
    [{ dbm: [-98, 4000] }, 'dbm.1: expected a number from -250 to 100'],
    [{ dbm: [-98, '4000'] }, 'dbm.1: expected a number from -250 to 100'],
    [{ dbm: [60, 61, 62] }, 'dbm: a median of 61 cannot be in dBm; expected levels with a median from -200 to 20'],
    [{ dbm: [null] }, 'dbm: no level was measured'],
    [{ dbm: Array(20_001).fill(-90) }, 'dbm: expected a list of 1 to 20000 levels'],
    [{ source: 'a/b' }, 'source: expected text of 1 to 64 characters'],
    [{ unit: 'dBm' }, 'unit: unknown field'],
  ])('are refused: %#', async (change, details) => {
    const app = await startApp()
    const { status, json } = await app.post('/api/sweeps/', { ...sweep, dbm, ...change })
    expect([status, json.details]).toEqual([400, expect.stringContaining(details)])
    expect((await app.get('/api/sweeps/')).json).toEqual([])
  })

  // Conformance: C-23.27.
  it('are accepted four times a second from each of eight sources, with 20,000 points', async () => {
    const app = await startApp()
    const push = (source: string, levels: readonly number[] = [-90, -91]) =>
      app.post('/api/sweeps/', { ...sweep, source, dbm: levels })
    const statuses = []
    for (let index = 0; index < 5; index += 1) statuses.push((await push('1')).status)
    // A slow machine may need longer than a second for these.
    expect(statuses.slice(0, 4)).toEqual([201, 201, 201, 201])
    const burst = await Promise.all(Array.from({ length: 12 }, () => push('2')))
    const refused = burst.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.headers['retry-after']).toBe('1')
    for (let source = 3; source <= 8; source += 1) expect((await push(String(source))).status).toBe(201)
    const ninth = await push('9')
    expect([ninth.status, ninth.headers['retry-after'], ninth.json.details]).toEqual([
      503,
      '5',
      'source: at most 8 sources are kept at a time',
    ])
    expect((await app.send('DELETE', '/api/sweeps/3/')).status).toBe(204)
    expect((await push('9', Array(20_000).fill(-90))).status).toBe(201)
    expect((await app.get('/api/sweeps/9/')).json.last).toHaveLength(20_000)
  })

  // Conformance: C-23.24.
  it('are read by viewers, and pushed and deleted by operators', async () => {
    const app = await startApp({ config: { require_login: true } })
    const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
    expect((await app.post('/api/sweeps/', { ...sweep, dbm }, viewer)).status).toBe(403)
    expect((await raw(app, 'PUT', row(5, -70), { ...viewer, 'content-type': 'text/csv' })).status).toBe(403)
    expect((await app.post('/api/sweeps/', { ...sweep, dbm }, operator)).status).toBe(201)
    expect((await app.get('/api/sweeps/stage/', viewer)).status).toBe(200)
    expect((await app.send('DELETE', '/api/sweeps/stage/', { headers: viewer })).status).toBe(403)
    expect((await app.get('/api/sweeps/')).status).toBe(401)
  })
})

describe.concurrent('rows of sweeps', () => {
  // Conformance: C-23.25.
  it.each([
    ['PUT with -T -', ['-T', '-'], 200],
    ['POST with -T -', ['-X', 'POST', '-H', 'content-type: text/csv', '-T', '-'], 201],
    ['POST without a type', ['-X', 'POST', '-T', '-'], 201],
  ])('are shown while curl sends them: %s', async (_, args, status) => {
    const app = await startApp()
    const sender = curl(app, args)
    sender.stdin?.write(row(5, -70))
    const shown = async () => (await app.get('/api/sweeps/stick/')).json
    await until('the first sweep is shown', async () => (await shown()).last?.[0] === -70)
    sender.stdin?.write(row(15, -80) + row(25, -60).slice(0, 50))
    await until('the second sweep is shown', async () => (await shown()).last?.[0] === -80)
    sender.stdin?.end(row(25, -60).slice(50))
    const [json = '', code] = (await sender.output).split('\n')
    expect([Number(code), JSON.parse(json)]).toEqual([
      status,
      { source: 'stick', sweeps: 3, rows_read: 3, rows_skipped: [] },
    ])
    expect(await shown()).toMatchObject({
      ...{ last: [-60, -61, -62, -63, -64], max: [-60, -61, -62, -63, -64], calibrated: false, sweep_seconds: 10 },
      ...{ from_mhz: 470, step_mhz: 0.025, at: new Date(2026, 10, 22, 19, 30, 25).toISOString() },
    })
  })

  // Conformance: C-23.26.
  it('that are refused end curl with the line, while the analyser still runs', async () => {
    const app = await startApp()
    for (const [rows, details] of [
      [row(5, -70).replace('470125000', '460000000'), 'Line 1: The row goes backwards'],
      [row(5, -70) + row(5, -70), 'Line 2: Two rows of one sweep overlap'],
      ['1'.repeat(600 * 1024), 'Line 1: the line does not end within'],
      ['2026\0\n', 'Line 1: expected text, found binary data'],
      ['hello\n'.repeat(30), '21 of 21 rows cannot be read. Line 1'],
    ] as const) {
      const sender = curl(app, ['-T', '-'])
      sender.stdin?.write(rows)
      // curl reads the response when it sends the next row.
      const running = setInterval(() => sender.stdin?.write(row(15, -70)), 50)
      onTestEnd(() => clearInterval(running))
      const [json = '', code] = (await sender.output).split('\n')
      expect([code, JSON.parse(json).details]).toEqual(['400', expect.stringContaining(details)])
    }
    expect((await app.get('/api/sweeps/')).json).toEqual([])
  })

  // Conformance: C-23.27.
  it('may be longer in all than any other body', async () => {
    const app = await startApp()
    const sweeps = Array.from({ length: 40_000 }, (_, index) => row(index % 60, -70)).join('')
    expect(sweeps.length).toBeGreaterThan(3_000_000)
    const { status, json } = await raw(app, 'PUT', sweeps, { 'content-type': 'text/csv' })
    expect([status, json]).toEqual([200, { source: 'stick', sweeps: 40_000, rows_read: 40_000, rows_skipped: [] }])
  })

  // Conformance: C-23.26.
  it('need a source and a type, and JSON stays limited', async () => {
    const app = await startApp()
    const csv = { 'content-type': 'text/csv' }
    for (const [method, query, headers, status, message] of [
      ['PUT', '', csv, 400, 'source: missing'],
      ['POST', '', csv, 400, 'source: missing'],
      ['POST', '?source=a%2Fb', csv, 400, 'source: expected text of 1 to 64 characters'],
      ['POST', '', {}, 415, 'The body must be application/json, or text/csv with ?source=.'],
      ['POST', '?source=stick', { 'content-type': 'text/plain' }, 415, 'The body must be application/json'],
    ] as const) {
      const { json, ...refused } = await raw(app, method, row(5, -70), headers, query)
      expect([refused.status, json.details ?? json.error]).toEqual([status, expect.stringContaining(message)])
    }
    const empty = await app.post('/api/sweeps/', null)
    expect([empty.status, empty.json.details]).toEqual([400, 'body: expected an object'])
    const large = { ...sweep, dbm, unit: 'x'.repeat(1024 * 1024) }
    expect((await app.post('/api/sweeps/', large)).status).toBe(413)
    expect((await app.get('/api/sweeps/')).json).toEqual([])
  })
})
