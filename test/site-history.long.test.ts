/** The history of channels of a site whose line is cut or slow, and of which either end is killed. */

import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { configFor, createInstallation, startShure, type TestApp, until } from './support/app.ts'
import { openLine } from './support/line.ts'
import { comparable, epochSeconds, levelsOf, untilRecording, untilSame } from './support/site-levels.ts'
import { follow, startFollower, startOrigin } from './support/sites.ts'
import { withDatabase } from './support/store/databases.ts'

const keptBlocks = (app: TestApp) =>
  withDatabase(app, ({ read }) => read.selectFrom('followed_levels').select(['step', 'kept_at']).execute())
const secondsPass = (time: number) => until('time passes', () => epochSeconds() >= time)

describe.concurrent('the history of a site', () => {
  // Conformance: C-18.41.
  it('has no gap after the line was cut, even in ranges that were requested meanwhile', async () => {
    const { origin } = await startOrigin({ isRecording: true })
    const line = await openLine(origin.port)
    const follower = await startFollower(line.url)
    const from = await untilRecording(follower)
    line.cut()
    const range = { from, to: epochSeconds() + 20 }
    await secondsPass(range.to + 3)
    const there = comparable(await levelsOf(origin, range))
    const interrupted = await levelsOf(follower, range)
    expect(comparable(interrupted)).not.toEqual(there)
    expect(interrupted.interrupted_sites).toEqual([{ code: 'theatre', name: 'Royal Theatre' }])
    const restoredAt = now()
    line.restore()
    await until('what was asked for is received', async () => {
      const blocks = (await keptBlocks(follower)).filter(({ step }) => step === 1)
      return blocks.every(({ kept_at }) => kept_at > restoredAt)
    })
    // The follower can no longer receive anything.
    line.cut()
    expect(comparable(await levelsOf(follower, range))).toEqual(there)
  })

  // Conformance: C-18.41.
  it('arrives on a line of 64 kbit/s with a delay of 600 ms, and is stored once', async () => {
    const { origin } = await startOrigin({ isRecording: true })
    const line = await openLine(origin.port)
    line.limit({ bytesPerSecond: 8000, delayMs: 600 })
    const follower = await startFollower(line.url)
    const to = (await untilRecording(follower)) + 20
    const range = { from: to - 30, to }
    await secondsPass(to + 3)
    await untilSame(follower, origin, range)
    const blocks = await keptBlocks(follower)
    // A block contains 240 seconds of one channel, and the range may touch two.
    expect(blocks.length).toBeLessThanOrEqual(8)
  })

  // Conformance: C-18.18, C-18.41.
  it('equals that of the site after either end was killed, with the same ids and slots', async () => {
    const shure = await startShure({ receivers: 2, channelsPerReceiver: 2 })
    const originFolder = await createInstallation({ manufacturers: [configFor(shure)] })
    let origin = await originFolder.serve()
    const followerFolder = await createInstallation({ manufacturers: [follow(`http://127.0.0.1:${origin.port}`)] })
    let follower = await followerFolder.serve()
    await until('the site is followed', async () => (await follower.receivers()).length === 2)
    const before = await identitiesOf(follower)
    const from = await untilRecording(follower)

    follower.kill('SIGKILL')
    await follower.ended
    await secondsPass(epochSeconds() + 5)
    follower = await followerFolder.serve()
    await untilSame(follower, origin, { from, to: await untilRecording(follower) })
    expect(await identitiesOf(follower)).toEqual(before)

    origin.kill('SIGKILL')
    await origin.ended
    const { port } = origin
    origin = await originFolder.serve(['--port', String(port)])
    await untilSame(follower, origin, { from, to: await untilRecording(follower) })
    expect(await identitiesOf(follower)).toEqual(before)
  })
})

async function identitiesOf(app: Pick<TestApp, 'receivers'>) {
  const receivers = await app.receivers()
  return receivers.map(({ id, channels }) => [id, channels.map((channel) => [channel.id, channel.slot])])
}
