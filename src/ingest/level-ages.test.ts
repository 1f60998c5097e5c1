import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Channel, emptyChannel } from '../domain/equipment/receiver.ts'
import { toDraft } from '../domain/identity/ingest-plan.ts'
import { type DeviceLevels, polledLevels } from '../domain/levels/level-sample.ts'
import { LevelAges } from './level-ages.ts'
import { LevelStore } from './level-store.ts'

const sampled: DeviceLevels = {
  rf: { kind: 'sampled', intervalMs: 100 },
  audio: { kind: 'sampled', intervalMs: 100 },
}
const changes: DeviceLevels = { rf: { kind: 'changes' }, audio: { kind: 'changes' } }
const transmitter = { name: 'Nora', upstream_slot: 1, battery: 90, frequency: null, rf_level: null, audio_level: null }
const sample = (channel: number) => ({ channel, rf_level: -60, audio_level: -20 })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function createAges(levels: DeviceLevels, { intervalMs = 10_000, isOn = true, fields = {} as Partial<Channel> } = {}) {
  const store = new LevelStore()
  const channels = [1, 2].map((number) => ({
    ...emptyChannel(number, number, number),
    transmitter: isOn ? transmitter : null,
    ...fields,
  }))
  const receiver = { ...toDraft('shure', { id: 'a', kind: 'receiver' }, 1000), id: 1, channels }
  store.load(receiver, 0)
  const rows = store.rowsOf(1)
  if (rows === undefined) throw new Error('The receiver has no rows.')
  const changed: number[] = []
  let isOwn = true
  const ages = new LevelAges(store)
  ages.found.subscribe((id) => void changed.push(id))
  ages.lost.subscribe(({ rows, lost }) => {
    if (!isOwn) return ages.forget(rows)
    store.forget(rows, lost, performance.now())
    changed.push(rows.receiverId)
  })
  const arrival = { levels, intervalMs }
  return {
    changed,
    receive(...numbers: number[]) {
      const samples = numbers.map(sample)
      store.apply(rows, samples, performance.now())
      ages.received(rows, samples, arrival)
    },
    needsPoll: () => ages.needsPoll(1),
    /** Levels of a list. */
    poll(time: number) {
      const samples = ages.withoutNewer(
        rows,
        [1, 2].map((number) => ({ ...sample(number), rf_level: -70 })),
        time,
      )
      store.apply(rows, samples, performance.now())
      ages.received(rows, samples, arrival)
    },
    report: () => ages.reported(receiver, [], arrival),
    release() {
      isOwn = false
    },
    get statuses() {
      return [1, 2].map((number) => ages.statusOf(1, number))
    },
    get rf() {
      return store.toRecord(receiver).channels.map(({ rf_level }) => rf_level)
    },
  }
}

// Conformance: C-22.1.
test.each<[string, DeviceLevels, number, lifetimeMs: number]>([
  ['sampled every 100 ms', sampled, 10_000, 5_000],
  ['sampled every 4 s', { rf: { kind: 'sampled', intervalMs: 4_000 }, audio: null }, 10_000, 12_000],
  ['reported when they change', changes, 10_000, 30_000],
  ['polled every 5 s', polledLevels, 5_000, 30_000],
  ['polled every 20 s', polledLevels, 20_000, 60_000],
])('levels that are %s become unknown after a silence', (_, levels, intervalMs, lifetimeMs) => {
  const ages = createAges(levels, { intervalMs })
  ages.receive(1, 2)
  vi.advanceTimersByTime(lifetimeMs - 1)
  expect([ages.rf, ages.statuses]).toEqual([
    [-60, -60],
    ['current', 'current'],
  ])
  vi.advanceTimersByTime(501)
  expect([ages.rf, ages.statuses, ages.changed]).toEqual([[null, null], ['lost', 'lost'], [1]])
})

