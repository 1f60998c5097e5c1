/** Frequency plans: stored, edited by two people, compared, exported and undone. */

import { expect, it } from 'vitest'
import { startApp, type TestApp, until } from './support/app.ts'
import { write } from './support/frequency-requests.ts'
import { exportFile, importFile } from './support/installation-files.ts'
import { openLive } from './support/live-client.ts'
import { engines } from './support/store/databases.ts'
import { withoutVersions } from './support/versions.ts'

const path = '/api/frequency-plans/'

/** Reports a rack whose channels are tuned to these frequencies. Returns their slots. */
async function tune(app: TestApp, frequencies: readonly string[], off: readonly string[] = []) {
  const channels = frequencies.map((frequency, index) => ({
    channel: index + 1,
    name: `Ch ${index + 1}`,
    frequency,
    transmitter: off.includes(frequency) ? null : { name: `H0${index + 1}`, battery: 80 },
  }))
  const receivers = [{ api_device_id: 'rack', name: 'Rack', channels }]
  expect((await app.post('/api/ingest/', { source: 'script', receivers })).status).toBe(202)
  const receiver = await app.receiver('rack')
  return receiver.channels.map(({ slot }) => slot)
}

const undo = (app: TestApp, { headers }: { headers: Record<string, unknown> }) =>
  app.post(`/api/undo/${headers['x-undo-id']}`)

// Conformance: C-23.40.
it.concurrent('stores a suggestion as a plan in one step', async () => {
  const app = await startApp()
  const wanted = [{ profile: 'ulxd', count: 3, ranges: [{ from: '470.000', to: '480.000' }] }]
  const suggestion = (await app.post('/api/frequencies/suggest/', { wanted })).json
  const settings = { level: 'standard', wanted, soft: ['2t5o'] }
  const stored = await app.post(path, { title: 'Evening', ...{ carriers: suggestion.carriers, settings } })
  expect(stored).toMatchObject({
    status: 201,
    headers: { etag: `"${stored.json.version}"`, 'x-undo-id': expect.any(String) },
    json: {
      ...{ title: 'Evening', show_id: null, region: 'EU', spares: [], settings, conflicts: [], conflict_count: 0 },
      ...{ created_by: 'local', active: false },
    },
  })
  expect(stored.json.carriers).toEqual(
    suggestion.carriers.map(({ mhz, profile }: { mhz: string; profile: string }, index: number) => ({
      ...{ id: String(index + 1), slot: null, name: null, profile, mhz },
      ...{ locked: false, zone: null, groups: [], note: null },
    })),
  )
  expect((await app.get(path)).json).toEqual([stored.json])
  expect((await app.get(`${path}?site=elsewhere`)).json).toEqual([])
  // A response can be sent back.
  const { json: copy } = await app.post(path, stored.json)
  const { id: _, version: __, created_at: ___, ...same } = stored.json
  expect(copy).toMatchObject(same)
  const changed = await write(app, 'PATCH', `${path}${copy.id}/`, { ...copy, title: 'Late' })
  expect(changed.json).toMatchObject({ ...same, title: 'Late' })
  const { json: again } = await app.post(`${path}${copy.id}/duplicate/`)
  expect([again.title, again.carriers]).toEqual(['Late (copy)', copy.carriers])
  expect((await app.post(`${path}${copy.id}/duplicate/`, { title: 'Later' })).json.title).toBe('Later')
})

