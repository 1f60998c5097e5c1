/** The Prometheus metrics of the service and its equipment. */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until, version, withoutPush } from './support/app.ts'
import { openLive } from './support/live-client.ts'
import { findPrometheus } from './support/prometheus.ts'
import { tokenHeaders } from './support/tokens.ts'

/** Maps each name with its labels to its value. The label `installation`, which every series has, is left out. */
function readMetrics(text: string): Map<string, number> {
  const lines = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) =>
      line
        .replace(/installation="[^"]+",?/, '')
        .replace(/,?\} /, '} ')
        .replace('{} ', ' '),
    )
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

// Conformance: C-5.64, C-10.10, C-26.16.
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
  expect(metrics.has('micwatch_backup_last_success_timestamp_seconds')).toBe(false)
  expect(metrics.get('micwatch_disk_free_bytes')).toBeGreaterThan(0)
  expect(metrics.get('micwatch_database_bytes')).toBeGreaterThan(0)
  expect(metrics.get(`micwatch_source_clock_offset_seconds{${source}}`)).toBeCloseTo(0, -1)
  expect(
    metrics.get('micwatch_http_request_duration_seconds_count{method="GET",route="/metrics",status="2xx"}'),
  ).toBeGreaterThan(0)
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

// Conformance: C-26.1.
it('GET /metrics labels every series with the name of the installation, or its id', async () => {
  const simulator = withoutPush(await startShure({ receivers: 1 }))
  const { id } = deviceOf(simulator)
  const read = async (app: Awaited<ReturnType<typeof startApp>>) => {
    const lines = String((await app.get('/metrics?channels=1')).bytes).split('\n')
    const series = lines.filter((line) => line !== '' && !line.startsWith('#'))
    expect(series.some((line) => line.startsWith('process_'))).toBe(true)
    return new Set(series.map((line) => /installation="([^"]*)"/.exec(line)?.[1]))
  }
  const named = await startApp({ manufacturers: [configFor(simulator)], config: { server: { name: 'Hall A' } } })
  await until('the device is known', () => named.receiver(id))
  expect(await read(named)).toEqual(new Set(['Hall A']))
  const unnamed = await startApp()
  const { installation } = (await openLive(unnamed)).snapshot
  expect(await read(unnamed)).toEqual(new Set([installation]))
  expect(Number(installation)).toBeGreaterThan(0)
})

