/**
 * Check N1 of docs/reliability.md: alerts are delivered within 3 s, even while other services hang. Each is delivered
 * even if the process is killed, and monitoring does not become slower.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import { type AtEnd, createTempFolder, percentile, waitFor, withCleanup } from '../harness.ts'
import { type Change, measureLatencies, openClient, toChanges, upstreamFrame } from '../push.ts'
import { atMost, type Check, expectNone, type Finding } from './check.ts'
import { createRandom } from './fuzz/random.ts'
import { entryOf, plainShow, type Service, signInAsAdmin, startService } from './service.ts'

const receivers = 25
const alertsPerMinute = 100
/** The process is killed this many times between an alert and its message. */
const kills = 30
/** A message is usually delivered 2 to 2.5 s after its alert. */
const longestWaitMs = 2_500
const changesPerSecond = 50
const changesForSeconds = 25
/** The replacement of a killed process waits for its leases. */
const takeoverMs = 120_000

export const notifications: Check = {
  id: 'N1',
  description: 'alerts are delivered within 3 s and, if the process is killed, later; monitoring is not slower for it',
  async run(atEnd, { seed, log }) {
    const random = createRandom(seed).next
    const folder = await createTempFolder(atEnd)
    const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver: 4 })
    atEnd(() => simulator.close())
    const devices = simulator.show.devicesAt(simulator.elapsed()).map(({ device }) => device.id)
    const setBattery = (channel: number, battery: number) => {
      const change = { transmitter: true, battery, rf_level: -50, audio_level: -20 }
      simulator.show.set(devices[Math.floor(channel / 4)] ?? '', change, (channel % 4) + 1)
      simulator.push.flush()
    }
    for (let channel = 0; channel < receivers * 4; channel++) setBattery(channel, 90)
    const manufacturers = [entryOf(simulator, { poll_interval: 1 })]
    const start = () => startService(atEnd, folder, { manufacturers })
    const service = await start()
    const { headers } = await signInAsAdmin(service)
    await waitFor('the receivers are known', async () => {
      const { json } = await service.get('/api/receivers/', headers)
      return json.length === receivers
    })
    const context = { service, headers, simulator, setBattery }
    const alone = await measureChanges(context)
    const [webhook, hanging, refusing] = [
      await startWebhook(atEnd, 'accept'),
      await startWebhook(atEnd, 'hang'),
      await startWebhook(atEnd, 'refuse'),
    ]
    const ids: number[] = []
    for (const { url } of [webhook, hanging, refusing]) {
      const channel = { name: url, type: 'webhook', config: { url } }
      ids.push((await service.post('/api/admin/notification-channels/', channel, headers)).json.id)
    }
    const rule = { name: 'All', notification_channel_ids: ids }
    await service.post('/api/admin/notification-rules/', rule, headers)
    const latencies = await measureDelivery(context, webhook)
    const beside = await measureChanges(context)
    const [, ...failing] = ids
    for (const id of failing) queueForAnHour(join(folder, 'data', 'micwatch.db'), id)
    const afterAnHour = await measureChanges(context)
    return [
      atMost('raised to delivered, p99', percentile(latencies, 99) / 1000, 3, 's'),
      // The hanging and the refusing webhook always have messages.
      atMost('change to message, p99', beside, Math.max(25, 2 * alone), 'ms', alone),
      atMost('change to message after an hour of alerts, p99', afterAnHour, Math.max(25, 2 * alone), 'ms', alone),
      ...(await killAndCount(context, { webhook, start, random, log })),
    ]
  },
}

interface Context {
  readonly service: Service
  readonly headers: Record<string, string>
  readonly simulator: Awaited<ReturnType<typeof startShureSimulator>>
  setBattery(channel: number, battery: number): void
}

interface ListedAlert {
  readonly id: number
  readonly channel_id: number
  readonly raised_at: string
}

async function listOpenAlerts(service: Service, headers: Record<string, string>): Promise<readonly ListedAlert[]> {
  return (await service.get('/api/alerts/?state=open', headers)).json
}

interface Webhook {
  readonly url: string
  /** The time when each alert was first received (epoch ms), and the ids of the messages that contained it. */
  readonly alerts: Map<number, { readonly at: number; readonly messages: Set<string> }>
}

async function startWebhook(atEnd: AtEnd, manner: 'accept' | 'refuse' | 'hang'): Promise<Webhook> {
  const alerts: Webhook['alerts'] = new Map()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { type, data } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    for (const { id } of type === 'alert.raised' ? data.alerts : []) {
      const found = alerts.get(id) ?? { at: Date.now(), messages: new Set() }
      alerts.set(id, found)
      found.messages.add(String(request.headers['webhook-id']))
    }
    if (manner !== 'hang') response.writeHead(manner === 'accept' ? 204 : 503).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, alerts }
}