// Conformance: C-23.41.
it.concurrent('finds the conflicts of a plan when it is stored and changed', async () => {
  const app = await startApp()
  const carriers = [
    { slot: 7, profile: 'ulxd', mhz: '470.300', zone: 'A', groups: ['Band', 3], note: 'Lead', locked: true },
    { name: 'Guest', profile: 'ulxd', mhz: '470.400' },
  ]
  const { json: plan } = await app.post(path, {
    title: 'Matinee',
    carriers,
    spares: [{ profile: 'ulxd', mhz: '480.000' }],
  })
  expect(plan.carriers[0]).toEqual({ id: '1', name: null, ...carriers[0] })
  expect(plan.conflicts).toEqual([expect.objectContaining({ victim: '2', kind: 'spacing', generators: ['1'] })])
  expect(plan.conflict_count).toBe(1)
  const moved = carriers.map((carrier, index) => ({ ...carrier, mhz: `47${index}.300` }))
  const change = (body: object) => write(app, 'PATCH', `${path}${plan.id}/`, body)
  expect((await change({ carriers: moved })).json).toMatchObject({
    conflicts: [],
    conflict_count: 0,
    spares: plan.spares,
  })
  await app.post('/api/config/', { key: 'TV_IN_USE', value: '21' })
  expect((await change({ carriers: moved })).json.conflicts).toMatchObject([{ kind: 'tv' }, { kind: 'tv' }])
  expect((await change({ region: 'US' })).json.conflicts).toEqual([])
  // A profile that is removed leaves the plan as it is.
  await app.post('/api/frequencies/profiles/', { id: 'own', name: 'Own', levels: { standard: { spacing: 2000 } } })
  expect(
    (await change({ carriers: [{ profile: 'own', mhz: '470.000' }, { mhz: '471.000' }] })).json.conflict_count,
  ).toBe(1)
  await app.send('DELETE', '/api/frequencies/profiles/own/')
  expect((await change({ region: 'EU' })).json).toMatchObject({
    carriers: [{ profile: 'own' }, { profile: 'generic' }],
  })
})

// Conformance: C-23.42.
it.concurrent.each(engines)(
  'refuses edits of an earlier version, and returns the current plan (%s)',
  async (engine) => {
    const app = await startApp({ engine })
    const { json: plan, headers } = await app.post(path, { title: 'Evening', carriers: [{ mhz: '470.000' }] })
    const etag = String(headers.etag)
    const change = (title: string, tag: string) =>
      write(app, 'PATCH', `${path}${plan.id}/`, { title }, { 'if-match': tag })
    const responses = await Promise.all(['A', 'B', 'C', 'D'].map((title) => change(title, etag)))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
    const current = (await app.get(`${path}${plan.id}/`)).json
    expect((await change('E', etag)).json).toMatchObject({ status: 412, current })
    expect((await app.send('DELETE', `${path}${plan.id}/`, { headers: { 'if-match': etag } })).json.current).toEqual(
      current,
    )
    // Using a plan is no edit.
    const used = await app.post(`${path}${plan.id}/use/`)
    expect(used.json).toEqual({ ...current, active: true })
    expect((await change('F', `W/"${current.version}"`)).status).toBe(200)
    expect((await app.send('DELETE', `${path}${plan.id}/`)).status).toBe(204)
    expect((await app.get(`${path}${plan.id}/`)).status).toBe(404)
  },
)

// Conformance: C-23.43.
it.concurrent('keeps every edit of several people at once without versions', async () => {
  const app = await startApp()
  const { json: plan } = await app.post(path, { title: 'Evening', carriers: [{ mhz: '470.000' }] })
  const edits = [
    { title: 'Late' },
    { carriers: [{ mhz: '471.000' }] },
    { region: 'US' },
    { spares: [{ profile: 'ulxd', mhz: '480.000' }] },
  ]
  await Promise.all(edits.map((edit) => write(app, 'PATCH', `${path}${plan.id}/`, edit)))
  expect((await app.get(`${path}${plan.id}/`)).json).toMatchObject(Object.assign({}, ...edits))
})

