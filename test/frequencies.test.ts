/** Frequencies: carriers, checks and suggestions. */

import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { channelOf, configFor, deviceOf, startApp, startShure, until, withoutPush } from './support/app.ts'
import { addPlaceholders, check, guards } from './support/frequency-requests.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

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
    measured: 'unmeasured',
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
    expect(Date.parse(noise.highest_at)).toBeLessThanOrEqual(now())
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
  [
    { carriers: [{ id: 'a', mhz: '500.000', groups: [''] }] },
    'carriers.0.groups.0: expected the id of a group, or its name',
  ],
  [{ carriers: [{ id: 'a', mhz: '500.000', groups: Array(21).fill('a') }] }, 'carriers.0.groups: expected a list of'],
  [{ carriers: [], never_on_together: [['a', 'a']] }, 'never_on_together.0: expected a list of 2 to 100 different'],
  [{ carriers: [], never_on_together: [['a']] }, 'never_on_together.0: expected a list of 2 to 100 different'],
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

// Conformance: C-23.90.
it.concurrent('checks no products and no spacing of carriers that are never on together', async () => {
  const app = await startApp()
  const carriers = [
    { id: 'a', mhz: '500.000', groups: ['act 1'], locked: true },
    { id: 'b', mhz: '500.100', groups: [7, 'act 2'] },
    { id: 'c', mhz: '500.000', groups: [7] },
  ]
  const kindsWith = async (never_on_together: readonly unknown[]) => {
    const { json } = await app.post('/api/frequencies/check/', { carriers, never_on_together })
    return json.conflicts.map(({ kind, victim }: Record<string, string>) => `${kind} ${victim}`).sort()
  }
  expect(await kindsWith([])).toEqual(['duplicate c', 'spacing b', 'spacing c'])
  expect(
    await kindsWith([
      ['act 1', 'act 2'],
      ['nobody', 'else'],
    ]),
  ).toEqual(['duplicate c', 'spacing b', 'spacing c'])
  expect(await kindsWith([['act 1', 'act 2', 7]])).toEqual(['spacing c'])
})

// Conformance: C-23.99.
it.concurrent('suggests carriers of groups, zones and priorities, and spares, and explains what is unplaced', async () => {
  const app = await startApp()
  const request = {
    wanted: [
      { profile: 'ulxd', candidates: ['470.125', '471.000'], count: 3, groups: ['act 1', 5], zone: 'Hall', spares: 1 },
      { profile: 'generic', ranges: [{ from: '480.000', to: '481.000' }], count: 1, priority: 5, zone: null },
    ],
    keep: [{ id: 'kept', mhz: '471.000', profile: 'ulxd', locked: true, groups: [9] }],
    never_on_together: [[5, 'act 1', 'act 2']],
    soft: ['2t5o'],
  }
  const { status, json } = await app.post('/api/frequencies/suggest/', request)
  const labels = { profile: 'ulxd', groups: ['act 1', 5], zone: 'Hall' }
  expect([status, json]).toEqual([
    200,
    {
      carriers: [
        { ...labels, mhz: '470.125', soft: [], measured: 'unmeasured' },
        { profile: 'generic', mhz: '480.000', soft: [], measured: 'unmeasured' },
      ],
      spares: [],
      unplaced: [{ ...labels, count: 2, reason: { kind: 'spacing', by: ['kept', 'new:470.125'] } }],
    },
  ])
  const again = await app.post('/api/frequencies/suggest/', {
    ...request,
    never_on_together: [
      [5, 9],
      ['act 1', 9],
    ],
  })
  expect(again.json.carriers.map(({ mhz }: { mhz: string }) => mhz)).toEqual(['470.125', '471.000', '480.000'])
})

