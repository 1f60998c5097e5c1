/** The import of plans from a simulated Planning Center. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type PlanningCenterOptions, startPlanningCenter } from '../simulators/planning-center.ts'
import { createChurch, drawPhoto } from '../simulators/planning-center-church.ts'
import type { Actor } from '../src/domain/access/access.ts'
import { saveToken } from '../src/storage/planning-center.ts'
import { openSecrets } from '../src/storage/secrets.ts'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { exportFile, importFile } from './support/installation-files.ts'
import { type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const path = '/api/import/planning-center/'
const _actor: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }
const positions = { 'Vox 1': 1, 'Vox 2': 2, 'Vox 3': 3, Host: 4 }

async function startChurch(options: PlanningCenterOptions = {}) {
  const church = await startPlanningCenter(options)
  onTestEnd(() => church.close())
  return church
}

/** Starts a service with the slots 1 to 4, and Planning Center. Returns the body of a complete request. */
async function startBoth({ engine = 'sqlite', church = {} }: { engine?: Engine; church?: PlanningCenterOptions } = {}) {
  const [shure, planningCenter] = await Promise.all([startShure({ story: false }), startChurch(church)])
  const app = await startApp({
    engine,
    manufacturers: [configFor(withoutPush(shure))],
    config: { planning_center_url: planningCenter.url },
  })
  await until('all units are known', async () => (await app.get('/api/units/')).json.length === 4)
  const { token } = planningCenter
  return { app, planningCenter, request: { token, service_type: '1001', positions } }
}

/** Returns the performer and role in each slot. */
async function castOf(app: TestApp): Promise<Record<number, string>> {
  const units = (await app.get('/api/units/')).json as { id: number; slot: number }[]
  const { json } = await app.get('/api/assignments/?is_active=true&names=true')
  return Object.fromEntries(
    json.map(({ wireless_unit, performer_name, role }: Record<string, unknown>) => [
      units.find(({ id }) => id === wireless_unit)?.slot,
      `${performer_name} (${role})`,
    ]),
  )
}

const performersOf = async (app: TestApp) =>
  (await app.get('/api/performers/')).json as { name: string; picture: string | null }[]