// Conformance: C-23.44.
it.concurrent.each(engines)('has one plan in force, and undoes every edit (%s)', async (engine) => {
  const app = await startApp({ engine })
  const add = (title: string) => app.post(path, { title, carriers: [{ slot: 1, mhz: '470.000' }] })
  const [first, second] = [await add('First'), await add('Second')]
  const idOf = ({ json }: typeof first) => json.id as number
  const use = (plan: typeof first) => app.post(`${path}${idOf(plan)}/use`)
  const state = async () => withoutVersions((await app.get(path)).json)
  const titles = async () =>
    (await state()).flatMap(({ title, active }: { title: string; active: boolean }) => (active ? title : []))
  await use(first)
  const before = await state()
  const used = await use(second)
  expect(await titles()).toEqual(['Second'])
  // Nothing has changed, so nothing can be undone.
  expect((await use(second)).headers['x-undo-id']).toBeUndefined()
  expect((await undo(app, used)).status).toBe(200)
  expect(await state()).toEqual(before)
  const renamed = await write(app, 'PATCH', `${path}${idOf(first)}/`, { title: 'Other', carriers: [] })
  expect((await undo(app, renamed)).status).toBe(200)
  expect(await state()).toEqual(before)
  const removed = await app.send('DELETE', `${path}${idOf(first)}/`)
  expect(await titles()).toEqual([])
  await use(second)
  expect((await undo(app, removed)).status).toBe(200)
  // The plan returns, but a newer one is in force.
  expect(await titles()).toEqual(['Second'])
  const undoable = (await app.get('/api/undo/')).json
  expect(undoable[0]).toMatchObject({ what: 'frequency_plan.use', by: 'local', slots: [] })
  expect((await undo(app, second)).status).toBe(409)
  const { changes } = (await app.get('/api/handover/')).json
  const listed = changes.map(({ what, by, from, to }: Record<string, string>) => [what, by, from, to])
  expect(listed.slice(0, 4)).toEqual([
    ['frequency_plan', 'local', null, 'Second'],
    ['frequency_plan', 'local', 'First', null],
    ['frequency_plan', 'local', 'Other', 'First'],
    ['frequency_plan', 'local', 'First', 'Other'],
  ])
  const removedShow = (await app.post('/api/shows/', { title: 'Gala' })).json
  const ofShow = await app.post(path, { title: 'Gala', show_id: removedShow.id })
  await app.send('DELETE', `/api/shows/${removedShow.id}/`)
  expect((await app.get(`${path}${idOf(ofShow)}/`)).json.show_id).toBeNull()
})

// Conformance: C-23.45.
it.concurrent('compares a plan with what is tuned', async () => {
  const app = await startApp()
  const [same, differs, off, extra] = await tune(app, ['470.000', '471.000', '472.000', '473.000'], ['472.000'])
  await app.post('/api/placeholders/', { kind: 'wireless', name: 'Later', slot: 90, frequency: '480.000' })
  await write(app, 'PUT', `/api/slots/${differs}/`, { label: 'Nora' })
  const { json: plan } = await app.post(path, {
    title: 'Evening',
    carriers: [
      { slot: same, mhz: '470.000' },
      { slot: differs, mhz: '471.500' },
      { slot: off, mhz: '472.000' },
      { slot: 90, mhz: '480.000' },
      { slot: 500, name: 'Guest', mhz: '481.000' },
      { name: 'ch 4', mhz: '473.100' },
      { mhz: '473.000' },
    ],
  })
  const { json } = await app.get(`${path}${plan.id}/compare/`)
  const title = (slot: number | undefined) => `Ch ${slot}`
  expect(
    json.carriers.map(({ slot, name, result, planned, tuned }: Record<string, unknown>) => [
      slot,
      name,
      result,
      planned,
      tuned,
    ]),
  ).toEqual([
    [same, title(1), 'same', '470.000', '470.000'],
    [differs, 'Nora', 'differs', '471.500', '471.000'],
    [off, title(3), 'off', '472.000', '472.000'],
    [90, 'Later', 'missing', '480.000', null],
    [500, 'Guest', 'missing', '481.000', null],
    [null, 'ch 4', 'differs', '473.100', '473.000'],
    // The channel on this frequency is the one with the name.
    [null, null, 'missing', '473.000', null],
  ])
  expect(json).toMatchObject({ with: null, totals: { missing: 3, differs: 2, off: 1, same: 1 }, others: [] })
  await write(app, 'PATCH', `${path}${plan.id}/`, { carriers: [{ mhz: '473.000' }] })
  const other = (await app.get(`${path}${plan.id}/compare/`)).json
  expect(other.carriers).toMatchObject([{ slot: null, result: 'same', tuned: '473.000' }])
  expect(other.others.map(({ slot }: { slot: number }) => slot)).toEqual([same, differs, off])
  expect(extra).toBeDefined()
})

