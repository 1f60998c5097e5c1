/** The people, alerts and shows of a site on an installation that follows it. */

import { describe, expect, it } from 'vitest'
import type { AlertBody } from '../src/contract/alerts.ts'
import type { ChannelBody } from '../src/contract/channels.ts'
import type { ReceiverInData } from '../src/contract/receivers.ts'
import { channelOf, deviceOf, startApp, type TestApp, until } from './support/app.ts'
import { eventually } from './support/eventually.ts'
import { followedExamples } from './support/hostile-messages.ts'
import { startHostileSite } from './support/hostile-site.ts'
import { openLive } from './support/live-client.ts'
import { follow, startFollower, startOrigin } from './support/sites.ts'
import { tokenHeaders } from './support/tokens.ts'

describe.concurrent('an installation that follows another one', () => {
  // Conformance: C-21.26.
  it('shows the title that a channel has at the site, and lets users set label and color only', async () => {
    const { origin, shure } = await startOrigin()
    const follower = await startFollower(origin.url)
    const put = (app: TestApp, slot: number, body: object) => app.put(`/api/slots/${slot}/`, body)
    const { id } = deviceOf(shure)
    const channel = channelOf(await origin.receiver(id))
    expect(await put(origin, channel.slot, { performer_name: 'Nora' })).toMatchObject({ status: 200 })
    const recordOf = async () =>
      (await follower.get('/api/slots/')).json.find(({ title }: { title: string }) => title === 'Nora')
    const { slot, channel_id } = await until('the title is shown', recordOf)
    const move = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ slot: 40 }) }
    expect(await follower.send('PATCH', `/api/channels/${channel_id}/`, move)).toMatchObject({ status: 200 })
    expect(slot).not.toBe(40)
    const titled = { slot: 40, title: 'Nora', title_from: 'performer', performer: null }
    expect(await put(follower, 40, { label: 'Lead', color: 'red' })).toMatchObject({
      status: 200,
      json: { ...titled, label: 'Lead', color: 'red' },
    })
    for (const field of [{ performer_name: 'Ben' }, { role: 'Glinda' }, { note: 'Wig' }, { spares: [1] }]) {
      expect(await put(follower, 40, field)).toMatchObject({ status: 409 })
    }

    // A copied alert and event name the slot here.
    shure.show.set(id, { battery: 8 }, 1)
    const alert = await until('the alert is copied', async () => (await follower.get('/api/alerts/')).json[0])
    expect(alert).toMatchObject({
      message: expect.stringMatching(/^40 Nora: battery at 8%/),
      data: { slot: 40, title: 'Nora', title_from: 'performer' },
      first: { message: expect.stringMatching(/^40 Nora: /), data: { slot: 40 } },
    })
    const event = await until('the event is copied', async () => {
      const { results } = (await follower.get('/api/events/?kind=battery_critical')).json
      return results[0]
    })
    expect(event).toMatchObject({ text: '40 Nora: battery critical (8%)', data: { slot: 40 } })

    await put(origin, channel.slot, { performer_id: null })
    const nameThere = (await origin.get(`/api/slots/${channel.slot}/`)).json.title
    await eventually(async () => (await follower.get('/api/slots/40/')).json).toMatchObject({
      title: nameThere,
      label: 'Lead',
    })
  })

  // Conformance: C-21.26.
  it('shows only plain titles of a hostile site, and the performers of an earlier version', async () => {
    const { snapshot } = followedExamples
    const titlesAfter = async (slot_records?: readonly unknown[]) => {
      const data = { ...(snapshot as { data: object }).data, slot_records }
      const site = await startHostileSite(JSON.stringify({ ...snapshot, type: 'snapshot', data }))
      const follower = await startApp({ manufacturers: [follow(site.url)] })
      const records = await until('the receiver is known', async () => {
        const { json } = await follower.get('/api/slots/')
        return json.length === 2 && (json as readonly { title: string; title_from: string }[])
      })
      return records.map(({ title, title_from }) => [title, title_from])
    }
    const title = `\u202eNo\u0000ra\r\n${'x'.repeat(500)}`
    const hostile = [
      { channel_id: 11, title, title_from: 'performer' },
      { channel_id: 12, title: ['Ben'], title_from: 'nobody' },
      { channel_id: 99, title: 'Nobody', title_from: 'label' },
      'Nora',
    ]
    expect(await titlesAfter(hostile)).toEqual([
      [expect.stringMatching(/^[^\p{Cc}\u202a-\u202e]{1,255}$/u), 'performer'],
      ['Ben', 'channel'],
    ])
    expect(await titlesAfter()).toEqual([
      ['Nora', 'performer'],
      ['Ben', 'channel'],
    ])
  })

  // Conformance: C-18.21, C-18.22.
  it('copies its alerts, to which only the site can respond', async () => {
    const { origin, shure } = await startOrigin()
    const follower = await startFollower(origin.url)
    for (const index of [0, 1]) {
      for (const channel of [1, 2]) shure.show.set(deviceOf(shure, index).id, { battery: 40 }, channel)
    }
    const setThreshold = (value: string) =>
      origin.post('/api/config/', { key: 'alert_battery_threshold', value, manufacturer: 'shure' })
    await setThreshold('50')
    const alertsOf = async (app: TestApp, query = '') => (await app.get(`/api/alerts/?kind=battery_low${query}`)).json
    const there = await until('the origin raises alerts', async () => {
      const alerts = await alertsOf(origin)
      return alerts.length === 4 && alerts
    })
    const here = await until('the alerts are copied', async () => {
      const alerts = await alertsOf(follower)
      return alerts.length === 4 && alerts
    })
    const site = { code: 'theatre', name: 'Royal Theatre' }
    const texts = (alerts: AlertBody[]) => alerts.map(({ message, raised_at }) => [message, raised_at]).sort()
    expect(texts(here)).toEqual(texts(there))
    for (const alert of here) expect(alert).toMatchObject({ state: 'raised', site })
    expect(await alertsOf(follower, '&site=local')).toEqual([])
    expect(await alertsOf(follower, '&site=theatre')).toHaveLength(4)
    await eventually(async () => (await follower.get('/api/sites/')).json).toMatchObject([{ open_alerts: 4 }])
    expect(await follower.post(`/api/alerts/${here[0].id}/acknowledge`, {})).toMatchObject({ status: 409 })

    expect(await origin.post(`/api/alerts/${there[0].id}/acknowledge`, {})).toMatchObject({ status: 200 })
    await until('the acknowledgement is copied', async () => {
      const states = (await alertsOf(follower)).map(({ state }: AlertBody) => state)
      return states.filter((state: string) => state === 'acknowledged').length === 1
    })
    await setThreshold('35')
    await until('the end of the alerts is copied', async () =>
      (await alertsOf(follower)).every(({ state }: AlertBody) => state === 'cleared'),
    )
  })

  // Conformance: C-18.36.
  it('shows who wears the units of a site, also along a chain', async () => {
    const { origin } = await startOrigin()
    const middle = await startFollower(origin.url)
    const last = await startApp({ manufacturers: [follow(middle.url, 'region', 'Region')] })
    const live = await openLive(last)
    await until('the chain is followed', () => live.data().receivers.length === 2)
    const { json: performer } = await origin.post('/api/performers/', { name: 'Ann', notes: '', picture: null })
    const unit = await until('the units are known', async () => (await origin.get('/api/units/')).json[0])
    const assignment = { performer: performer.id, wireless_unit: unit.id, role: null, is_active: true }
    const { json: stored } = await origin.post('/api/assignments/', assignment)
    const shown = await until('the assignment is shown', () => live.data().assignments[0])
    const site = { code: 'region/theatre', name: 'Royal Theatre' }
    expect(shown).toMatchObject({ wireless_unit: null, performer: { id: null, name: 'Ann' }, site })
    const channels = live.data().receivers.flatMap((receiver: ReceiverInData) => receiver.channels) as ChannelBody[]
    expect(channels.find(({ id }) => id === shown.channel_id)?.origin_slot).toBeDefined()
    expect((await last.get('/api/data.json?site=region/theatre')).json.assignments).toEqual([shown])
    expect((await last.get('/api/data.json?site=local')).json.assignments).toEqual([])
    expect((await last.get('/api/assignments/')).json).toEqual([])
    expect((await last.get('/api/assignments/?site=local')).json).toEqual([])
    expect((await last.get('/api/assignments/?site=region/theatre')).json).toEqual([
      {
        ...{ id: null, performer: null, wireless_unit: null, role: null, started_at: null, ended_at: null },
        ...{ is_active: true, performer_name: 'Ann', channel_id: shown.channel_id, site },
      },
    ])
    expect((await last.get('/api/assignments/?site=region/theatre&manufacturer=sennheiser')).json).toEqual([])
    await origin.send('DELETE', `/api/assignments/${stored.id}/`)
    await until('the assignment is removed', () => live.data().assignments.length === 0)
  })

  // Conformance: C-18.31.
  it('announces the running shows of a site, also along a chain', async () => {
    const { origin } = await startOrigin()
    const middle = await startFollower(origin.url)
    const last = await startApp({ manufacturers: [follow(middle.url, 'region', 'Region')] })
    const live = await openLive(last)
    const showsAre = (region: readonly string[] | null, theatre: readonly string[]) =>
      until('the shows are announced', async () => {
        const shows = [
          { code: 'region', shows: region },
          { code: 'region/theatre', shows: theatre },
        ]
        expect((await last.get('/api/sites/')).json).toMatchObject(shows)
        expect(live.data().sites).toHaveLength(2)
        expect(live.data().sites).toEqual(expect.arrayContaining(shows.map((site) => expect.objectContaining(site))))
        return true
      })
    await showsAre([], [])
    const { json: show } = await origin.post('/api/shows/', { title: 'Matinee' })
    await origin.post(`/api/shows/${show.id}/start`, undefined)
    await showsAre([], ['Matinee'])
    await origin.post(`/api/shows/${show.id}/end`, undefined)
    await showsAre([], [])
    const headers = await tokenHeaders(last, 'admin')
    await last.send('DELETE', '/api/admin/manufacturers/region/', { headers })
    await until('the sites are removed', () => live.data().sites.length === 0)
  })
})
