/** Frequencies: conflicts, suggestions, profiles, zones and export. */

import { expect, it } from 'vitest'
import { exportInstallation } from '../src/actions/export-installation.ts'
import { importInstallation } from '../src/actions/import-installation.ts'
import { parseInstallationFile, toYamlText } from '../src/cli/installation-file.ts'
import { toInstallationFile } from '../src/domain/installation-export.ts'
import { channelOf, configFor, deviceOf, startApp, startShure, type TestApp, until, withoutPush } from './app.ts'
import { engines } from './databases.ts'
import type { HttpClient } from './http-client.ts'
import { openLive } from './live-client.ts'
import { tokenHeaders } from './tokens.ts'
import { lan } from './users.ts'

function write(app: HttpClient, method: string, path: string, body: unknown, more: Record<string, string> = {}) {
  const headers = { 'content-type': 'application/json', ...more }
  return app.send(method, path, { headers, body: JSON.stringify(body) })
}

async function addPlaceholders(app: TestApp, frequencies: readonly string[], firstSlot = 1): Promise<string[]> {
  const ids: string[] = []
  for (const [index, frequency] of frequencies.entries()) {
    const body = { kind: 'wireless', name: `Vox ${index + 1}`, slot: firstSlot + index, frequency }
    ids.push(`p${(await app.post('/api/placeholders/', body)).json.id}`)
  }
  return ids
}

const guards = { spacing: 350, '2t3o': 200, '3t3o': 100, '2t5o': 90 }

function check(app: HttpClient, mhz: readonly string[], more: object = { guards }) {
  return app.post('/api/frequencies/check/', { carriers: mhz.map((one) => ({ id: one, mhz: one, ...more })) })
}

// Conformance: C-15.1.
it.concurrent.each(engines)('lists the carriers of channels and placeholders (%s)', async (engine) => {
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })], engine })
  const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
  const channel = channelOf(receiver)
  const [id] = await addPlaceholders(app, ['450.500'], 30)
  await app.post('/api/placeholders/', { kind: 'wired', name: 'Piano', slot: 40 })
  const { status, json } = await app.get('/api/frequencies/')
  expect(status).toBe(200)
  expect(json.region).toBe('EU')
  expect(json.carriers[0]).toEqual({
    id,
    placeholder_id: Number(id?.slice(1)),
    slot: 30,
    name: 'Vox 1',
    mhz: '450.500',
    model: null,
    profile: 'generic',
    zone: null,
    transmitter_on: null,
    rf_level: null,
    noise_dbm: null,
    tv_channel: null,
  })
  expect(json.carriers[1]).toMatchObject({
    id: `c${channel.id}`,
    channel_id: channel.id,
    slot: channel.slot,
    mhz: channel.frequency,
    profile: 'ulxd',
  })
})

// Conformance: C-15.2.
it.concurrent('names the generators of a product, and calculates none between zones', async () => {
  const app = await startApp()
  const [a, b, victim] = (await addPlaceholders(app, ['500.000', '506.000', '494.025'])) as [string, string, string]
  const { conflicts, totals } = (await app.get('/api/frequencies/')).json
  expect(conflicts).toContainEqual({
    victim,
    kind: '2t3o',
    product_mhz: '494.000',
    offset_khz: -25,
    guard_khz: 200,
    generators: [a, b],
  })
  expect(totals).toMatchObject({ '2t3o': 2, spacing: 0 })
  const group = { title: 'Hall B', slots: [3], zone: 'B' }
  expect((await app.post('/api/group/', group)).json).toMatchObject(group)
  const apart = (await app.get('/api/frequencies/')).json
  expect(apart.carriers).toMatchObject([
    { id: victim, zone: 'B' },
    { id: a, zone: null },
    { id: b, zone: null },
  ])
  expect(apart.conflicts).toEqual([])
})