describe.concurrent.each(engines)('the import from Planning Center (%s)', (engine) => {
  // Conformance: C-16.10, C-16.11, C-16.12, C-16.13.
  it('assigns the people of the next plan with their photos, after a preview, and can be undone', async () => {
    const { app, planningCenter, request } = await startBoth({ engine })
    const preview = await app.post(path, { ...request, preview: true })
    expect([preview.status, preview.json.undo_id]).toEqual([200, null])
    expect(preview.json.plan).toMatchObject({ id: '4002', title: 'Harvest', time: '40029', problem: null })
    expect(preview.json.skipped).toEqual([
      { position: 'Speaker', name: 'Cy Okafor', reason: 'No slot is selected for this position.' },
      { position: 'Drums', name: 'Di Marsh', reason: 'No slot is selected for this position.' },
      { position: 'Camera 1', name: 'Eli Stone', reason: 'No slot is selected for this position.' },
    ])
    expect([await castOf(app), await performersOf(app)]).toEqual([{}, []])

    const requests = planningCenter.requests.length
    const imported = (await app.post(path, request)).json
    expect(imported.changes.map(({ what }: { what: string }) => what)).toEqual([
      ...['performer', 'performer', 'performer', 'slot', 'slot', 'slot', 'slot'],
      ...['assignment', 'assignment', 'assignment', 'assignment'],
    ])
    expect(imported.skipped).toEqual(preview.json.skipped)
    expect(await castOf(app)).toEqual({
      1: 'Nora Ekberg (Vox 1)',
      2: 'Ada Byron (Vox 2)',
      3: 'Bo Lindqvist (Vox 3)',
      4: 'Nora Ekberg (Host)',
    })
    const performers = await performersOf(app)
    expect(performers.map(({ name }) => name)).toEqual(['Nora Ekberg', 'Ada Byron', 'Bo Lindqvist'])
    for (const { picture } of performers) {
      const { status, headers } = await app.get(picture ?? '')
      expect([status, headers['content-type']]).toEqual([200, 'image/png'])
    }
    // The photos were loaded for the preview.
    const again = planningCenter.requests.slice(requests)
    expect(again.filter(({ target }) => target.startsWith('/uploads/'))).toEqual([])
    expect((await app.post(path, request)).json).toMatchObject({ changes: [], undo_id: null })

    const undone = await app.post(`/api/undo/${imported.undo_id}`)
    expect([undone.status, undone.json]).toEqual([200, { action: 'planning_center.import', records: 7 }])
    expect([await castOf(app), await performersOf(app)]).toEqual([{}, []])
    const audit = (await app.get('/api/admin/audit/', await tokenHeaders(app, 'admin'))).json
    expect(audit.map(({ action, target }: { action: string; target: string }) => `${action} ${target}`)).toEqual(
      expect.arrayContaining(['planning_center.import plan 4002', `undo undo ${imported.undo_id}`]),
    )
  })

  // Conformance: C-16.14.
  it('stores the token encrypted and only on request, and never returns it', async () => {
    const { app, planningCenter, request } = await startBoth({ engine })
    const [, secret = ''] = planningCenter.token.split(':')
    const { token: _, ...withoutToken } = request
    const isStored = async () => (await app.get(path)).json.is_token_stored
    await app.post(path, request)
    await app.post(path, { ...request, preview: true, remember: true })
    expect(await isStored()).toBe(false)
    const missing = await app.post(path, withoutToken)
    expect([missing.status, missing.json.details]).toEqual([400, 'token: missing, and no token is stored'])

    await app.post(path, { ...request, remember: true })
    expect(await isStored()).toBe(true)
    expect((await app.post(path, withoutToken)).status).toBe(200)
    expect((await app.post(`${path}service-types/`, {})).json.service_types).toEqual([
      { id: '1001', name: 'Sunday Services' },
      { id: '1002', name: 'Youth' },
    ])
    const { sealed } = await withDatabase(app, (db) =>
      db.read.selectFrom('planning_center_token').select('sealed').executeTakeFirstOrThrow(),
    )
    expect(sealed).not.toContain(secret)
    const audit = await app.get('/api/admin/audit/', await tokenHeaders(app, 'admin'))
    for (const { json } of [await app.get(path), audit]) expect(JSON.stringify(json)).not.toContain(secret)

    expect((await app.send('DELETE', `${path}token/`)).status).toBe(204)
    expect(await isStored()).toBe(false)
    expect((await app.send('DELETE', `${path}token/`)).status).toBe(404)
  })

  // Conformance: C-16.15.
  it('uses the last plan while Planning Center is unavailable, and reports its age', async () => {
    const { app, planningCenter, request } = await startBoth({ engine })
    const loaded = (await app.post(path, { ...request, preview: true, remember: true })).json.plan
    await planningCenter.close()
    const { json, status } = await app.post(path, request)
    expect([status, json.plan]).toEqual([200, { ...loaded, problem: expect.stringContaining('connection refused') }])
    expect(await castOf(app)).toMatchObject({ 1: 'Nora Ekberg (Vox 1)', 2: 'Ada Byron (Vox 2)' })
    expect((await performersOf(app)).every(({ picture }) => picture?.startsWith('/api/pictures/'))).toBe(true)

    const { token } = request
    const lists = await Promise.all([
      app.post(`${path}service-types/`, { token }),
      app.post(`${path}plans/`, { token, service_type: '1001' }),
      app.post(`${path}positions/`, { token, service_type: '1001' }),
    ])
    expect(lists.map(({ json }) => json)).toMatchObject([
      { service_types: [{ id: '1001', name: 'Sunday Services' }], problem: expect.any(String) },
      { plans: [{ id: '4002', title: 'Harvest' }], problem: expect.any(String) },
      { plan: { id: '4002', problem: expect.any(String) } },
    ])
    for (const other of [{ service_type: '1002' }, { plan: '4003' }]) {
      const { status, json } = await app.post(path, { ...request, ...other })
      expect([status, json.error]).toEqual([502, expect.stringContaining('Planning Center is not available')])
    }
  })
})

