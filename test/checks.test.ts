/** The line check: checks are started, entered and announced, and the service observes the channel meanwhile. */

import { describe, expect, it } from 'vitest'
import { startApp, until } from './support/app.ts'
import { listChecks, startCheckedSystem } from './support/checked-system.ts'
import { onTestEnd } from './support/cleanup.ts'
import { openLive } from './support/live-client.ts'
import { createTestDatabase, engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

describe.concurrent('line checks', () => {
  // Conformance: C-13.20, C-13.21, C-13.22.
  it.each(engines)('are started and entered in a planned show, and announced by every process (%s)', async (engine) => {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const { config, channelsOf } = await startCheckedSystem()
    const app = await startApp({ ...config, databaseUrl: database.url })
    const other = await startApp({ databaseUrl: database.url, dataDir: app.dataDir, servesOnly: true })
    const [first, second] = await channelsOf(app)
    const { id } = (await app.post('/api/shows/', { title: 'Matinee' })).json
    const url = `/api/shows/${id}/checks/`
    await until('the other process knows the show', async () => (await other.get(url)).status === 200)
    const [live, foreign, early] = [await openLive(app), await openLive(other), await app.socket()]
    expect(await listChecks(app, id)).toMatchObject([
      { channel_id: first, began_at: null, last: null, sees: { rf_lowest: null, dropouts: null } },
      { channel_id: second, began_at: null, last: null },
    ])

    const begun = await app.post(`${url}begin`, { channel_id: second })
    const check = { show_id: id, channel_id: second, time: null, result: null, note: null, by: 'local' }
    expect([begun.status, begun.json]).toEqual([200, { ...check, id: begun.json.id, began_at: expect.any(String) }])
    const failed = await app.post(url, { channel_id: second, result: 'fail', note: 'Crackles' })
    const result = { time: expect.any(String), result: 'fail', note: 'Crackles' }
    expect([failed.status, failed.json]).toEqual([201, { ...begun.json, ...result }])
    const passed = await other.post(url, { channel_id: second, result: 'pass' })
    expect([passed.status, passed.json]).toMatchObject([201, { began_at: null, result: 'pass', note: null }])

    const [unchecked, checked] = await listChecks(app, id)
    expect(unchecked?.last).toBeNull()
    const { time } = passed.json
    expect(checked).toMatchObject({
      began_at: begun.json.began_at,
      last: { result: 'pass', note: null, time, by: 'local' },
    })
    for (const client of [live, foreign]) {
      await client.next(({ type, check }) => type === 'check' && check.result === 'pass')
      // The other process reads twice a second, and announces the newest states, on a slow machine more than once.
      const states = new Map(client.ofType('check').map(({ check }) => [check.id, check]))
      expect([...states.values()]).toEqual([failed.json, passed.json])
    }
    expect(live.ofType('check').map((message) => message.check)[0]).toEqual(begun.json)
    const event = (await early.next(({ type, event }) => type === 'event' && event.data.result === 'fail')).event
    expect(event).toMatchObject({ kind: 'check', channel_id: second, severity: 'warning', by: 'local' })
    expect(event.data).toMatchObject({ result: 'fail', note: 'Crackles' })
    expect(event.text).toMatch(/: line check failed \(Crackles\)$/)

    expect((await app.send('DELETE', `/api/shows/${id}/`)).status).toBe(204)
    expect((await app.get(url)).status).toBe(404)
    expect((await app.get('/api/events/?kind=check')).json.results).toHaveLength(2)
    const audit = await app.get('/api/admin/audit/?action=check.', await tokenHeaders(app, 'admin'))
    expect(audit.json.map(({ action }: { action: string }) => action)).toEqual([
      ...['check.create', 'check.create', 'check.begin'],
    ])
  })

  // Conformance: C-21.106, C-21.107.
  it.each(engines)('are reported by slot, with the values at the time of the result (%s)', async (engine) => {
    const { config, set, channelsOf } = await startCheckedSystem()
    const app = await startApp({ ...config, engine })
    const [first] = await channelsOf(app)
    const slots = (await app.receivers())[0]?.channels.map(({ slot }) => slot) ?? []
    const { id } = (await app.post('/api/shows/', { title: 'Matinee' })).json
    await app.put(`/api/slots/${slots[0]}/`, { performer_name: '=Nora' })
    await app.put('/api/slots/500/', { label: 'Spare, "2"' })
    await app.post('/api/placeholders/', { slot: 501, name: '', kind: 'blank' })
    await app.post(`/api/shows/${id}/checks/begin`, { channel_id: first })
    const entered = { channel_id: first, result: 'fail', note: '+Crackles' }
    const { json: check } = await app.post(`/api/shows/${id}/checks/`, entered)
    set({ battery: 40 })
    await app.put(`/api/slots/${slots[0]}/`, { performer_name: 'Ben' })
    await until('the battery is lower', async () => (await listChecks(app, id))[0]?.sees.battery === 40)

    const report = async () => (await app.get(`/api/shows/${id}/check-report/`)).json
    const result = { result: 'fail', by: 'local', at: check.time, note: '+Crackles' }
    const unchecked = { result: null, by: null, at: null, note: null, rf_lowest: null, dropouts: null }
    const [checked, waiting, spare] = (await report()).slots
    expect((await report()).show).toEqual((await app.get(`/api/shows/${id}/`)).json)
    expect(checked).toMatchObject({ slot: slots[0], title: '=Nora', battery: 80, dropouts: 0, ...result })
    expect(waiting).toMatchObject({ slot: slots[1], ...unchecked })
    expect(waiting.pack).toBe((await app.receivers())[0]?.channels[1]?.transmitter?.name)
    expect(spare).toEqual({ slot: 500, title: 'Spare, "2"', pack: null, battery: null, ...unchecked })
    const csv = await app.get(`/api/shows/${id}/check-report.csv`)
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(csv.headers['content-disposition']).toContain(`check-report-${id}.csv`)
    const lines = csv.bytes.toString().split('\r\n')
    expect(lines[0]).toBe('\uFEFFslot,title,pack,battery,rf_lowest,dropouts,result,by,at,note')
    expect(lines[1]).toBe(`${slots[0]},'=Nora,${checked.pack},80,,0,fail,local,${check.time},'+Crackles`)
    expect(lines.slice(3)).toEqual(['500,"Spare, ""2""",,,,,not checked,,,', ''])

    await app.post(`/api/shows/${id}/start`, undefined)
    expect((await app.get(`/api/shows/${id}/report/`)).json.checks).toEqual((await report()).slots)
    await app.post(`/api/shows/${id}/end`, undefined)
    expect((await report()).slots).toEqual([checked, { ...waiting, pack: null, battery: null }, { ...spare }])
    for (const path of ['check-report/', 'check-report.csv']) {
      expect((await app.get(`/api/shows/${id + 1}/${path}`)).status).toBe(404)
      expect((await app.get(`/api/shows/x/${path}`)).status).toBe(400)
    }
    const receiver = (await app.receivers())[0]?.id
    expect(
      (await app.send('DELETE', `/api/admin/receivers/${receiver}/`, { headers: await tokenHeaders(app, 'admin') }))
        .status,
    ).toBe(204)
    expect((await report()).slots[0]).toEqual(checked)
    expect((await report()).slots.map(({ slot }: { slot: number }) => slot)).toEqual([slots[0], 500])
  })

  // Conformance: C-13.23.
  it('are rejected for channels outside of the show, ended shows and viewers', async () => {
    const { config } = await startCheckedSystem()
    const app = await startApp({ ...config, config: { require_login: true } })
    const [viewer, operator] = [await tokenHeaders(app, 'viewer'), await tokenHeaders(app, 'operator')]
    const { channels } = await until('the channels are known', async () => {
      const { json } = await app.get('/api/channels/', operator)
      return json.length === 2 && { channels: json }
    })
    const [first, second] = channels
    const group = (await app.post('/api/group/', { title: 'Band', slots: [first.slot] }, operator)).json
    const { id } = (await app.post('/api/shows/', { title: 'Matinee', group_ids: [group.id] }, operator)).json
    const url = `/api/shows/${id}/checks/`
    const pass = { channel_id: first.id, result: 'pass' }
    const statusOf = async (path: string, body: object, headers = operator) =>
      (await app.post(path, body, headers)).status
    expect(await statusOf(url, pass, viewer)).toBe(403)
    expect(await statusOf(`${url}begin`, { channel_id: first.id }, viewer)).toBe(403)
    expect((await app.get(url, viewer)).json).toMatchObject([{ channel_id: first.id }])
    for (const channel_id of [second.id, 4711, 0]) {
      expect(await statusOf(url, { ...pass, channel_id })).toBe(400)
      expect(await statusOf(`${url}begin`, { channel_id })).toBe(400)
    }
    expect((await app.get(`${url}?channel=${second.id}`, viewer)).status).toBe(400)
    const invalid = [{ channel_id: first.id }, { ...pass, result: 'maybe' }, { ...pass, note: 'x'.repeat(501) }]
    for (const body of invalid) expect([body, await statusOf(url, body)]).toEqual([body, 400])
    expect(await statusOf(`/api/shows/${id + 1}/checks/`, pass)).toBe(404)
    expect((await app.get(`/api/shows/${id + 1}/checks/`, viewer)).status).toBe(404)
    expect(await statusOf(url, pass)).toBe(201)
    await app.post(`/api/shows/${id}/start`, undefined, operator)
    expect(await statusOf(url, pass)).toBe(201)
    await app.post(`/api/shows/${id}/end`, undefined, operator)
    expect(await statusOf(url, pass)).toBe(409)
    expect((await app.get(url, viewer)).json).toMatchObject([{ channel_id: first.id, last: { result: 'pass' } }])
  })
})
