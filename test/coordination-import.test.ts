/** Coordinations of other programs: previewed, imported as plans and placeholders, matched to receivers, undone. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startApp, type TestApp } from './support/app.ts'
import { sendForm } from './support/scan-upload.ts'
import { engines } from './support/store/databases.ts'

const fixture = (name: string) => readFileSync(new URL(`coordination-fixtures/${name}`, import.meta.url))

async function send(app: TestApp, name: string, bytes: Uint8Array | string = fixture(name), query = '') {
  const form = new FormData()
  form.append('file', new Blob([bytes as BlobPart]), name)
  return sendForm(app, form, {}, `/api/import/coordination/${query}`)
}

const plans = async (app: TestApp) => (await app.get('/api/frequency-plans/')).json
const placeholders = async (app: TestApp) => (await app.get('/api/placeholders/')).json

// Conformance: C-23.110, C-23.111.
describe.concurrent.each(engines)('a show of Wireless Workbench (%s)', (engine) => {
  it('is previewed without a trace, then imported, and undone as a whole', async () => {
    const app = await startApp({ engine })
    const preview = await send(app, 'show.shw', fixture('show.shw'), '?preview=1')
    expect(preview.status).toBe(200)
    expect(preview.json).toMatchObject({
      format: 'shw',
      plan: {
        ...{ id: null, title: 'Spring musical', conflict_count: expect.any(Number) },
        spares: [
          { profile: 'ad', mhz: '471.350' },
          { profile: 'psm1000', mhz: '519.500' },
        ],
        settings: {
          avoid: [
            { from: '503.250', to: '503.250' },
            { from: '606.000', to: '614.000' },
          ],
          inclusions: [
            { name: 'Vocals', from: '470.125', to: '470.125' },
            { name: 'Vocals', from: '474.000', to: '478.000' },
          ],
          ...{ tv_channels: [26], exclude_above_dbm: -88, peak_above_dbm: -62 },
        },
      },
      ...{ matches: [], profiles: [], skipped: [], undo_id: null },
    })
    expect([await plans(app), await placeholders(app)]).toEqual([[], []])

    const imported = await send(app, 'show.shw')
    expect([imported.status, imported.headers['x-undo-id']]).toEqual([201, String(imported.json.undo_id)])
    const [plan] = await plans(app)
    expect(plan).toMatchObject({ id: imported.json.plan.id, title: 'Spring musical', active: false })
    expect(plan.carriers).toEqual(imported.json.plan.carriers)
    expect(plan.carriers).toMatchObject([
      { slot: 1, name: 'Nora Ø', profile: 'ad', band: 'G55', mhz: '470.125', locked: false, groups: ['Vocals'] },
      { slot: 2, name: 'Paul', mhz: '470.700', locked: true, zone: null },
      { slot: 3, name: 'Paul 2', profile: 'psm1000', mhz: '518.300', zone: 'Stage B' },
    ])
    expect(await placeholders(app)).toMatchObject([
      { slot: 1, name: 'Nora Ø', kind: 'wireless', frequency: '470.125' },
      { slot: 2, name: 'Paul', kind: 'wireless', frequency: '470.700' },
      { slot: 3, name: 'Paul 2', kind: 'iem', frequency: '518.300' },
    ])

    const again = await send(app, 'show.shw')
    expect(again.json.placeholders.map(({ is_new }: { is_new: boolean }) => is_new)).toEqual([false, false, false])
    expect(await placeholders(app)).toHaveLength(3)
    for (const { json } of [again, imported]) {
      expect((await app.post(`/api/undo/${json.undo_id}`)).status).toBe(200)
    }
    expect([await plans(app), await placeholders(app)]).toEqual([[], []])
  })

  it('has the slots of the receiver with the address of a device', async () => {
    const app = await startApp({ engine })
    const channels = [1, 2].map((channel) => ({ channel, name: `Ch ${channel}`, frequency: '470.000' }))
    const receivers = [{ api_device_id: 'rack', name: 'Stage left', ip: '10.32.14.11', channels }]
    expect((await app.post('/api/ingest/', { source: 'script', receivers })).status).toBe(202)
    const receiver = await app.receiver('rack')
    const { json } = await send(app, 'show.shw')
    expect(json.matches).toEqual([
      { device: 'Rack A', receiver_id: receiver.id, receiver: 'Stage left', by: 'address' },
    ])
    const [first, second] = receiver.channels
    expect(json.plan.carriers.map(({ slot }: { slot: number }) => slot)).toEqual([first?.slot, second?.slot, 3])
    expect(await placeholders(app)).toMatchObject([{ slot: 3, name: 'Paul 2' }])
  })
})

// Conformance: C-23.112.
it.concurrent('workspaces, projects of WSM and reports are imported', async () => {
  const app = await startApp()
  for (const [name, format, title] of [
    ['workspace.cws', 'cws', 'workspace.cws'],
    ['project.wsm', 'wsm', 'project.wsm'],
    ['report-6.csv', 'wwb_csv', 'Spring musical'],
    ['report-7.csv', 'wwb_csv', 'Spring musical'],
  ] as const) {
    const { status, json } = await send(app, name)
    expect([status, json.format, json.plan.title]).toEqual([201, format, title])
  }
  expect(await plans(app)).toHaveLength(4)
  const { json } = await send(app, 'report-7.csv', fixture('report-7.csv'), '?preview=true')
  expect(json.skipped).toEqual([{ line: 37, why: expect.stringContaining('no frequency') }])
})

// Conformance: C-23.113.
it.concurrent('an equipment profile becomes a frequency profile, which keeps the bands of other files', async () => {
  const app = await startApp()
  expect((await send(app, 'belt-pack.eqp', fixture('belt-pack.eqp'), '?preview=1')).json.profiles).toEqual([
    { id: 'hofmann_b-12', name: 'Hofmann B-12', is_new: true },
  ])
  const profiles = async () => (await app.get('/api/frequencies/profiles/')).json
  const added = async () => (await profiles()).find(({ id }: { id: string }) => id === 'hofmann_b-12')
  expect(await added()).toBeUndefined()
  expect((await send(app, 'belt-pack.eqp')).status).toBe(201)
  const otherBand = fixture('belt-pack.eqp')
    .toString()
    .replace('5B', '5C')
    .replace('542000', '566000')
    .replace('<end units="kHz">566000', '<end units="kHz">590000')
  expect((await send(app, 'other.eqp', otherBand)).json.profiles).toMatchObject([{ is_new: false }])
  expect(await added()).toMatchObject({
    ...{ is_built_in: false, source: expect.stringContaining('Its licence is that of its author') },
    bands: [{ name: '5B' }, { name: '5C', ranges: [{ from: '566.000', to: '590.000' }] }],
  })
})

// Conformance: C-23.114.
it.concurrent('a file that is hostile, broken or none is refused with the line, and nothing is stored', async () => {
  const app = await startApp()
  const bomb = '<!DOCTYPE show [<!ENTITY a "aaaaaaaaaa">]>\n<show>&a;</show>'
  for (const [bytes, message] of [
    ['', 'The file is empty'],
    [bomb, 'Line 1: files with this document type'],
    ['<show>\n<inventory>\n', 'Line 3: the file is not well-formed'],
    [`<show>${'<a/>'.repeat(300_000)}</show>`, 'more than 200000 elements'],
    [fixture('show.shw').toString().replace('<value>470700', '<value>loud'), '"loud" is not a frequency'],
    [new Uint8Array([0, 1, 2, 255, 254]), 'none that can be read'],
  ] as const) {
    const { status, json } = await send(app, 'show.shw', bytes)
    expect([status, json.details]).toEqual([400, expect.stringContaining(message)])
  }
  expect([await plans(app), await placeholders(app)]).toEqual([[], []])
})

// Conformance: C-23.115.
it.concurrent('a show of 120 carriers is checked, with its conflicts', async () => {
  const app = await startApp()
  const rows = Array.from({ length: 120 }, (_, index) => {
    return `AD/Standard,G56,Vox ${index + 1},G:-- Ch:--,${(470.125 + index * 1.1).toFixed(3)} MHz,`
  })
  const heading = ['RF zone: Default', 'Primary frequencies (120)', 'Type,Band,Channel name,Group & Channel,Frequency,']
  const { json } = await send(app, 'report.csv', [...heading, ...rows].join('\n'))
  expect(json.plan.carriers).toHaveLength(120)
  const [plan] = await plans(app)
  expect(plan.conflict_count).toBe(json.plan.conflict_count)
  expect(json.plan.conflict_count).toBeGreaterThan(0)
})

// Conformance: C-23.128.
it('adds the profiles that a show lists, and leaves those that were edited as they are', async () => {
  const app = await startApp()
  const list = `<compatibility_profile_settings><profile><band>G55</band><series>AD</series><tx_profile>Standard</tx_profile>
    <compat_profile name="Standard"><spacing><ch_ch>345</ch_ch><imd_2t3o>75</imd_2t3o></spacing></compat_profile>
    </profile></compatibility_profile_settings>`
  const show = fixture('show.shw')
    .toString()
    .replace(/<coordinated_data_root[^>]*>/, (root) => root + list)
  const stored = async () => {
    const profiles: { id: string }[] = (await app.get('/api/frequencies/profiles/')).json
    return profiles.filter(({ id }) => id === 'wwb_ad_standard')
  }
  const expected = [{ id: 'wwb_ad_standard', name: 'WWB AD Standard', is_new: true }]
  expect((await send(app, 'show.shw', show, '?preview=1')).json.profiles).toEqual(expected)
  expect(await stored()).toEqual([])
  expect((await send(app, 'show.shw', show)).json.profiles).toEqual(expected)
  const guards = { spacing: 345, '2t3o': 75, '3t3o': 0, '2t5o': 0, '2t7o': 0, '2t9o': 0 }
  expect(await stored()).toMatchObject([
    {
      levels: { robust: guards, standard: guards, more: guards },
      ...{ source: expect.stringContaining('licence'), is_built_in: false },
    },
  ])
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ levels: { standard: { spacing: 400 } } })
  await app.send('PATCH', '/api/frequencies/profiles/wwb_ad_standard/', { headers, body })
  expect((await send(app, 'show.shw', show)).json.profiles).toEqual([])
  expect(await stored()).toMatchObject([{ levels: { standard: { spacing: 400 } } }])
})
