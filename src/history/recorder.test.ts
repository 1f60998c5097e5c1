import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Condition } from '../domain/conditions/condition.ts'
import { type Channel, emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import { type ColumnName, columnNames, noValue, type RecordedSeconds, stateLetters } from '../domain/history/columns.ts'
import type { RecordingGap } from '../domain/history/second.ts'
import { toDraft } from '../domain/identity/ingest-plan.ts'
import type { LevelSample } from '../domain/levels/level-sample.ts'
import { LevelStore } from '../ingest/level-store.ts'
import { type DiskSpace, Recorder } from './recorder.ts'

const startedAt = Date.UTC(2026, 10, 23, 19)
const start = startedAt / 1000

beforeEach(() => void vi.useFakeTimers({ now: startedAt }))
afterEach(() => void vi.useRealTimers())

const condition: Condition = { state: 'ok', severity: 'ok', attention: false, since: 0, since_known: true, flags: [] }
const transmitter = { upstream_slot: null, name: 'Nora', battery: 90, audio_level: -20, rf_level: -50, frequency: null }

function createReceiver(channels: readonly Partial<Channel>[] = [{ transmitter }]): Receiver {
  return {
    ...toDraft('shure', { id: 'a', kind: 'receiver' }, startedAt),
    id: 1,
    channels: channels.map((fields, index) => ({
      ...emptyChannel(index + 5, index + 1, index + 1),
      rf_level: -95,
      condition,
      ...fields,
    })),
  }
}

interface Recorded extends Partial<Record<ColumnName, number | null>> {
  readonly letter: string | undefined
}

/** A history in memory. */
function createHistory() {
  const parts: RecordedSeconds[] = []
  let isFull = false
  return {
    parts,
    set isFull(value: boolean) {
      isFull = value
    },
    async append(seconds: RecordedSeconds) {
      if (isFull) throw new Error('the disk is full')
      parts.push(seconds)
    },
    async range() {
      const ends = parts.map(({ from, count }) => from + count)
      return ends.length === 0 ? null : { first: parts[0]?.from ?? 0, last: Math.max(...ends) }
    },
    at: async () => null,
    /** Returns all recorded seconds of a channel, in the order in which they were stored. */
    seconds(channelId = 5): [number, Recorded][] {
      return parts.flatMap(({ from, count, channelIds, columns }) => {
        const index = channelIds.indexOf(channelId)
        if (index < 0) return []
        return Array.from({ length: count }, (_, step): [number, Recorded] => {
          const value = (name: ColumnName) => columns[name][index * count + step] ?? noValue
          const known = columnNames.map((name) => [name, value(name) === noValue ? null : value(name)])
          return [from + step - start, { ...Object.fromEntries(known), letter: stateLetters[value('state')] }]
        })
      })
    },
    letters(channelId = 5): string {
      return this.seconds(channelId)
        .map(([, { letter }]) => letter)
        .join('')
    },
  }
}

type RecorderSubsystems = ConstructorParameters<typeof Recorder>[0]

function open({ receiver = createReceiver(), history = createHistory(), hasOtherNodes = false } = {}) {
  const levels = new LevelStore()
  const gaps: RecordingGap[] = []
  const faults: (string | null)[] = []
  const own = new Set([receiver.id])
  let isOn = true
  let space: DiskSpace | null = null
  let shiftMs = 0
  const subsystems = {
    levels,
    history,
    disk: { space: async () => space },
    conditions: {
      ownReceivers: () => own,
      isOwn: (id: number) => own.has(id),
      thresholdsOf: () => ({ RF_WEAK_DBM: -85 }),
    },
    settings: { get: () => ({ HISTORY: isOn }) },
    leaseManager: { hasOtherNodes },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  }
  const recorder = new Recorder(subsystems as unknown as RecorderSubsystems, () => Date.now() + shiftMs)
  recorder.gapEnded.subscribe((gap) => gaps.push(gap))
  recorder.faultChanged.subscribe((fault) => faults.push(fault))
  let record = receiver
  levels.load(record, performance.now())
  recorder.start()
  return {
    recorder,
    history,
    levels,
    gaps,
    faults,
    own,
    sample(sample: Partial<LevelSample>) {
      const rows = levels.rowsOf(receiver.id)
      if (rows === undefined) throw new Error('The receiver was removed.')
      levels.apply(rows, [{ channel: 1, ...sample }], performance.now())
      rows.receivedAt = performance.now()
    },
    /** Reports other facts of the receiver or its first channel. */
    report({ channel, ...fields }: Partial<Receiver> & { readonly channel?: Partial<Channel> }) {
      const [first, ...others] = levels.toRecord(record).channels
      record = { ...record, ...fields, channels: [{ ...(first as Channel), ...channel }, ...others] }
      levels.load(record, performance.now())
    },
    /** Changes the condition of the first channel without a report. */
    setCondition(changed: Partial<Condition>) {
      const [first, ...others] = levels.toRecord(record).channels
      record = { ...record, channels: [{ ...(first as Channel), condition: { ...condition, ...changed } }, ...others] }
      levels.setFacts(record)
    },
    setOn(value: boolean) {
      isOn = value
      recorder.settingsChanged()
    },
    setSpace(value: DiskSpace | null) {
      space = value
    },
    /** Sets the wall clock. */
    shift(ms: number) {
      shiftMs += ms
    },
  }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Blocks the event loop: time passes, but no timer runs. */
function block(ms: number): void {
  vi.setSystemTime(Date.now() + ms)
  blockedMs += ms
}

let blockedMs = 0

beforeEach(() => {
  blockedMs = 0
  const fakeNow = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => fakeNow() + blockedMs)
})
afterEach(() => void vi.restoreAllMocks())

describe('Recorder', () => {
  // Conformance: C-12.20.
  it('folds the samples of a second', async () => {
    const { sample, history, recorder } = open()
    for (let tick = 0; tick < 20; tick += 1) {
      sample({
        transmitter: { rf_level: -50 - (tick % 10) },
        details: { audio_peak: -30 + (tick % 10), audio_rms: -40 + tick, quality: 100 - (tick % 10) },
      })
      await pass(100)
    }
    await recorder.flush()
    const [[first, second], next] = [history.seconds()[0] ?? [], history.seconds()[1]?.[1]]
    expect([first, second]).toEqual([
      0,
      {
        state: 4,
        letter: '1',
        rows: 0,
        rf_min: -59,
        rf_max: -50,
        audio_max: -21,
        audio_last: -31,
        quality_min: 91,
        battery: 90,
        minutes: null,
        weak_ms: 0,
      },
    ])
    expect(next).toMatchObject({ rf_min: -59, rf_max: -50, audio_last: -21 })
  })

  // Conformance: C-12.20.
  it('records a dropout of 200 ms, and splits it at the boundary of two seconds', async () => {
    const { sample, history, recorder } = open()
    for (let tick = 0; tick < 40; tick += 1) {
      const isWeak = [13, 14, 29, 30].includes(tick)
      sample({ transmitter: { rf_level: isWeak ? -101 : -60 } })
      await pass(100)
    }
    await recorder.flush()
    expect(history.seconds().map(([time, { weak_ms, rf_min, rf_max }]) => [time, weak_ms, rf_min, rf_max])).toEqual([
      [0, 0, -60, -60],
      [1, 200, -101, -60],
      [2, 100, -101, -60],
      [3, 100, -101, -60],
    ])
  })

  it('counts a weak sample until the next one, for at most 1 s', async () => {
    const { sample, setCondition, history, recorder } = open()
    await pass(500)
    sample({ transmitter: { rf_level: -90 } })
    await pass(1000)
    // A condition is no sample.
    setCondition({ state: 'rf_weak', flags: ['battery_low'] })
    await pass(2500)
    await recorder.flush()
    expect(history.seconds().map(([, { weak_ms, rf_min, rows }]) => [weak_ms, rf_min, rows])).toEqual([
      [500, -90, 0],
      [500, -90, (1 << 6) | (1 << 7)],
      [0, -90, (1 << 6) | (1 << 7)],
      [0, -90, (1 << 6) | (1 << 7)],
    ])
  })

  it('records the best antenna in use, and the RF level of a channel without a transmitter', async () => {
    const { sample, report, history, recorder } = open({ receiver: createReceiver([{}]) })
    report({ channel: { transmitter: { ...transmitter, rf_level: -70 } } })
    await pass(1000)
    sample({ details: { rf_a: -90, rf_b: -62, rf_c: -30, antennas: 'AB' } })
    await pass(1000)
    // No antenna in use: the level that the equipment reports, which is not weak.
    sample({ transmitter: { rf_level: -100 }, details: { antennas: '' } })
    await pass(1000)
    report({ channel: { transmitter: null, rf_level: -97 } })
    await pass(2000)
    await recorder.flush()
    expect(history.seconds().map(([, { letter, rf_max, weak_ms }]) => [letter, rf_max, weak_ms])).toEqual([
      ['1', -70, 0],
      ['1', -62, 0],
      ['1', -100, 0],
      ['0', -97, 0],
      ['0', -97, 0],
    ])
    expect(history.seconds()[4]?.[1]).toMatchObject({ audio_max: null, audio_last: null, battery: null, minutes: null })
  })

  // Conformance: C-12.21.
  it('records the state at the end of a second', async () => {
    const { report, setCondition, history, levels } = open()
    await pass(900)
    report({ channel: { transmitter: { ...transmitter, details: { muted: true, battery_minutes: 200 } } } })
    await pass(1000)
    setCondition({ state: 'battery_critical', flags: ['stale'] })
    await pass(1000)
    setCondition({ state: 'battery_critical' })
    await pass(1000)
    report({ is_active: false })
    await pass(1000)
    report({ is_active: true, channel: { transmitter: null } })
    await pass(1000)
    levels.remove(1)
    await pass(5000)
    expect(history.letters()).toBe('m-mx0xxxxx')
    const seconds = history.seconds().map(([, second]) => second)
    expect(seconds[0]).toMatchObject({ rf_max: -50, minutes: 200 })
    expect(seconds[1]).toMatchObject({ rows: (1 << 1) | (1 << 3), rf_min: null, battery: null, weak_ms: null })
    // The levels of before hold again, because the source is received.
    expect(seconds[2]).toMatchObject({ rf_min: -50, rf_max: -50, audio_last: -20, battery: 90 })
    expect(seconds[4]).toMatchObject({ rf_max: -95, audio_last: null })
    expect(seconds[6]).toMatchObject({ rf_min: null, rf_max: null, weak_ms: null })
  })

  it('does not record stored levels until the first report', async () => {
    const receiver = createReceiver()
    const { levels, sample, history } = open({ receiver })
    levels.load(receiver, performance.now() - 60_000)
    // Recorded from now on, but last received before.
    levels.remove(1)
    levels.load(receiver, performance.now() - 60_000)
    await pass(1500)
    sample({ transmitter: { rf_level: -44 } })
    await pass(4000)
    expect(history.letters()).toBe('-1111')
    expect(history.seconds()[1]?.[1]).toMatchObject({ rf_min: -44, rf_max: -44 })
  })

  it('records only receivers that this process evaluates', async () => {
    const { own, history } = open()
    await pass(2000)
    own.delete(1)
    await pass(2000)
    own.add(1)
    await pass(2000)
    expect(history.seconds().map(([time]) => time)).toEqual([0, 1, 4])
  })

  // Conformance: C-12.22.
  it('follows steps of the clock', async () => {
    const { shift, history, gaps, recorder } = open()
    await pass(2500)
    shift(-10_000)
    await pass(2000)
    shift(60_000)
    await pass(2000)
    await recorder.flush()
    expect(history.seconds().map(([time]) => time)).toEqual([0, 1, 2, -7, -6, 55])
    expect(gaps).toEqual([{ from: start + 3, until: start + 55, reason: 'stopped' }])
  })

  it('lengthens the current second by a small step back', async () => {
    const { shift, sample, history, recorder } = open()
    await pass(1200)
    shift(-500)
    sample({ transmitter: { rf_level: -88 } })
    await pass(1400)
    await recorder.flush()
    expect(history.seconds().map(([time, { weak_ms, rf_min }]) => [time, weak_ms, rf_min])).toEqual([
      [0, 0, -50],
      [1, 1000, -88],
    ])
  })

  // Conformance: C-12.22.
  it('catches up after the event loop was blocked', async () => {
    const { sample, history, recorder, gaps } = open()
    await pass(1500)
    block(3000)
    sample({ transmitter: { rf_level: -90 } })
    await pass(600)
    await recorder.flush()
    expect(history.seconds().map(([time, { rf_min, weak_ms }]) => [time, rf_min, weak_ms])).toEqual([
      [0, -50, 0],
      [1, -50, 0],
      [2, -50, 0],
      [3, -50, 0],
      [4, -90, 500],
    ])
    block(40_000)
    await pass(2000)
    await recorder.flush()
    expect(
      history
        .seconds()
        .slice(5)
        .map(([time]) => time),
    ).toEqual([5, 46])
    expect(gaps).toEqual([{ from: start + 6, until: start + 46, reason: 'stopped' }])
  })

  it.each([
    ['5 s', false, [5, 5]],
    ['second while other processes use the database', true, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
  ])('stores closed seconds every %s', async (_, hasOtherNodes, counts) => {
    const { history } = open({ hasOtherNodes })
    await pass(10_900)
    expect(history.parts.map(({ count }) => count)).toEqual(counts)
  })

  it('passes on at most 1,000 channels at a time', async () => {
    const { history } = open({ receiver: createReceiver(Array.from({ length: 1001 }, () => ({ transmitter }))) })
    await pass(5000)
    expect(history.parts.map(({ channelIds, count }) => [channelIds.length, count])).toEqual([
      [1000, 5],
      [1, 5],
    ])
    expect(history.seconds(1005)).toHaveLength(5)
  })

  it('stores the current second when it stops', async () => {
    const { recorder, history } = open()
    await pass(1700)
    await recorder.stop()
    await pass(10_000)
    expect(history.letters()).toBe('11')
  })

  // Conformance: C-12.23, C-12.24.
  it('pauses while the history cannot be written, and reports the gap when it can again', async () => {
    const { history, faults, gaps, recorder } = open()
    await pass(6000)
    history.isFull = true
    await pass(20_000)
    expect(recorder.fault).toBe('the disk is full')
    history.isFull = false
    await pass(5000)
    expect(recorder.fault).toBeNull()
    expect(faults).toEqual([null, 'the disk is full', null])
    expect(gaps).toEqual([{ from: start + 5, until: start + 25, reason: 'storage' }])
    expect(history.seconds().map(([time]) => time)).toEqual([0, 1, 2, 3, 4, 25, 26, 27, 28, 29])
  })

  it.each([
    ['500 MB', { free: 499e6, size: 1e9 }, { free: 500e6, size: 1e9 }],
    ['2% of the disk', { free: 1.9e9, size: 100e9 }, { free: 2e9, size: 100e9 }],
  ])('requires %s of free space', async (_, low, enough) => {
    const { setSpace, faults, history } = open()
    setSpace(low)
    await pass(5000)
    expect(faults).toHaveLength(1)
    expect(history.parts).toEqual([])
    setSpace(enough)
    await pass(5000)
    expect(faults).toEqual([expect.stringContaining('MB are required'), null])
    expect(history.seconds().map(([time]) => time)).toEqual([5, 6, 7, 8, 9])
  })

  it('keeps one minute while the history does not respond', async () => {
    const { history, faults, gaps } = open()
    const { append } = history
    let respond = () => {}
    history.append = async (seconds) => {
      await new Promise<void>((resolve) => {
        respond = resolve
      })
      history.append = append.bind(history)
      return append(seconds)
    }
    await pass(100_000)
    expect(faults).toEqual(['The disk or the database is too slow.'])
    respond()
    await pass(5000)
    expect(faults.at(-1)).toBeNull()
    expect(gaps).toEqual([{ from: start + 5, until: start + 40, reason: 'storage' }])
  })

  it('stops at once while HISTORY is false', async () => {
    const { setOn, sample, history, gaps } = open()
    await pass(2500)
    setOn(false)
    sample({ transmitter: { rf_level: -99 } })
    await pass(10_000)
    sample({ transmitter: { rf_level: -60 } })
    expect(history.letters()).toBe('111')
    setOn(true)
    await pass(5000)
    expect(gaps).toEqual([{ from: start + 3, until: start + 12, reason: 'off' }])
    expect(history.seconds()[3]).toMatchObject([12, { rf_min: -60, weak_ms: 0 }])
  })

  // Conformance: C-12.23.
  it('reports the time since any process recorded', async () => {
    const history = createHistory()
    const before = open({ history })
    await pass(5000)
    await before.recorder.stop()
    await pass(1000)
    const soon = open({ history })
    await pass(5000)
    await soon.recorder.stop()
    await pass(30_000)
    const late = open({ history })
    await pass(5000)
    expect([soon.gaps, late.gaps]).toEqual([[], [{ from: start + 12, until: start + 41, reason: 'stopped' }]])
  })

  it('reports no gap in which another process recorded', async () => {
    const history = createHistory()
    await history.append({ ...emptySeconds, from: start - 60 })
    const { gaps, recorder } = open({ history, hasOtherNodes: true })
    history.at = (async () => ({ isRecorded: true })) as never
    await pass(30_000)
    expect(gaps).toEqual([])
    await recorder.stop()
  })
})

const emptySeconds: RecordedSeconds = {
  from: 0,
  count: 1,
  channelIds: [],
  columns: Object.fromEntries(columnNames.map((name) => [name, new Int16Array(0)])) as never,
}