// Conformance: C-23.46.
it.concurrent('compares two plans', async () => {
  const app = await startApp()
  const add = async (carriers: readonly object[]) => (await app.post(path, { title: 'Evening', carriers })).json.id
  const one = await add([
    { slot: 1, mhz: '470.000' },
    { slot: 2, mhz: '471.000' },
    { name: 'Nora', mhz: '472.000' },
    { mhz: '473.000' },
  ])
  const two = await add([
    { slot: 1, mhz: '470.000' },
    { slot: 9, name: 'Nora', mhz: '472.100' },
    { slot: 3, mhz: '474.000' },
  ])
  const { json } = await app.get(`${path}${one}/compare/?with=${two}`)
  expect(json).toMatchObject({
    with: two,
    carriers: [
      { id: '1', result: 'same' },
      { id: '2', result: 'missing', tuned: null },
      { id: '3', result: 'differs', planned: '472.000', tuned: '472.100' },
      { id: '4', result: 'missing' },
    ],
    totals: { missing: 2, differs: 1, off: 0, same: 1 },
    others: [{ slot: 3, name: null, mhz: '474.000' }],
  })
  expect((await app.get(`${path}${one}/compare/?with=99`)).json.error).toBe('There is no frequency plan 99.')
})

// Conformance: C-23.47.
it.concurrent('exports plans as the carriers in use', async () => {
  const app = await startApp()
  const group = (await app.post('/api/group/', { title: 'Band', slots: [] })).json
  await app.post('/api/placeholders/', { kind: 'wireless', name: 'Nora', slot: 7 })
  const carriers = [
    { slot: 7, profile: 'ulxd', mhz: '471.000', zone: 'A', groups: [group.id, 'Guests'] },
    { name: '=Ben;', mhz: '470.000' },
    { mhz: '470.000' },
  ]
  const { json: plan } = await app.post(path, { title: 'Evening', carriers })
  const text = async (format: string, from = `${path}${plan.id}`) =>
    (await app.get(`${from}/export.csv?format=${format}`)).bytes.toString()
  expect((await text('csv')).split('\r\n')).toEqual([
    '\uFEFFname,mhz,profile,zone,tv_channel,slot,group',
    `"'=Ben;",470.000,generic,,21,,`,
    ',470.000,generic,,21,,',
    'Nora,471.000,ulxd,A,21,7,"Band; Guests"',
    '',
  ])
  expect(await text('list')).toBe('470.000\r\n471.000\r\n')
  expect(await text('wwb')).toBe(await text('list'))
  expect(await text('wsm')).toMatch(/^name;type;.*\r\n=Ben ;0;470000;0;470000;470000;2;5\r\nNora;0;471000;/)
  expect((await app.get(`${path}${plan.id}/export.csv?format=pdf`)).status).toBe(400)
  expect(await text('wwb', '/api/frequencies')).toBe(await text('list', '/api/frequencies'))
})

