/** Reports of shows, through the complete service on both databases. */

import { describe, expect, it } from 'vitest'
import { noData } from '../src/domain/alerts/alert.ts'
import { noValue } from '../src/domain/history/columns.ts'
import { now } from '../src/platform/clock.ts'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { storedLevels } from './support/internals.ts'
import { addAlert, addEvent, addShow, addState, buildSeconds } from './support/recorded-show.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const toTime = (ms: number) => new Date(ms).toISOString()

async function startWithChannels(engine: (typeof engines)[number] = 'sqlite') {
  const shure = withoutPush(await startShure({ receivers: 1, story: false }))
  const app = await startApp({ engine, manufacturers: [configFor(shure)] })
  const receiver = await until('the channels are known', async () => (await app.receivers())[0])
  const [first, second] = receiver.channels
  if (first === undefined || second === undefined) throw new Error('expected two channels')
  return { app, receiver, first, second }
}

/** Computes what a report says about levels from the history of seconds, as a client would. */
async function readHistory(app: TestApp, id: number, { from, to }: { from: string; to: string }) {
  const query = `channels=${id}&from=${from}&to=${to}&max_points=11000&series=rf,battery`
  const { json } = await app.get(`/api/history/levels/?${query}`)
  expect(json.step_seconds).toBe(1)
  const [{ state, rf, battery }] = json.channels as [
    { state: string; rf: { min: number[] }; battery: { last: number[] } },
  ]
  const on = [...state].flatMap((letter, index) => (letter === '1' || letter === 'm' ? index : []))
  const levels = on
    .map((index) => rf.min[index])
    .filter((level) => level != null)
    .sort((a, b) => a - b)
  const batteries = on.map((index) => battery.last[index]).filter((percent) => percent != null)
  return {
    minutes_on: Math.round(on.length / 6) / 10,
    battery_start: batteries.at(0) ?? null,
    battery_end: batteries.at(-1) ?? null,
    rf_lowest: levels.at(0) ?? null,
    rf_p1: levels.at(Math.ceil(levels.length / 100) - 1) ?? null,
  }
}

