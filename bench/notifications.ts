/**
 * The delivery time of messages about alerts, and their cost for monitoring. The cost is the latency of level changes,
 * and the longest time for which the event loop was blocked. References: the same run with the same alerts, but without
 * notification channels; for the event loop, a process that only computes.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../simulators/shure/device-api.ts'
import { httpClient } from '../test/support/http-client.ts'
import {
  type AtEnd,
  type Bench,
  longestHoldMs,
  percentile,
  startChild,
  waitFor,
  watchEventLoop,
  withCleanup,
} from './harness.ts'
import { type Change, measureLatencies, openClient, toChanges, upstreamFrame } from './push.ts'
import { signInAsAdmin } from './reliability/service.ts'
import { type Micwatch, startMicwatch } from './servers.ts'

const channelsPerReceiver = 4
const alertsPerMinute = 100
/** Longer than three timeouts of an endpoint that hangs. */
const seconds = 35
const changesPerSecond = 50
/** Receivers whose levels change. Their channels outnumber the alerts of a run. */
const receivers = 40
const openAlerts = 10
const rules = 10
const alertsForRules = 1000

export const notifications = (nodeOptions: readonly string[]): Bench => ({
  name: 'notifications',
  runs: 1,
  async open(atEnd) {
    const { simulator, micwatch } = await start(atEnd, receivers, nodeOptions)
    const client = await openClient(atEnd, `${micwatch.address.replace('http', 'ws')}/ws`)
    const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), micwatch.receivers)
    let next = 0
    const raiseAlerts = async (signal: AbortSignal) => {
      for (; !signal.aborted; next += 1) {
        simulator.setBattery(next, 15)
        simulator.setBattery(next - openAlerts, 90)
        await sleep(60_000 / alertsPerMinute)
      }
    }
    const send = (change: Change, level: number) => simulator.push.send(upstreamFrame(change, level))
    const measureChanges = async () => {
      const stop = new AbortController()
      const raising = raiseAlerts(stop.signal)
      const latencies = await measureLatencies(client, changes, changesPerSecond, send, seconds)
      stop.abort()
      await raising
      return latencies
    }
    // The first calls compile the code.
    await measureLatencies(client, changes, changesPerSecond, send)
    return {
      async measure() {
        const alone = await measureChanges()
        const admin = await openAdmin(micwatch)
        const endpoints = [
          await startEndpoint(atEnd, 204),
          await startEndpoint(atEnd, 'hang'),
          await startEndpoint(atEnd, 503),
        ]
        const ids: number[] = []
        for (const { url } of endpoints) ids.push(await admin.addChannel(url, true))
        await admin.addRule('All', ids)
        await sleep(3_000)
        const [accepting] = endpoints
        accepting?.delays.splice(0)
        const beside = await measureChanges()
        await sleep(3_000)
        const delays = accepting?.delays ?? []
        const hold = await measureHold(atEnd, nodeOptions)
        return [
          {
            name: `raised to delivered, ${alertsPerMinute} alerts a minute, p50`,
            ...toMs(delays, 50),
            reference: null,
          },
          {
            name: `raised to delivered, ${alertsPerMinute} alerts a minute, p99`,
            ...toMs(delays, 99),
            reference: null,
          },
          ...[50, 99].map((percent) => ({
            name: `level change to message, a hanging and a refusing endpoint, p${percent}`,
            ...toMs(beside, percent),
            reference: percentile(alone, percent),
          })),
          { name: `longest hold, ${rules} rules applied to 1,000 alerts`, unit: 'ms', ...hold },
        ]
      },
    }
  },
})

function toMs(values: readonly number[], percent: number) {
  return { unit: 'ms', ours: percentile(values, percent) } as const
}