// Conformance: C-15.3.
it.concurrent('restricts carriers and victims to a group, but not generators', async () => {
  const app = await startApp()
  const ids = await addPlaceholders(app, ['500.000', '506.000', '494.025', '500.200'])
  const group = (await app.post('/api/group/', { title: 'First', slots: [1] })).json.id
  const { carriers, conflicts, totals } = (await app.get(`/api/frequencies/?group=${group}`)).json
  expect(carriers.map(({ id }: { id: string }) => id)).toEqual([ids[0]])
  expect(conflicts).toEqual([
    { victim: ids[0], kind: 'spacing', product_mhz: null, offset_khz: 200, guard_khz: 375, generators: [ids[3]] },
  ])
  expect(totals.spacing).toBe(1)
  expect((await app.get('/api/frequencies/?group=999')).status).toBe(404)
})

// Conformance: C-15.36.
it.concurrent.each(engines)(
  'lists the noise on channels since they were tuned, and whether it is over the limit (%s)',
  async (engine) => {
    const shure = withoutPush(await startShure({ receivers: 1 }))
    const { id } = deviceOf(shure)
    shure.show.set(id, { transmitter: false, rf_level: -62 }, 1)
    const app = await startApp({ manufacturers: [configFor(shure)], engine, isRecording: true })
    const channel = channelOf(await until('the receiver is known', () => app.receiver(id)))
    const noiseOfChannel = async () => {
      const { status, json } = await app.get('/api/frequencies/noise/?hours=1')
      expect(status).toBe(200)
      return json.channels.find((found: { channel_id: number }) => found.channel_id === channel.id)
    }
    const noise = await until('the noise is recorded', noiseOfChannel)
    expect(noise).toMatchObject({ id: `c${channel.id}`, mhz: channel.frequency, median_dbm: -62, highest_dbm: -62 })
    expect(noise).toMatchObject({ is_high: true })
    expect(Date.parse(noise.highest_at)).toBeLessThanOrEqual(Date.now())
    shure.show.set(id, { transmitter: false, rf_level: -95, frequency: '623.125' }, 1)
    const next = await until('the noise of the previous frequency is left out', async () => {
      const found = await noiseOfChannel()
      return found?.highest_dbm === -62 ? undefined : found
    })
    expect(next).toMatchObject({ mhz: '623.125', median_dbm: -95, highest_dbm: -95, is_high: false })
  },
)

// Conformance: C-15.4.
it.concurrent.each([
  ['/api/frequencies/?level=loose', /level/],
  ['/api/frequencies/?only_on=maybe', /only_on/],
  ['/api/frequencies/export.csv?format=xml', /format/],
  ['/api/frequencies/noise/?hours=169', /hours/],
])('rejects %s', async (path, details) => {
  const app = await startApp()
  const { status, json } = await app.get(path)
  expect([status, json.details]).toEqual([400, expect.stringMatching(details)])
})

// Conformance: C-15.5.
it.concurrent('checks the vectors of a request, and stores nothing', async () => {
  const app = await startApp()
  const fine = (await check(app, ['500.000', '510.000'])).json
  expect(fine.conflicts).toEqual([])
  const { conflicts, totals } = (await check(app, ['500.000', '506.000', '494.000'])).json
  expect(totals['2t3o']).toBe(2)
  expect(conflicts.map(({ victim }: { victim: string }) => victim).sort()).toEqual(['494.000', '506.000'])
  const duplicate = await app.post('/api/frequencies/check/', {
    carriers: [
      { id: 'a', mhz: '500.000' },
      { id: 'b', mhz: '500.000' },
    ],
  })
  expect(duplicate.json.conflicts).toEqual([
    { victim: 'b', kind: 'duplicate', product_mhz: null, offset_khz: 0, guard_khz: 375, generators: ['a'] },
  ])
  const windowed = await check(app, ['470.000', '560.000', '650.000'], { guards, window_mhz: 100 })
  expect(windowed.json.conflicts).toEqual([])
  const unlimited = await check(app, ['500.000', '506.000', '494.000'], { window_mhz: null })
  expect([unlimited.status, unlimited.json.totals['2t3o']]).toEqual([200, 2])
  expect((await app.get('/api/frequencies/')).json.carriers).toEqual([])
})

