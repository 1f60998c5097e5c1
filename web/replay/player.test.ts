import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dataOf, type FakeData, receiver } from '../../test/support/browser/fake-service.ts'
import { eventAt, eventsOf, type FakeStory, levelsOf } from '../../test/support/browser/recorded-story.ts'
import type { Api } from '../app/api.ts'
import { createPlayer, type ReplayPlayer, speeds } from './player.ts'

const start = Date.parse('2026-05-01T20:10:00Z')
const now = start + 3 * 3_600_000

beforeEach(() => {
  vi.useFakeTimers({ now })
})
afterEach(() => {
  vi.useRealTimers()
})

interface Sent {
  readonly path: string
  readonly query: URLSearchParams
  readonly at: number
}

interface PlayerOptions extends Partial<FakeStory> {
  readonly receivers?: number
  readonly time?: number
}

/** Opens a player of a service that has recorded receivers with four channels each. */
function openPlayer({
  receivers = 1,
  time = start,
  events = [],
  secondOf = () => ({ letter: '1', rf: -50 }),
}: PlayerOptions = {}) {
  const sent: Sent[] = []
  const all = Array.from({ length: receivers }, (_, index) => receiver(index + 1, [{}, {}, {}, {}]))
  const lists = { groups: [], assignments: [], placeholders: [] }
  const data = dataOf({ ...lists, receivers: all, isLive: true } as unknown as FakeData)
  let isRefusing = false
  const read = async (address: string) => {
    const { pathname: path, searchParams: query } = new URL(address, 'http://service')
    sent.push({ path, query, at: performance.now() })
    if (isRefusing) return { ok: false, problem: { kind: 'unreachable', detail: 'No connection.' } }
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (path === '/api/history/levels/') return { ok: true, body: levelsOf(query, secondOf) }
    if (path === '/api/events/') return { ok: true, body: pageOf(query, events) }
    const recorded = secondOf(1, Date.parse(query.get('time') ?? '') / 1_000).letter !== '-'
    return { ok: true, body: { ...data, as_of: query.get('time'), recorded, step_seconds: 1 } }
  }
  const api = { read } as unknown as Api
  const player = createPlayer({ api, time })
  return {
    player,
    sent,
    count: (path: string) => sent.filter((request) => request.path.includes(path)).length,
    setRefusing: (value: boolean) => {
      isRefusing = value
    },
  }
}

/** Returns a page of the events; `before` counts those of the pages before it. */
function pageOf(query: URLSearchParams, events: FakeStory['events'] = []) {
  const [limit, before] = [Number(query.get('limit')), Number(query.get('before') ?? 0)]
  const unlimited = new URLSearchParams(query)
  unlimited.set('limit', String(events.length))
  const all = eventsOf(unlimited, events)
  const next = new URLSearchParams(query)
  next.set('before', String(before + limit))
  return {
    results: all.slice(before, before + limit),
    next: all.length > before + limit ? `/api/events/?${next}` : null,
  }
}

function closest(sent: readonly Sent[]): number {
  return Math.min(...sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0)))
}

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const stateOf = (player: ReplayPlayer, channel = 0) => {
  const channels = player.get().moment?.data.receivers.flatMap((receiver) => receiver.channels)
  return channels?.[channel]?.condition.state
}