/** Starts Micwatch for a system on which batteries can be set. Channel 1 of each receiver keeps its battery. */
async function start(atEnd: AtEnd, count: number, nodeOptions: readonly string[]) {
  const options = { receivers: count, channelsPerReceiver, richList: true, story: false, pushesPerSecond: 0 }
  const simulator = await startShureSimulator(options)
  atEnd(() => simulator.close())
  const ids = simulator.show.devicesAt(0).map(({ device }) => device.id)
  const set = (receiver: number, channel: number, battery: number) => {
    const change = { transmitter: true, battery, rf_level: -50, audio_level: -20 }
    simulator.show.set(ids[receiver] ?? '', change, channel)
  }
  for (const receiver of ids.keys())
    for (let channel = 1; channel <= channelsPerReceiver; channel++) set(receiver, channel, 90)
  const micwatch = await startMicwatch(atEnd, simulator, {
    pollSeconds: 3600,
    nodeOptions: [...nodeOptions, ...watchEventLoop],
  })
  const others = channelsPerReceiver - 1
  const setBattery = (index: number, battery: number) => {
    if (index < 0) return
    const at = index % (count * others)
    set(Math.floor(at / others), (at % others) + 2, battery)
    simulator.push.flush()
  }
  return { simulator: Object.assign(simulator, { setBattery }), micwatch }
}

async function openAdmin({ address }: Pick<Micwatch, 'address'>) {
  const client = httpClient(address)
  const { headers } = await signInAsAdmin(client)
  const [channels, rulesPath] = ['/api/admin/notification-channels/', '/api/admin/notification-rules/']
  return {
    async addChannel(url: string, enabled: boolean): Promise<number> {
      return (await client.post(channels, { name: url, type: 'webhook', config: { url }, enabled }, headers)).json.id
    },
    async enable(id: number): Promise<void> {
      const json = { ...headers, 'content-type': 'application/json' }
      await client.send('PATCH', `${channels}${id}/`, { headers: json, body: JSON.stringify({ enabled: true }) })
    },
    async addRule(name: string, ids: readonly number[]): Promise<void> {
      await client.post(rulesPath, { name, notification_channel_ids: ids }, headers)
    },
    async countOpen(): Promise<number> {
      return (await client.get('/api/alerts/?state=open&page_size=1', headers)).json.count
    },
  }
}

/** Starts a webhook that responds with a status, or never. It records the delivery time of each raised alert in ms. */
async function startEndpoint(atEnd: AtEnd, status: number | 'hang') {
  const delays: number[] = []
  const endpoint = { url: '', delays, messages: 0 }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const receivedAt = Date.now()
    const { type, data } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    endpoint.messages += 1
    const alerts: readonly { readonly raised_at: string }[] = type === 'alert.raised' ? data.alerts : []
    for (const { raised_at } of alerts) delays.push(receivedAt - Date.parse(raised_at))
    if (status !== 'hang') response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return endpoint
}

/** Returns the longest block of a process that only computes, in slices of 6 ms: the delay by the machine alone. */
function measureSlices(): Promise<number> {
  const program = `
    console.log('{}')
    const turn = () => {
      for (const end = performance.now() + 6; performance.now() < end; );
      setImmediate(turn)
    }
    turn()`
  return withCleanup(async (atEnd) => {
    const child = await startChild(atEnd, [...watchEventLoop, '--eval', program])
    await longestHoldMs(child)
    await sleep(5_000)
    return longestHoldMs(child)
  })
}

/**
 * Measures the longest time for which the event loop is blocked while rules are applied to many alerts and messages
 * about them are sent.
 */
async function measureHold(atEnd: AtEnd, nodeOptions: readonly string[]) {
  const others = channelsPerReceiver - 1
  const { simulator, micwatch } = await start(atEnd, Math.ceil(alertsForRules / others), nodeOptions)
  const admin = await openAdmin(micwatch)
  const endpoint = await startEndpoint(atEnd, 204)
  const id = await admin.addChannel(endpoint.url, false)
  for (let rule = 1; rule <= rules; rule++) await admin.addRule(`Rule ${rule}`, [id])
  for (let index = 0; index < alertsForRules; index++) simulator.setBattery(index, 15)
  await waitFor('all alerts are open', async () => (await admin.countOpen()) === alertsForRules, 60_000)
  await sleep(3_000)
  const reference = await measureSlices()
  await longestHoldMs(micwatch)
  await admin.enable(id)
  await waitFor('the message of each rule is sent', () => endpoint.messages >= rules, 60_000)
  return { ours: await longestHoldMs(micwatch), reference }
}