// Conformance: C-15.5.
it.concurrent('checks the band, the shared and the second carrier of a channel, and foreign RF', async () => {
  const app = await startApp()
  const kindsOf = async (carriers: readonly object[], more: object = {}) =>
    (await app.post('/api/frequencies/check/', { carriers, ...more })).json.conflicts.map(
      ({ kind, victim, generators }: { kind: string; victim: string; generators: string[] }) =>
        [kind, victim, ...generators].join(' '),
    )
  const block = { mhz: '500.000', profile: 'spectera_8', receiver_id: 4 }
  expect(
    await kindsOf([
      { id: 'a', ...block },
      { id: 'b', ...block },
    ]),
  ).toEqual([])
  expect(
    await kindsOf([
      { id: 'a', ...block },
      { id: 'b', ...block, receiver_id: 5 },
    ]),
  ).toEqual(['duplicate b a'])
  expect(await kindsOf([{ id: 'a', mhz: '600.000', profile: 'ulxd', band: 'G51', foreign: true }])).toEqual([
    'foreign a',
    'outside_band a',
  ])
  const diverse = [
    { id: 'a', mhz: '480.000', second_mhz: '506.000' },
    { id: 'b', mhz: '500.000' },
  ]
  const all = [...diverse, { id: 'c', mhz: '494.000' }]
  expect((await kindsOf(all)).toSorted()).toEqual(['2t3o a b c', '2t3o c b a'])
  expect(await kindsOf(all, { victims: ['a'] })).toEqual(['2t3o a b c'])
  const { json } = await app.post('/api/frequencies/check/', { carriers: all })
  expect(json.victims).toEqual({ a: 1, c: 1 })
})

// Conformance: C-15.6.
it.concurrent.each([
  [{}, 'carriers: missing'],
  [{ carriers: [{ id: 'a', mhz: 500 }] }, 'carriers.0.mhz: expected text with a frequency in MHz'],
  [{ carriers: [{ id: 'a', mhz: '500' }] }, 'carriers.0.mhz: expected text with a frequency in MHz'],
  [{ carriers: [{ id: 'a', mhz: '500.000', guards: { '4t3o': 1 } }] }, 'carriers.0.guards.4t3o: unknown'],
  [{ carriers: [{ id: 'a', mhz: '500.000', guards: { spacing: 0.5 } }] }, 'carriers.0.guards.spacing: expected'],
  [{ carriers: [{ id: 'a', mhz: '500.000', colour: 'red' }] }, 'carriers.0.colour: unknown'],
  [{ carriers: [{ id: 'a', mhz: '500.000', profile: 'none' }] }, 'carriers.0.profile: there is no profile none'],
  [{ carriers: [{ id: 'a', mhz: '500.000', profile: 'ulxd', guards: {} }] }, 'carriers.0: expected profile or guards'],
  [{ carriers: [{ id: 'a', mhz: '500.000', window_mhz: 50 }] }, 'carriers.0.window_mhz: expected guards'],
  [{ carriers: Array(2).fill({ id: 'a', mhz: '500.000' }) }, 'carriers.1.id: expected every id once; a is repeated'],
  [{ carriers: Array(1001).fill({ id: 'a', mhz: '500.000' }) }, 'carriers: expected a list of at most 1000'],
])('rejects the check %#', async (body, details) => {
  const app = await startApp()
  const { status, json } = await app.post('/api/frequencies/check/', body)
  expect([status, json.details]).toEqual([400, expect.stringContaining(details)])
})

// Conformance: C-15.7.
it.concurrent('lists at most 1000 conflicts, the smallest offset first, and counts all', async () => {
  const app = await startApp()
  const mhz = Array.from({ length: 120 }, (_, index) => (470 + 0.4 * index).toFixed(3))
  const { conflicts, totals } = (await check(app, mhz)).json
  expect(conflicts).toHaveLength(1000)
  const offsets = conflicts.map(({ offset_khz }: { offset_khz: number }) => Math.abs(offset_khz))
  expect(offsets).toEqual([...offsets].sort((a, b) => a - b))
  expect(totals['3t3o']).toBeGreaterThan(100_000)
})

