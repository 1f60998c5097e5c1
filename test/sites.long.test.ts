/** The line to a followed installation: cut, silent, slow and delayed; and a restart of that installation. */

import { describe, expect, it } from 'vitest'
import { connectionsOf } from './support/admin-lists.ts'
import { configFor, startApp, type TestApp, until } from './support/app.ts'
import { openLine } from './support/line.ts'
import { openLive } from './support/live-client.ts'
import { follow, startFollower, startOrigin, statesOf } from './support/sites.ts'

const areStale = async (app: TestApp) => (await statesOf(app)).every((state) => state === 'stale')
const haveSameStates = async (a: TestApp, b: TestApp) => (await statesOf(a)).join() === (await statesOf(b)).join()
const isNoneStale = async (app: TestApp) => !(await statesOf(app)).includes('stale')

describe.concurrent('the channels of a followed installation', () => {
  // Conformance: C-18.18, C-18.45.
  it('are stale after it has ended, and have the same ids and slots when it runs again', async () => {
    const { shure, origin } = await startOrigin()
    const line = await openLine(origin.port)
    const follower = await startFollower(line.url)
    const before = await follower.receivers()
    await origin.close()
    await until('all channels are stale', () => areStale(follower))
    const { json: sites } = await follower.get('/api/sites/')
    expect(sites).toMatchObject([
      { status: expect.stringMatching(/degraded|unhealthy/), latency_ms: null, problems: 4 },
    ])
    const { databaseUrl, dataDir, port } = origin
    const config = { server: { port } }
    await startApp({ manufacturers: [configFor(shure)], databaseUrl, dataDir, config })
    await until('no channel is stale', () => isNoneStale(follower))
    expect({ snapshots: line.countOf('snapshot'), resumed: line.countOf('resumed') }).toEqual({
      snapshots: 2,
      resumed: 0,
    })
    const ids = (receivers: typeof before) =>
      receivers.map(({ id, channels }) => [id, channels.map((channel) => [channel.id, channel.slot])])
    expect(ids(await follower.receivers())).toEqual(ids(before))
  })

  // Conformance: C-18.18, C-18.19, C-18.45.
  it('are stale while the line is cut, or silent, and current after it is restored', async () => {
    const { origin } = await startOrigin()
    const line = await openLine(origin.port)
    const follower = await startFollower(line.url)
    line.cut()
    await until('all channels are stale', () => areStale(follower))
    line.restore()
    await until('no channel is stale', () => isNoneStale(follower))
    await until('the states are those of the site', () => haveSameStates(follower, origin))
    line.silence()
    await until('all channels are stale', () => areStale(follower))
    line.restore()
    await until('no channel is stale', () => isNoneStale(follower))
    await until('the states are those of the site', () => haveSameStates(follower, origin))
    expect({ snapshots: line.countOf('snapshot'), resumed: line.countOf('resumed') }).toEqual({
      snapshots: 1,
      resumed: 2,
    })
  })

  // Conformance: C-18.35, C-18.46.
  it('are stale while no process follows it, and current when a process resumes', async () => {
    const { origin } = await startOrigin()
    const follower = await startFollower(origin.url)
    const { databaseUrl, dataDir } = follower
    const viewer = await startApp({ databaseUrl, dataDir, servesOnly: true })
    await until('all channels are known', async () => (await statesOf(viewer)).length === 4)
    expect(await isNoneStale(viewer)).toBe(true)
    const statusOf = async () => (await connectionsOf(viewer)).map(({ status }) => status)
    expect(await statusOf()).toEqual(['connected'])
    await follower.close()
    expect(await statusOf()).toEqual(['disconnected'])
    await until('all channels are stale', () => areStale(viewer))
    await startApp({ manufacturers: [follow(origin.url)], databaseUrl, dataDir })
    await until('no channel is stale', () => isNoneStale(viewer))
  })

  // Conformance: C-18.33.
  it('no longer receive levels half a minute after the last client has shown them', async () => {
    const { origin } = await startOrigin()
    const line = await openLine(origin.port)
    const follower = await startFollower(line.url)
    const live = await openLive(follower, '&site=theatre&levels=full')
    await until('levels arrive', () => live.ofType('levels').length > 2)
    live.close()
    // A tick is only sent after a second without levels.
    const ticks = line.countOf('tick')
    await until('only ticks arrive', () => line.countOf('tick') > ticks + 2)
    const levels = line.countOf('levels')
    await until('only ticks arrive', () => line.countOf('tick') > ticks + 5)
    expect(line.countOf('levels')).toBe(levels)
  })

  // Conformance: C-18.20.
  it('stay current on a line of 64 kbit/s with a delay of 600 ms', async () => {
    const { origin } = await startOrigin()
    const line = await openLine(origin.port)
    line.limit({ bytesPerSecond: 8000, delayMs: 600 })
    const follower = await startFollower(line.url)
    const seen: string[] = []
    const endsAt = performance.now() + 25_000
    while (performance.now() < endsAt) {
      seen.push(...(await statesOf(follower)))
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    expect(seen).not.toContain('stale')
    const { json: sites } = await follower.get('/api/sites/')
    expect(sites[0].latency_ms).toBeGreaterThan(1000)
  })
})
