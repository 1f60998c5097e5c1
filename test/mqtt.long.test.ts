/** Publishes to a real broker, Mosquitto: states, alerts, Home Assistant, loss and return, several processes. */

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import {
  configFor,
  createInstallation,
  deviceOf,
  startApp,
  startShure,
  type TestApp,
  type TestAppOptions,
  until,
  withoutPush,
} from './support/app.ts'
import { certify } from './support/certificates.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { packetTypes, startMqttProxy, typeOf } from './support/mqtt-proxy.ts'
import { account, startMosquitto } from './support/notifications/mosquitto.ts'
import { createTestDatabase, createTestFolder } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

const authority = certify({ name: 'Test authority', isCa: true })
const certificate = authority.then((ca) => certify({ name: 'localhost', ca }))

async function startBroker() {
  const broker = await startMosquitto(await certificate)
  return { ...broker, url: `mqtt://127.0.0.1:${broker.closedPort}` }
}

/** Subscribes to everything. `retained` is what the broker retains, by topic, as far as it was received. */
async function watch(url: string) {
  const client = await connectAsync(url, { ...account, reconnectPeriod: 200 })
  onTestEnd(() => client.endAsync(true))
  const retained = new Map<string, string>()
  const received: { topic: string; text: string; retain: boolean }[] = []
  client.on('message', (topic, payload, { retain }) => {
    const text = payload.toString()
    received.push({ topic, text, retain })
    if (text === '') retained.delete(topic)
    else retained.set(topic, text)
  })
  await client.subscribeAsync(['micwatch/#', 'homeassistant/#'], { qos: 1 })
  const read = (topic: string) => JSON.parse(retained.get(topic) ?? 'null')
  return { client, retained, received, read }
}

async function startWithMqtt(mqtt: object, options: TestAppOptions = {}) {
  const simulator = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const { id } = deviceOf(simulator)
  simulator.show.set(id, { name: 'Zoë', battery: 61, rf_level: -47, audio_level: -20 }, 1)
  const app = await startApp({ manufacturers: [configFor(simulator)], ...options, config: { mqtt } })
  const receiver = await until('the device is known', () => app.receiver(id))
  const channel = receiver.channels[0]?.id ?? 0
  return { app, simulator, id, receiver, topic: `micwatch/channel/${channel}/state`, channel }
}

// Conformance: C-16.50, C-16.51, C-16.52.
it('retains the state of channels and receivers and its own status, and publishes alerts', async () => {
  const broker = await startBroker()
  const { app, simulator, id, receiver, topic, channel } = await startWithMqtt({ url: broker.url, ...account })
  const { read, retained, received } = await watch(broker.url)
  await eventually(() => retained.get('micwatch/status')).toBe('online')
  await eventually(() => read(topic)).toMatchObject({
    name: 'Zoë',
    slot: 1,
    battery: 61,
    rf_level: -47,
    audio_level: -20,
    transmitter_on: true,
    frequency: expect.stringMatching(/^\d+\.\d{3}$/),
    condition: { attention: false },
  })
  expect(read(topic)).toHaveProperty('minutes_left')
  await eventually(() => read(`micwatch/receiver/${receiver.id}/state`)).toMatchObject({
    name: receiver.name,
    is_active: true,
    channel_ids: expect.arrayContaining([channel]),
  })
  simulator.show.set(id, { battery: 9 }, 1)
  await eventually(() => read(topic)).toMatchObject({ battery: 9, condition: { state: 'battery_critical' } })
  const alerts = () => received.filter((message) => message.topic === 'micwatch/alert')
  await eventually(() => alerts().length).toBeGreaterThan(0)
  expect(alerts()[0]?.retain).toBe(false)
  expect(JSON.parse(alerts()[0]?.text ?? '')).toMatchObject({ kind: 'battery_critical', state: 'raised' })
  simulator.show.set(id, { battery: 90 }, 1)
  await eventually(() => alerts().map(({ text }) => JSON.parse(text).state)).toContain('cleared')
  await app.close()
  await eventually(() => retained.get('micwatch/status')).toBe('offline')
})

