/** Bands by country, and TV stations around a place. */

import { describe, expect, it } from 'vitest'
import { startApp } from './support/app.ts'
import { tokenHeaders } from './support/tokens.ts'

// Conformance: C-23.116.
describe('bands of a country', () => {
  it('are built in with a date and sources, edited by administrators, and reset', async () => {
    const app = await startApp()
    const builtIn = (await app.get('/api/frequencies/bands/?country=us')).json
    expect(builtIn).toMatchObject({
      country: 'US',
      updated: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      edited_by: null,
    })
    expect(builtIn.bands).toContainEqual({
      ...{ from_mhz: '614.000', to_mhz: '616.000', status: 'free' },
      source: expect.stringContaining('15.236'),
    })
    expect(builtIn.sources).toContain(builtIn.bands[0].source)
    const admin = await tokenHeaders(app, 'admin')
    const operator = await tokenHeaders(app, 'operator')
    const band = { from_mhz: '470.000', to_mhz: '608.000', status: 'licensed', source: 'Our licence 4711' }
    const refused = await app.put('/api/frequencies/bands/?country=US', { bands: [band] }, operator)
    expect(refused.status).toBe(403)
    const edited = await app.put('/api/frequencies/bands/?country=US', { bands: [band] }, admin)
    expect(edited.json).toMatchObject({ country: 'US', bands: [band], sources: ['Our licence 4711'] })
    expect(edited.json.edited_by).not.toBeNull()
    expect((await app.get('/api/frequencies/bands/?country=US')).json).toEqual(edited.json)
    expect((await app.send('DELETE', '/api/frequencies/bands/?country=US', { headers: admin })).status).toBe(204)
    expect((await app.get('/api/frequencies/bands/?country=US')).json).toEqual(builtIn)
  })

  it('are empty where there is no table, and refused by field', async () => {
    const app = await startApp()
    expect((await app.get('/api/frequencies/bands/?country=AQ')).json).toEqual({
      ...{ country: 'AQ', updated: null, edited_by: null, sources: [], bands: [] },
    })
    const admin = await tokenHeaders(app, 'admin')
    const band = { from_mhz: '470.000', to_mhz: '608.000', status: 'free' }
    for (const [address, body, details] of [
      ['?country=USA', { bands: [] }, 'country: expected a country code of two letters'],
      ['', { bands: [] }, 'country'],
      ['?country=US', { bands: [{ ...band, to_mhz: '470.000' }] }, 'bands.0.to_mhz: expected more than from_mhz'],
      ['?country=US', { bands: [band, { ...band, from_mhz: '600.000', to_mhz: '610.000' }] }, 'one begins at 600 MHz'],
      ['?country=US', { bands: [{ ...band, status: 'maybe' }] }, 'bands.0.status'],
    ] as const) {
      const { status, json } = await app.put(`/api/frequencies/bands/${address}`, body, admin)
      expect([status, json.details]).toEqual([400, expect.stringContaining(details)])
    }
  })
})

// Conformance: C-23.117.
describe('TV stations', () => {
  const heading = 'channel,latitude,longitude,erp_kw,name'
  const berlin = '33,52.5208,13.4094,100,Alexanderplatz'
  const far = '27,48.1351,11.5820,50,Munich'
  const post = (app: Awaited<ReturnType<typeof startApp>>, text: string, type = 'text/csv') =>
    fetch(`${app.url}/api/tv-stations/`, { method: 'POST', headers: { 'content-type': type }, body: text })

  it('are imported from CSV or a form, and listed by distance, then by power', async () => {
    const app = await startApp()
    expect((await app.get('/api/tv-stations/')).json).toEqual([])
    const weak = '34,52.5208,13.4094,,"Alexanderplatz, low"'
    const imported = await post(app, [heading, far, weak, berlin, ''].join('\r\n'))
    expect([imported.status, await imported.json()]).toEqual([201, { count: 3, imported_at: expect.any(String) }])
    const near = (await app.get('/api/tv-stations/?latitude=52.5&longitude=13.4')).json
    expect(
      near.map(({ channel, distance_km }: { channel: string; distance_km: number }) => [channel, distance_km]),
    ).toEqual([
      ['33', 2.4],
      ['34', 2.4],
      ['27', expect.closeTo(504, -1)],
    ])
    expect(near[1]).toMatchObject({ name: 'Alexanderplatz, low', erp_kw: null, imported_at: expect.any(String) })
    const form = new FormData()
    form.append('file', new Blob([`${heading}\n${berlin}\n`]), 'stations.csv')
    expect((await fetch(`${app.url}/api/tv-stations/`, { method: 'POST', body: form })).status).toBe(201)
    expect((await app.get('/api/tv-stations/')).json).toMatchObject([{ channel: '33', distance_km: null }])
    expect((await app.get('/api/tv-stations/?latitude=52.5')).json.details).toContain('longitude: expected both')
  })

  it.each([
    ['channel,latitude\n33,52', 'Line 1: there is no column longitude'],
    [`${heading}\n${berlin}\nloud,1,2,3,x`, 'Line 3, channel: expected the number of a TV channel, found "loud"'],
    [`${heading}\n33,91,2,3,x`, 'Line 2, latitude: expected a number of at most 90'],
    [`${heading}\n33,1,2,much,x`, 'Line 2, erp_kw'],
    [heading, 'no stations'],
    ['', 'Line 1'],
  ])('in %j are refused by line and column', async (text, message) => {
    const app = await startApp()
    await post(app, `${heading}\n${berlin}\n`)
    const refused = await post(app, text)
    expect([refused.status, (await refused.json()).details]).toEqual([400, expect.stringContaining(message)])
    expect((await app.get('/api/tv-stations/')).json).toHaveLength(1)
  })
})

// Conformance: C-23.127.
it('a location keeps its country and coordinates, and refuses one coordinate without the other', async () => {
  const app = await startApp()
  const admin = await tokenHeaders(app, 'admin')
  const place = { country: 'de', latitude: 52.5208, longitude: 13.4094 }
  const { json: made } = await app.post('/api/admin/locations/', { name: 'Hall', ...place }, admin)
  expect(made).toMatchObject({ ...place, country: 'DE' })
  const change = (fields: object) => {
    const headers = { ...admin, 'content-type': 'application/json' }
    return app.send('PATCH', `/api/admin/locations/${made.id}/`, { headers, body: JSON.stringify(fields) })
  }
  expect(await change({ latitude: null })).toMatchObject({
    status: 400,
    json: { details: 'latitude: expected both latitude and longitude, or neither' },
  })
  expect(await change({ latitude: 91 })).toMatchObject({ status: 400 })
  expect((await change({ country: 'GER' })).json.details).toContain('country: expected a country code of two letters')
  expect((await change({ latitude: -33.8568, longitude: 151.2153, country: 'au' })).status).toBe(200)
  expect((await app.get('/api/admin/locations/', admin)).json).toMatchObject([
    { name: 'Hall', country: 'AU', latitude: -33.8568, longitude: 151.2153 },
  ])
})
