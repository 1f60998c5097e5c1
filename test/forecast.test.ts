/** Forecasts of battery life in the whole service, from a device that reports minutes. */

import { expect, it } from 'vitest'
import { createShow } from '../simulators/show/show.ts'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import { channelOf, startApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { openLive } from './support/live-client.ts'

// Conformance: C-13.33, C-13.34, C-13.36, C-13.39, C-21.33.
it('are exact in REST and rounded in data.json, and raise will_not_last during a show', async () => {
  const show = createShow({ story: false, manufacturers: { shure: 0 } })
  const device = await startStringsSimulator({ family: 'qlxd', show })
  onTestEnd(() => device.close())
  device.change(1, { transmitter: true, battery: 33, name: 'Nora' })
  const config = { devices: [device.url], calls_per_second: 1000, burst: 1000, poll_interval: 1, timeout: 3 }
  const app = await startApp({ manufacturers: [{ code: 'shure', config }] })
  const channel = await until('the forecast is known', async () => {
    const [receiver] = await app.receivers()
    const found = receiver && channelOf(receiver)
    return found?.transmitter?.forecast != null && found
  })
  const forecast = { minutes_left: 198, source: 'device', low: 198, high: 198 }
  expect((await app.get(`/api/channels/${channel.id}/`)).json.transmitter.forecast).toEqual(forecast)
  const rounded = { minutes_left: 200, source: 'device', low: 200, high: 200 }
  const { receivers } = (await app.get('/api/data.json')).json
  expect(receivers[0].channels[0].transmitter.forecast).toEqual(rounded)
  const live = await openLive(app)
  expect(live.snapshot.data.receivers[0]?.channels[0]?.transmitter?.forecast).toEqual(rounded)

  const endsIn = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  const { id } = (await app.post('/api/shows/', { title: 'Tosca', ends_at: endsIn(150) })).json
  await app.post(`/api/shows/${id}/start`, undefined)
  const patch = (ends_at: string | null) =>
    app.send('PATCH', `/api/shows/${id}/`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ends_at }),
    })
  const alerts = async () => (await app.get('/api/alerts/?state=open&kind=will_not_last')).json
  expect(await alerts()).toEqual([])
  const ends_at = endsIn(240)
  await patch(ends_at)
  const changes = async (query = '') => (await app.get(`/api/changes/${query}`)).json
  const [change] = (await changes(`?before=${endsIn(240)}`)).changes
  expect(change).toMatchObject({
    ...{ channel_id: channel.id, slot: channel.slot, title: 'Nora', battery: 33, minutes_left: 198 },
    ...{ forecast, reason: 'will_not_last', last_seen: null },
  })
  expect(await changes(`?before=${endsIn(150)}`)).toMatchObject({ changes: [] })
  // By default until the end of the show.
  expect(await changes()).toEqual({ before: ends_at, changes: [change] })
  const csv = await app.get('/api/changes.csv')
  expect(csv.bytes.toString()).toContain(`\r\n${channel.slot},Nora,`)
  const refused = await app.get('/api/changes/?before=22:00')
  expect([refused.status, refused.json.details]).toEqual([400, expect.stringContaining('before: expected')])
  const [alert] = await until('the alert is raised', async () => {
    const open = await alerts()
    return open.length === 1 && open
  })
  expect(alert).toMatchObject({ severity: 'warning', channel_id: channel.id, data: { minutes_left: 198, ends_at } })
  expect((await app.post(`/api/alerts/${alert.id}/acknowledge`, {})).status).toBe(200)
  await patch(null)
  const cleared = async () => (await app.get('/api/alerts/?state=cleared&kind=will_not_last')).json
  await until('the alert is cleared', async () => (await cleared()).length === 1)
})
