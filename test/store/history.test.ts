/** The recorded levels on both databases, through the worker thread. */

import { describe, expect, it } from 'vitest'
import { columnNames, noValue, type RecordedSeconds, stateLetters } from '../../src/domain/history/columns.ts'
import type { LevelHistory } from '../../src/domain/history/level-history.ts'
import { openLevelHistory } from '../../src/storage/history/open-level-history.ts'
import { onTestEnd } from '../cleanup.ts'
import { createTestDatabase, type Engine, engines } from '../databases.ts'

/** 2026-05-01T18:00:00Z */
const base = 1_777_658_400

async function open(engine: Engine) {
  const database = await createTestDatabase(engine)
  const warnings: string[] = []
  const history = openLevelHistory({ url: database.url, onWarning: (message) => warnings.push(message) })
  onTestEnd(async () => {
    await history.close()
    await database.drop()
  })
  return { history, database, warnings }
}

type Values = Partial<Record<(typeof columnNames)[number], number>>

/** Seconds in which transmitters are on, with a level that is different for every second and channel. */
function seconds(
  from: number,
  count: number,
  channelIds: readonly number[],
  change: (time: number, id: number) => Values = () => ({}),
): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(count * channelIds.length)]),
  ) as RecordedSeconds['columns']
  for (const [channel, id] of channelIds.entries()) {
    for (let index = 0; index < count; index++) {
      const values: Values = {
        state: stateLetters.indexOf('1'),
        rf_min: rfOf(from + index, id),
        rf_max: rfOf(from + index, id) + 3,
        audio_max: -20,
        audio_last: -32,
        quality_min: noValue,
        battery: 80,
        minutes: 300,
        ...change(from + index, id),
      }
      for (const name of columnNames) columns[name][channel * count + index] = values[name] ?? 0
    }
  }
  return { from, count, channelIds, columns }
}

const rfOf = (time: number, id: number) => -40 - ((time * 7 + id * 3) % 30)

const allSeries = ['rf', 'audio', 'quality', 'battery', 'minutes'] as const

async function query(history: LevelHistory, channelIds: readonly number[], from: number, to: number, maxPoints = 600) {
  const bytes = await history.query({ channelIds, from, to, maxPoints, series: allSeries })
  return JSON.parse(new TextDecoder().decode(bytes))
}

/** Records in batches of five seconds. */
async function record(history: LevelHistory, ...[from, count, ids, change]: Parameters<typeof seconds>) {
  for (let at = from; at < from + count; at += 5) {
    await history.append(seconds(at, Math.min(5, from + count - at), ids, change))
  }
}

describe.each(engines)('history on %s', (engine) => {
  it('returns a second as soon as it is appended', async () => {
    const { history } = await open(engine)
    expect(await history.range()).toBeNull()
    expect(await history.at(base)).toBeNull()
    await history.append(seconds(base, 5, [3, 500]))
    expect(await query(history, [500, 3], base, base + 6)).toEqual({
      from: '2026-05-01T18:00:00.000Z',
      to: '2026-05-01T18:00:06.000Z',
      step_seconds: 1,
      channels: [500, 3].map((id) => ({
        id,
        state: '11111-',
        rf: {
          min: [...[0, 1, 2, 3, 4].map((second) => rfOf(base + second, id)), null],
          max: [...[0, 1, 2, 3, 4].map((second) => rfOf(base + second, id) + 3), null],
        },
        audio: { max: [-20, -20, -20, -20, -20, null], last: [-32, -32, -32, -32, -32, null] },
        quality: { min: [null, null, null, null, null, null] },
        battery: { last: [80, 80, 80, 80, 80, null] },
        minutes: { last: [300, 300, 300, 300, 300, null] },
        weak_ms: [0, 0, 0, 0, 0, null],
      })),
    })
    expect(await history.range()).toEqual({ first: base, last: base + 5 })
    const found = await history.at(base + 4)
    expect(found).toMatchObject({ isRecorded: true, stepSeconds: 1 })
    expect(found?.steps.channelIds).toEqual([3, 500])
    expect(found?.steps.columns.rf_min).toEqual(Int32Array.of(rfOf(base + 4, 3), rfOf(base + 4, 500)))
  })

  it('returns the same before and after blocks are closed', async () => {
    const { history } = await open(engine)
    await record(history, base + 3, 600, [1, 2, 40])
    const open1 = await history.read([1, 40], base, base + 610, 1)
    const open60 = await history.read([1, 40], base, base + 660, 60)
    await record(history, base + 603, 70, [1, 2, 40])
    const { columns, ...rest } = await history.read([1, 40], base, base + 600, 1)
    expect(rest).toEqual({ from: base, count: 600, channelIds: [1, 40] })
    for (const name of columnNames) expect(columns[name].subarray(0, 600)).toEqual(open1.columns[name].subarray(0, 600))
    const closed60 = await history.read([1, 40], base, base + 600, 60)
    expect(closed60.columns.rf_min.subarray(0, 10)).toEqual(open60.columns.rf_min.subarray(0, 10))
  })
})
