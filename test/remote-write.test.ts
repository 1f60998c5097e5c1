import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { emptyChannel } from '../src/domain/equipment/receiver.ts'
import { type ColumnName, columnNames, noValue, type Steps, stateLetters } from '../src/domain/history/columns.ts'
import { RemoteWriter } from '../src/history/remote-write.ts'
import { ReceiverStore } from '../src/ingest/receiver-store.ts'
import { createCounters } from '../src/platform/counters.ts'
import { findAcknowledged, saveAcknowledged } from '../src/storage/meta.ts'
import { createDestinations } from '../src/upstream/destinations.ts'
import { configFor, deviceOf, startApp, startShure, until } from './support/app.ts'
import { buildReceiver } from './support/builders.ts'
import { onTestEnd } from './support/cleanup.ts'
import { storedLevels } from './support/internals.ts'
import { openLive } from './support/live-client.ts'
import { decodeWriteRequest, type ReceivedSeries, uncompressSnappy } from './support/remote-write-receiver.ts'
import { createTestDatabase, withDatabase } from './support/store/databases.ts'
import { openStore } from './support/store/helpers.ts'
import { buildSlotRecords } from './support/titles.ts'

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Starts a receiver that gives these answers, and then 204. */
async function startReceiver(answers: Answer[] = []) {
  const requests: { readonly status: number; readonly headers: object; readonly series: ReceivedSeries[] }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { status, headers = {} } = answers.shift() ?? { status: 204 }
    const series = decodeWriteRequest(uncompressSnappy(Buffer.concat(chunks)))
    requests.push({ status, headers: { ...request.headers, url: request.url }, series })
    response.writeHead(status, headers).end('secret-token is repeated here')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const accepted = () => requests.filter(({ status }) => status < 300).flatMap(({ series }) => series)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/write?tenant=1`,
    requests,
    /** Returns the accepted samples of a metric, with times in seconds. */
    samples: (metric: string) =>
      accepted()
        .filter(({ labels }) => labels.__name__ === metric)
        .flatMap(({ samples }) => samples.map(([value, time]) => [value, time / 1000])),
  }
}

/** Returns seconds of one channel with the second's number as its RF level. */
function createSeconds(channelId: number, from: number, count: number): Steps<Int16Array> {
  const columns = Object.fromEntries(columnNames.map((name) => [name, new Int16Array(count).fill(noValue)])) as Record<
    ColumnName,
    Int16Array
  >
  columns.state.fill(stateLetters.indexOf('1'))
  for (let step = 0; step < count; step++) columns.rf_min[step] = -((from + step) % 100)
  columns.weak_ms.fill(100)
  return { from, count, channelIds: [channelId], columns }
}

/** Starts a RemoteWriter with a history of the channel 7 until `now`, and the last acknowledged time. */
async function startWriter(options: {
  readonly url: string
  readonly now: number
  readonly acknowledged: number
  readonly firstSecond?: number
}) {
  const db = await openStore('sqlite')
  await db.transaction((tx) => saveAcknowledged(tx, options.acknowledged))
  const lines: string[] = []
  const channel = { ...emptyChannel(7, 1, 1), name: 'Vox' }
  const receiverStore = new ReceiverStore()
  receiverStore.put(buildReceiver(1, { name: 'Rack', channels: [channel] }))
  const counters = createCounters()
  const stop = new AbortController()
  const subsystems = {
    db,
    receiverStore,
    slotRecords: buildSlotRecords(receiverStore),
    outbound: { destinations: createDestinations() },
    leaseManager: {
      runWhileHeld: (_: string, signal: AbortSignal, work: (lease: object) => Promise<void>) =>
        work({ signal, guard: async () => {} }),
    },
    counters,
    installationName: 'Hall A',
    log: pino({ level: 'debug' }, { write: (line) => void lines.push(line) }),
    history: {
      levels: {
        range: async () => ({ first: options.firstSecond ?? 0, last: options.now }),
        async read([id = 0]: readonly number[], from: number, to: number, step: number) {
          const { columns, channelIds } = createSeconds(id, from, (to - from) / step)
          const widened = Object.entries(columns).map(([name, values]) => [name, Int32Array.from(values)])
          return { from, count: (to - from) / step, channelIds, columns: Object.fromEntries(widened) }
        },
      },
    },
  }
  const headers = { authorization: 'Bearer secret-token' }
  const writer = new RemoteWriter(
    { url: options.url, headers, interval_seconds: 10 },
    subsystems as unknown as ConstructorParameters<typeof RemoteWriter>[1],
    () => options.now * 1000,
  )
  const running = writer.run(stop.signal)
  const close = async () => {
    stop.abort()
    await running
  }
  onTestEnd(close)
  return { writer, close, lines, metrics: () => counters.registry.metrics(), stored: () => findAcknowledged(db.read) }
}

const now = 1_700_000_005

describe('remote write', () => {
  // Conformance: C-12.70, C-12.73.
  it('sends every complete interval once, and stores the end of the last', async () => {
    const receiver = await startReceiver()
    const { close, stored } = await startWriter({ url: receiver.url, now, acknowledged: now - 65 })
    // The seconds of the last 10 s may not be stored yet.
    const ends = [-55, -45, -35, -25, -15].map((offset) => now + offset)
    await until('all intervals are acknowledged', async () => (await stored()) === now - 15)
    await close()
    expect(receiver.samples('micwatch_channel_rf_dbm_min').map(([, time]) => time)).toEqual(ends)
    expect(receiver.requests[0]?.headers).toMatchObject({
      url: '/api/v1/write?tenant=1',
      authorization: 'Bearer secret-token',
      'content-encoding': 'snappy',
      'content-type': 'application/x-protobuf',
      'x-prometheus-remote-write-version': '0.1.0',
    })
  })

  // Conformance: C-12.72, C-12.74.
  it('repeats a request after 429 and 5xx, skips it after another 4xx, and logs no secrets', async () => {
    const receiver = await startReceiver([
      { status: 503 },
      { status: 429, headers: { 'retry-after': '1' } },
      { status: 400 },
    ])
    const writing = await startWriter({ url: receiver.url, now, acknowledged: now - 25 })
    await until('the request was rejected', () => receiver.requests.length >= 3)
    const bodies = receiver.requests.map(({ series }) => JSON.stringify(series))
    expect(new Set(bodies).size).toBe(1)
    await until('the problem is reported', () => writing.writer.problem?.includes('status 400'))
    await writing.close()
    const metrics = await writing.metrics()
    expect(metrics).toMatch(/^micwatch_remote_write_retries_total 2$/m)
    expect(metrics).toMatch(/^micwatch_remote_write_samples_total\{outcome="rejected"\} 3$/m)
    expect(await writing.stored()).toBe(now - 15)
    expect(writing.lines.length).toBeGreaterThan(0)
    expect(writing.lines.join()).not.toContain('secret-token')
  })

  // Conformance: C-12.72.
  it('sends at most the last 24 hours', async () => {
    const receiver = await startReceiver()
    const { close } = await startWriter({ url: receiver.url, now, acknowledged: now - 5 - 200_000 })
    await until('the first request has arrived', () => receiver.requests.length > 0)
    await close()
    const [, first] = receiver.samples('micwatch_channel_rf_dbm_min')[0] ?? []
    expect(first).toBe(now - 5 - 86_400 + 10)
  })

  it('counts weak seconds from the start of the UTC day, also those sent earlier', async () => {
    const receiver = await startReceiver()
    const midnight = Math.ceil(now / 86_400) * 86_400
    const acknowledged = midnight + 700
    const { close } = await startWriter({ url: receiver.url, now: acknowledged + 20, acknowledged })
    await until('the request has arrived', () => receiver.requests.length > 0)
    await close()
    // One step of 600 s and ten of 10 s before, and one of 10 s sent now, with 100 ms each.
    const [[seconds] = []] = receiver.samples('micwatch_channel_weak_seconds_total')
    expect(seconds).toBeCloseTo(1.2, 6)
  })

  // Conformance: C-12.74.
  it('does not follow redirects', async () => {
    const target = await startReceiver()
    const receiver = await startReceiver([{ status: 307, headers: { location: target.url } }])
    const { writer, close } = await startWriter({ url: receiver.url, now, acknowledged: now - 25 })
    await until('the redirect is reported', () => writer.problem?.includes('status 307'))
    await close()
    expect(target.requests).toEqual([])
  })

  // Conformance: C-12.74.
  // Reliability: 3.9.3.
  it.each(['169.254.17.3', '168.63.129.16', '[fd20:ce::254]'])('sends nothing to %s', async (host) => {
    const { writer, close } = await startWriter({ url: `http://${host}/`, now, acknowledged: now - 25 })
    await until('the address is refused', () => writer.problem?.includes('the address is not allowed'))
    await close()
  })

  it('sends levels recorded before it was configured, with the secrets from the file', async () => {
    const database = await createTestDatabase('sqlite')
    onTestEnd(database.drop)
    const simulator = await startShure({ receivers: 1, channelsPerReceiver: 1 })
    const { id } = deviceOf(simulator)
    const manufacturers = [configFor(simulator)]
    const before = await startApp({ manufacturers, databaseUrl: database.url })
    const channel = (await until('the device is known', () => before.receiver(id))).channels[0]
    const from = Math.floor(Date.now() / 10_000) * 10 - 120
    await (await storedLevels(before)).importSeconds(createSeconds(channel?.id ?? 0, from, 60))
    await withDatabase(before, (db) => db.transaction((tx) => saveAcknowledged(tx, from)))
    await before.close()

    const receiver = await startReceiver()
    const history_remote_write = { url: receiver.url, headers: { 'X-Scope-OrgID': 'venue' } }
    const app = await startApp({ manufacturers, databaseUrl: database.url, config: { history_remote_write } })
    const samples = () => receiver.samples('micwatch_channel_rf_dbm_min').filter(([, time = 0]) => time <= from + 60)
    await until('the levels have arrived', () => samples().length === 6)
    const ends = [10, 20, 30, 40, 50, 60].map((offset) => from + offset)
    const lowest = ends.map((end) => Math.min(...[...createSeconds(1, end - 10, 10).columns.rf_min]))
    expect(samples()).toEqual(ends.map((end, index) => [lowest[index], end]))
    expect(receiver.requests[0]?.headers).toMatchObject({ 'x-scope-orgid': 'venue' })
    const info = receiver.requests.flatMap(({ series }) => series).find(({ labels }) => labels.receiver !== undefined)
    expect(info?.labels).toMatchObject({
      ...{ __name__: 'micwatch_channel_info', name: channel?.name, channel: '1', slot: '1' },
      ...{ job: 'micwatch', installation: (await openLive(app)).snapshot.installation },
    })
    await app.close()
  })
})