// Conformance: C-23.48.
it.concurrent('refuses what is no plan, and stores nothing', async () => {
  const app = await startApp()
  const refused: [object, string][] = [
    [{}, 'title: missing'],
    [{ title: '' }, 'title: expected text of 1 to 255 characters'],
    [{ title: 'A', colour: 'red' }, 'colour: unknown'],
    [{ title: 'A', show_id: 9 }, 'show_id: there is no show 9'],
    [{ title: 'A', carriers: [{ slot: 1 }] }, 'carriers.0.mhz: missing'],
    [{ title: 'A', carriers: [{ mhz: '470' }] }, 'carriers.0.mhz: expected text with a frequency'],
    [{ title: 'A', carriers: [{ mhz: '470.000', profile: 'x' }] }, 'carriers.0.profile: there is no profile x'],
    [{ title: 'A', spares: [{ mhz: '470.000', profile: 'x' }] }, 'spares.0.profile: there is no profile x'],
    [
      { title: 'A', carriers: [1, 2, 1].map((slot) => ({ slot, mhz: '470.000' })) },
      'carriers.2.slot: expected every slot once; 1 is repeated',
    ],
    [
      { title: 'A', carriers: Array.from({ length: 1001 }, () => ({ mhz: '470.000' })) },
      'carriers: expected a list of at most 1000 carriers',
    ],
    [{ title: 'A', settings: { measured: { scan_ids: [5] } } }, 'settings.measured.scan_ids: there is no scan 5'],
    [{ title: 'A', settings: { notes: 'x'.repeat(70_000) } }, 'settings: expected at most 64 KiB'],
    [{ title: 'A\u0000', carriers: [] }, 'title'],
  ]
  for (const [body, details] of refused) {
    const { status, json } = await app.post(path, body)
    expect([status, json.details]).toEqual([400, expect.stringContaining(details)])
  }
  expect((await app.get(path)).json).toEqual([])
  for (const action of ['', 'compare/', 'export.csv']) expect((await app.get(`${path}7/${action}`)).status).toBe(404)
  for (const action of ['use', 'duplicate']) expect((await app.post(`${path}7/${action}`)).status).toBe(404)
  expect((await write(app, 'PATCH', `${path}7/`, { title: 'A' })).status).toBe(404)
  const plans = (length: number) => Array.from({ length }, (_, index) => ({ title: `Plan ${index}`, region: 'EU' }))
  const tooMany = importFile(app, { version: 1, frequency_plans: plans(201) })
  await expect(tooMany).rejects.toThrow('frequency_plans: expected at most 200 plans, including the stored ones')
  await importFile(app, { version: 1, frequency_plans: plans(200) })
  const { status, json } = await app.post(path, { title: 'One more' })
  expect([status, json.error]).toEqual([
    409,
    '200 frequency plans are stored, which is the limit. Delete a plan and try again.',
  ])
})

// Conformance: C-23.49.
it.concurrent('announces changes of plans to connected clients', async () => {
  const app = await startApp()
  const client = await openLive(app)
  const count = () => client.messages.filter(({ type }) => type === 'frequency_plans').length
  const { json: plan } = await app.post(path, { title: 'Evening' })
  await until('the plan is announced', () => count() === 1)
  await app.post(`${path}${plan.id}/use`)
  await until('its use is announced', () => count() === 2)
  await app.send('DELETE', `${path}${plan.id}/`)
  await until('its removal is announced', () => count() === 3)
})

// Conformance: C-23.50.
it.concurrent('raises an alert for a channel that differs from the plan in force', async () => {
  const app = await startApp()
  const [first = 0, second = 0] = await tune(app, ['470.000', '471.000'])
  const add = async (title: string, carriers: readonly object[]) => (await app.post(path, { title, carriers })).json.id
  const evening = await add('Evening', [
    { slot: first, mhz: '470.000' },
    { slot: second, mhz: '471.500' },
  ])
  const other = await add('Late', [{ slot: first, mhz: '480.000' }])
  const alerts = async () => (await app.get('/api/alerts/?kind=off_plan&state=open')).json
  const oneAlert = (what: string, slot: number) =>
    until(what, async () => {
      const [alert, ...others] = await alerts()
      return alert?.data.slot === slot && others.length === 0 && alert
    })
  await app.post(`${path}${evening}/use`)
  // It is off by default.
  expect(await alerts()).toEqual([])
  await app.post('/api/config/', { key: 'alert_off_plan_enabled', value: 'true' })
  expect(await oneAlert('the alert of the second channel is open', second)).toMatchObject({
    severity: 'warning',
    message: `${second} Ch 2: tuned to 471.000 MHz, planned 471.500 MHz (pack H02)`,
    data: { tuned: '471.000', planned: '471.500', plan: 'Evening' },
  })
  await tune(app, ['470.100', '471.500'])
  await oneAlert('the alert follows the tuning', first)
  await tune(app, ['470.000', '471.500'])
  await until('no alert is open', async () => (await alerts()).length === 0)
  await app.post(`${path}${other}/use`)
  await oneAlert('the alert of the other plan is open', first)
  await app.send('DELETE', `${path}${other}/`)
  await until('no alert is open', async () => (await alerts()).length === 0)
})

