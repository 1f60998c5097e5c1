/** Recorded levels through the complete service, on both databases. */

import { beforeAll, describe, expect, it } from 'vitest'
import { type ColumnName, columnNames, noValue, type RecordedSeconds } from '../src/domain/history/columns.ts'
import { now } from '../src/platform/clock.ts'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { openShared } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { storedLevels } from './support/internals.ts'
import { engines } from './support/store/databases.ts'

const toTime = (seconds: number) => new Date(seconds * 1000).toISOString()

/** Seconds of one channel that is on, with a dropout of 200 ms in the tenth one. */
function buildSeconds(channelId: number, from: number, count: number): RecordedSeconds {
  const second: Record<ColumnName, number> = {
    state: 4,
    rows: 0,
    rf_min: -60,
    rf_max: -55,
    audio_max: -12,
    audio_last: -20,
    quality_min: noValue,
    battery: 80,
    minutes: 240,
    weak_ms: 0,
  }
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(count).fill(second[name])]),
  ) as Record<ColumnName, Int16Array>
  columns.rf_min[10] = -97
  columns.weak_ms[10] = 200
  return { from, count, channelIds: [channelId], columns }
}

describe.each(engines)('recorded levels on %s', (engine) => {
  let app: TestApp
  let existing: number
  /** Channels that have recorded levels, but no longer exist. */
  const removedIds = Array.from({ length: 10 }, (_, index) => 9000 + index)
  const [removed = 0] = removedIds
  const start = Math.floor(now() / 3_600_000) * 3600 - 3 * 3600
  const url = (channels: string, more = '', name = 'levels/') =>
    `/api/history/${name}?channels=${channels}&from=${toTime(start)}&to=${toTime(start + 600)}${more}`

  beforeAll(() =>
    openShared(async () => {
      const shure = withoutPush(await startShure({ story: false }))
      app = await startApp({ engine, manufacturers: [configFor(shure)], isRecording: true })
      existing = await until('a channel is known', async () => (await app.receivers())[0]?.channels[0]?.id)
      const levels = await storedLevels(app)
      for (const id of [existing, ...removedIds]) await levels.append(buildSeconds(id, start, 600))
    }),
  )

  // Conformance: C-12.60.
  it('are returned in the order of the request, also of removed channels', async () => {
    const { status, json } = await app.get(url(`${removed},${existing}`, '&max_points=60&series=rf,battery'))
    expect([status, json.from, json.to, json.step_seconds]).toEqual([200, toTime(start), toTime(start + 600), 10])
    expect(json.channels.map(({ id }: { id: number }) => id)).toEqual([removed, existing])
    const [first] = json.channels
    expect(Object.keys(first)).toEqual(['id', 'state', 'rf', 'battery', 'weak_ms'])
    expect(first.state).toBe('1'.repeat(60))
    expect([first.rf.min[0], first.rf.min[1], first.weak_ms[1]]).toEqual([-60, -97, 200])
  })

  // Conformance: C-12.63.
  it.each([1, 3, 7, 60, 600])('show a dropout of 200 ms with %i points', async (points) => {
    const { json } = await app.get(url(String(existing), `&max_points=${points}`))
    const [channel] = json.channels
    expect(channel.state.length).toBeLessThanOrEqual(points)
    expect([Math.min(...channel.rf.min), Math.max(...channel.weak_ms)]).toEqual([-97, 200])
  })

  it('are unknown where nothing was recorded', async () => {
    const query = `channels=${existing}&from=${toTime(start - 4)}&to=${toTime(start + 2)}`
    const { json } = await app.get(`/api/history/levels/?${query}`)
    expect(json.channels[0]).toMatchObject({ state: '----11', rf: { min: [null, null, null, null, -60, -60] } })
    const ancient = await app.get(
      `/api/history/levels/?channels=${existing}&from=0001-01-01T00:00:00Z&to=${toTime(start)}`,
    )
    // The last step, of several years, also contains what was recorded later.
    expect(ancient.json.channels[0].state).toMatch(/^-{1,599}[-1]$/)
    const one = await app.get(
      `/api/history/levels/?channels=${existing}&from=0001-01-01T00:00:00Z&to=${toTime(start)}&max_points=1`,
    )
    expect([one.status, one.json.details]).toEqual([400, expect.stringMatching(/^max_points: expected at least 2/)])
  })

  // Conformance: C-12.62.
  it('are refused if the channel is unknown, or if they are more than 100,000 steps', async () => {
    const unknown = await app.get(url('123456'))
    expect([unknown.status, unknown.json.details]).toEqual([400, 'channels: there is no channel 123456'])
    const query = `from=${toTime(start - 10_400)}&to=${toTime(start + 600)}&max_points=11000`
    const nine = await app.get(`/api/history/levels/?channels=${removedIds.slice(1).join(',')}&${query}`)
    expect([nine.status, nine.json.step_seconds]).toEqual([200, 1])
    const ten = await app.get(`/api/history/levels/?channels=${removedIds.join(',')}&${query}`)
    expect([ten.status, ten.json.details]).toEqual([400, expect.stringMatching(/^max_points: .*10 channels/)])
  })

  // Conformance: C-12.64, C-21.27.
  it('are exported as CSV', async () => {
    const { slot } = (await app.get(`/api/channels/${existing}/`)).json
    await app.put(`/api/slots/${slot}/`, { label: 'Lead' })
    const { status, bytes } = await app.get(url(String(existing), '&step=60', 'levels.csv'))
    const lines = bytes.toString().split('\r\n')
    expect([status, lines.length]).toEqual([200, 12])
    expect(lines[0]).toBe(
      '\uFEFFtime,channel_id,name,state,rf_min,rf_max,audio_max,audio_last,quality_min,battery,minutes,weak_ms',
    )
    expect(lines[1]).toMatch(new RegExp(`^${toTime(start)},${existing},Lead,1,-97,-55,-12,-20,,80,240,200$`))
  })

  it('of the present are stored before they are returned', async () => {
    await until('a second was recorded', async () => {
      const second = Math.floor(now() / 1000)
      const query = `channels=${existing}&from=${toTime(second - 10)}&to=${toTime(second)}`
      const { json } = await app.get(`/api/history/levels/?${query}`)
      return json.step_seconds === 1 && /1/.test(json.channels[0].state)
    })
  })

  // Conformance: C-12.65, C-12.66.
  it('are shown as they were', async () => {
    const [receiver] = await app.receivers()
    // The channel was not known an hour ago, so nothing but levels was recorded. The other facts are those of today.
    const before = await app.get(`/api/history/at/?time=${toTime(start + 5)}`)
    expect(before.json).toMatchObject({ as_of: toTime(start + 5), recorded: true, step_seconds: 1 })
    expect(before.json.receivers).toMatchObject([{ id: receiver?.id, channels: [{ id: existing, rf_level: -60 }] }])
    const { name, frequency, transmitter, condition } = receiver?.channels[0] ?? {}
    const getRecorded = async () => {
      const { json } = await app.get(`/api/history/at/?time=${toTime(Math.floor(now() / 1000) - 2)}`)
      return json.recorded && json.receivers[0]?.channels[0]
    }
    await eventually(getRecorded).toMatchObject({
      name,
      frequency,
      condition: { state: condition?.state },
      transmitter: { name: transmitter?.name, rf_level: expect.any(Number) },
    })
    expect((await app.get(`/api/history/at/?time=${toTime(start - 1)}`)).status).toBe(404)
  })
})