describe.each(engines)('the report of a show on %s', (engine) => {
  // Conformance: C-11.18, C-13.40, C-13.41, C-13.43, C-13.44, C-13.49, C-21.94.
  it('agrees with the history, the events and the alerts', async () => {
    const { app, receiver, first, second } = await startWithChannels(engine)
    const start = Math.floor(now() / 3_600_000) * 3600 - 3 * 3600
    const [startedAt, endedAt] = [start * 1000 + 130_250, start * 1000 + 2_400_750]
    let seed = 7
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const levels = await storedLevels(app)
    await levels.append(
      buildSeconds([first.id, second.id], start, 3000, (id, index) => {
        const isOff = id === first.id ? index > 1000 && index < 1300 : random() < 0.3
        const rf_min = index === 500 ? -99 : Math.round(-60 - 30 * random())
        if (isOff) return { letter: '0', rf_min: -101, battery: noValue }
        return {
          letter: random() < 0.1 ? 'm' : '1',
          rf_min,
          battery: id === first.id ? 95 - Math.floor(index / 60) : noValue,
        }
      }),
    )
    const show = await addShow(app, { started_at: startedAt, ended_at: endedAt, channel_ids: [first.id, second.id] })
    const within = startedAt + 60_000
    await addEvent(app, 'rf_dropout', first.id, { time: startedAt - 500, until: startedAt + 1200 })
    await addEvent(app, 'rf_dropout', first.id, { time: within, until: within + 4230 })
    await addEvent(app, 'rf_dropout', first.id, { time: endedAt + 1, until: endedAt + 5000 })
    await addEvent(app, 'interference', second.id, { time: within, until: within + 2000 })
    await addEvent(app, 'muted', second.id, { time: within })
    await addEvent(app, 'muted', second.id, { time: within + 2000 })
    await addEvent(app, 'clipping', second.id, { time: within, until: within + 300 })
    await addEvent(app, 'clipping', second.id, { time: endedAt - 100, until: endedAt + 3000 })
    await addEvent(app, 'marker', null, { time: within + 5, text: 'Act 1' })
    await addEvent(app, 'marker', first.id, { time: within, text: 'Battery pack slipped' })
    await addEvent(app, 'marker', first.id, { time: startedAt - 1, text: 'before' })
    const [low, open, offline] = [
      await addAlert(app, {
        ...{ kind: 'battery_low', channel_id: first.id, receiver_id: receiver.id },
        ...{ raised_at: within, acknowledged_at: within + 12_340, cleared_at: within + 60_000 },
      }),
      await addAlert(app, {
        kind: 'rf_weak',
        channel_id: first.id,
        receiver_id: receiver.id,
        raised_at: startedAt - 9000,
      }),
      await addAlert(app, {
        kind: 'receiver_offline',
        channel_id: null,
        receiver_id: receiver.id,
        raised_at: within + 1,
        data: { ...noData, lost_at: toTime(within - 9000) },
      }),
    ]
    await addAlert(app, {
      ...{ kind: 'muted', channel_id: second.id, receiver_id: receiver.id, raised_at: within },
      snoozed_until: 'cleared',
    })
    const earlier = { raised_at: startedAt - 9000, cleared_at: startedAt - 1 }
    await addAlert(app, { kind: 'rf_weak', channel_id: second.id, receiver_id: receiver.id, ...earlier })
    await addState(app, first.id, startedAt - 90_000, { pack: 'Old', name: 'Older name' })
    await addState(app, first.id, startedAt - 80_000, { pack: 'Pack 1', performer: 'Nora', name: 'Vox 1' })
    // A transmitter without a name of its own has that of its channel.
    const unnamed = { upstream_slot: null, name: null, battery: 80, frequency: null }
    await addState(app, first.id, startedAt + 1000, {
      pack: null,
      transmitter: unnamed,
      performer: 'Nora',
      name: 'Vox 1',
    })
    await addState(app, first.id, within, { pack: null, performer: 'Nora', name: 'Vox 1' })
    await addState(app, first.id, within + 9000, { pack: 'Spare, 9', performer: '=Ada', name: 'Vox 1' })
    await addState(app, first.id, endedAt + 10, { pack: 'Later', name: 'Later name' })
    const last_transmitter = { name: 'Pack 2', battery: 10, minutes_left: null, last_seen: startedAt }
    await addState(app, second.id, startedAt - 80_000, { pack: null, last_transmitter })

    const { status, json: report } = await app.get(`/api/shows/${show.id}/report/`)
    expect([status, report.from, report.to, report.step_seconds]).toEqual([200, toTime(startedAt), toTime(endedAt), 1])
    expect(report.show).toEqual((await app.get(`/api/shows/${show.id}/`)).json)
    const [a, b] = report.channels
    expect(a).toEqual({
      ...{
        channel_id: first.id,
        is_recorded: true,
        slot: first.slot,
        title: '=Ada',
        name: 'Vox 1',
        performer: 'Nora; =Ada',
        pack: 'Pack 1; Vox 1; Spare, 9',
      },
      ...(await readHistory(app, first.id, report)),
      dropouts: { count: 2, seconds: 5.4, longest_seconds: 4.2, times: [toTime(startedAt), toTime(within)] },
      ...{ interference: 0, mutes: 0, mutes_on_purpose: 0, clipping: { count: 0, seconds: 0 } },
      alerts: [
        {
          id: open,
          kind: 'rf_weak',
          raised_at: toTime(startedAt - 9000),
          happened_at: toTime(startedAt - 9000),
          acknowledged_at: null,
          seconds_to_acknowledge: null,
        },
        {
          ...{ id: low, kind: 'battery_low', raised_at: toTime(within), happened_at: toTime(within) },
          ...{ acknowledged_at: toTime(within + 12_340), seconds_to_acknowledge: 12.3 },
        },
        expect.objectContaining({ id: offline, kind: 'receiver_offline', happened_at: toTime(within - 9000) }),
      ],
      markers: [
        expect.objectContaining({ text: 'Battery pack slipped', channel_id: first.id }),
        expect.objectContaining({ text: 'Act 1', channel_id: null, kind: 'marker' }),
      ],
    })
    expect(b).toMatchObject({
      ...{
        channel_id: second.id,
        name: 'Vox',
        performer: null,
        pack: 'Pack 2',
        battery_start: null,
        battery_end: null,
      },
      ...(await readHistory(app, second.id, report)),
      ...{ interference: 1, mutes: 2, mutes_on_purpose: 1, clipping: { count: 2, seconds: 0.4 } },
      alerts: [{ id: offline }],
      markers: [{ text: 'Act 1' }],
    })
    expect([a.rf_lowest < a.rf_p1, a.battery_start, a.battery_end]).toEqual([true, 93, 55])
    const range = `from=${report.from}&to=${report.to}&limit=1000`
    for (const [kind, count] of [
      ['rf_dropout', 2],
      ['marker', 2],
      ['clipping', 0],
    ] as const) {
      const events = await app.get(`/api/events/?kind=${kind}&channel=${first.id}&${range}`)
      expect([kind, events.json.results.length]).toEqual([kind, count])
    }

    const csv = (await app.get(`/api/shows/${show.id}/report.csv`)).bytes.toString()
    const lines = csv.split('\r\n')
    expect([csv.startsWith('\uFEFFchannel_id,slot,name,performer,pack,minutes_on,'), lines.length]).toEqual([true, 4])
    expect(lines[1]).toContain(
      `${first.id},${first.slot},'=Ada,"Nora; =Ada","Pack 1; Vox 1; Spare, 9",${a.minutes_on},93,55,${a.rf_lowest},`,
    )
    expect(lines[1]).toContain(`,2,5.4,4.2,"${toTime(startedAt)}; ${toTime(within)}",0,0,0,0,`)
    expect(lines[1]).toContain(`${toTime(within)} battery_low, acknowledged after 12.3 s`)
  })
})