/** Raises alerts for a minute. Returns the time of each from `raised_at` to the webhook, in ms. */
async function measureDelivery({ service, headers, setBattery }: Context, { alerts }: Webhook): Promise<number[]> {
  const startedAt = Date.now()
  for (let channel = 0; channel < alertsPerMinute; channel++) {
    setBattery(channel, 15)
    await sleep(60_000 / alertsPerMinute)
  }
  await waitFor('all alerts are delivered', async () => alerts.size >= alertsPerMinute, 60_000)
  await sleep(3_000)
  // Alerts that were open before are sent when the rule is added.
  const raised = (await listOpenAlerts(service, headers)).filter(({ raised_at }) => Date.parse(raised_at) >= startedAt)
  return raised.map(({ id, raised_at }) => (alerts.get(id)?.at ?? Number.POSITIVE_INFINITY) - Date.parse(raised_at))
}

/** Queues an hour of alerts for a failing service, with the times of that hour. */
function queueForAnHour(path: string, notificationChannelId: number): void {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA busy_timeout = 60000')
  const insert = database.prepare(
    `INSERT INTO notification_deliveries
       (message_id, notification_channel_id, rule_id, type, status, attempts, created_at, next_attempt_at)
     SELECT ?, notification_channel_id, rule_id, type, 'pending', 0, ?, ?
     FROM notification_deliveries WHERE notification_channel_id = ? ORDER BY id DESC LIMIT 1`,
  )
  const insertAlerts = database.prepare(
    `INSERT INTO notification_delivery_alerts (delivery_id, alert_id, kind, severity, round)
     SELECT ?, id, kind, severity, 1 FROM alerts ORDER BY id DESC LIMIT 1`,
  )
  const now = Date.now()
  const stepMs = 60_000 / alertsPerMinute
  database.exec('BEGIN IMMEDIATE')
  for (let at = now - 3_600_000; at < now; at += stepMs) {
    const { lastInsertRowid } = insert.run(`hour-${notificationChannelId}-${at}`, at, at, notificationChannelId)
    insertAlerts.run(lastInsertRowid)
  }
  database.exec('COMMIT')
  database.close()
}

/**
 * Sends level changes at a constant rate, for longer than two timeouts of a hanging service. Returns the 99th
 * percentile of the time from the system to a client, in ms.
 */
function measureChanges({ service, headers, simulator }: Context): Promise<number> {
  return withCleanup(async (atEnd) => {
    const { receivers: shown } = (await service.get('/api/data.json', headers)).json
    const changes = toChanges(simulator.show.devicesAt(simulator.elapsed(), simulator.manufacturer), shown)
    const client = await openClient(atEnd, `${service.address.replace('http', 'ws')}/ws`, headers)
    const send = (change: Change, level: number) => simulator.push.send(upstreamFrame(change, level))
    const latencies = await measureLatencies(client, changes, changesPerSecond, send, changesForSeconds)
    return percentile(latencies, 99)
  })
}

/** Kills the process at random moments between an alert and its message, and counts the alerts that were not delivered. */
async function killAndCount(
  { service, headers, setBattery }: Context,
  options: {
    readonly webhook: Webhook
    readonly random: () => number
    start(): Promise<Service>
    log(text: string): void
  },
): Promise<Finding[]> {
  const { webhook, random, start, log } = options
  const problems: string[] = []
  let running = service
  // A kill after the delivery is not counted, but the alert must not be sent again.
  for (let channel = 0, counted = 0; counted < kills; channel++) {
    setBattery(channel, 90)
    const isCleared = async () => (await listOpenAlerts(running, headers)).length < alertsPerMinute
    await waitFor('the alert is cleared', isCleared, takeoverMs)
    const before = new Set((await listOpenAlerts(running, headers)).map(({ id }) => id))
    setBattery(channel, 15)
    const alert = await findNew(running, headers, before)
    await sleep(random() * longestWaitMs)
    running.kill('SIGKILL')
    await running.ended
    if (!webhook.alerts.has(alert)) counted += 1
    running = await start()
    await waitFor(`alert ${alert} is delivered`, async () => webhook.alerts.has(alert), takeoverMs).catch(() =>
      problems.push(`Alert ${alert} was not delivered.`),
    )
    const messages = webhook.alerts.get(alert)?.messages.size ?? 0
    if (messages > 1) problems.push(`Alert ${alert} was delivered in ${messages} different messages.`)
  }
  return [
    expectNone(`alerts not delivered, or delivered as new, after ${kills} kills before the delivery`, problems, log),
  ]
}

async function findNew(service: Service, headers: Record<string, string>, before: ReadonlySet<number>) {
  let found: number | undefined
  const isRaised = async () => {
    found = (await listOpenAlerts(service, headers)).find(({ id }) => !before.has(id))?.id
    return found !== undefined
  }
  await waitFor('the alert is raised', isRaised, takeoverMs)
  return found as number
}
