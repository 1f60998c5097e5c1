/** Scans in checks, suggestions and the list of frequencies. */

import { describe, expect, it } from 'vitest'
import { channelOf, configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { addPlaceholders, write } from './support/frequency-requests.ts'
import { uploadScan } from './support/scan-upload.ts'
import { engines } from './support/store/databases.ts'

const path = '/api/frequencies/measured/'
const defaults = {
  ...{ scan_ids: [], exclude_above_dbm: -85, peak_above_dbm: -60, peak_spacing_khz: 800, peak_products: true },
  ...{ max_age_hours: null, version: 0 },
}

/** Uploads a scan from 499 to 502 MHz with these levels, and -100 dBm elsewhere. Returns its id. */
async function upload(app: TestApp, levels: Readonly<Record<string, number>>): Promise<number> {
  const rows = Array.from({ length: 121 }, (_, step) => {
    const mhz = (499 + 0.025 * step).toFixed(3)
    return `${mhz},${levels[mhz] ?? -100}`
  })
  return (await uploadScan(app, `MHz,dBm\n${rows.join('\n')}\n`)).json.id
}

describe.concurrent.each(engines)('scans and frequencies (%s)', (engine) => {
  // Conformance: C-23.16.
  it('the default is stored with a version, and counts in the list', async () => {
    const app = await startApp({ engine })
    expect((await app.get(path)).json).toEqual(defaults)
    const [occupied, free, unmeasured] = await addPlaceholders(app, ['500.000', '501.000', '480.000'])
    const scan = await upload(app, { '500.050': -80 })
    expect((await app.get('/api/frequencies/')).json).toMatchObject({ scan_ids: [], tv: [], totals: { occupied: 0 } })

    const chosen = await write(app, 'PUT', path, { scan_ids: [scan], peak_spacing_khz: 600 })
    expect(chosen.status).toBe(200)
    expect(chosen.json).toEqual({ ...defaults, scan_ids: [scan], peak_spacing_khz: 600, version: expect.any(Number) })
    expect((await app.get(path)).json).toEqual(chosen.json)
    const stale = await write(app, 'PUT', path, { scan_ids: [] }, { 'if-match': '"0"' })
    expect(stale.status).toBe(412)

    const { carriers, conflicts, scan_ids, tv } = (await app.get('/api/frequencies/')).json
    expect(scan_ids).toEqual([scan])
    expect(carriers.map(({ id, measured }: Record<string, string>) => [id, measured])).toEqual([
      [unmeasured, 'unmeasured'],
      [occupied, 'occupied'],
      [free, 'free'],
    ])
    expect(conflicts).toEqual([
      {
        ...{ victim: occupied, kind: 'occupied', product_mhz: null, offset_khz: null, guard_khz: null, generators: [] },
        ...{ scan_id: scan, dbm: -80, mhz: '500.050' },
      },
    ])
    expect(tv).toMatchObject([
      { channel: '24', dbm: -76.6, scan_id: scan, coverage: 0.375, assumed_rbw_khz: 25 },
      { channel: '25', dbm: -100, coverage: 0.003 },
    ])
    const { conflicts: none } = (await app.get('/api/frequencies/?measured=off')).json
    expect(none).toEqual([])
    expect((await app.get(`/api/frequencies/?measured=${scan}`)).json.conflicts).toEqual(conflicts)
    expect((await app.get('/api/frequencies/?measured=99')).status).toBe(400)

    expect((await app.send('DELETE', `/api/scans/${scan}/`)).status).toBe(204)
    expect((await app.get(path)).json.scan_ids).toEqual([])
    expect((await app.get('/api/frequencies/')).json.conflicts).toEqual([])
  })
})

// Conformance: C-23.17.
it.concurrent('checks and suggestions consider the scans of the request only', async () => {
  const app = await startApp()
  const scan = await upload(app, { '500.050': -80 })
  const body = {
    carriers: [
      { id: 'a', mhz: '500.000' },
      { id: 'b', mhz: '470.000' },
    ],
  }
  const without = (await app.post('/api/frequencies/check/', body)).json
  expect(without.carriers).toEqual([
    { id: 'a', measured: 'unmeasured' },
    { id: 'b', measured: 'unmeasured' },
  ])
  expect(without.conflicts).toEqual([])
  const measured = { scan_ids: [scan] }
  const found = (await app.post('/api/frequencies/check/', { ...body, measured })).json
  expect(found.carriers).toEqual([
    { id: 'a', measured: 'occupied' },
    { id: 'b', measured: 'unmeasured' },
  ])
  expect(found.conflicts).toMatchObject([{ victim: 'a', kind: 'occupied', scan_id: scan }])
  const unknown = await app.post('/api/frequencies/check/', { ...body, measured: { scan_ids: [99] } })
  expect([unknown.status, JSON.stringify(unknown.json)]).toEqual([400, expect.stringContaining('measured.scan_ids')])

  const wanted = [{ profile: 'generic', ranges: [{ from: '498.000', to: '500.200' }], count: 1 }]
  const { carriers } = (await app.post('/api/frequencies/suggest/', { wanted, measured })).json
  expect(carriers).toEqual([{ profile: 'generic', mhz: '498.900', soft: [], measured: 'free' }])
})

// Conformance: C-23.18.
it.concurrent('scans that are too old are ignored', async () => {
  const app = await startApp()
  const scan = await upload(app, { '500.050': -80 })
  const check = async (max_age_hours: number | null) => {
    const measured = { scan_ids: [scan], max_age_hours }
    const { json } = await app.post('/api/frequencies/check/', { carriers: [{ id: 'a', mhz: '500.000' }], measured })
    return json.carriers[0].measured
  }
  expect(await check(1)).toBe('occupied')
  expect(await check(0.000_000_1)).toBe('unmeasured')
})

// Conformance: C-23.19.
it.concurrent('the readings of carriers that were on during the scan are left out', async () => {
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 1 })], isRecording: true })
  const receiver = await until('a transmitter is on', async () =>
    (await app.receivers()).find(({ channels }) => channels.some(({ transmitter }) => transmitter !== null)),
  )
  const channel = receiver.channels.find(({ transmitter }) => transmitter !== null) ?? channelOf(receiver)
  const mhz = Number(channel.frequency)
  const rows = Array.from({ length: 41 }, (_, step) => `${(mhz - 0.5 + 0.025 * step).toFixed(3)},-40`)
  const file = `MHz,dBm\n${rows.join('\n')}\n`
  const state = async (at: number) => {
    const scan = (await uploadScan(app, file)).json.id
    const body = { carriers: [{ id: 'a', mhz: at.toFixed(3) }], measured: { scan_ids: [scan] } }
    const { json } = await app.post('/api/frequencies/check/', body)
    expect((await app.send('DELETE', `/api/scans/${scan}/`)).status).toBe(204)
    return json.carriers[0].measured
  }
  // States of channels are stored every second.
  await until('the reading is left out', async () => (await state(mhz)) === 'unmeasured')
  expect(await state(mhz + 0.3)).toBe('occupied')
})