// Conformance: C-15.8.
it.concurrent('suggests the same compatible frequencies for the same request', async () => {
  const app = await startApp()
  const request = {
    wanted: [{ profile: 'ulxd', ranges: [{ from: '470.000', to: '476.000' }], count: 14 }],
    timeout_ms: 30_000,
  }
  const { status, json } = await app.post('/api/frequencies/suggest/', request)
  expect([status, json.unplaced]).toEqual([200, []])
  const carriers = json.carriers.map(({ profile, mhz }: { profile: string; mhz: string }) => ({
    id: mhz,
    profile,
    mhz,
  }))
  expect(carriers).toHaveLength(14)
  expect((await app.post('/api/frequencies/check/', { carriers })).json.conflicts).toEqual([])
  expect((await app.post('/api/frequencies/suggest/', request)).json).toEqual(json)
})

// Conformance: C-15.9.
it.concurrent('keeps its distance from carriers to keep, ranges to avoid and TV channels in use', async () => {
  const app = await startApp()
  await app.post('/api/config/', { key: 'TV_IN_USE', value: '22' })
  const { carriers, unplaced } = (
    await app.post('/api/frequencies/suggest/', {
      wanted: [{ profile: 'ulxd', ranges: [{ from: '470.000', to: '490.000' }], count: 4 }],
      keep: [{ id: 'kept', mhz: '470.000', profile: 'ulxd' }],
      avoid: [{ from: '470.400', to: '474.000' }],
    })
  ).json
  expect(unplaced).toEqual([])
  for (const { mhz } of carriers) {
    expect(Number(mhz)).toBeGreaterThanOrEqual(470.35)
    expect(Number(mhz) > 470.4 && Number(mhz) < 474).toBe(false)
    expect(Number(mhz) > 477.9 && Number(mhz) < 486.1).toBe(false)
  }
})

// Conformance: C-15.10.
it.concurrent.each([
  [{}, 'wanted: missing'],
  [{ wanted: [{ profile: 'none', ranges: [], count: 1 }] }, 'wanted.0.profile: there is no profile none'],
  [{ wanted: [{ profile: 'ulxd', ranges: [], count: 0 }] }, 'wanted.0.count: expected a whole number from 1 to 1000'],
  [{ wanted: [], timeout_ms: 50 }, 'timeout_ms: expected a whole number from 100 to 30000'],
  [{ wanted: [], level: 'loose' }, 'level: expected one of robust, standard, more'],
  [
    { wanted: [], avoid: [{ from: '480.000', to: '470.000' }] },
    'avoid: expected from (480.000) to be at most to (470.000)',
  ],
])('rejects the suggestion %#', async (body, details) => {
  const app = await startApp()
  const { status, json } = await app.post('/api/frequencies/suggest/', body)
  expect([status, json.details]).toEqual([400, expect.stringContaining(details)])
})

// Conformance: C-15.11.
it.concurrent('returns the best so far when the time is up, and responds to other requests meanwhile', async () => {
  const app = await startApp()
  const request = {
    wanted: [{ profile: 'generic', ranges: [{ from: '470.000', to: '694.000' }], count: 1000 }],
    timeout_ms: 100,
  }
  const suggested = app.post('/api/frequencies/suggest/', request)
  expect((await check(app, ['500.000'])).status).toBe(200)
  const { carriers, unplaced, timed_out } = (await suggested).json
  expect(timed_out).toBe(true)
  expect(carriers.length + unplaced[0].count).toBe(1000)
})