// Conformance: C-15.10, C-23.100.
it.concurrent.each([
  [{}, 'wanted: missing'],
  [{ wanted: [{ profile: 'none', ranges: [], count: 1 }] }, 'wanted.0.profile: there is no profile none'],
  [{ wanted: [{ profile: 'ulxd', ranges: [], count: 0 }] }, 'wanted.0.count: expected a whole number from 1 to 1000'],
  [{ wanted: [], timeout_ms: 50 }, 'timeout_ms: expected a whole number from 100 to 30000'],
  [{ wanted: [], level: 'loose' }, 'level: expected one of robust, standard, more'],
  [
    { wanted: [{ profile: 'ulxd', candidates: ['470.125', '850.000'], count: 1 }] },
    'wanted.0.candidates.1: 850.000 MHz is outside the bands of the profile',
  ],
  [
    { wanted: [{ profile: 'ulxd', candidates: [], count: 1 }] },
    'wanted.0.candidates: expected a list of 1 to 2000 MHz',
  ],
  [{ wanted: [{ profile: 'ulxd', candidates: ['470'], count: 1 }] }, 'wanted.0.candidates.0: expected text with a'],
  [{ wanted: [{ profile: 'ulxd', count: 1 }] }, 'wanted.0: expected either ranges or candidates'],
  [
    { wanted: [{ profile: 'ulxd', candidates: ['470.125'], ranges: [], count: 1 }] },
    'wanted.0: expected either ranges or candidates',
  ],
  [
    { wanted: [{ profile: 'ulxd', ranges: [], count: 1, priority: 0.5 }] },
    'wanted.0.priority: expected a whole number',
  ],
  [{ wanted: [{ profile: 'ulxd', ranges: [], count: 1, spares: 1001 }] }, 'wanted.0.spares: expected a whole number'],
  [{ wanted: [{ profile: 'ulxd', ranges: [], count: 1, zone: '' }] }, 'wanted.0.zone: expected text of 1 to 64'],
  [
    { wanted: [{ profile: 'ulxd', ranges: [], count: 1, groups: [0] }] },
    'wanted.0.groups.0: expected the id of a group',
  ],
  [{ wanted: [], soft: ['duplicate'] }, 'soft.0: expected one of spacing, 2t3o'],
  [{ wanted: [], soft: ['tv', 'tv'] }, 'soft: expected a list of spacing, 2t3o'],
  [{ wanted: [], never_on_together: [[1, 2, 1]] }, 'never_on_together.0: expected a list of 2 to 100 different groups'],
  [{ wanted: [], keep: [{ id: 'a', mhz: '500.000', locked: 'yes' }] }, 'keep.0.locked: expected true or false'],
  [
    { wanted: [], avoid: [{ from: '480.000', to: '470.000' }] },
    'avoid: expected from (480.000) to be at most to (470.000)',
  ],
])('rejects the suggestion %#', async (body, details) => {
  const app = await startApp()
  const { status, json } = await app.post('/api/frequencies/suggest/', body)
  expect([status, json.details]).toEqual([400, expect.stringContaining(details)])
})

// Reliability: 3.12.13.
it.concurrent('refuses checks above the share of a client, without delaying other clients', async () => {
  const app = await startApp()
  const viewer = await tokenHeaders(app, 'viewer')
  const carriers = (count: number, stepMhz: number) =>
    Array.from({ length: count }, (_, index) => ({ id: `c${index}`, mhz: (470 + stepMhz * index).toFixed(3) }))
  const heavy = () => app.post('/api/frequencies/check/', { carriers: carriers(1000, 0.025) }, viewer)
  // They run until the service stops.
  const waiting = Array.from({ length: 5 }, () => heavy().catch(() => null))
  const refused = await until('the share is used up', async () => {
    const response = await Promise.race([heavy().catch(() => null), pause(100)])
    return response?.status === 503 ? response : undefined
  })
  expect(refused.json).toMatchObject({ details: expect.stringContaining('5 of one client') })
  expect(refused.headers['retry-after']).toBe('2')
  for (let count = 0; count < 3; count++) {
    expect((await app.post('/api/frequencies/check/', { carriers: carriers(60, 1.37) })).status).toBe(200)
  }
  expect((await app.get('/api/frequencies/')).status).toBe(200)
  await app.close()
  await Promise.all(waiting)
})

// Conformance: C-15.11.
it.concurrent('returns the best suggestion at the time limit, and serves other requests meanwhile', async () => {
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
