/** An installation that follows another one. */

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChannelBody } from '../src/contract/channels.ts'
import type { ConnectionBody } from '../src/contract/connections.ts'
import type { ReceiverInData } from '../src/contract/receivers.ts'
import { now } from '../src/platform/clock.ts'
import { channelOf, deviceOf, startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd, openShared } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { followedExamples } from './support/hostile-messages.ts'
import { startHostileSite } from './support/hostile-site.ts'
import { exportFile } from './support/installation-files.ts'
import { receiversInMemory } from './support/internals.ts'
import { openLine } from './support/line.ts'
import { openLive } from './support/live-client.ts'
import { serveHttp, serveRaw } from './support/plugins/plugin-kit-server.ts'
import { follow, openOlderVersion, startFollower, startOrigin, statesOf } from './support/sites.ts'
import { withDatabase } from './support/store/databases.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'

async function batteriesOf(app: TestApp) {
  return (await app.receivers()).flatMap(({ channels }) => channels.map(({ transmitter }) => transmitter?.battery))
}

/** For tests that do not change it. */
let shared: Awaited<ReturnType<typeof startOrigin>>
let closeShared: () => Promise<void>
beforeAll(async () => {
  closeShared = await openShared(async () => {
    shared = await startOrigin()
  })
})
afterAll(() => closeShared())