// Conformance: C-15.12.
it.concurrent.each(engines)('stores added and changed profiles, and takes changes back (%s)', async (engine) => {
  const app = await startApp({ engine })
  const path = '/api/frequencies/profiles/'
  const ulxd = (await app.get(`${path}ulxd/`)).json
  expect(ulxd).toMatchObject({ is_built_in: true, is_changed: false, step_khz: 25, is_generator: true })
  expect(ulxd.levels.standard).toEqual({ spacing: 350, '2t3o': 75, '3t3o': 0, '2t5o': 0, '2t7o': 0, '2t9o': 0 })
  expect((await app.send('DELETE', `${path}ulxd/`)).status).toBe(409)
  const changed = await write(app, 'PATCH', `${path}ulxd/`, { levels: { standard: { spacing: 400 } } })
  expect(changed.json).toMatchObject({ is_changed: true, levels: { robust: ulxd.levels.robust } })
  expect(changed.json.levels.standard).toMatchObject({ spacing: 400, '2t3o': 0 })
  expect((await app.send('DELETE', `${path}ulxd/`)).status).toBe(204)
  expect((await app.get(`${path}ulxd/`)).json).toEqual(ulxd)

  const added = { name: 'Shure GLX-D+', levels: { standard: { spacing: 500 } }, step_khz: 5, source: 'Manual' }
  const { status, json } = await app.post(path, added)
  expect([status, json.id, json.levels.more.spacing]).toEqual([201, 'shure_glx-d', 500])
  expect((await app.post(path, added)).status).toBe(409)
  expect((await app.post(path, { name: 'X' })).json.details).toBe('levels.standard: missing')
  expect((await app.get(path)).json.map(({ id }: { id: string }) => id)).toContain('shure_glx-d')
  expect((await app.send('DELETE', `${path}shure_glx-d/`)).status).toBe(204)
  expect((await app.get(`${path}shure_glx-d/`)).status).toBe(404)
})

// Conformance: C-15.32.
it.concurrent('announces profiles and changes of carriers to connected clients', async () => {
  const app = await startApp()
  const client = await openLive(app)
  const announced = (wanted: string) => client.messages.filter(({ type }) => type === wanted)
  const profiles = () => JSON.stringify(announced('frequency_profiles').at(-1) ?? null)
  const path = '/api/frequencies/profiles/'
  await app.post(path, { id: 'own', name: 'Own', levels: { standard: { spacing: 400 } } })
  await until('the profile is announced', () => profiles().includes('"name":"Own"'))
  await write(app, 'PATCH', `${path}own/`, { name: 'Ours' })
  await until('its change is announced', () => profiles().includes('"name":"Ours"'))
  await app.send('DELETE', `${path}own/`)
  await until('its removal is announced', () => !profiles().includes('"id":"own"'))
  expect(announced('frequency_profiles').at(-1)).toMatchObject({ profiles: (await app.get(path)).json })
  const before = announced('frequencies').length
  await addPlaceholders(app, ['500.000'])
  await until('the carrier is announced', () => announced('frequencies').length > before)
})

// Conformance: C-15.13.
it.concurrent.each(engines)('uses the profile of a channel before that of its model (%s)', async (engine) => {
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })], engine })
  const { id } = channelOf(await until('the receiver is known', async () => (await app.receivers())[0]))
  const profileOf = async () => {
    const { carriers } = (await app.get('/api/frequencies/')).json
    return carriers.find((carrier: { channel_id?: number }) => carrier.channel_id === id).profile
  }
  const patch = (body: object) => write(app, 'PATCH', `/api/channels/${id}/`, body)
  expect(await profileOf()).toBe('ulxd')
  expect((await patch({ profile: 'nothing' })).json.details).toBe('profile: there is no profile nothing')
  expect((await patch({ profile: 'ulxd_hd' })).json.profile).toBe('ulxd_hd')
  expect(await profileOf()).toBe('ulxd_hd')
  expect((await app.get(`/api/channels/${id}/`)).json.profile).toBe('ulxd_hd')
  expect((await patch({ profile: null })).json.profile).toBeUndefined()
  expect(await profileOf()).toBe('ulxd')
  await app.post('/api/frequencies/profiles/', { id: 'own', name: 'Own', levels: { standard: {} } })
  await patch({ profile: 'own', slot: 77 })
  expect((await app.get(`/api/channels/${id}/`)).json).toMatchObject({ profile: 'own', slot: 77 })
  await app.send('DELETE', '/api/frequencies/profiles/own/')
  expect(await profileOf()).toBe('ulxd')
  expect((await patch({})).status).toBe(400)
})