// Conformance: C-12.110.
it('GET /metrics includes whether levels are recorded, and the size of the history', async () => {
  const app = await startApp({ isRecording: true })
  const read = async () => readMetrics((await app.get('/metrics')).bytes.toString())
  expect((await read()).get('micwatch_history_recording')).toBe(1)
  await until('the history has a size', async () => Number((await read()).get('micwatch_history_bytes')) > 0)
  await app.post('/api/config/', { key: 'HISTORY', value: 'false' }, await tokenHeaders(app, 'admin'))
  await until('recording has ended', async () => (await read()).get('micwatch_history_recording') === 0)
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

// Conformance: C-16.60, C-16.61.
it('GET /metrics labels receivers and channels by id, and has a series with their names', async () => {
  const simulator = withoutPush(await startShure({ receivers: 1 }))
  const { id, name } = deviceOf(simulator)
  simulator.show.set(id, { battery: 61, rf_level: -47, audio_level: -9, name: 'Vox "1"' }, 1)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const receiver = await until('the device is known', () => app.receiver(id))
  const [channel] = receiver.channels
  const metrics = readMetrics((await app.get('/metrics?channels=1')).bytes.toString())
  const labels = `channel_id="${channel?.id}"`
  expect(metrics.get(`micwatch_channel_battery_percent{${labels}}`)).toBe(61)
  expect(metrics.get(`micwatch_channel_rf_level_dbm{${labels}}`)).toBe(-47)
  expect(metrics.get(`micwatch_channel_audio_level_dbfs{${labels}}`)).toBe(-9)
  const withReceiver = `receiver_id="${receiver.id}",channel="1",slot="1",name="Vox \\"1\\"",receiver="${name}"`
  expect(metrics.get(`micwatch_channel_info{${labels},${withReceiver},manufacturer="shure"}`)).toBe(1)
  expect(metrics.get(`micwatch_receiver_up{receiver_id="${receiver.id}"}`)).toBe(1)
  expect([...metrics.keys()].join()).toContain(`micwatch_receiver_info{receiver_id="${receiver.id}",name="${name}"`)
  expect((await app.get('/metrics?channels=yes')).status).toBe(400)
  simulator.show.set(id, { online: false })
  await until('the receiver is down', async () => {
    const later = readMetrics((await app.get('/metrics')).bytes.toString())
    return later.get(`micwatch_receiver_up{receiver_id="${receiver.id}"}`) === 0
  })
})

// Conformance: C-16.62.
it('GET /metrics counts RF dropouts, clipping and interference of each channel from 0', async () => {
  const simulator = withoutPush(await startShure({ receivers: 1, story: false }))
  const { id } = deviceOf(simulator)
  simulator.show.set(id, { rf_level: -50, audio_level: -20 }, 1)
  simulator.show.set(id, { transmitter: false }, 2)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const receiver = await until('the device is known', () => app.receiver(id))
  const ids = receiver.channels.slice(0, 2).map((channel) => channel.id)
  /** Returns the counters of the first two channels: dropouts, clipping and interference of each. */
  const read = async () => {
    const metrics = readMetrics((await app.get('/metrics')).bytes.toString())
    const names = ['dropouts', 'clipping', 'interference']
    return ids.map((channel) =>
      names.map((name) => metrics.get(`micwatch_channel_${name}_total{channel_id="${channel}"}`)),
    )
  }
  const untilCounted = async (what: string, first: readonly number[], second: readonly number[]) =>
    until(`${what} is counted`, async () => String(await read()) === String([first, second]))
  expect(await read()).toEqual([
    [0, 0, 0],
    [0, 0, 0],
  ])
  simulator.show.set(id, { audio_level: 0 }, 1)
  await untilCounted('clipping', [0, 1, 0], [0, 0, 0])
  simulator.show.set(id, { rf_level: -97, audio_level: -20 }, 1)
  await untilCounted('the dropout', [1, 1, 0], [0, 0, 0])
  simulator.show.set(id, { rf_level: -50 }, 1)
  // A carrier without a transmitter.
  simulator.show.set(id, { rf_level: -60 }, 2)
  await untilCounted('the interference', [1, 1, 0], [0, 0, 1])
  simulator.show.set(id, { rf_level: -97 }, 1)
  await untilCounted('the second dropout', [2, 1, 0], [0, 0, 1])
})

// Conformance: C-16.63.
it('GET /metrics has the metrics of the process, and is compressed on request', async () => {
  const app = await startApp()
  const plain = await app.get('/metrics')
  expect(readMetrics(plain.bytes.toString()).get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
  expect(plain.headers['content-encoding']).toBeUndefined()
  const { headers, bytes } = await app.get('/metrics', { 'accept-encoding': 'gzip' })
  expect(headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': expect.stringContaining('version=0.0.4'),
    vary: 'Accept-Encoding',
  })
  expect(gunzipSync(bytes).toString()).toContain('process_cpu_seconds_total')
})

it('docs/prometheus.md lists every metric', async () => {
  const app = await startApp({
    config: {
      history_remote_write: { url: 'http://127.0.0.1:9/write' },
      mqtt: { url: 'mqtt://127.0.0.1:9' },
      osc: { targets: [{ host: '127.0.0.1', port: 9 }] },
    },
  })
  const text = String((await app.get('/metrics?channels=1')).bytes)
  const names = [...text.matchAll(/^# TYPE (micwatch_\w+)/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(30)
  const page = await readFile(new URL('../docs/prometheus.md', import.meta.url), 'utf8')
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

it('GET /metrics requires the same role as other reads', async () => {
  const app = await startApp({ config: { require_login: true } })
  expect((await app.get('/metrics')).status).toBe(401)
})

// Conformance: C-16.64, C-26.2.
it('deploy/prometheus/rules.yaml passes its tests', async () => {
  const tests = fileURLToPath(new URL('../deploy/prometheus/rules.test.yaml', import.meta.url))
  const { stdout } = await promisify(execFile)(await findPrometheus('promtool'), ['test', 'rules', tests])
  expect(stdout).toContain('SUCCESS')
  const rules = await readFile(new URL('../deploy/prometheus/rules.yaml', import.meta.url), 'utf8')
  const tested = await readFile(tests, 'utf8')
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !tested.includes(`alertname: ${name}`))).toEqual([])
})

interface Dashboard {
  readonly uid: string
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] }
  readonly panels: readonly (Queried & { readonly type: string; readonly targets: readonly Queried[] })[]
}

interface Queried {
  readonly datasource?: { readonly uid: string }
}

// Conformance: C-16.66.
it('deploy/grafana/micwatch.json can be imported again and used with any data source', async () => {
  const text = await readFile(new URL('../deploy/grafana/micwatch.json', import.meta.url), 'utf8')
  const { uid, templating, panels } = JSON.parse(text) as Dashboard
  expect(uid).toBe('micwatch')
  expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' })
  const sources = panels.flatMap(({ datasource, targets }) => [
    datasource,
    ...targets.map((target) => target.datasource ?? datasource),
  ])
  expect(sources.filter((source) => source?.uid !== `\${datasource}`)).toEqual([])
  // The AngularJS panels, such as graph and singlestat, no longer exist in Grafana 12.
  const current = ['stat', 'timeseries', 'state-timeline']
  expect(panels.map(({ type }) => type).filter((type) => !current.includes(type))).toEqual([])
})