// Conformance: C-12.93.
describe('a seek', () => {
  it('asks for the record at once, then for the levels and the events', async () => {
    const { player, sent } = openPlayer()
    await wait(50)
    expect(player.get().moment?.isRecorded).toBe(true)
    expect(sent.map(({ path }) => path)).toEqual(['/api/history/at/'])
    await wait(30_000)
    expect(sent.map(({ path }) => path)).toEqual(['/api/history/at/', '/api/history/levels/', '/api/events/'])
    const [from = 0, to = 0] = ['from', 'to'].map((name) => Date.parse(sent[1]?.query.get(name) ?? ''))
    expect([from, to]).toEqual([start - 240_000, start + 60_000])
    player.close()
  })

  it('sends only the last of many requests', async () => {
    const { player, sent, count } = openPlayer()
    await wait(50)
    for (let minute = 1; minute <= 40; minute++) player.seek(start - minute * 600_000)
    await wait(10_000)
    expect(count('/at/')).toBe(2)
    expect(player.get().time).toBe(start - 400 * 60_000)
    expect(sent[1]?.query.get('time')).toBe('2026-05-01T13:30:00Z')
    player.close()
  })

  it('needs no request for a time that is loaded, and one record for several steps back', async () => {
    const { player, count } = openPlayer()
    await wait(10_000)
    player.step(10_000)
    player.step(-3_000)
    await wait(10_000)
    expect([player.get().time, count('/at/'), count('/levels/')]).toEqual([start + 7_000, 1, 1])
    player.seek(start)
    for (let steps = 0; steps < 20; steps++) {
      player.step(-1_000)
      await wait(1_000)
    }
    await wait(5_000)
    expect([player.get().time, player.get().moment !== null]).toEqual([start - 20_000, true])
    expect([count('/at/'), count('/levels/')]).toEqual([2, 2])
    player.close()
  })
})

// Conformance: C-12.93, C-12.94.
describe('playing', () => {
  it.each(speeds.flatMap((speed) => [1, 100].map((receivers) => [speed, receivers] as const)))(
    'at %i× with %i receivers sends at most one request in two seconds, and does not stop to load',
    async (speed, receivers) => {
      const { player, sent } = openPlayer({ receivers })
      player.setSpeed(speed)
      player.setPlaying(true)
      // The first block is loaded.
      await wait(15_000)
      const [from, requests] = [player.get().time, sent.length]
      await wait(60_000)
      const played = (player.get().time - from) / 1_000
      expect(played / speed).toBeGreaterThan(receivers === 1 ? 58 : 40)
      expect(closest(sent)).toBeGreaterThanOrEqual(2_000)
      expect(sent.length - requests).toBeLessThanOrEqual(30)
      player.close()
    },
  )

  it.each(speeds)(
    'at %i× asks for the record once, and carries what has changed into the blocks that follow',
    async (speed) => {
      const singer = { id: 2, name: 'Nora' }
      const name = (at: number, from: string, to: string) =>
        eventAt(start + at * 1_000, 'renamed', { data: { from, to } })
      const { player, count } = openPlayer({
        secondOf: (id, at) => (id === 2 && at >= start / 1_000 + 30 ? { letter: '0' } : { letter: '1', rf: -50 }),
        events: [
          name(20, 'H01 Singer 1', 'First'),
          name(70, 'First', 'Second'),
          eventAt(start + 40_000, 'assigned', { data: { performer: singer, wireless_unit: 5 } }),
          eventAt(start + 50_000, 'battery_low', { data: { open: true } }),
        ],
      })
      player.setSpeed(speed)
      player.setPlaying(true)
      await wait(150_000)
      expect(player.get().time).toBeGreaterThan(start + 120_000)
      const { data } = player.get().moment ?? {}
      const [first, second] = data?.receivers[0]?.channels ?? []
      expect(first).toMatchObject({ transmitter: { name: 'Second' }, condition: { state: 'battery_low' } })
      expect(first?.condition.since).toBe(new Date(start + 50_000).toISOString())
      expect(second).toMatchObject({ transmitter: null, condition: { state: 'tx_off' } })
      expect(second?.condition.since).toBe(new Date(start + 30_000).toISOString())
      expect(data?.assignments).toEqual([{ channel_id: 1, wireless_unit: 5, performer: singer }])
      expect(count('/at/')).toBe(1)
      player.close()
    },
  )

  it('shows what the steps and events say, and returns in time', async () => {
    const offFrom = start / 1_000 + 20
    const { player } = openPlayer({
      secondOf: (id, at) =>
        id === 1 && at >= offFrom && at < offFrom + 10 ? { letter: '0' } : { letter: '1', rf: -50 },
      events: [eventAt(start + 5_000, 'interference', { until: new Date(start + 9_000).toISOString() })],
    })
    await wait(10_000)
    const states = [0, 5_000, 9_000, 20_000, 29_000, 30_000].map((ms) => {
      player.seek(start + ms)
      return stateOf(player)
    })
    expect(states).toEqual(['ok', 'interference', 'ok', 'tx_off', 'tx_off', 'ok'])
    player.close()
  })

  it('says where nothing was recorded', async () => {
    const gap = start / 1_000 + 30
    const { player } = openPlayer({ secondOf: (_, at) => ({ letter: at >= gap && at < gap + 60 ? '-' : '1' }) })
    await wait(10_000)
    player.seek(start + 29_000)
    expect(player.get().moment?.isRecorded).toBe(true)
    player.seek(start + 31_000)
    expect([player.get().moment?.isRecorded, stateOf(player)]).toEqual([false, 'stale'])
    player.seek(start + 70_000)
    await wait(100)
    expect(player.get().moment?.isRecorded).toBe(false)
    player.close()
  })

  it('stops at the latest recorded second', async () => {
    const { player } = openPlayer({ time: now - 200_000 })
    player.setSpeed(60)
    player.setPlaying(true)
    await wait(30_000)
    expect(player.get()).toMatchObject({ isPlaying: false, isAtEnd: true })
    expect(player.get().time).toBeLessThan(Date.now())
    player.close()
  })
})