describe('the report of a show', () => {
  // Conformance: C-13.47.
  it('does not exist before the show, and covers the time until now while it runs', async () => {
    const { app, first } = await startWithChannels()
    const { id } = (await app.post('/api/shows/', { title: 'Cabaret' })).json
    const planned = await app.get(`/api/shows/${id}/report/`)
    expect([planned.status, planned.json.error]).toEqual([409, 'The show has not started, so it has no report yet.'])
    expect((await app.get(`/api/shows/${id}/report.csv`)).status).toBe(409)
    expect((await app.get(`/api/shows/${id + 1}/report/`)).status).toBe(404)
    expect((await app.get(`/api/shows/${id + 1}/report.csv`)).status).toBe(404)
    expect((await app.get('/api/shows/x/report/')).status).toBe(400)
    const beforeStart = now() - 3000
    await app.post(`/api/shows/${id}/start`, undefined)
    await addEvent(app, 'rf_dropout', first.id, { time: beforeStart, is_open: true })
    const before = now()
    const { json } = await app.get(`/api/shows/${id}/report/`)
    expect(Date.parse(json.to)).toBeGreaterThanOrEqual(before)
    expect([json.from, json.show.state]).toEqual([json.show.started_at, 'running'])
    const channel = json.channels.find(({ channel_id }: { channel_id: number }) => channel_id === first.id)
    expect(channel.dropouts).toMatchObject({ count: 1, times: [json.from] })
    expect([json.step_seconds, channel.minutes_on, channel.rf_p1]).toEqual([null, 0, null])
    expect(channel.name).toBe(first.name)
  })

  // Conformance: C-13.48.
  it('contains the channels of its groups, and those that were removed since', async () => {
    const { app, first, second } = await startWithChannels()
    const group = (await app.post('/api/group/', { title: 'Band', slots: [second.slot] })).json
    const show = await addShow(app, { started_at: now() - 60_000, group_ids: [group.id] })
    const ids = async () =>
      (await app.get(`/api/shows/${show.id}/report/`)).json.channels.map(
        ({ channel_id, slot }: Record<string, number>) => [channel_id, slot],
      )
    expect(await ids()).toEqual([[second.id, second.slot]])
    const past = { started_at: 1_000_000, ended_at: 2_000_000, channel_ids: [999, second.id, first.id] }
    const ended = await addShow(app, past)
    const { json } = await app.get(`/api/shows/${ended.id}/report/`)
    expect(json.channels.map(({ channel_id }: { channel_id: number }) => channel_id)).toEqual([
      first.id,
      second.id,
      999,
    ])
    // The performer and the pack of today are not those of a show of the past.
    expect(first.transmitter?.name).toEqual(expect.any(String))
    expect(json.channels[0]).toMatchObject({ name: first.name, performer: null, pack: null })
    expect(json.channels[2]).toMatchObject({ slot: null, name: null, is_recorded: false, minutes_on: 0 })
  })

  // Conformance: C-13.42.
  it('reports that seconds are no longer kept', async () => {
    const { app, first } = await startWithChannels()
    const start = Math.floor(now() / 3_600_000) * 3600 - 20 * 86_400
    const levels = await storedLevels(app)
    await levels.importSeconds(buildSeconds([first.id], start, 3600, () => ({ letter: '1', rf_min: -60, battery: 80 })))
    const retention = { secondsDays: 14, minutesDays: 400, maxBytes: 1e9, pinned: [], isDryRun: false }
    await levels.prune({ ...retention, now: Math.floor(now() / 1000) })
    const times = { started_at: start * 1000 + 60_000, ended_at: start * 1000 + 1_860_000 }
    const show = await addShow(app, { ...times, channel_ids: [first.id] })
    const { json } = await app.get(`/api/shows/${show.id}/report/`)
    expect(json).toMatchObject({ step_seconds: 10, channels: [{ minutes_on: 30, rf_lowest: -60, rf_p1: null }] })
  })

  // Conformance: C-13.49.
  it('can be read by viewers', async () => {
    const app = await startApp({ config: { require_login: true } })
    const show = await addShow(app, { started_at: now() - 60_000 })
    for (const path of ['report/', 'report.csv']) {
      expect((await app.get(`/api/shows/${show.id}/${path}`)).status).toBe(401)
      const viewer = await tokenHeaders(app, 'viewer')
      expect((await app.get(`/api/shows/${show.id}/${path}`, viewer)).status).toBe(200)
    }
  })
})