// Conformance: C-22.1.
// Reliability: R11.
test('reports without levels do not make levels last longer; the first new levels end the silence', () => {
  const ages = createAges(sampled)
  ages.receive(1, 2)
  for (let second = 0; second < 6; second += 1) {
    vi.advanceTimersByTime(1000)
    ages.report()
  }
  expect(ages.statuses).toEqual(['lost', 'lost'])
  ages.receive(2)
  expect([ages.rf, ages.statuses, ages.changed]).toEqual([
    [null, -60],
    ['lost', 'current'],
    [1, 1],
  ])
})

// Conformance: C-22.1.
// Reliability: R11.
test('one channel that is silent loses its levels alone', () => {
  const ages = createAges(sampled)
  ages.receive(1, 2)
  for (let second = 0; second < 6; second += 1) {
    vi.advanceTimersByTime(1000)
    ages.receive(1)
  }
  expect([ages.rf, ages.statuses]).toEqual([
    [-60, null],
    ['current', 'lost'],
  ])
})

test('a source with a fixed rate that never sends levels loses those that were stored', () => {
  const ages = createAges(sampled, { fields: { rf_level: -50 } })
  expect(ages.statuses).toEqual(['unknown', 'unknown'])
  ages.report()
  expect(ages.statuses).toEqual(['unknown', 'unknown'])
  vi.advanceTimersByTime(5_500)
  expect([ages.rf, ages.statuses]).toEqual([
    [null, null],
    ['lost', 'lost'],
  ])
})

test('a system that reports no levels loses none', () => {
  const ages = createAges(polledLevels)
  ages.report()
  vi.advanceTimersByTime(60_000)
  expect(ages.statuses).toEqual(['unknown', 'unknown'])
})

// Conformance: C-22.2.
test('a poll confirms the levels of a system that were not pushed for 10 s, and leaves the others alone', () => {
  const ages = createAges(polledLevels)
  expect(ages.needsPoll()).toBe(false)
  ages.receive(1, 2)
  for (let second = 0; second < 60; second += 1) {
    vi.advanceTimersByTime(1000)
    ages.receive(1)
    const isDue = ages.needsPoll()
    expect(isDue).toBe(second % 10 === 9)
    if (isDue) ages.poll(performance.now() - 10_000)
  }
  expect([ages.rf, ages.statuses, ages.changed]).toEqual([[-60, -70], ['current', 'current'], []])
})

test('levels with a rate of their own are not polled', () => {
  const ages = createAges(sampled)
  ages.receive(1, 2)
  vi.advanceTimersByTime(60_000)
  expect(ages.needsPoll()).toBe(false)
})

test('a channel without a transmitter is not awaited if its device is silent without one', () => {
  const ages = createAges({ ...sampled, needsTransmitter: true }, { isOn: false })
  ages.receive(1)
  ages.report()
  vi.advanceTimersByTime(60_000)
  expect([ages.rf, ages.statuses]).toEqual([
    [null, null],
    ['current', 'current'],
  ])
})

test('levels that another process receives now are left alone', () => {
  const ages = createAges(sampled)
  ages.receive(1, 2)
  ages.release()
  vi.advanceTimersByTime(60_000)
  expect([ages.rf, ages.changed]).toEqual([[-60, -60], []])
})

test('optional samples that came at one time only are not awaited, and become unknown', () => {
  const optional = { kind: 'sampled', intervalMs: 100, isOptional: true } as const
  const ages = createAges({ rf: optional, audio: optional })
  ages.receive(1, 2)
  vi.advanceTimersByTime(500)
  ages.receive(1, 2)
  vi.advanceTimersByTime(6_000)
  expect([ages.rf, ages.statuses]).toEqual([
    [null, null],
    ['unknown', 'unknown'],
  ])
  ages.receive(1)
  vi.advanceTimersByTime(1_000)
  ages.receive(1)
  vi.advanceTimersByTime(6_000)
  expect([ages.rf, ages.statuses]).toEqual([
    [null, null],
    ['lost', 'unknown'],
  ])
})