describe.concurrent('the import from Planning Center', () => {
  it('reports that the stored plan is in the past if no plan was requested', async () => {
    const { app, planningCenter, request } = await startBoth()
    const load = (more: object) => app.post(path, { ...request, preview: true, ...more })
    expect((await load({ plan: '4001' })).json.plan).toMatchObject({ id: '4001', problem: null })
    await planningCenter.close()
    const { problem } = (await load({})).json.plan
    expect(problem).toMatch(/^Planning Center is not available: .* The stored plan is of the past/)
    expect((await load({ plan: '4001' })).json.plan.problem).not.toContain('of the past')
  })

  // Conformance: C-16.11.
  it('writes nothing if a slot does not exist or the request is invalid', async () => {
    const { app, planningCenter, request } = await startBoth()
    for (const [change, details] of [
      [{ positions: { 'Vox 1': 1, Host: 99 } }, 'positions.Host: there is no slot 99'],
      [{ positions: { Nobody: 99 } }, 'positions.Nobody: there is no slot 99'],
      [{ positions: { 'Vox 1': '1' } }, expect.stringContaining('positions.Vox 1: expected')],
      [{ positions: undefined }, 'positions: missing'],
      [{ service_type: '../1' }, expect.stringContaining('service_type: expected')],
      [{ token: 'no secret' }, expect.stringContaining('token: expected a personal access token')],
      [{ time: '1' }, 'time: the plan has no service 1'],
      [{ dry: true }, 'dry: unknown field'],
    ] as const) {
      const { status, json } = await app.post(path, { ...request, ...change })
      expect([status, json.details]).toEqual([400, details])
    }
    expect([await castOf(app), await performersOf(app)]).toEqual([{}, []])
    expect(planningCenter.requests.some(({ target }) => target.startsWith('/uploads/'))).toBe(false)
  })

  it('imports the people of the service or the plan that the request names', async () => {
    const { app, request } = await startBoth()
    await app.post(path, { ...request, time: '400211' })
    expect((await castOf(app))[2]).toBe('Fay Wu (Vox 2)')
    const past = (await app.post(path, { ...request, service_type: 1001, plan: 4001 })).json
    // All services of a past plan have ended: the last one is imported.
    expect(past.plan).toMatchObject({ id: '4001', time: '400111' })
  })

  it('leaves slots as they are if nobody is scheduled for them, and pictures if a photo cannot be loaded', async () => {
    const { app, planningCenter, request } = await startBoth()
    await app.post(path, request)
    const before = await performersOf(app)
    const [plan] = planningCenter.church.serviceTypes[0]?.plans.filter(({ id }) => id === '4002') ?? []
    plan?.people.splice(1, 1)
    const bo = planningCenter.church.people.find(({ name }) => name === 'Bo Lindqvist')
    if (bo !== undefined) bo.photoVersion += 1
    planningCenter.setFault({ type: 'status', status: 302, headers: { location: '/elsewhere' } }, { path: '/uploads/' })
    const { changes, skipped } = (await app.post(path, request)).json
    expect([changes, await performersOf(app)]).toEqual([[], before])
    expect((await castOf(app))[2]).toBe('Ada Byron (Vox 2)')
    expect(skipped).toEqual(
      expect.arrayContaining([
        { position: 'Vox 2', name: null, reason: 'Nobody is scheduled for this position at this service.' },
        {
          position: 'Vox 3',
          name: 'Bo Lindqvist',
          reason: 'The photo could not be loaded, so it is not imported.',
        },
      ]),
    )

    planningCenter.clearFaults()
    if (bo !== undefined) bo.photo = drawPhoto(20)
    const updated = (await app.post(path, request)).json
    expect(updated.changes).toMatchObject([{ what: 'performer', to: { picture: expect.any(String) } }])
    const old = before.find(({ name }) => name === 'Bo Lindqvist')?.picture
    expect(updated.changes[0].from).toEqual({ picture: old })
    expect(updated.changes[0].to.picture).not.toBe(old)
  })

  it('lists service types, plans and positions with the slots of the last import', async () => {
    const { app, planningCenter, request } = await startBoth()
    const { token } = request
    expect((await app.post(`${path}plans/`, { token, service_type: '1001' })).json).toEqual({
      plans: [
        { id: '4002', title: 'Harvest', dates: expect.any(String) },
        { id: '4003', title: null, dates: expect.any(String) },
      ],
      problem: null,
    })
    const slotsOf = async () => {
      const { json } = await app.post(`${path}positions/`, { token, service_type: '1001' })
      return Object.fromEntries(json.positions.map(({ position, slot }: Record<string, unknown>) => [position, slot]))
    }
    const suggested = { 'Vox 1': 1, 'Vox 2': 2, 'Vox 3': 3, Speaker: null, Host: null, Drums: null, 'Camera 1': null }
    expect(await slotsOf()).toEqual(suggested)
    await app.post(path, { ...request, positions: { 'Vox 1': 4, 'Vox 2': null, speaker: 2 }, preview: true })
    expect(await slotsOf()).toEqual(suggested)
    await app.post(path, { ...request, positions: { 'Vox 1': 4, 'Vox 2': null, speaker: 2 } })
    expect(await slotsOf()).toEqual({ ...(await suggested), 'Vox 1': 4, 'Vox 2': null, Speaker: 2 })
    expect((await app.get(path)).json.service_types).toEqual([
      { id: '1001', name: 'Sunday Services', plan_id: '4002', loaded_at: expect.any(String) },
    ])
    // The token is sent only to the interface, and photos are loaded only for positions with slots.
    const photos = planningCenter.requests.filter(({ target }) => target.startsWith('/uploads/'))
    expect(photos.map(({ authorization }) => authorization)).toEqual([undefined])
  })

  it('is part of an export: the slots of the positions, and the token of an export with secrets', async () => {
    const { app, request } = await startBoth()
    await app.post(path, { ...request, remember: true })
    const masked = await exportFile(app)
    const service_types = [{ id: '1001', name: 'Sunday Services', positions }]
    expect(masked.planning_center).toEqual({ service_types })
    const { planning_center } = await exportFile(app, { withSecrets: true })
    expect(planning_center).toEqual({ token: request.token, service_types })

    const other = await startApp()
    const importAgain = () => importFile(other, { version: 1, planning_center })
    expect((await importAgain()).counts.planning_center).toEqual({ created: 2, updated: 0, unchanged: 0 })
    expect((await importAgain()).counts.planning_center).toEqual({ created: 0, updated: 0, unchanged: 2 })
    expect((await other.get(path)).json).toEqual({
      is_token_stored: true,
      service_types: [{ id: '1001', name: 'Sunday Services', plan_id: null, loaded_at: null }],
    })
  })

  // Reliability: 3.9.3.
  it('requests no photo from a host that is not one of Planning Center', async () => {
    const { app, planningCenter, request } = await startBoth()
    const requested: string[] = []
    const internal = createServer(({ url = '/' }, response) => {
      requested.push(url)
      response.writeHead(200, { 'content-type': 'image/png' }).end(drawPhoto(1))
    })
    await new Promise<void>((resolve) => internal.listen(0, '127.0.0.1', resolve))
    onTestEnd(() => internal.close())
    const host = `127.0.0.1:${(internal.address() as AddressInfo).port}`
    const [nora, ada, bo] = ['Nora Ekberg', 'Ada Byron', 'Bo Lindqvist'].map((name) =>
      planningCenter.church.people.find((person) => person.name === name),
    )
    if (nora !== undefined) nora.photoAddress = `http://${host}/restart?now=1`
    if (ada !== undefined) ada.photoAddress = `http://avatars.planningcenteronline.com@${host}/`
    if (bo !== undefined) bo.photoAddress = `http://localhost:${host.split(':')[1]}/?.planningcenteronline.com`
    const { skipped } = (await app.post(path, { ...request, preview: true })).json
    await app.post(path, request)
    expect(requested).toEqual([])
    expect(skipped).toContainEqual({
      position: 'Vox 1',
      name: 'Nora Ekberg',
      reason: 'The photo could not be loaded, so it is not imported.',
    })
  })

  // Reliability: 3.8.6.
  it('requires the token again after the configured address has changed', async () => {
    const { app, request } = await startBoth()
    const secrets = await openSecrets(app.dataDir)
    const stored = { token: request.token, origin: 'https://proxy.example' }
    await withDatabase(app, (db) => db.transaction((tx) => saveToken(tx, secrets, stored)))
    expect((await app.get(path)).json.is_token_stored).toBe(false)
    const { status, json } = await app.post(`${path}service-types/`, {})
    expect([status, json.details]).toEqual([400, expect.stringContaining('token: enter it again')])
    expect((await app.post(path, { ...request, remember: true })).status).toBe(200)
    expect((await app.get(path)).json.is_token_stored).toBe(true)
    expect((await app.post(`${path}service-types/`, {})).status).toBe(200)
  })

  it('assigns people to placeholders', async () => {
    const { app, request } = await startBoth()
    const { slot } = (await app.post('/api/placeholders/', { kind: 'wired', name: 'Pulpit' })).json
    const { changes, skipped } = (await app.post(path, { ...request, positions: { Drums: slot } })).json
    const di = { slot, performer: { name: 'Di Marsh' }, role: 'Drums' }
    expect(changes).toMatchObject([{ what: 'performer' }, { what: 'slot', from: { performer: null }, to: di }])
    expect(skipped.some(({ position }: { position: string }) => position === 'Drums')).toBe(false)
  })

  // Conformance: C-16.16.
  it('reports why Planning Center refuses a request, and what to do', async () => {
    const { app, planningCenter, request } = await startBoth()
    await app.post(path, { ...request, preview: true })
    for (const [change, error] of [
      [{ token: 'app:wrong' }, 'Planning Center does not accept this token. Check the application id and the secret'],
      [{ service_type: '1004' }, 'The owner of this token may not view this in Planning Center.'],
      [{ service_type: '77' }, 'Planning Center has no such service type or plan'],
      [{ plan: '77' }, 'Planning Center has no such service type or plan'],
    ] as const) {
      const { status, json } = await app.post(path, { ...request, ...change })
      expect([status, json.error]).toEqual([502, expect.stringContaining(error)])
    }
    const none = await app.post(path, { ...request, service_type: '1002' })
    expect([none.status, none.json.error]).toEqual([404, 'There is no upcoming plan for service type 1002.'])
    planningCenter.setFault({ type: 'status', status: 418 })
    expect((await app.post(path, request)).status).toBe(502)
    expect(await castOf(app)).toEqual({})
  })

  // Conformance: C-16.17.
  it('waits for the rate limit, unless that takes more than 30 seconds', async () => {
    const { app, planningCenter, request } = await startBoth()
    const limited = { type: 'status', status: 429, headers: { 'retry-after': '1' } } as const
    planningCenter.setFault(limited, { path: '/plan_times', times: 1 })
    expect((await app.post(path, request)).status).toBe(200)
    expect(planningCenter.requests.filter(({ target }) => target.includes('/plan_times'))).toMatchObject([
      { status: 429 },
      { status: 200 },
    ])
    const requests = planningCenter.requests.length
    planningCenter.setFault({ type: 'status', status: 429, headers: { 'retry-after': '31' } })
    const { status, headers, json } = await app.post(path, request)
    expect([status, headers['retry-after']]).toEqual([503, '31'])
    expect(json.error).toBe('Planning Center accepts no more requests for 31 s. Try again then.')
    expect(planningCenter.requests.length).toBe(requests + 1)
  })

  // Conformance: C-16.17.
  it('reads a plan even if the limit of the user is reached meanwhile', async () => {
    const { app, planningCenter, request } = await startBoth({ church: { rateLimit: { requests: 1, seconds: 1 } } })
    planningCenter.setFault({ type: 'status', status: 429, headers: { 'retry-after': '1' } }, { times: 1 })
    expect((await app.post(path, request)).status).toBe(200)
    expect(planningCenter.requests.map(({ status }) => status)).toContain(429)
    expect(Object.keys(await castOf(app))).toEqual(['1', '2', '3', '4'])
  })

  // Conformance: C-16.17.
  it('slows down before the limit of the user is reached', async () => {
    const { app, planningCenter, request } = await startBoth({ church: { rateLimit: { requests: 4, seconds: 2 } } })
    expect((await app.post(path, request)).status).toBe(200)
    expect(planningCenter.requests.length).toBeGreaterThan(4)
    expect(planningCenter.requests.map(({ status }) => status)).not.toContain(429)
    expect(Object.keys(await castOf(app))).toEqual(['1', '2', '3', '4'])
  })

  // Conformance: C-16.18.
  it('needs the role operator', async () => {
    const app = await startApp({ config: { require_login: true } })
    const statusesOf = async (role: 'viewer' | 'operator') => {
      const headers = await tokenHeaders(app, role)
      const body = { service_type: '1', positions: {} }
      const responses = await Promise.all([
        app.get(path, headers),
        app.post(path, body, headers),
        app.post(`${path}service-types/`, {}, headers),
        app.post(`${path}plans/`, { service_type: '1' }, headers),
        app.post(`${path}positions/`, { service_type: '1' }, headers),
        app.send('DELETE', `${path}token/`, { headers }),
      ])
      return responses.map(({ status }) => status)
    }
    expect(await statusesOf('viewer')).toEqual([403, 403, 403, 403, 403, 403])
    expect(await statusesOf('operator')).toEqual([200, 400, 400, 400, 400, 404])
  })
})

describe.concurrent('an unusable response of Planning Center', () => {
  // Conformance: C-16.15.
  it('has the same result as no response', async () => {
    const { app, planningCenter, request } = await startBoth({ church: { church: createChurch(Date.now()) } })
    const before = (await app.post(path, { ...request, preview: true })).json
    for (const fault of [
      { type: 'reset' },
      { type: 'truncated' },
      { type: 'html' },
      { type: 'wrong-shape' },
      { type: 'huge' },
      { type: 'status', status: 503 },
      { type: 'status', status: 302, headers: { location: 'http://127.0.0.1:9/' } },
    ] as const) {
      planningCenter.setFault(fault, { path: '/team_members' })
      const { status, json } = await app.post(path, { ...request, preview: true })
      expect([status, json.changes.length]).toEqual([200, before.changes.length])
      expect(json.plan).toEqual({
        ...before.plan,
        problem: expect.stringContaining('Planning Center is not available'),
      })
    }
  })
})
