import { describe, expect, it } from 'vitest'
import { decodeWriteRequest, uncompressSnappy } from '../../../test/support/remote-write-receiver.ts'
import { type ColumnName, columnNames, noValue, type Steps } from './columns.ts'
import { addWeak, encodeChannelLabels, startOfDay, stepOf, toTimeSeries, type WeakTotals } from './remote-write.ts'
import { compressSnappy, encodeWriteRequest } from './write-request.ts'

function createSteps(from: number, channels: Readonly<Record<number, Partial<Record<ColumnName, number[]>>>>): Steps {
  const channelIds = Object.keys(channels).map(Number)
  const count = Object.values(channels)[0]?.state?.length ?? 0
  const valuesOf = (name: ColumnName) =>
    channelIds.flatMap((id) => channels[id]?.[name] ?? Array.from({ length: count }, () => noValue))
  const columns = Object.fromEntries(columnNames.map((name) => [name, Int32Array.from(valuesOf(name))]))
  return { from, count, channelIds, columns: columns as Record<ColumnName, Int32Array> }
}

const noTotals: WeakTotals = { day: 0, ms: new Map() }
const described = { channel: 1, slot: 4, name: 'Läuterung "A"', receiver: 'Rack 1', manufacturer: 'shure' }
const labels = new Map(
  Array.from({ length: 200 }, (_, id) => [id, encodeChannelLabels({ id, ...described }, 'Hall A')]),
)

function decode(steps: Steps, intervalSeconds: number, totals = noTotals) {
  const step = stepOf(intervalSeconds)
  return decodeWriteRequest(encodeWriteRequest(toTimeSeries(steps, { step, intervalSeconds }, labels, totals)))
}

describe('a write request', () => {
  // Conformance: C-12.70.
  it('has one sample for each series and interval, stamped at the end of the interval', () => {
    const steps = createSteps(1000, {
      7: {
        state: [4, 4, 4, 4],
        rf_min: [-60, -97, -61, noValue],
        rf_max: [-55, -54, -53, noValue],
        audio_max: [-20, -9, -30, noValue],
        battery: [81, 80, noValue, 79],
        minutes: [200, 199, 198, noValue],
        weak_ms: [0, 300, 0, 0],
      },
    })
    const sampled = decode(steps, 2).map(({ labels, samples }) => [labels.__name__, samples])
    expect(Object.fromEntries(sampled)).toEqual({
      micwatch_channel_rf_dbm_min: [
        [-97, 1_002_000],
        [-61, 1_004_000],
      ],
      micwatch_channel_rf_dbm_max: [
        [-54, 1_002_000],
        [-53, 1_004_000],
      ],
      micwatch_channel_audio_dbfs_max: [
        [-9, 1_002_000],
        [-30, 1_004_000],
      ],
      micwatch_channel_battery_percent: [
        [80, 1_002_000],
        [79, 1_004_000],
      ],
      micwatch_channel_minutes_left: [
        [199, 1_002_000],
        [198, 1_004_000],
      ],
      micwatch_channel_weak_seconds_total: [
        [0.3, 1_002_000],
        [0.3, 1_004_000],
      ],
      micwatch_channel_info: [
        [1, 1_002_000],
        [1, 1_004_000],
      ],
    })
  })

  it('has the labels in order, as UTF-8', () => {
    const series = decode(createSteps(0, { 7: { state: [4], rf_min: [-60] } }), 1)
    expect(series.map(({ labels }) => Object.entries(labels))).toEqual([
      [
        ['__name__', 'micwatch_channel_rf_dbm_min'],
        ['channel_id', '7'],
        ['installation', 'Hall A'],
        ['job', 'micwatch'],
      ],
      [
        ['__name__', 'micwatch_channel_info'],
        ['channel', '1'],
        ['channel_id', '7'],
        ['installation', 'Hall A'],
        ['job', 'micwatch'],
        ['manufacturer', 'shure'],
        ['name', 'Läuterung "A"'],
        ['receiver', 'Rack 1'],
        ['slot', '4'],
      ],
    ])
  })

  it('contains nothing of what was not recorded', () => {
    expect(decode(createSteps(0, { 7: { state: [0, 0] } }), 1)).toEqual([])
  })
})

describe('weak seconds', () => {
  const weak = (from: number, ms: number) => createSteps(from, { 7: { state: [4], weak_ms: [ms] } })

  it('add up over one UTC day, and begin again on the next', () => {
    const midnight = startOfDay(1_700_000_000)
    const first = addWeak(noTotals, weak(midnight + 5, 400))
    const second = addWeak(first, weak(midnight + 6, 300))
    expect(second.ms.get(7)).toBe(700)
    const [series] = decode(weak(midnight + 7, 100), 1, second)
    expect(series?.samples).toEqual([[0.8, (midnight + 8) * 1000]])
    const [next] = decode(weak(midnight + 86_400, 100), 1, second)
    expect(next?.samples).toEqual([[0.1, (midnight + 86_401) * 1000]])
    expect(addWeak(second, weak(midnight + 86_400, 100)).ms.get(7)).toBe(100)
  })
})

describe('Snappy', () => {
  const pattern = (length: number, period: number) =>
    Uint8Array.from({ length }, (_, index) => (index % period === 0 ? index >> 5 : index % period))
  it.each([
    ['nothing', new Uint8Array(0)],
    ['less than a match', Uint8Array.of(1, 2, 3)],
    ['one value', new Uint8Array(1000).fill(7)],
    ['a short period', pattern(5000, 3)],
    ['a long period', pattern(200_000, 70)],
    ['no repetition', Uint8Array.from({ length: 70_000 }, (_, index) => Math.imul(index, 0x9e3779b1) >>> 24)],
  ])('compresses %s so that the input can be restored', (_, input) => {
    const compressed = compressSnappy(input)
    expect(Buffer.from(uncompressSnappy(compressed)).equals(Buffer.from(input))).toBe(true)
  })

  it('reduces a write request to less than a third', () => {
    const channels = Object.fromEntries(
      Array.from({ length: 100 }, (_, id) => [id + 1, { state: [4], rf_min: [-60 - (id % 7)], battery: [id] }]),
    )
    const request = encodeWriteRequest(
      toTimeSeries(createSteps(1000, channels), { step: 1, intervalSeconds: 1 }, labels, noTotals),
    )
    expect(compressSnappy(request).length).toBeLessThan(request.length / 3)
  })
})
