/** Settings that change while the service runs, in this process and in every other one. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultSettings, type SettingKind, settingKeys, settingKinds } from '../src/contract/settings.ts'
import { auditOf } from './support/admin-lists.ts'
import { configFor, createInstallation, deviceOf, startApp, startShure, until, withoutPush } from './support/app.ts'
import type { HttpClient } from './support/http-client.ts'
import { createTestDatabase, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

function changeSetting(app: HttpClient, key: string, value: string, scope = '') {
  return app.post(`/api/config/${scope}`, { key, value })
}

const asJson = { headers: { 'content-type': 'application/json' } }

describe('POST /api/config/', () => {
  // Conformance: S-2.6, S-4.12.
  it('returns the effective settings, globally or for one manufacturer', async () => {
    const simulator = withoutPush(await startShure())
    const app = await startApp({ manufacturers: [configFor(simulator, { poll_interval: 7 })] })
    expect((await app.get('/api/config/')).json).toEqual({ ...defaultSettings, version: 0 })
    const { status, json } = await changeSetting(app, 'alert_battery_threshold', '35')
    expect({ status, json }).toEqual({
      status: 200,
      json: { ...defaultSettings, alert_battery_threshold: 35, version: expect.any(Number) },
    })
    expect((await app.get('/api/config/?manufacturer=shure')).json).toMatchObject({
      polling_interval: 7,
      alert_battery_threshold: 35,
    })
    const shureSettings = await changeSetting(app, 'alert_battery_threshold', '50', '?manufacturer=shure')
    expect(shureSettings.json).toMatchObject({ polling_interval: 7, alert_battery_threshold: 50 })
    const inBody = await app.post('/api/config/', { key: 'polling_interval', value: '3', manufacturer: 'shure' })
    expect(inBody.json).toMatchObject({ polling_interval: 3, alert_battery_threshold: 50 })
    expect((await app.get('/api/config/')).json).toMatchObject({ polling_interval: 10, alert_battery_threshold: 35 })
    expect((await app.get('/api/data.json')).json.config).toMatchObject({ alert_battery_threshold: 35 })
    expect((await app.get('/api/config/?manufacturer=')).json).toMatchObject({ alert_battery_threshold: 35 })
  })

  // Conformance: C-10.11.
  it('changes the settings of a group, which its channels and its data use', async () => {
    const simulator = withoutPush(await startShure({ receivers: 1 }))
    const { id } = deviceOf(simulator)
    simulator.show.set(id, { battery: 55 }, 1)
    const app = await startApp({ manufacturers: [configFor(simulator)] })
    await until('the receiver is known', () => app.receiver(id))
    const stateOf = async (number: number) =>
      (await app.receiver(id)).channels.find(({ channel }) => channel === number)?.condition?.state
    const [first, second] = (await app.receiver(id)).channels
    const { json: drums } = await app.post('/api/group/', { title: 'Drums', slots: [first?.slot] })
    const { json: choir } = await app.post('/api/group/', { title: 'Choir', slots: [first?.slot, second?.slot] })
    const changed = await changeSetting(app, 'alert_battery_threshold', '60', `?group=${drums.id}`)
    expect([changed.status, changed.json]).toEqual([
      200,
      { ...defaultSettings, alert_battery_threshold: 60, version: expect.any(Number) },
    ])
    await until('the condition is evaluated again', async () => (await stateOf(1)) === 'battery_low')
    expect(await stateOf(2)).not.toBe('battery_low')
    expect((await app.get(`/api/config/?group=${drums.id}`)).json).toEqual(changed.json)
    expect((await app.get(`/api/config/?group=${choir.id}`)).json).toEqual({ ...defaultSettings, version: 0 })
    expect((await app.get('/api/config/')).json).toEqual({ ...defaultSettings, version: 0 })
    expect((await app.get(`/api/data.json?group=${drums.id}`)).json.config).toEqual(changed.json)
    expect((await app.get(`/api/data.json?group=${drums.id}&manufacturer=shure`)).json.config).toEqual(changed.json)

    // Of several groups, the value that warns earlier applies; a channel that moves into a group belongs to it.
    await changeSetting(app, 'alert_battery_threshold', '40', `?group=${choir.id}`)
    expect(await stateOf(1)).toBe('battery_low')
    await app.send('PUT', `/api/groups/${drums.id}/`, { ...asJson, body: JSON.stringify({ slots: [] }) })
    await until('the channel has left the group', async () => (await stateOf(1)) === 'ok')

    const admin = await tokenHeaders(app, 'admin')
    const [entry] = (await app.get('/api/admin/audit/?action=settings.change', admin)).json.slice(-1)
    expect(entry).toMatchObject({
      target: `alert_battery_threshold of group ${drums.id}`,
      details: { key: 'alert_battery_threshold', manufacturer: null, group: drums.id, before: 20, after: 60 },
    })
    await app.send('DELETE', `/api/groups/${drums.id}/`)
    expect((await app.get(`/api/config/?group=${drums.id}`)).status).toBe(404)
    const stored = await withDatabase(app, (db) => db.read.selectFrom('group_settings').select('group_id').execute())
    expect(stored).toEqual([{ group_id: choir.id }])
  })

  it.each([
    ['polling_interval', '5'],
    ['enable_websocket', 'false'],
  ])('rejects %s for a group', async (key, value) => {
    const app = await startApp()
    const { json: group } = await app.post('/api/group/', { title: 'Drums', slots: [1] })
    const { status, json } = await changeSetting(app, key, value, `?group=${group.id}`)
    expect([status, json.details]).toEqual([400, `group: ${key} cannot be set for a group`])
  })

  // Conformance: C-10.11.
  it('accepts every key within its bounds', async () => {
    const app = await startApp()
    const headers = await tokenHeaders(app, 'admin')
    const changeSetting = (_: HttpClient, key: string, value: string) =>
      app.post('/api/config/', { key, value }, headers)
    // The default of the shorter time is longer than the shortest value of the longer time.
    await changeSetting(app, 'HISTORY_SECONDS_DAYS', '1')
    for (const key of settingKeys.filter((key) => key !== 'HISTORY_SECONDS_DAYS')) {
      const kind: SettingKind = settingKinds[key]
      if (kind.type === 'choice') {
        expect([key, (await changeSetting(app, key, 'other')).status]).toEqual([key, 400])
        expect((await changeSetting(app, key, kind.values[0] ?? '')).json[key]).toBe(kind.values[0])
      } else if (kind.type === 'integer' || kind.type === 'decimal') {
        for (const value of [kind.min - 1, kind.max + 1]) {
          expect([key, (await changeSetting(app, key, String(value))).status]).toEqual([key, 400])
        }
        expect((await changeSetting(app, key, String(kind.max))).json[key]).toBe(kind.max)
        expect((await changeSetting(app, key, String(kind.min))).json[key]).toBe(kind.min)
      } else if (kind.type === 'time_zone') {
        for (const zone of ['Europe/Nowhere', '+01:00', '']) {
          expect([zone, (await changeSetting(app, key, zone)).status]).toEqual([zone, 400])
        }
        expect((await changeSetting(app, key, 'America/New_York')).json[key]).toBe('America/New_York')
      } else if (kind.type === 'list') {
        const list = kind.names === undefined ? '9, 8' : [...kind.names].reverse().join(', ')
        expect([key, (await changeSetting(app, key, list.replaceAll(',', ';'))).status]).toEqual([key, 400])
        expect((await changeSetting(app, key, list)).json[key]).toBe(list)
      } else expect((await changeSetting(app, key, 'true')).json[key]).toBe(true)
    }
  })

  // Conformance: C-13.53.
  it('prints on Letter in the US, and on A4 elsewhere, unless the paper is set', async () => {
    const app = await startApp()
    const paper = async () => (await app.get('/api/config/')).json.PAPER
    expect(await paper()).toBe('A4')
    await changeSetting(app, 'REGION', 'US')
    expect(await paper()).toBe('Letter')
    await changeSetting(app, 'PAPER', 'A4')
    expect(await paper()).toBe('A4')
    const host = Intl.DateTimeFormat().resolvedOptions().timeZone
    expect((await app.get('/api/config/')).json).toMatchObject({ TIME_ZONE: host, LANGUAGE: 'en' })
    await changeSetting(app, 'TIME_ZONE', 'Asia/Tokyo')
    expect((await app.get('/api/config/')).json.TIME_ZONE).toBe('Asia/Tokyo')
  })

  // Conformance: C-5.39.
  // Reliability: 3.12.10.
  it.each([
    [{ key: 'volume', value: '11' }, 'key: expected one of polling_interval'],
    [{ key: 'polling_interval', value: '0' }, 'polling_interval expects a whole number from 1 to 3600'],
    [{ key: 'polling_interval', value: '3601' }, 'from 1 to 3600'],
    [{ key: 'polling_interval', value: '1.5' }, 'from 1 to 3600'],
    [{ key: 'polling_interval', value: 10 }, 'value: expected text'],
    [{ key: 'alert_battery_threshold', value: '101' }, 'from 0 to 100'],
    [{ key: 'alert_battery_threshold', value: '' }, 'from 0 to 100'],
    [{ key: 'alert_battery_threshold', value: '1'.padStart(4097, '0') }, 'value: expected text of 0 to 4096'],
    [{ key: 'enable_websocket', value: 'yes' }, 'true or false'],
    [{ key: 'enable_websocket', value: true }, 'value: expected text'],
    [{ key: 'enable_websocket' }, 'value: missing'],
    [{ value: 'true' }, 'key: missing'],
    [{ key: 'enable_websocket', value: 'true', manufacturer: 'nobody' }, 'manufacturer: there is no'],
    [{ key: 'enable_websocket', value: 'true', scope: 'shure' }, 'scope: unknown field'],
    [[], 'body: expected an object'],
  ])('rejects %j with the expected value', async (body, details) => {
    const app = await startApp()
    const { status, json } = await app.post('/api/config/', body)
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: expect.any(String), status: 400, details: expect.stringContaining(details) })
  })

  // Conformance: C-10.12.
  it('returns 404 for an unknown manufacturer or group, and 400 for both', async () => {
    const app = await startApp({ manufacturers: [configFor(await startShure())] })
    const { json: group } = await app.post('/api/group/', { title: 'Drums', slots: [1] })
    for (const [scope, expected] of [
      ['?manufacturer=nobody', 404],
      ['?group=99', 404],
      ['?group=x', 400],
      [`?group=${group.id}&manufacturer=shure`, 400],
    ] as const) {
      const statuses = [
        (await app.get(`/api/config/${scope}`)).status,
        (await changeSetting(app, 'MINUTES_LOW', '5', scope)).status,
        (await app.send('DELETE', `/api/config/${scope}&key=MINUTES_LOW`)).status,
      ]
      expect([scope, statuses]).toEqual([scope, [expected, expected, expected]])
    }
    const inBody = { key: 'MINUTES_LOW', value: '5', manufacturer: 'shure' }
    expect((await app.post(`/api/config/?group=${group.id}`, inBody)).status).toBe(400)
  })

  // Conformance: C-5.40.
  it('changes the polling interval at once', async () => {
    const simulator = withoutPush(await startShure())
    const { poll_interval: _, ...config } = configFor(simulator).config
    const app = await startApp({
      manufacturers: [{ code: 'shure', config }],
      config: { settings: { DEFAULT_POLLING_INTERVAL: 3600 } },
    })
    await until('the system was polled', () => app.receiver(deviceOf(simulator).id))
    const before = simulator.requests.count('/api/v1/devices')
    await changeSetting(app, 'polling_interval', '1')
    await until(
      'the system is polled every second',
      () => simulator.requests.count('/api/v1/devices') >= before + 2,
      5000,
    )
  })

  // Conformance: C-5.56, C-6.2.
  it('writes an audit entry with the user', async () => {
    const app = await startApp()
    await changeSetting(app, 'alert_battery_threshold', '15')
    const entry = (await auditOf(app)).find(({ action }) => action === 'settings.change')
    expect(entry).toMatchObject({ actor: { kind: 'local' }, result: 'ok', details: { before: 20, after: 15 } })
  })
})

describe('DELETE /api/config/', () => {
  // Conformance: C-10.12.
  it('resets the value of one scope', async () => {
    const app = await startApp({ manufacturers: [configFor(await startShure())] })
    const { json: group } = await app.post('/api/group/', { title: 'Drums', slots: [1] })
    const scopes = ['', '&manufacturer=shure', `&group=${group.id}`]
    const valueIn = async (scope: string) => (await app.get(`/api/config/?${scope}`)).json.RF_WEAK_DBM
    for (const [index, scope] of scopes.entries())
      await changeSetting(app, 'RF_WEAK_DBM', `-${80 + index}`, `?${scope}`)
    expect(await Promise.all(scopes.map(valueIn))).toEqual([-80, -81, -82])
    const remove = (scope: string, key = 'RF_WEAK_DBM') => app.send('DELETE', `/api/config/?key=${key}${scope}`)
    expect((await remove(`&group=${group.id}`)).status).toBe(204)
    expect(await Promise.all(scopes.map(valueIn))).toEqual([-80, -81, -80])
    expect((await remove('')).status).toBe(204)
    expect((await remove('&manufacturer=shure')).status).toBe(204)
    expect(await Promise.all(scopes.map(valueIn))).toEqual([-85, -85, -85])
    expect((await remove(`&group=${group.id}`)).json.error).toBe(
      `There is no setting RF_WEAK_DBM of group ${group.id}.`,
    )
    expect((await remove('', 'volume')).json.details).toContain('key: expected one of polling_interval')
    expect((await app.send('DELETE', '/api/config/')).json.details).toBe('key: missing')
  })

  it('requires an administrator where sign-in is required', async () => {
    const app = await startApp({ config: { require_login: true } })
    const admin = await tokenHeaders(app, 'admin')
    await app.post('/api/config/', { key: 'MINUTES_LOW', value: '30' }, admin)
    const remove = (headers: Record<string, string>) => app.send('DELETE', '/api/config/?key=MINUTES_LOW', { headers })
    expect((await remove({})).status).toBe(401)
    expect((await remove(await tokenHeaders(app, 'operator'))).status).toBe(403)
    expect((await remove(admin)).status).toBe(204)
  })
})

describe('changing settings', () => {
  // Conformance: C-6.24.
  it('requires an administrator where sign-in is required; an operator is not enough', async () => {
    const app = await startApp({ config: { require_login: true } })
    const change = { key: 'alert_battery_threshold', value: '35' }
    for (const role of ['viewer', 'operator'] as const) {
      const headers = await tokenHeaders(app, role)
      const rejected = await app.post('/api/config/', change, headers)
      expect([role, rejected.status, rejected.json.error]).toEqual([role, 403, 'The role admin is required.'])
      expect((await app.get('/api/auth/session', headers)).json.permissions).not.toContain('configure')
    }
    const admin = await tokenHeaders(app, 'admin')
    expect((await app.post('/api/config/', change, admin)).json).toMatchObject({ alert_battery_threshold: 35 })
    expect((await app.get('/api/auth/session', admin)).json.permissions).toContain('configure')
  })

  // Conformance: C-6.24.
  it('requires no role on a loopback listener', async () => {
    const app = await startApp()
    const change = { key: 'alert_battery_threshold', value: '35' }
    const operator = await tokenHeaders(app, 'operator')
    for (const headers of [{}, operator]) {
      expect((await app.post('/api/config/', change, headers)).status).toBe(200)
      expect((await app.get('/api/auth/session', headers)).json.permissions).toContain('configure')
    }
  })
})

describe('settings of the history', () => {
  // Conformance: C-12.26.
  it('require an administrator even on a loopback listener', async () => {
    const app = await startApp()
    const change = { key: 'HISTORY_SECONDS_DAYS', value: '20' }
    const [operator, admin] = [await tokenHeaders(app, 'operator'), await tokenHeaders(app, 'admin')]
    const statuses = async (headers: Record<string, string>) => [
      (await app.post('/api/config/', change, headers)).status,
      (await app.send('DELETE', `/api/config/?key=${change.key}`, { headers })).status,
    ]
    expect(await statuses({})).toEqual([401, 401])
    expect(await statuses(operator)).toEqual([403, 403])
    expect((await app.get('/api/config/')).json.HISTORY_SECONDS_DAYS).toBe(14)
    expect(await statuses(admin)).toEqual([200, 204])
  })

  // Conformance: C-12.26.
  it('are global, and keep minutes at least as long as seconds', async () => {
    const app = await startApp({ manufacturers: [configFor(await startShure())] })
    const admin = await tokenHeaders(app, 'admin')
    const change = async (key: string, value: string, scope = '') =>
      (await app.post(`/api/config/${scope}`, { key, value }, admin)).json
    expect((await change('HISTORY', 'false', '?manufacturer=shure')).details).toBe(
      'manufacturer: HISTORY cannot be set for a manufacturer',
    )
    expect((await change('HISTORY_SECONDS_DAYS', '401')).details).toBe(
      'value: expected HISTORY_MINUTES_DAYS (400) to be at least HISTORY_SECONDS_DAYS (401)',
    )
    expect(await change('HISTORY_MINUTES_DAYS', '500')).toMatchObject({ HISTORY_MINUTES_DAYS: 500 })
    expect(await change('HISTORY_SECONDS_DAYS', '450')).toMatchObject({ HISTORY_SECONDS_DAYS: 450 })
    const reset = await app.send('DELETE', '/api/config/?key=HISTORY_MINUTES_DAYS', { headers: admin })
    expect(reset.status).toBe(400)
    expect((await change('HISTORY_MAX_GB', '0')).details).toBe(
      'value: HISTORY_MAX_GB expects a number from 0.00001 to 1000000',
    )
    expect(await change('HISTORY_MAX_GB', '0.00001')).toMatchObject({ HISTORY_MAX_GB: 0.00001 })
  })
})

describe('enable_websocket', () => {
  // Conformance: C-7.17.
  it('closes open sockets and rejects new ones, and accepts them again', async () => {
    const app = await startApp()
    const socket = await app.socket()
    await changeSetting(app, 'enable_websocket', 'false')
    expect(await socket.closed).toBe(1001)
    await expect(app.socket()).rejects.toThrow('HTTP 503')
    await changeSetting(app, 'enable_websocket', 'true')
    await app.socket()
  })

  it('is reported as off while the configuration disables broadcasting', async () => {
    const app = await startApp({ config: { settings: { WEBSOCKET_BROADCASTING: false } } })
    expect((await changeSetting(app, 'enable_websocket', 'true')).json.enable_websocket).toBe(false)
    expect((await app.get('/api/config/')).json.enable_websocket).toBe(false)
    expect((await app.get('/api/data.json')).json.config.enable_websocket).toBe(false)
    const admin = await tokenHeaders(app, 'admin')
    const [global] = (await app.get('/api/admin/settings/', admin)).json
    expect(global.settings.enable_websocket).toEqual({ value: false, source: 'configured' })
    await expect(app.socket()).rejects.toThrow('HTTP 503')
  })

  // Conformance: C-7.18.
  it('set to false for one manufacturer stops the messages about that manufacturer only', async () => {
    const simulator = withoutPush(await startShure())
    const { id } = deviceOf(simulator)
    const app = await startApp({ manufacturers: [configFor(simulator)] })
    await until('the device is known', () => app.receiver(id))
    await changeSetting(app, 'enable_websocket', 'false', '?manufacturer=shure')
    const socket = await app.socket()
    simulator.show.set(id, { battery: 33 }, 1)
    await until('REST reports the value', async () => (await app.receiver(id)).channels[0]?.transmitter?.battery === 33)
    expect(socket.ofType('device_update')).toEqual([])
    await changeSetting(app, 'enable_websocket', 'true', '?manufacturer=shure')
    simulator.show.set(id, { battery: 34 }, 1)
    await socket.next(({ type }) => type === 'device_update')
  })
})

describe.each(engines)('several processes (%s)', (engine) => {
  // Conformance: C-10.13.
  it('apply a change within a second', async () => {
    const database = await createTestDatabase(engine)
    onTestFinished(database.drop)
    const [first, other] = [
      await startApp({ databaseUrl: database.url }),
      await startApp({ databaseUrl: database.url, servesOnly: true }),
    ]
    const socket = await other.socket()
    await changeSetting(first, 'alert_battery_threshold', '42')
    await changeSetting(first, 'enable_websocket', 'false')
    const { json: group } = await first.post('/api/group/', { title: 'Drums', slots: [1] })
    await changeSetting(first, 'alert_rf_weak_severity', 'critical', `?group=${group.id}`)
    await until(
      'the other process has the setting',
      async () => (await other.get('/api/config/')).json.alert_battery_threshold === 42,
      1500,
    )
    await until(
      'the other process has the setting of the group',
      async () => (await other.get(`/api/config/?group=${group.id}`)).json.alert_rf_weak_severity === 'critical',
      1500,
    )
    expect(await socket.closed).toBe(1001)
    expect((await other.get('/api/data.json')).json.config).toMatchObject({ enable_websocket: false })
  })
})

it('keep changed settings over a restart', async () => {
  const installation = await createInstallation({})
  const first = await installation.serve()
  expect((await changeSetting(first, 'polling_interval', '77')).status).toBe(200)
  first.kill('SIGTERM')
  await first.ended
  const second = await installation.serve()
  expect((await second.get('/api/config/')).json).toMatchObject({ polling_interval: 77 })
})

describe('/api/admin/settings/', () => {
  it('lists the origin of each value, and deletes stored values', async () => {
    const simulator = withoutPush(await startShure())
    const app = await startApp({ manufacturers: [configFor(simulator, { poll_interval: 7 })] })
    const admin = await tokenHeaders(app, 'admin')
    const operator = await tokenHeaders(app, 'operator')
    const listSettings = async (scope = '') => (await app.get(`/api/admin/settings/${scope}`, operator)).json
    await changeSetting(app, 'alert_battery_threshold', '35')
    await changeSetting(app, 'enable_websocket', 'false', '?manufacturer=shure')
    const { json: group } = await app.post('/api/group/', { title: 'Drums', slots: [1], manufacturer: 'shure' })
    await changeSetting(app, 'RF_WEAK_DBM', '-90', `?group=${group.id}`)
    const defaultOn = { value: true, source: 'default' }
    const threshold = { value: 35, source: 'global' }
    expect(await listSettings()).toMatchObject([
      {
        manufacturer: null,
        group: null,
        settings: {
          polling_interval: { value: 10, source: 'default' },
          alert_battery_threshold: { value: 35, source: 'stored' },
          enable_websocket: defaultOn,
        },
      },
      {
        manufacturer: 'shure',
        group: null,
        settings: {
          polling_interval: { value: 7, source: 'configured' },
          alert_battery_threshold: threshold,
          enable_websocket: { value: false, source: 'stored' },
        },
      },
      {
        manufacturer: null,
        group: group.id,
        settings: {
          alert_battery_threshold: threshold,
          enable_websocket: { value: false, source: 'manufacturer' },
          RF_WEAK_DBM: { value: -90, source: 'stored' },
        },
      },
    ])
    expect(await listSettings(`?group=${group.id}`)).toHaveLength(1)
    const resetSetting = (path: string, headers = admin) =>
      app.send('DELETE', `/api/admin/settings/${path}`, { headers })
    expect((await resetSetting('enable_websocket/?manufacturer=shure', operator)).status).toBe(403)
    expect((await resetSetting('enable_websocket/?manufacturer=shure', {})).status).toBe(401)
    expect((await resetSetting('enable_websocket/')).json.error).toBe('There is no setting enable_websocket.')
    expect((await resetSetting('enable_websocket/?manufacturer=shure')).status).toBe(204)
    expect((await listSettings('?manufacturer=shure'))[0].settings.enable_websocket).toEqual(defaultOn)
    expect((await app.get('/api/config/?manufacturer=shure')).json.enable_websocket).toBe(true)
    const [entry] = (await app.get('/api/admin/audit/?action=settings.forget', admin)).json
    expect(entry).toMatchObject({ target: 'enable_websocket of manufacturer shure', result: 'ok' })
    expect((await app.get('/api/admin/settings/')).status).toBe(401)
  })
})