// Conformance: C-15.14.
it.concurrent('takes the zone of a location from the nearest one around a receiver', async () => {
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
  const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
  const admin = await tokenHeaders(app.runtime, 'admin')
  const hall = (await app.post('/api/admin/locations/', { name: 'Hall', zone: 'North' }, admin)).json
  expect(hall.zone).toBe('North')
  const rack = (await app.post('/api/admin/locations/', { name: 'Rack', parent: hall.id }, admin)).json
  await write(app, 'PATCH', `/api/admin/receivers/${receiver.id}/`, { location: rack.id }, admin)
  const zoneOf = async () => (await app.get('/api/frequencies/')).json.carriers[0].zone
  expect(await zoneOf()).toBe('North')
  await write(app, 'PATCH', `/api/admin/locations/${rack.id}/`, { zone: 'Rack zone' }, admin)
  expect(await zoneOf()).toBe('Rack zone')
  await app.post('/api/group/', { title: 'Band', slots: [channelOf(receiver).slot], zone: 'Stage' })
  expect(await zoneOf()).toBe('Stage')
})

// Conformance: C-15.15.
it.concurrent('reports carriers that touch a TV channel in use, by region', async () => {
  const app = await startApp()
  const [id] = await addPlaceholders(app, ['486.050'])
  const set = (key: string, value: string) => app.post('/api/config/', { key, value })
  expect((await set('TV_IN_USE', '99')).json.details).toBe(
    'value: expected TV channels of the region EU; 99 is unknown',
  )
  expect((await set('TV_IN_USE', '21, 22')).status).toBe(200)
  const { carriers, conflicts } = (await app.get('/api/frequencies/')).json
  expect(carriers[0].tv_channel).toBe('23')
  expect(conflicts).toEqual([
    { victim: id, kind: 'tv', product_mhz: null, offset_khz: null, guard_khz: null, generators: [] },
  ])
  await set('REGION', 'US')
  expect((await app.get('/api/frequencies/')).json).toMatchObject({ region: 'US', carriers: [{ tv_channel: '16' }] })
  await set('TV_IN_USE', '')
  expect((await app.get('/api/frequencies/')).json.conflicts).toEqual([])
})

// Conformance: C-15.16.
it.concurrent('exports carriers as CSV, and as a list without repetitions', async () => {
  const app = await startApp()
  await addPlaceholders(app, ['510.100', '506.000', '506.000'])
  await app.post('/api/group/', { title: 'Hall', slots: [1], zone: 'A' })
  const csv = await app.get('/api/frequencies/export.csv')
  expect(csv.headers['content-disposition']).toBe('attachment; filename="frequencies.csv"')
  expect(csv.bytes.toString().replace('\uFEFF', '')).toBe(
    [
      'name,mhz,profile,zone,tv_channel,slot,group',
      'Vox 2,506.000,generic,,25,2,',
      'Vox 3,506.000,generic,,25,3,',
      'Vox 1,510.100,generic,A,26,1,Hall',
      '',
    ].join('\r\n'),
  )
  expect((await app.get('/api/frequencies/export.csv?format=wsm')).bytes.toString()).toBe(
    [
      'name;type;frequency;tolerance;minfrequency;maxfrequency;priority;squelchlevel',
      'Vox 2;0;506000;0;506000;506000;2;5',
      'Vox 1;0;510100;0;510100;510100;2;5',
      '',
    ].join('\r\n'),
  )
  expect((await app.get('/api/frequencies/export.csv?format=list')).bytes.toString()).toBe('506.000\r\n510.100\r\n')
})

// Conformance: C-15.17.
it.concurrent('lets viewers read, check and ask for suggestions, and operators edit profiles', async () => {
  const app = await startApp({ config: lan })
  const viewer = await tokenHeaders(app.runtime, 'viewer')
  const operator = await tokenHeaders(app.runtime, 'operator')
  const added = { id: 'own', name: 'Own', levels: { standard: { spacing: 400 } } }
  const path = '/api/frequencies/profiles/'
  expect((await app.get('/api/frequencies/')).status).toBe(401)
  for (const read of ['/api/frequencies/', path, '/api/frequencies/export.csv']) {
    expect((await app.get(read, viewer)).status).toBe(200)
  }
  expect((await app.post('/api/frequencies/check/', { carriers: [] }, viewer)).status).toBe(200)
  expect((await app.post('/api/frequencies/suggest/', { wanted: [] }, viewer)).status).toBe(200)
  expect((await app.post(path, added, viewer)).status).toBe(403)
  expect((await app.post(path, added, operator)).status).toBe(201)
  expect((await write(app, 'PATCH', `${path}own/`, { name: 'Ours' }, operator)).json.name).toBe('Ours')
  expect((await app.send('DELETE', `${path}own/`, { headers: operator })).status).toBe(204)
  const { json } = await app.get('/api/admin/audit/', await tokenHeaders(app.runtime, 'admin'))
  const actions = json.map(({ action }: { action: string }) => action)
  expect(actions.filter((action: string) => action.startsWith('frequency_profile.')).toReversed()).toEqual([
    'frequency_profile.create',
    'frequency_profile.change',
    'frequency_profile.delete',
  ])
})

