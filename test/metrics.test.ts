/** The Prometheus metrics of the service and its equipment. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until, version, withoutPush } from './app.ts'

/** Maps each name with its labels to its value. */
function readMetrics(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

// Conformance: C-5.64, C-10.10.
it('GET /metrics includes polls, devices, clients, subscriptions, the queue and alerts', async () => {
  const simulator = withoutPush(await startShure())
  const { id } = deviceOf(simulator)
  simulator.show.set(id, { battery: 5 }, 1)
  simulator.show.set(id, { transmitter: false }, 2)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  await app.socket()
  await until('both receivers are known', async () => (await app.receivers()).length === 2)
  await until('the alert is raised', async () => (await app.get('/api/alerts/')).json.length > 0)
  await until('a cycle is counted', async () =>
    /^micwatch_polls_total/m.test(String((await app.get('/metrics')).bytes)),
  )
  await until('a cycle has ended', async () => (await app.get('/api/health/')).json.status === 'healthy')
  const { status, headers, bytes } = await app.get('/metrics')
  expect(status).toBe(200)
  expect(headers['content-type']).toContain('text/plain; version=0.0.4')
  const metrics = readMetrics(bytes.toString())
  const source = `manufacturer="shure",source="shure:${simulator.baseUrl}"`
  expect(metrics.get(`micwatch_polls_total{${source}}`)).toBeGreaterThan(0)
  expect(metrics.get(`micwatch_poll_failures_total{${source}}`)).toBe(0)
  expect(metrics.get(`micwatch_poll_overruns_total{${source}}`)).toBeGreaterThanOrEqual(0)
  expect(metrics.get(`micwatch_poll_duration_seconds_count{${source}}`)).toBeGreaterThan(0)
  expect(metrics.get('micwatch_devices{manufacturer="shure",state="active"}')).toBe(2)
  expect(metrics.get('micwatch_channels{manufacturer="shure",state="live"}')).toBe(3)
  expect(metrics.get('micwatch_channels{manufacturer="shure",state="idle"}')).toBe(1)
  expect(metrics.get('micwatch_channel_conditions{manufacturer="shure",state="battery_critical"}')).toBe(1)
  expect(metrics.get('micwatch_channel_conditions{manufacturer="shure",state="tx_off"}')).toBe(1)
  expect(metrics.get('micwatch_websocket_clients')).toBe(1)
  expect(metrics.get('micwatch_feed_waiting_messages')).toBe(0)
  expect(metrics.get('micwatch_discovery_queue_entries{status="pending"}')).toBe(0)
  expect(metrics.get('micwatch_alerts_open{kind="battery_critical",severity="critical"}')).toBe(1)
  expect(metrics.get('micwatch_alerts_open{kind="receiver_offline",severity="critical"}')).toBe(0)
  expect(metrics.get('micwatch_upstream_healthy{manufacturer="shure"}')).toBe(1)
  expect(metrics.get(`micwatch_build_info{version="${version}"}`)).toBe(1)
  expect(metrics.has('micwatch_realtime_connections{status="connected"}')).toBe(true)
  expect(bytes.toString()).not.toContain('channel_battery')

  simulator.setFault({ type: 'status', status: 500 })
  await until('a failure is counted', async () => {
    const again = readMetrics((await app.get('/metrics')).bytes.toString())
    return (again.get(`micwatch_poll_failures_total{${source}}`) ?? 0) > 0
  })
  await until('health is 0 under the same name', async () => {
    const failing = readMetrics((await app.get('/metrics')).bytes.toString())
    return failing.get('micwatch_upstream_healthy{manufacturer="shure"}') === 0
  })
})

// Conformance: C-5.64.
it('GET /metrics reports zero alerts without alerts, and no health of a disabled manufacturer', async () => {
  const app = await startApp({ manufacturers: [{ code: 'shure', api_enabled: false, config: {} }] })
  const metrics = readMetrics((await app.get('/metrics')).bytes.toString())
  const alerts = [...metrics].filter(([name]) => name.startsWith('micwatch_alerts_open'))
  expect(alerts.length).toBeGreaterThan(0)
  expect(new Set(alerts.map(([, value]) => value))).toEqual(new Set([0]))
  expect([...metrics.keys()].filter((name) => name.startsWith('micwatch_upstream_healthy'))).toEqual([])
})

it('GET /metrics includes batteries and levels by channel if requested', async () => {
  const simulator = withoutPush(await startShure({ receivers: 1 }))
  const { id, name } = deviceOf(simulator)
  simulator.show.set(id, { battery: 61, rf_level: -47, audio_level: -9, name: 'Vox "1"' }, 1)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  await until('the device is known', async () => (await app.receivers()).length === 1)
  const metrics = readMetrics((await app.get('/metrics?channels=1')).bytes.toString())
  const labels = `manufacturer="shure",receiver="${name}",channel="1",slot="1",name="Vox \\"1\\""`
  expect(metrics.get(`micwatch_channel_battery_percent{${labels}}`)).toBe(61)
  expect(metrics.get(`micwatch_channel_rf_level_dbm{${labels}}`)).toBe(-47)
  expect(metrics.get(`micwatch_channel_audio_level_dbfs{${labels}}`)).toBe(-9)
  expect((await app.get('/metrics?channels=yes')).status).toBe(400)
})

it('GET /metrics requires the same role as other reads', async () => {
  const app = await startApp({ config: { require_login: true } })
  expect((await app.get('/metrics')).status).toBe(401)
})
