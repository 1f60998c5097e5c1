/** The events of an installation that is followed. */

import { describe, expect, it } from 'vitest'
import type { EventBody } from '../src/contract/history.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { openLine } from './support/line.ts'
import { openLive } from './support/live-client.ts'
import { follow, startOrigin } from './support/sites.ts'
import { type Engine, engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const site = { code: 'theatre', name: 'Royal Theatre' }

async function startFollower(url: string, engine: Engine = 'sqlite'): Promise<TestApp> {
  const follower = await startApp({ engine, manufacturers: [follow(url)] })
  await until('the site is followed', async () => (await follower.receivers()).length === 2)
  return follower
}

const channelsOf = async (app: TestApp) => (await app.receivers()).flatMap((receiver) => receiver.channels)

async function eventsOf(app: TestApp, query: string): Promise<EventBody[]> {
  const { status, json } = await app.get(`/api/events/?${query}`)
  if (status !== 200) throw new Error(`events responded with ${status}`)
  return json.results
}

const markersOf = (app: TestApp) => eventsOf(app, 'kind=marker')
const textsOf = async (app: TestApp) => (await markersOf(app)).map(({ text }) => text)

/** Adds a marker of the first channel. */
async function mark(app: TestApp, text: string): Promise<EventBody> {
  const [channel] = await channelsOf(app)
  return (await app.post('/api/markers/', { text, channel_id: channel?.id })).json
}

describe.concurrent.each(engines)('the events of a site (%s)', (engine) => {
  // Conformance: C-18.42.
  it('are listed with `site` and local ids, follow changes of the site, and are removed with its record', async () => {
    const { origin } = await startOrigin()
    await mark(origin, 'Before')
    const follower = await startFollower(origin.url, engine)
    await until('earlier events are listed', async () => (await textsOf(follower)).includes('Before'))
    const live = await openLive(follower)
    const there = await mark(origin, 'Meanwhile')
    const here = await until('the event is listed', async () =>
      (await markersOf(follower)).find(({ text }) => text === 'Meanwhile'),
    )
    const [channel] = await channelsOf(follower)
    expect(here).toMatchObject({ time: there.time, channel_id: channel?.id, manufacturer: 'shure', site })
    await until('the event is announced', () =>
      live.messages.some((message) => message.type === 'event' && message.event.id === here.id),
    )
    expect(await eventsOf(follower, `channel=${channel?.id}&kind=marker`)).toHaveLength(2)
    expect(await eventsOf(follower, 'site=theatre&kind=marker')).toHaveLength(2)
    expect(await eventsOf(follower, 'site=local&kind=marker')).toEqual([])

    const headers = { ...(await tokenHeaders(follower, 'admin')), 'content-type': 'application/json' }
    const body = JSON.stringify({ text: 'Changed' })
    expect(await follower.send('PATCH', `/api/markers/${here.id}/`, { headers, body })).toMatchObject({ status: 409 })
    await origin.send('PATCH', `/api/markers/${there.id}/`, { headers: { 'content-type': 'application/json' }, body })
    await until('the change is listed', async () => (await textsOf(follower)).includes('Changed'))
    expect((await markersOf(follower)).find(({ text }) => text === 'Changed')).toMatchObject({ id: here.id })
    await origin.send('DELETE', `/api/markers/${there.id}/`)
    await until('the marker is no longer listed', async () => (await textsOf(follower)).join() === 'Before')

    await follower.send('DELETE', '/api/admin/manufacturers/theatre/', { headers })
    expect(await eventsOf(follower, 'site=theatre')).toEqual([])
  })
})

describe.concurrent('the events of a site', () => {
  // Conformance: C-18.42.
  it('are listed after the line was cut, once each and with the same ids', async () => {
    const { origin } = await startOrigin()
    const line = await openLine(origin.port)
    const follower = await startFollower(line.url)
    await mark(origin, 'First')
    await until('the first event is listed', async () => (await textsOf(follower)).includes('First'))
    const before = await markersOf(follower)
    line.cut()
    await mark(origin, 'Second')
    await mark(origin, 'Third')
    line.restore()
    await until('all events are listed', async () => (await textsOf(follower)).join() === 'Third,Second,First')
    expect((await markersOf(follower)).at(-1)).toEqual(before[0])
  })

  // Conformance: C-18.42.
  it('are passed on along a chain', async () => {
    const { origin } = await startOrigin()
    const middle = await startFollower(origin.url)
    const last = await startApp({ manufacturers: [follow(middle.url, 'region', 'Region')] })
    await until('the chain is followed', async () => (await last.receivers()).length === 2)
    await mark(origin, 'Overture')
    await until('the event is listed', async () => (await textsOf(last)).includes('Overture'))
    expect(await eventsOf(last, 'kind=marker')).toMatchObject([
      { text: 'Overture', site: { code: 'region/theatre', name: 'Royal Theatre' } },
    ])
  })
})