// Conformance: C-15.18.
it.concurrent.each(engines)('raises one alert per channel in conflict, if that is enabled (%s)', async (engine) => {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 1 })], engine })
  const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
  const channel = channelOf(receiver)
  const near = (Number(channel.frequency) - 0.1).toFixed(3)
  await addPlaceholders(app, [near, near], 40)
  const alerts = async () => (await app.get('/api/alerts/?kind=frequency_conflict&state=open')).json
  const { conflicts } = (await app.get('/api/frequencies/?only_on=1')).json
  expect(conflicts).toContainEqual(expect.objectContaining({ victim: `c${channel.id}`, kind: 'spacing' }))
  expect(await alerts()).toEqual([])
  await app.post('/api/config/', { key: 'alert_frequency_conflict_enabled', value: 'true' })
  const [alert, ...others] = await until('an alert', async () => {
    const raised = await alerts()
    return raised.length > 0 && raised
  })
  expect(others).toEqual([])
  expect(alert).toMatchObject({
    channel_id: channel.id,
    severity: 'warning',
    data: { conflict: 'spacing', generators: ['Vox 1'] },
  })
  expect(alert.message).toMatch(/: frequency conflict \(too close to Vox 1\)$/)
  await app.post('/api/config/', { key: 'alert_frequency_conflict_enabled', value: 'false' })
  await until('no alert', async () => (await alerts()).length === 0)
})

// Conformance: C-15.30.
it.concurrent.each(engines)('exports and imports profiles, those of channels, and zones (%s)', async (engine) => {
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const options = { manufacturers: [configFor(shure, { poll_interval: 3600 })], engine }
  const [from, to] = [await startApp(options), await startApp(options)]
  const idIn = async (app: TestApp) =>
    channelOf(await until('the receiver is known', async () => (await app.receivers())[0])).id
  const path = '/api/frequencies/profiles/'
  await from.post(path, { id: 'own', name: 'Own', levels: { standard: { spacing: 400 } } })
  await write(from, 'PATCH', `${path}ulxd/`, { step_khz: 125 })
  await write(from, 'PATCH', `/api/channels/${await idIn(from)}/`, { profile: 'own' })
  await from.post('/api/group/', { title: 'Hall', slots: [1], zone: 'A' })
  const admin = await tokenHeaders(from.runtime, 'admin')
  await from.post('/api/admin/locations/', { name: 'Foyer', zone: 'B' }, admin)
  const file = toInstallationFile(await exportInstallation(from.runtime), { withSecrets: false })
  const id = await idIn(to)
  const { db, secrets, sourceDeps, reload } = to.runtime
  const actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null } as const
  const deps = { db, secrets, destinations: sourceDeps.destinations, now: Date.now }
  const text = toYamlText(file)
  await importInstallation(deps, actor, parseInstallationFile(text, 'file.yaml'), { isDryRun: false, source: 'test' })
  await reload()
  expect((await to.get(`${path}ulxd/`)).json).toMatchObject({ step_khz: 125, is_changed: true })
  expect((await to.get(path)).json).toEqual((await from.get(path)).json)
  await until('the profile is loaded', async () => (await to.get(`/api/channels/${id}/`)).json.profile === 'own')
  expect((await to.get('/api/groups/')).json).toMatchObject([{ title: 'Hall', zone: 'A' }])
  expect(to.runtime.locations()).toMatchObject([{ name: 'Foyer', zone: 'B' }])
  expect(toInstallationFile(await exportInstallation(to.runtime), { withSecrets: false })).toEqual(file)
})
