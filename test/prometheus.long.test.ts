/** Remote write to a real Prometheus, which is down for a while. */

import { expect, test } from 'vitest'
import { noValue } from '../src/domain/history/columns.ts'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from './app.ts'
import { onTestEnd } from './cleanup.ts'
import { preparePrometheus } from './prometheus.ts'

// Conformance: C-12.71.
test('stores in Prometheus what was recorded, also while Prometheus was down', async () => {
  const prometheus = await preparePrometheus()
  onTestEnd(prometheus.remove)
  await prometheus.start()
  const simulator = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 1 }))
  const { id } = deviceOf(simulator)
  const history_remote_write = { url: prometheus.writeUrl, interval_seconds: 2 }
  const app = await startApp({
    manufacturers: [configFor(simulator)],
    config: { history_remote_write },
    isRecording: true,
  })
  const channel = (await until('the device is known', () => app.receiver(id))).channels[0]
  const labels = `{channel_id="${channel?.id}"}`
  const now = () => Math.ceil(Date.now() / 1000)
  const from = now() - 60

  const read = (metric: string) => prometheus.read(`micwatch_channel_${metric}${labels}`, { from, to: now() })
  await until('the first samples are stored', async () => (await read('rf_dbm_min')).size >= 3, 60_000)

  await prometheus.end()
  const downAt = now()
  simulator.show.set(id, { rf_level: -97, battery: 12 }, 1)
  await until('remote write fails', () => app.runtime.remoteWrite?.problem?.includes('connection refused'), 60_000)
  await until('something was recorded meanwhile', () => now() > downAt + 20, 60_000)
  expect(app.runtime.health().details.join()).toContain('Remote write')
  simulator.show.set(id, { rf_level: -40, battery: 12 }, 1)
  const upAt = now()
  await prometheus.start()
  const stored = await until(
    'everything is stored',
    async () => {
      const samples = await read('rf_dbm_min')
      return [...samples.keys()].some((time) => time > upAt + 4) ? samples : undefined
    },
    120_000,
  )

  // One sample every two seconds, without a gap, and with the values of the history.
  const times = [...stored.keys()]
  expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual(times.slice(1).map(() => 2))
  const first = (times[0] ?? 0) - 2
  const last = times.at(-1) ?? 0
  const { columns } = await app.runtime.history.levels.read([channel?.id ?? 0], first, last, 1)
  const lowest = times.map((_, index) => {
    const values = [...columns.rf_min.slice(2 * index, 2 * index + 2)].filter((value) => value !== noValue)
    return Math.min(...values)
  })
  expect([...stored.values()]).toEqual(lowest)
  expect(Math.min(...stored.values())).toBe(-97)
  expect([...(await read('battery_percent')).values()]).toContain(12)
  const weak = [...(await read('weak_seconds_total')).values()]
  expect(weak.at(-1)).toBeGreaterThan(10)
  expect(weak).toEqual(weak.toSorted((a, b) => a - b))
  expect(app.runtime.remoteWrite?.problem).toBeNull()
}, 300_000)
