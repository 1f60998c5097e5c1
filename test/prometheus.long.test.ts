/** A real Prometheus: remote write while it is down for a while, and the queries of the dashboard. */

import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { noValue } from '../src/domain/history/columns.ts'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { storedLevels } from './support/internals.ts'
import { startWebhookReceiver } from './support/notifications/webhook-receiver.ts'
import { preparePrometheus } from './support/prometheus.ts'

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
  const problems = async (): Promise<string> => (await app.get('/api/health/')).json.details.join()
  await until('remote write fails', async () => (await problems()).includes('connection refused'), 60_000)
  await until('something was recorded meanwhile', () => now() > downAt + 20, 60_000)
  expect(await problems()).toContain('Remote write')
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
  const { columns } = await (await storedLevels(app)).read([channel?.id ?? 0], first, last, 1)
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
  await eventually(problems).not.toContain('Remote write')
})

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
}

/** Replaces the variables that Grafana replaces. */
function fillVariables(expression: string): string {
  const values = { $installation: 'Hall A', $manufacturer: '.*', $__rate_interval: '1m' }
  return Object.entries(values).reduce((filled, [name, value]) => filled.replaceAll(name, value), expression)
}

// Conformance: C-16.65, C-26.2.
test('every query of the Grafana dashboard has a result, with remote write beside scraping', async () => {
  const simulator = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const { id } = deviceOf(simulator)
  simulator.show.set(id, { name: 'Nora', battery: 42, rf_level: -60, audio_level: -20 }, 1)
  const port = await freePort()
  const tls = { scheme: 'https', tls_config: { insecure_skip_verify: true } }
  const scrape = { job_name: 'micwatch', scrape_interval: '1s', params: { channels: ['1'] }, ...tls }
  const prometheus = await preparePrometheus([{ ...scrape, static_configs: [{ targets: [`127.0.0.1:${port}`] }] }])
  onTestEnd(prometheus.remove)
  await prometheus.start()
  const deadMansSwitch = await startWebhookReceiver([], 200)
  await startApp({
    manufacturers: [configFor(simulator)],
    config: {
      server: { name: 'Hall A', port },
      tls: 'auto',
      backup: { keep: 1 },
      heartbeat: { url: deadMansSwitch.url, interval: 12 },
      history_remote_write: { url: prometheus.writeUrl, interval_seconds: 1 },
    },
    isRecording: true,
  })
  const file = new URL('../deploy/grafana/micwatch.json', import.meta.url)
  const { panels } = JSON.parse(await readFile(file, 'utf8')) as Dashboard
  const readPanel = async (title: string) => {
    const expression = panels.find((panel) => panel.title === title)?.targets[0]?.expr ?? ''
    return (await prometheus.query(fillVariables(expression))).map(({ metric, value }) => [metric.name, value[1]])
  }
  const empty: string[] = await until(
    'every query has a result',
    async () => {
      const results = await Promise.all(
        panels.flatMap(({ title, targets }) =>
          targets.map(async ({ expr }) => ((await prometheus.query(fillVariables(expr))).length === 0 ? [title] : [])),
        ),
      )
      return results.flat().length === 0 ? results.flat() : undefined
    },
    60_000,
  )
  expect(empty).toEqual([])
  expect(panels.length).toBeGreaterThan(10)
  const [[, expiresInDays] = []] = await readPanel('Certificate expires in')
  expect(Number(expiresInDays)).toBeGreaterThan(14)
  for (const title of ['Last backup', 'Last heartbeat']) {
    const [[, seconds] = []] = await readPanel(title)
    expect(Number(seconds)).toBeLessThan(60)
  }
  const written = 'micwatch_channel_battery_percent{instance=""}'
  await until('levels were written', async () => (await prometheus.query(written)).length > 0, 60_000)
  const outcomes = await prometheus.query('micwatch_remote_write_samples_total{outcome="rejected"}')
  expect(outcomes.map(({ value }) => value[1])).toEqual(['0'])
  const batteries = await readPanel('Batteries')
  expect(batteries.filter(([name]) => name === 'Nora')).toEqual([['Nora', '42']])
  expect(await readPanel('RF level')).toContainEqual(['Nora', '-60'])
  expect(await readPanel('Receivers online')).toEqual([[undefined, '1']])
  expect(await readPanel('Receivers offline')).toEqual([[undefined, '0']])
  simulator.show.set(id, { audio_level: 0 }, 1)
  await until('clipping is shown', async () => (await readPanel('Clipping')).some(([, value]) => Number(value) > 0))
  simulator.show.set(id, { online: false })
  await until('the receiver is shown as offline', async () => String(await readPanel('Receivers offline')) === ',1')
})