// Conformance: C-23.51.
it.concurrent('checks in the line check that channels are tuned as planned', async () => {
  const app = await startApp()
  const [first, second] = await tune(app, ['470.000', '471.000'])
  const show = (await app.post('/api/shows/', { title: 'Gala' })).json
  await app.post(`/api/shows/${show.id}/start`)
  const seen = async () =>
    (await app.get(`/api/shows/${show.id}/checks/`)).json.map(({ sees }: { sees: Record<string, unknown> }) => [
      ...[sees.frequency, sees.frequency_planned, sees.frequency_plan],
    ])
  const atStart = [
    ['470.000', '470.000', null],
    ['471.000', '471.000', null],
  ]
  expect(await seen()).toEqual(atStart)
  const { json: plan } = await app.post(path, { title: 'Evening', carriers: [{ slot: second, mhz: '471.500' }] })
  expect(await seen()).toEqual(atStart)
  await app.post(`${path}${plan.id}/use`)
  expect(await seen()).toEqual([atStart[0], ['471.000', '471.500', { id: plan.id, title: 'Evening' }]])
  expect(first).toBeDefined()
})

// Conformance: C-23.52.
it.concurrent('exports plans and imports them', async () => {
  const [from, to] = [await startApp(), await startApp()]
  const starts_at = '2026-12-01T19:00:00Z'
  const show = (await from.post('/api/shows/', { title: 'Gala', starts_at })).json
  const group = (await from.post('/api/group/', { title: 'Band', slots: [] })).json
  const carriers = [
    { slot: 7, name: 'Nora', profile: 'ulxd', mhz: '470.000', locked: true, zone: 'A', groups: [group.id, 'x'] },
  ]
  const more = {
    show_id: show.id,
    spares: [{ profile: 'ulxd', mhz: '480.000' }],
    settings: { level: 'more', avoid: [] },
  }
  const { json: plan } = await from.post(path, {
    title: 'Evening',
    carriers: [...carriers, { mhz: '470.100' }],
    ...more,
  })
  await from.post(path, { title: 'Late' })
  await from.post(`${path}${plan.id}/use`)
  const file = await exportFile(from)
  const counts = (await importFile(to, file)).counts.frequency_plans
  expect(counts).toEqual({ created: 2, updated: 0, unchanged: 0 })
  const plans = await until('the plans are loaded', async () => {
    const { json } = await to.get(path)
    return json.length === 2 && json
  })
  expect(await exportFile(to)).toEqual(file)
  const imported = plans.find(({ title }: { title: string }) => title === 'Evening')
  const { version: _, id: __, show_id: ___, ...same } = (await from.get(`${path}${plan.id}/`)).json
  expect(imported).toMatchObject(same)
  expect((await importFile(to, file)).counts.frequency_plans).toEqual({ created: 0, updated: 0, unchanged: 2 })
  // The import of an older file replaces the carriers, and keeps the plan in force.
  const [evening] = (file.frequency_plans ?? []).filter(({ title }) => title === 'Evening')
  const changed = { version: 1, frequency_plans: [{ ...evening, title: 'Evening', carriers: [] }] }
  expect((await importFile(to, changed)).counts.frequency_plans).toEqual({ created: 0, updated: 1, unchanged: 0 })
})