describe.concurrent('an installation that follows another one', () => {
  // Conformance: C-18.10, C-18.11, C-18.12.
  it('shows the receivers of the site in local slots', async () => {
    const { origin } = shared
    const follower = await startFollower(origin.url)
    const [there, here] = [await origin.receivers(), await follower.receivers()]
    expect(here.map(({ name }) => name)).toEqual(there.map(({ name }) => name))
    for (const receiver of here) {
      expect(receiver).toMatchObject({ manufacturer: 'shure', site: { code: 'theatre', name: 'Royal Theatre' } })
    }
    const channels = here.flatMap((receiver) => receiver.channels)
    expect(channels.map(({ slot }) => slot)).toEqual([1, 2, 3, 4])
    expect(channels.map(({ origin_slot }) => origin_slot)).toEqual(
      there.flatMap((receiver) => receiver.channels.map(({ slot }) => slot)),
    )
    expect(await statesOf(follower)).not.toContain('stale')
    // A file of the installation contains only its own equipment.
    expect((await exportFile(follower)).receivers ?? []).toEqual([])
    await eventually(async () => (await follower.get('/api/sites/')).json).toEqual([
      {
        ...{ code: 'theatre', name: 'Royal Theatre', url: origin.url, via: null, status: 'healthy' },
        ...{ problems: expect.any(Number), open_alerts: 0, receivers: 2, channels: 4, shows: [] },
        ...{ latency_ms: expect.any(Number), last_seen: expect.any(String) },
      },
    ])
  })

  // Conformance: C-18.10.
  it('shows levels and changes as they happen', async () => {
    const { origin, shure } = await startOrigin()
    const follower = await startFollower(origin.url)
    const there = await openLive(origin)
    const here = await openLive(follower)
    const channels = (client: typeof here) =>
      client.data().receivers.flatMap((receiver: ReceiverInData) => receiver.channels) as ChannelBody[]
    const comparable = (channel: ChannelBody) => {
      // While there is a transmitter, changes of the channel's own levels are not announced.
      const { transmitter, rf_level, audio_level } = channel
      const own = transmitter === null ? { rf_level, audio_level } : { rf_level: null, audio_level: null }
      return {
        ...channel,
        ...own,
        id: 0,
        slot: 0,
        origin_slot: 0,
        transmitter: transmitter && { ...transmitter, slot: 0 },
      }
    }
    shure.push.pause()
    await until('both show the same', () => {
      expect(channels(here).map(comparable)).toEqual(channels(there).map(comparable))
      return true
    })
  })

  // Conformance: C-18.33.
  it('receives levels only of sites that are shown, and stays current without them', async () => {
    const { origin, shure } = await startOrigin()
    const line = await openLine(origin.port)
    const follower = await startApp({ manufacturers: [follow(line.url)] })
    // Read from memory, because a program that reads receivers is sent their levels.
    const seenOf = () =>
      receiversInMemory(follower)
        .listAll()
        .map(({ last_seen }) => last_seen)
    await until('the site is followed', () => seenOf().length === 2)
    // A tick is only sent after a second without levels.
    const ticksPass = (count: number) => {
      const before = line.countOf('tick')
      return until('nothing else is sent', () => line.countOf('tick') >= before + count)
    }
    await ticksPass(1)
    const [startedAt, levels] = [now(), line.countOf('levels')]
    const other = await openLive(follower, '&site=local&levels=full')
    await until('the receivers are seen', () => seenOf().every((at) => at > startedAt))
    await ticksPass(1)
    expect(other.data().receivers).toEqual([])
    expect(line.countOf('levels')).toBe(levels)

    const here = await openLive(follower, '&site=theatre&levels=full')
    const states = here.data().receivers.flatMap((receiver: ReceiverInData) => receiver.channels)
    expect(states.map(({ condition }: ChannelBody) => condition.state)).not.toContain('stale')
    await until('levels arrive', () => here.ofType('levels').length > 0)
    const there = await openLive(origin)
    shure.push.pause()
    const levelsOf = (client: typeof here) =>
      client
        .data()
        .receivers.flatMap((receiver: ReceiverInData) => receiver.channels)
        .map(({ name, transmitter, rf_level, audio_level }: ChannelBody) =>
          transmitter === null ? [name, rf_level, audio_level] : [name, transmitter.rf_level, transmitter.audio_level],
        )
    await until('both show the same levels', () => {
      expect(levelsOf(here)).toEqual(levelsOf(there))
      return true
    })
  })

  // Conformance: C-18.34.
  it('receives all levels from an older version, which cannot select them', async () => {
    const { origin } = shared
    const older = await openOlderVersion(origin)
    const follower = await startFollower(older.url)
    await until('levels are acknowledged', () => older.countOf('ack') > 2)
    const live = await openLive(follower, '&site=theatre&levels=full')
    await until('levels arrive', () => live.ofType('levels').length > 2)
    expect(older.countOf('select_levels')).toBe(1)
  })

  // Conformance: C-18.11, C-18.14.
  it('lets users change slots only', async () => {
    const { origin } = shared
    const follower = await startFollower(origin.url)
    const [receiver] = await follower.receivers()
    const id = receiver?.id
    const headers = { ...(await tokenHeaders(follower, 'admin')), 'content-type': 'application/json' }
    const patch = (path: string, body: object) => follower.send('PATCH', path, { headers, body: JSON.stringify(body) })
    expect(await patch(`/api/admin/receivers/${id}/`, { name: 'Rack' })).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining('Royal Theatre') },
    })
    expect(await follower.send('DELETE', `/api/admin/receivers/${id}/`, { headers })).toMatchObject({ status: 409 })
    const channel = receiver && channelOf(receiver)
    expect(await patch(`/api/channels/${channel?.id}/`, { slot: 40 })).toMatchObject({ status: 200 })
    const [moved] = await follower.receivers()
    expect(moved && channelOf(moved)).toMatchObject({ slot: 40, origin_slot: channel?.origin_slot })
    expect((await origin.receivers())[0]?.channels[0]?.slot).toBe(channel?.origin_slot)
  })

  // Conformance: C-18.13.
  it('filters every list by site', async () => {
    const [first, second] = [await startOrigin(), await startOrigin()]
    const follower = await startFollower(first.origin.url, second.origin.url)
    const count = async (path: string) => (await follower.get(path)).json.length
    expect(await count('/api/receivers/?site=theatre')).toBe(2)
    expect(await count('/api/receivers/?site=local')).toBe(0)
    expect(await count('/api/receivers/?site=unknown')).toBe(0)
    expect(await count('/api/channels/?site=arena')).toBe(4)
    expect((await follower.get('/api/data.json?site=arena')).json.receivers).toHaveLength(2)
    expect((await follower.get('/api/summary/')).json).toMatchObject({ channels: 0 })
    expect((await follower.get('/api/summary/?site=arena')).json).toMatchObject({ channels: 4 })
    const live = await openLive(follower, '&site=arena')
    const sites = live.data().receivers.map((receiver: { site: { code: string } }) => receiver.site.code)
    expect(sites).toEqual(['arena', 'arena'])
    expect((await follower.get('/api/sites/')).json).toMatchObject([{ code: 'arena' }, { code: 'theatre' }])
    const carriersOf = async (query: string) => (await follower.get(`/api/frequencies/${query}`)).json.carriers
    expect(await carriersOf('')).toEqual([])
    const frequencies = (await first.origin.get('/api/frequencies/')).json.carriers.map(
      ({ mhz }: { mhz: string }) => mhz,
    )
    expect((await carriersOf('?site=theatre')).map(({ mhz }: { mhz: string }) => mhz)).toEqual(frequencies)
    expect(frequencies).toHaveLength(4)
    expect(await count('/api/chassis/?site=arena')).toBe(2)
    expect(await count('/api/chassis/')).toBe(4)
    expect(await count('/api/chassis/?site=local')).toBe(0)
    const received = (await follower.receivers()).filter(({ site }) => site?.code === 'arena')
    const units = received.flatMap(({ id, channels }) =>
      channels.flatMap(({ channel, slot, transmitter }) =>
        transmitter === null ? [] : { id: null, name: transmitter.name, base_chassis: id, channel, slot },
      ),
    )
    expect((await follower.get('/api/units/?site=arena')).json).toMatchObject(units)
    expect(units.length).toBeGreaterThan(0)
    expect(await count('/api/units/')).toBe(0)
    expect(await count('/api/units/?site=local')).toBe(0)
    await follower.post('/api/performers/', { name: 'Ann', notes: '', picture: null })
    expect(await count('/api/performers/?site=local')).toBe(1)
    expect(await count('/api/performers/?site=arena')).toBe(0)
  })

  // Conformance: C-18.12, C-18.15, C-18.16.
  it('follows a chain of three, and refuses a loop', async () => {
    const { origin } = await startOrigin()
    const middle = await startFollower(origin.url)
    const last = await startApp({ manufacturers: [follow(middle.url, 'region', 'Region')] })
    await until('the chain is followed', async () => (await last.receivers()).length === 2)
    expect((await last.receivers())[0]).toMatchObject({ site: { code: 'region/theatre', name: 'Royal Theatre' } })
    expect((await last.get('/api/sites/')).json).toMatchObject([
      { code: 'region', name: 'Region', via: null, receivers: 0 },
      { code: 'region/theatre', name: 'Royal Theatre', url: null, via: 'region', receivers: 2 },
    ])
    const headers = { ...(await tokenHeaders(origin, 'admin')), 'content-type': 'application/json' }
    const add = (url: string) => {
      const body = JSON.stringify(follow(url, 'loop', 'Loop'))
      return origin.send('POST', '/api/admin/manufacturers/', { headers, body })
    }
    const refused = {
      status: 409,
      json: { error: `${new URL(last.url).host} follows this installation: following it would be a loop` },
    }
    expect(await add(last.url)).toMatchObject(refused)
    const own = await openLine(origin.port)
    const isItself = { error: expect.stringContaining('is this installation: following it would be a loop') }
    expect(await add(own.url)).toMatchObject({ status: 409, json: isItself })
    expect((await origin.get('/api/admin/manufacturers/', headers)).json).toHaveLength(1)

    // While the other installation cannot be reached, the loop is not known yet.
    const line = await openLine(last.port)
    line.cut()
    expect(await add(line.url)).toMatchObject({ status: 201 })
    line.restore()
    await until('the loop is refused', async () => {
      await origin.post('/api/refresh/', {})
      const { json } = await origin.get('/api/health/')
      return json.manufacturers.some(
        ({ code, error }: { code: string; error: string }) => code === 'loop' && /loop/.test(error),
      )
    })
    expect(await origin.receivers()).toHaveLength(2)
    const body = JSON.stringify({ config: { api_base_url: last.url } })
    expect(await origin.send('PATCH', '/api/admin/manufacturers/loop/', { headers, body })).toMatchObject(refused)
  })

  // Conformance: C-18.16.
  it.each([
    ['does not respond', 'silent', () => serveRaw(() => {})],
    [
      'is no Micwatch',
      'foreign',
      () => serveHttp({ onRequest: (_, response) => response.writeHead(404).end('not here') }),
    ],
  ])('is saved without the check for loops if the other side %s', async (_, code, serve) => {
    const server = await serve()
    onTestEnd(() => server.close())
    const headers = { ...(await tokenHeaders(shared.origin, 'admin')), 'content-type': 'application/json' }
    const body = JSON.stringify(follow(server.url, code))
    const startedAt = performance.now()
    const saved = await shared.origin.send('POST', '/api/admin/manufacturers/', { headers, body })
    expect(saved).toMatchObject({ status: 201, json: { code } })
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(3000))
    await shared.origin.send('DELETE', `/api/admin/manufacturers/${code}/`, { headers })
  })

  // Conformance: C-18.45.
  it('resumes after the line was cut, and reads everything again if a change could not be stored', async () => {
    const { origin, shure } = await startOrigin()
    const line = await openLine(origin.port)
    const follower = await startFollower(line.url)
    const setBattery = async (battery: number) => {
      shure.show.set(deviceOf(shure).id, { battery }, 1)
      shure.push.flush()
      await until('the origin shows the battery', async () => (await batteriesOf(origin)).includes(battery))
    }
    const isFollowed = (battery: number) =>
      until('the battery is followed', async () => (await batteriesOf(follower)).includes(battery))

    const bytes = line.bytesFromService()
    line.cut()
    await setBattery(41)
    await origin.post('/api/markers/', { text: 'Meanwhile' })
    line.restore()
    await follower.post('/api/refresh/', {})
    await isFollowed(41)
    expect({ snapshots: line.countOf('snapshot'), resumed: line.countOf('resumed') }).toEqual({
      snapshots: 1,
      resumed: 1,
    })
    expect(line.bytesFromService() - bytes).toBeLessThan(bytes)
    expect(await statesOf(follower)).not.toContain('stale')
    await until('the event is listed', async () => {
      const { json } = await follower.get('/api/events/?kind=marker&site=theatre')
      return json.results.map(({ text }: { text: string }) => text).join() === 'Meanwhile'
    })
    const live = await openLive(follower, '&site=theatre&levels=full')
    await until('levels arrive', () => live.ofType('levels').length > 0)

    const run = (statement: string) =>
      withDatabase(follower, (db) => db.transaction(({ query }) => sql.raw(statement).execute(query)))
    await run("create trigger refuse before update on receivers begin select raise(abort, 'refused'); end")
    const connections = line.countOf('snapshot') + line.countOf('resumed')
    await setBattery(42)
    await until('the follower has connected again', async () => {
      await follower.post('/api/refresh/', {})
      return line.countOf('snapshot') + line.countOf('resumed') > connections
    })
    await run('drop trigger refuse')
    await follower.post('/api/refresh/', {})
    await isFollowed(42)
    expect(line.countOf('resumed')).toBe(1)
  })

  // Conformance: C-18.46.
  it('has one real-time connection record for all its receivers, with which it can be stopped', async () => {
    const { origin } = shared
    const line = await openLine(origin.port)
    const follower = await startFollower(line.url)
    const headers = { ...(await tokenHeaders(follower, 'admin')), 'content-type': 'application/json' }
    const path = '/api/admin/realtime-connections/'
    const becomes = (expected: Partial<ConnectionBody>) =>
      until('the connection changes', async () => {
        const { json } = await follower.get(path, headers)
        expect(json).toMatchObject([expected])
        return json[0] as ConnectionBody
      })
    const site = { receiver: null, receiver_name: null, manufacturer: 'theatre', transport: 'websocket' } as const
    const { id, connected_at } = await becomes({ ...site, status: 'connected', error_message: null, error_count: 0 })
    expect(id).toBeLessThan(0)
    // This process holds the lease of the site, so another does not take the connection for one of an ended process.
    const { databaseUrl, dataDir } = follower
    await startApp({ databaseUrl, dataDir, servesOnly: true })
    await becomes({ status: 'connected' })
    line.cut()
    await becomes({ ...site, id, connected_at, status: 'disconnected', error_message: expect.any(String) })
    await follower.post('/api/refresh/', {})
    await becomes({ status: 'error', error_count: 1, error_message: expect.stringContaining('127.0.0.1') })
    // No alert is raised about it, in addition to the one about the source.
    const alerts = (await follower.get('/api/alerts/?state=open')).json as readonly { kind: string }[]
    expect(alerts.filter(({ kind }) => kind !== 'source_unhealthy')).toEqual([])
    line.restore()
    await follower.post('/api/refresh/', {})
    await becomes({ status: 'connected', error_message: null, disconnected_at: null, reconnect_attempts: 0 })

    const change = (action: 'stop' | 'start') =>
      follower.send('POST', `${path}${action}`, { headers, body: JSON.stringify({ ids: [id] }) })
    expect(await change('stop')).toMatchObject({ status: 200, json: { updated: 1 } })
    const connections = line.countOf('snapshot') + line.countOf('resumed')
    await becomes({ status: 'stopped' })
    const stopped = [{ code: 'theatre', sources: [{ error: expect.stringContaining('stopped by a user') }] }]
    await until('the source says so', async () => {
      await follower.post('/api/refresh/', {})
      expect((await follower.get('/api/health/')).json.manufacturers).toMatchObject(stopped)
      return true
    })
    expect(line.countOf('snapshot') + line.countOf('resumed')).toBe(connections)
    expect(await change('start')).toMatchObject({ status: 200, json: { updated: 1 } })
    await becomes({ status: 'connected' })
  })

  // Conformance: C-18.17.
  it('removes the receivers of a site with its record', async () => {
    const { origin } = shared
    const follower = await startFollower(origin.url)
    const headers = await tokenHeaders(follower, 'admin')
    const removed = await follower.send('DELETE', '/api/admin/manufacturers/theatre/', { headers })
    expect(removed).toMatchObject({ status: 204 })
    await until('the receivers are removed', async () => (await follower.receivers()).length === 0)
    expect((await follower.get('/api/sites/')).json).toEqual([])
  })
})

it('refuses a snapshot of many empty values before it is parsed', async () => {
  const snapshot = JSON.stringify({ type: 'snapshot', ...followedExamples.snapshot })
  const site = await startHostileSite(snapshot.replace('"receivers":[', `"receivers":[${'[],'.repeat(700_000)}`))
  const app = await startApp({ manufacturers: [follow(site.url, 'evil', 'Evil')] })
  const { error } = await until('the snapshot is refused', async () => {
    const [found] = (await app.get('/api/health/')).json.manufacturers
    return found.error !== null && found
  })
  expect(error).toContain('more than 1200000 values and keys')
})