// Conformance: C-16.53, C-16.54.
it('describes its devices to Home Assistant, also when Home Assistant restarts, and removes deleted ones', async () => {
  const broker = await startBroker()
  const { client, read, retained, received } = await watch(broker.url)
  // Retained by an earlier service, whose receiver 999 was removed while nothing ran; and by another installation.
  const stale = [
    'micwatch/channel/999/state',
    'micwatch/receiver/999/state',
    'homeassistant/device/micwatch_999/config',
  ]
  const other = JSON.stringify({ availability_topic: 'other/status' })
  await client.publishAsync('homeassistant/device/micwatch_998/config', other, { retain: true })
  for (const topic of stale)
    await client.publishAsync(topic, '{"availability_topic":"micwatch/status"}', { retain: true })
  const { receiver, topic, channel, app } = await startWithMqtt({ url: broker.url, ...account })
  const config = `homeassistant/device/micwatch_${receiver.id}/config`
  await eventually(() => read(config)).toMatchObject({
    device: { identifiers: [`micwatch_${receiver.id}`], name: receiver.name, manufacturer: 'shure' },
    origin: { name: 'Micwatch' },
    availability_topic: 'micwatch/status',
    components: {
      online: { platform: 'binary_sensor', device_class: 'connectivity' },
      [`channel_${channel}_battery`]: {
        platform: 'sensor',
        state_topic: topic,
        value_template: '{{ value_json.battery }}',
        device_class: 'battery',
      },
      [`channel_${channel}_rf_level`]: { enabled_by_default: false },
    },
  })
  await eventually(() => [...retained.keys()].filter((name) => stale.includes(name))).toEqual([])
  expect(retained.get('homeassistant/device/micwatch_998/config')).toBe(other)
  const count = (wanted: string) => received.filter((message) => message.topic === wanted && message.text !== '').length
  const [configs, states] = [count(config), count(topic)]
  await client.publishAsync('homeassistant/status', 'online')
  await eventually(() => count(config)).toBeGreaterThan(configs)
  await eventually(() => count(topic)).toBeGreaterThan(states)
  const headers = await tokenHeaders(app, 'admin')
  expect((await app.send('DELETE', `/api/admin/receivers/${receiver.id}/`, { headers })).status).toBe(204)
  await eventually(() => [...retained.keys()].filter((name) => name === config || name === topic)).toEqual([])
})

// Conformance: C-16.55.
it('publishes levels at most once a second', async () => {
  const broker = await startBroker()
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 1 })
  const { id } = deviceOf(simulator)
  const app = await startApp({
    manufacturers: [configFor(simulator)],
    config: { mqtt: { url: broker.url, ...account, home_assistant: false } },
  })
  const { channels } = await until('the device is known', () => app.receiver(id))
  const { received, retained } = await watch(broker.url)
  const topic = `micwatch/channel/${channels[0]?.id}/state`
  await eventually(() => retained.has(topic)).toBe(true)
  const startedAt = performance.now()
  const before = received.length
  let level = 0
  const timer = setInterval(() => simulator.show.set(id, { rf_level: -60 - (level++ % 20) }, 1), 50)
  onTestEnd(async () => clearInterval(timer))
  const changes = () => received.slice(before).filter((message) => message.topic === topic).length
  await eventually(changes).toBeGreaterThan(2)
  expect(changes()).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 1000)
  expect([...retained.keys()].some((name) => name.startsWith('homeassistant/'))).toBe(false)
})

// Conformance: C-16.56.
it('starts without the broker, connects when it is available, and republishes everything after a loss', async () => {
  const broker = await startBroker()
  await broker.stop()
  const { app, simulator, id, topic } = await startWithMqtt({ url: broker.url, ...account })
  const problems = async () => (await app.get('/api/health/')).json.details.join()
  await eventually(problems).toMatch(/MQTT: Connection refused by 127\.0\.0\.1:\d+/)
  await broker.start()
  const watcher = await watch(broker.url)
  await eventually(() => watcher.read(topic)).toMatchObject({ name: 'Zoë' })
  await eventually(problems).not.toContain('MQTT')
  await broker.stop()
  await eventually(problems).toContain('MQTT')
  simulator.show.set(id, { battery: 44 }, 1)
  await broker.start()
  await eventually(() => watcher.read(topic)).toMatchObject({ battery: 44 })
  expect(watcher.retained.get('micwatch/status')).toBe('online')
})

// Conformance: C-16.57.
it('publishes from one process with one client id, and from another process when the first stops', async () => {
  const broker = await startBroker()
  const database = await createTestDatabase('sqlite')
  onTestEnd(database.drop)
  const mqtt = { url: broker.url, ...account }
  const first = await startWithMqtt(mqtt, { databaseUrl: database.url })
  const watcher = await watch(broker.url)
  await eventually(() => watcher.read(first.topic)).toMatchObject({ name: 'Zoë' })
  const second = await startApp({
    manufacturers: [configFor(first.simulator)],
    databaseUrl: database.url,
    dataDir: first.app.dataDir,
    config: { mqtt },
  })
  await eventually(() => isConnected(first.app)).toBe(true)
  expect(await isConnected(second)).toBe(false)
  await first.app.close()
  await eventually(() => isConnected(second)).toBe(true)
  await eventually(() => watcher.retained.get('micwatch/status')).toBe('online')
  first.simulator.show.set(first.id, { battery: 45 }, 1)
  await eventually(() => watcher.read(first.topic)).toMatchObject({ battery: 45 })
})