it('goes to the events before and after, also in other hours', async () => {
  const at = (minutes: number) => start + minutes * 60_000
  const { player, count } = openPlayer({
    events: [at(-100), at(-5), at(3), at(170)].map((time) => eventAt(time, 'marker')),
  })
  await wait(10_000)
  player.goToEvent('next')
  expect(player.get().time).toBe(at(3))
  player.goToEvent('previous')
  expect(player.get().time).toBe(at(-5))
  await wait(10_000)
  player.goToEvent('previous')
  expect(player.get().search).toBe('searching')
  await wait(3_000)
  expect(player.get().time).toBe(at(-100))
  await wait(10_000)
  player.goToEvent('previous')
  await wait(3_000)
  expect(player.get()).toMatchObject({ time: at(-100), search: 'none' })
  player.seek(at(3))
  await wait(10_000)
  const before = count('/events/')
  player.goToEvent('next')
  await wait(10_000)
  expect([player.get().time, count('/events/') - before]).toEqual([at(170), 3])
  player.close()
})

it('finds the next event behind more than one page of later ones', async () => {
  const first = start + 61 * 60_000
  const { player } = openPlayer({
    events: Array.from({ length: 2_500 }, (_, index) => eventAt(first + index * 1_000, 'marker')),
  })
  await wait(10_000)
  player.goToEvent('next')
  await wait(20_000)
  expect(player.get().time).toBe(first)
  player.close()
})

it('shows who was assigned at the time', async () => {
  const assigned = (kind: 'assigned' | 'unassigned', at: number) =>
    eventAt(start + at * 1_000, kind, { data: { performer: { id: 2, name: 'Nora' }, wireless_unit: 5 } })
  const { player } = openPlayer({ events: [assigned('assigned', 10), assigned('unassigned', 20)] })
  await wait(10_000)
  const counts = [9, 10, 19, 20].map((seconds) => {
    player.seek(start + seconds * 1_000)
    return player.get().moment?.data.assignments.length
  })
  expect(counts).toEqual([0, 1, 1, 0])
  player.close()
})

it('keeps the time when the service does not respond, and asks again', async () => {
  const { player, setRefusing } = openPlayer()
  setRefusing(true)
  player.seek(start - 600_000)
  await wait(8_000)
  expect(player.get()).toMatchObject({ time: start - 600_000, moment: null, problem: { kind: 'unreachable' } })
  setRefusing(false)
  await wait(8_000)
  expect(player.get()).toMatchObject({ time: start - 600_000, problem: null })
  expect(player.get().moment).not.toBeNull()
  player.close()
})
