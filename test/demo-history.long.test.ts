/** A demo fills an empty history with the day before. */

import { expect, it } from 'vitest'
import { startDemo } from '../simulators/demo.ts'
import { playDay } from '../simulators/demo-day.ts'
import type { EventBody, HistoryLevelsBody } from '../src/contract/history.ts'
import { startApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { dayTargetOf, receiversInMemory } from './support/internals.ts'

// Conformance: C-12.75, C-12.101.
it('fills the day before the demo, from its start backwards, with levels, states, events, markers and shows', async () => {
  const demo = await startDemo({ receivers: 3 })
  onTestEnd(demo.close)
  const { startedAt, devices } = demo.venue
  const app = await startApp({ manufacturers: demo.manufacturers })
  const channels = devices.reduce((count, { setup }) => count + setup.channels.length, 0)
  const known = () =>
    receiversInMemory(app)
      .listFacts()
      .flatMap((receiver) => receiver.channels)
  await until('all channels are known', () => known().length === channels)
  const ids = known().map(({ id }) => id)
  const socket = await app.socket()
  const stop = new AbortController()
  onTestEnd(() => stop.abort())
  void playDay(demo.venue, dayTargetOf(app), stop.signal)

  const toText = (time: number) => new Date(Math.floor(time / 1000) * 1000).toISOString()
  const levels = async (from: number, to: number) => {
    const range = `from=${toText(from)}&to=${toText(to)}`
    const { json } = await app.get(`/api/history/levels/?channels=${ids}&${range}&max_points=1440`)
    return (json as HistoryLevelsBody).channels
  }
  const isRecorded = (state: string) => !state.includes('-')
  const dayStart = startedAt - 86_300_000
  await until('the first minute of the day is there', async () =>
    (await levels(dayStart, dayStart + 60_000)).every(({ state }) => isRecorded(state)),
  )
  const day = await until('there is no gap, also where the recording begins', async () => {
    const channelsOfDay = await levels(dayStart, startedAt + 1000)
    return channelsOfDay.every(({ state }) => isRecorded(state)) && channelsOfDay
  })
  expect(day.some(({ state }) => state.includes('1') && state.includes('0') && state.includes('m'))).toBe(true)

  const { results } = (await app.get('/api/events/?limit=1000')).json as { results: EventBody[] }
  const kinds = new Set(results.map(({ kind }) => kind))
  for (const kind of ['transmitter_on', 'transmitter_off', 'rf_dropout', 'battery_low', 'battery_changed'] as const)
    expect(kinds, kind).toContain(kind)
  expect(results.filter(({ kind }) => kind === 'receiver_offline')).toHaveLength(2)
  expect(results.find(({ text }) => text === 'Interval')).toMatchObject({ kind: 'marker', channel_id: null })
  const shows = (await app.get('/api/shows/')).json as { title: string; state: string }[]
  expect(shows.map(({ title, state }) => `${title} ${state}`)).toEqual(['Preview ended', 'Matinee ended'])

  // Clients are not notified of events of the past.
  await app.post('/api/markers/', { text: 'Now' })
  await socket.next(({ type, event }) => type === 'event' && event.text === 'Now')
  expect(socket.ofType('event').filter(({ event }) => Date.parse(event.time) < startedAt)).toEqual([])

  const past = (await app.get(`/api/history/at/?time=${toText(startedAt - 4 * 3_600_000)}`)).json as {
    receivers: { channels: { transmitter: object | null }[] }[]
  }
  const transmitters = past.receivers.flatMap((receiver) => receiver.channels.map(({ transmitter }) => transmitter))
  expect(transmitters.filter((transmitter) => transmitter !== null).length).toBeGreaterThan(channels / 2)
})
