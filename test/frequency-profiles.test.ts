/** Frequencies: profiles, zones, TV channels, exports and alerts. */

import { expect, it } from 'vitest'
import { channelOf, configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { addPlaceholders, write } from './support/frequency-requests.ts'
import { exportFile, importFile } from './support/installation-files.ts'
import { openLive } from './support/live-client.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'
import { lan } from './support/users.ts'
import { withoutVersions } from './support/versions.ts'

// Conformance: C-15.12.
it.concurrent.each(engines)('stores added and changed profiles, and resets changes (%s)', async (engine) => {
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
  expect((await app.get(`${path}ulxd/`)).json).toEqual({ ...ulxd, version: expect.any(Number) })

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
it.concurrent('uses the zone of the innermost location of a receiver', async () => {
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
  const receiver = await until('the receiver is known', async () => (await app.receivers())[0])
  const admin = await tokenHeaders(app, 'admin')
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
  const viewer = await tokenHeaders(app, 'viewer')
  const operator = await tokenHeaders(app, 'operator')
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
  const { json } = await app.get('/api/admin/audit/', await tokenHeaders(app, 'admin'))
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
  expect(alert.message).toMatch(/: frequency conflict \(too close to \d+ Vox 1\)$/)
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
  const admin = await tokenHeaders(from, 'admin')
  await from.post('/api/admin/locations/', { name: 'Foyer', zone: 'B' }, admin)
  const file = await exportFile(from)
  const id = await idIn(to)
  await importFile(to, file)
  await until('the file is loaded', async () => (await to.get('/api/groups/')).json.length === 1)
  expect((await to.get(`${path}ulxd/`)).json).toMatchObject({ step_khz: 125, is_changed: true })
  expect(withoutVersions((await to.get(path)).json)).toEqual(withoutVersions((await from.get(path)).json))
  await until('the profile is loaded', async () => (await to.get(`/api/channels/${id}/`)).json.profile === 'own')
  expect((await to.get('/api/groups/')).json).toMatchObject([{ title: 'Hall', zone: 'A' }])
  const locations = await to.get('/api/admin/locations/', await tokenHeaders(to, 'admin'))
  expect(locations.json).toMatchObject([{ name: 'Foyer', zone: 'B' }])
  expect(await exportFile(to)).toEqual(file)
})