// Conformance: C-16.58.
it('connects with TLS and a CA certificate, and explains a missing certificate', async () => {
  const { port: _, tlsPort } = await startMosquitto(await certificate)
  const folder = await createTestFolder()
  onTestEnd(folder.drop)
  const ca_file = join(folder.path, 'ca.pem')
  await writeFile(ca_file, (await authority).cert)
  const url = `mqtts://localhost:${tlsPort}`
  const trusting = await startWithMqtt({ url, ca_file })
  const client = await connectAsync(url, { ca: (await authority).cert })
  onTestEnd(() => client.endAsync(true))
  const topics: string[] = []
  client.on('message', (topic) => topics.push(topic))
  await client.subscribeAsync('micwatch/#')
  await eventually(() => topics).toContain(trusting.topic)
  const wary = await startWithMqtt({ url })
  await eventually(async () => (await wary.app.get('/api/health/')).json.details.join()).toContain('Set mqtt.ca_file')
})

// Conformance: C-16.59.
it('a broker that hangs, closes or refuses affects nothing else', async () => {
  const broker = await startBroker()
  const sockets = new Set<Socket>()
  const hanging = createServer((socket) => sockets.add(socket.on('error', () => {}).pause())).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  onTestEnd(async () => {
    hanging.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = hanging.address() as { port: number }
  for (const mqtt of [
    { url: `mqtt://127.0.0.1:${port}` },
    { url: `mqtt://127.0.0.1:${await freePort()}` },
    { url: broker.url, username: 'mics', password: 'wrong' },
  ]) {
    const { app, simulator, id } = await startWithMqtt(mqtt)
    simulator.show.set(id, { battery: 12 }, 1)
    const battery = async () => (await app.receiver(id)).channels[0]?.transmitter?.battery
    await eventually(battery).toBe(12)
    if ('password' in mqtt)
      await eventually(async () => (await app.get('/api/health/')).json.details.join()).toMatch(
        /refused the connection/,
      )
    await app.close()
  }
})

const isConnected = async (app: TestApp) =>
  /^micwatch_mqtt_connected\S* (\d)/m.exec(String((await app.get('/metrics')).bytes))?.[1] === '1'

// Conformance: C-16.76.
it('uses MQTT 3.1.1 with a broker that closes the connections of MQTT 5', async () => {
  const broker = await startBroker()
  const proxy = await startMqttProxy(broker.closedPort, { maxVersion: 4 })
  const { topic } = await startWithMqtt({ url: `mqtt://127.0.0.1:${proxy.port}`, ...account })
  const { read } = await watch(broker.url)
  await eventually(() => read(topic)).toMatchObject({ name: 'Zoë' })
  expect(proxy.versions).toEqual([5, 4])
})

// Conformance: C-16.77.
it('publishes although the broker denies its subscriptions', async () => {
  const broker = await startBroker()
  const notAuthorized = 0x87
  const proxy = await startMqttProxy(broker.closedPort, {
    fromBroker(packet) {
      if (typeOf(packet) !== packetTypes.suback) return packet
      // The reason codes follow the fixed header, the packet id and the properties, which are empty.
      return Buffer.concat([packet.subarray(0, 5), packet.subarray(5).fill(notAuthorized)])
    },
  })
  const { app, simulator, id, topic } = await startWithMqtt({ url: `mqtt://127.0.0.1:${proxy.port}`, ...account })
  const { read, retained } = await watch(broker.url)
  await eventually(() => read(topic)).toMatchObject({ name: 'Zoë' })
  simulator.show.set(id, { battery: 44 }, 1)
  await eventually(() => read(topic)).toMatchObject({ battery: 44 })
  expect(retained.get('micwatch/status')).toBe('online')
  expect(await isConnected(app)).toBe(true)
  expect(proxy.versions).toEqual([5])
})

// Conformance: C-16.59.
it('reconnects to a broker that accepts the connection but acknowledges nothing', async () => {
  const broker = await startBroker()
  let isHanging = true
  const proxy = await startMqttProxy(broker.closedPort, {
    fromBroker: (packet) => (isHanging && typeOf(packet) !== packetTypes.connack ? null : packet),
  })
  const { app, topic } = await startWithMqtt({ url: `mqtt://127.0.0.1:${proxy.port}`, ...account })
  await eventually(async () => (await app.get('/api/health/')).json.details.join()).toContain(
    'acknowledged no message within 10 s',
  )
  await eventually(() => isConnected(app)).toBe(false)
  isHanging = false
  const { read } = await watch(broker.url)
  await eventually(() => read(topic)).toMatchObject({ name: 'Zoë' })
  await eventually(() => isConnected(app)).toBe(true)
})

// Reliability: 3.12.15.
it('disconnects a broker that sends too much, reports it, and publishes once it stops', async () => {
  const broker = await startBroker()
  const [tooLarge, retained] = [
    Buffer.from([0x31, 0xff, 0xff, 0xff, 0x7f]),
    (number: number) => {
      const topic = Buffer.from(`\0\x1emicwatch/channel/${1e6 + number}/state\0{}`)
      return Buffer.concat([Buffer.from([0x31, topic.length]), topic])
    },
  ]
  let excess: Buffer | null = tooLarge
  const proxy = await startMqttProxy(broker.closedPort, {
    fromBroker: (packet) =>
      excess !== null && typeOf(packet) === packetTypes.suback ? Buffer.concat([packet, excess]) : packet,
  })
  const { app, topic } = await startWithMqtt({ url: `mqtt://127.0.0.1:${proxy.port}`, ...account })
  const details = async () => (await app.get('/api/health/')).json.details.join()
  await eventually(details).toContain(`sent a packet of more than 1 MiB. Remove what it retains below micwatch/`)
  excess = Buffer.concat(Array.from({ length: 110_000 }, (_, number) => retained(number)))
  await eventually(details).toContain('sent more than 100000 messages in a short time')
  excess = null
  const { read } = await watch(broker.url)
  await eventually(() => read(topic)).toMatchObject({ name: 'Zoë' })
  await eventually(() => isConnected(app)).toBe(true)
})

// Conformance: C-16.59.
it('detects a broker that hangs, and reconnects when it resumes', async () => {
  const broker = await startBroker()
  const { app, simulator, id, topic } = await startWithMqtt({ url: broker.url, ...account })
  await eventually(() => isConnected(app)).toBe(true)
  broker.process.kill('SIGSTOP')
  const battery = async () => (await app.receiver(id)).channels[0]?.transmitter?.battery
  simulator.show.set(id, { battery: 12 }, 1)
  await eventually(battery).toBe(12)
  await eventually(() => isConnected(app)).toBe(false)
  broker.process.kill('SIGCONT')
  const { read } = await watch(broker.url)
  await eventually(() => read(topic)).toMatchObject({ battery: 12 })
})

// Conformance: C-16.54, C-16.56.
it('removes thousands of old retained topics, and responds meanwhile', async () => {
  const broker = await startBroker()
  const { client, retained } = await watch(broker.url)
  const topics = Array.from({ length: 6000 }, (_, index) => `micwatch/channel/${index + 1000}/state`)
  await Promise.all(topics.map((topic) => client.publishAsync(topic, '{}', { retain: true, qos: 1 })))
  await eventually(() => retained.size).toBe(6000)
  const { topic } = await startWithMqtt({ url: broker.url, ...account })
  await eventually(() => JSON.parse(retained.get(topic) ?? '{}').name).toBe('Zoë')
  await eventually(() => topics.filter((name) => retained.has(name)).length).toBe(0)
})

// Conformance: C-16.75.
it('removes the components of a channel that was removed from its receiver', async () => {
  const broker = await startBroker()
  const { client, received, read } = await watch(broker.url)
  const simulator = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 1 }))
  const first = await startApp({ manufacturers: [configFor(simulator)] })
  const { id } = await until('the device is known', () => first.receiver(deviceOf(simulator).id))
  const config = `homeassistant/device/micwatch_${id}/config`
  const components = { channel_999_battery: { platform: 'sensor', unique_id: 'micwatch_channel_999_battery' } }
  const earlier = JSON.stringify({ availability_topic: 'micwatch/status', components })
  await client.publishAsync(config, earlier, { retain: true, qos: 1 })
  await startApp({
    manufacturers: [configFor(simulator)],
    databaseUrl: first.databaseUrl,
    dataDir: first.dataDir,
    config: { mqtt: { url: broker.url, ...account } },
  })
  const removals = () =>
    received.filter(
      ({ topic, text }) => topic === config && text.includes('"channel_999_battery":{"platform":"sensor"}'),
    )
  await eventually(() => removals().length).toBe(1)
  await eventually(() => Object.keys(read(config).components)).not.toContain('channel_999_battery')
  expect(Object.keys(read(config).components)).toContain('online')
})

// Conformance: C-16.51.
it('the broker publishes the last will when the process is killed', async () => {
  const broker = await startBroker()
  const { retained } = await watch(broker.url)
  const installation = await createInstallation({ mqtt: { url: broker.url, ...account } })
  const service = installation.start(['serve', '--no-poll', '--port', '0'])
  await eventually(() => retained.get('micwatch/status')).toBe('online')
  service.kill('SIGKILL')
  await eventually(() => retained.get('micwatch/status')).toBe('offline')
})
