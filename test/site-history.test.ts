/** The history of channels of an installation that is followed. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configFor, startApp, startSennheiser, type TestApp, until } from './support/app.ts'
import { openShared } from './support/cleanup.ts'
import { openLine } from './support/line.ts'
import { comparable, levelsOf, type Range, untilRecording } from './support/site-levels.ts'
import { follow, startOrigin } from './support/sites.ts'
import { type Engine, engines, withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

/** An installation of which some seconds are recorded, and one that records and follows it. */
interface Recorded {
  readonly origin: TestApp
  readonly range: Range
  readonly recordingFollower: TestApp
}

let recorded: Recorded
let closeRecorded: () => Promise<void>

// Recording takes as long as what is recorded, so all tests read the same levels.
beforeAll(async () => {
  closeRecorded = await openShared(async () => {
    const { origin } = await startOrigin({ isRecording: true })
    const sennheiser = await startSennheiser({ receivers: 1, channelsPerReceiver: 2 })
    const manufacturers = [configFor(sennheiser), follow(origin.url)]
    const recordingFollower = await startApp({ isRecording: true, manufacturers })
    await until('all receivers are known', async () => (await recordingFollower.receivers()).length === 3)
    const to = await untilRecording(origin)
    recorded = { origin, range: { from: to - 3, to }, recordingFollower }
  })
})
afterAll(() => closeRecorded())

async function startFollower(url: string, engine: Engine = 'sqlite'): Promise<TestApp> {
  const follower = await startApp({ engine, manufacturers: [follow(url)] })
  await until('the site is followed', async () => (await follower.receivers()).length === 2)
  return follower
}

const countKept = (app: TestApp) =>
  withDatabase(app, (db) => db.read.selectFrom('followed_levels').select('start').execute())

/** Returns the lines of a file of all channels, without ids. */
async function csvOf(app: TestApp, { from, to }: Range) {
  const channels = (await app.receivers()).flatMap((receiver) => receiver.channels.map(({ id }) => id))
  const times = `from=${new Date(from * 1000).toISOString()}&to=${new Date(to * 1000).toISOString()}`
  const { bytes } = await app.get(`/api/history/levels.csv?channels=${channels}&${times}`)
  const withoutIds = bytes
    .toString()
    .split('\r\n')
    .map((line) => line.replace(/^([^,]*),[^,]*,/, '$1,'))
  return withoutIds.toSorted()
}

describe.concurrent.each(engines)('the history of a site (%s)', (engine) => {
  // Conformance: C-18.40.
  it('equals that of the site, and is kept until the record is removed', async () => {
    const { origin, range } = recorded
    const line = await openLine(origin.port)
    const follower = await startFollower(line.url, engine)
    expect(await countKept(follower)).toEqual([])
    const there = await levelsOf(origin, range)
    const here = await levelsOf(follower, range)
    expect(comparable(here)).toEqual(comparable(there))
    expect(here).not.toHaveProperty('interrupted_sites')
    expect(await csvOf(follower, range)).toEqual(await csvOf(origin, range))

    line.cut()
    const kept = await levelsOf(follower, range)
    expect(comparable(kept)).toEqual(comparable(there))
    const earlier = await levelsOf(follower, { from: range.from - 86_400, to: range.from - 86_390 })
    expect(earlier.interrupted_sites).toEqual([{ code: 'theatre', name: 'Royal Theatre' }])
    expect(earlier.channels.map(({ state }) => state)).toEqual(Array(4).fill('-'.repeat(10)))

    const headers = await tokenHeaders(follower, 'admin')
    await follower.send('DELETE', '/api/admin/manufacturers/theatre/', { headers })
    expect(await countKept(follower)).toEqual([])
  })
})

describe.concurrent('the history of a site', () => {
  // Conformance: C-18.40.
  it('is requested along a chain', async () => {
    const { origin, range } = recorded
    const line = await openLine(origin.port)
    const middle = await startFollower(line.url)
    const last = await startApp({ manufacturers: [follow(middle.url, 'region', 'Region')] })
    await until('the chain is followed', async () => (await last.receivers()).length === 2)
    expect(comparable(await levelsOf(last, range))).toEqual(comparable(await levelsOf(origin, range)))
    line.cut()
    const earlier = await levelsOf(last, { from: range.from - 86_400, to: range.from - 86_390 })
    expect(earlier.interrupted_sites).toEqual([{ code: 'region/theatre', name: 'Royal Theatre' }])
  })

  // Conformance: C-18.40.
  it('is returned together with local levels', async () => {
    const { recordingFollower } = recorded
    const to = await untilRecording(recordingFollower)
    const { channels } = await levelsOf(recordingFollower, { from: to - 3, to })
    expect(channels).toHaveLength(6)
  })
})
