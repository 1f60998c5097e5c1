/** Publishes messages to a real broker, Mosquitto, and to ones that misbehave. */

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { certify } from '../../../test/support/certificates.ts'
import { onTestEnd, openShared } from '../../../test/support/cleanup.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { buildKit, buildMessage } from '../../../test/support/notifications/kit.ts'
import { account as mailAccount, startMailServer } from '../../../test/support/notifications/mail-server.ts'
import { account, type Broker, startMosquitto } from '../../../test/support/notifications/mosquitto.ts'
import { createTestFolder } from '../../../test/support/store/databases.ts'
import { createDestinations } from '../../upstream/destinations.ts'
import { findBlockedHost, notificationServices } from './index.ts'
import type { SendResult } from './service.ts'

const { mqtt } = notificationServices
const kit = buildKit()
const authority = certify({ name: 'Test authority', isCa: true })
const certificate = authority.then((ca) => certify({ name: 'localhost', ca }))

let broker: Broker
let closeAll: () => Promise<void>
beforeAll(async () => {
  closeAll = await openShared(async () => {
    broker = await startMosquitto(await certificate)
  })
})
afterAll(() => closeAll())

function send(port: number, fields: Readonly<Record<string, unknown>> = {}, options = kit): Promise<SendResult> {
  const config = mqtt.parse({ url: `mqtt://127.0.0.1:${port}`, topic: 'mics/alerts', ...fields })
  return mqtt.send(config, buildMessage(), options)
}

describe('MQTT', () => {
  // Conformance: C-14.59.
  it('publishes the message as JSON with QoS 1, and does not retain it', async () => {
    const subscriber = await connectAsync(`mqtt://127.0.0.1:${broker.port}`)
    onTestEnd(() => subscriber.end(true))
    await subscriber.subscribeAsync('mics/#', { qos: 1 })
    const received = new Promise<[string, Buffer, { qos: number }]>((resolve) => {
      subscriber.once('message', (...message) => resolve(message))
    })
    expect(await send(broker.port)).toMatchObject({ outcome: 'sent', status: null, error: null })
    const [topic, payload, { qos }] = await received
    const { alerts } = buildMessage()
    expect([topic, qos]).toEqual(['mics/alerts', 1])
    expect(JSON.parse(payload.toString())).toEqual({
      id: buildMessage().id,
      type: 'alert.raised',
      timestamp: '2026-11-20T19:00:00.500Z',
      data: { alerts, more: 0 },
      severity: 'critical',
      title: 'Battery critical: 7 Nora, 9%',
      text: 'Battery critical: 7 Nora, 9%',
      url: null,
    })
    const late = await connectAsync(`mqtt://127.0.0.1:${broker.port}`)
    onTestEnd(() => late.end(true))
    const messages: string[] = []
    late.on('message', (name) => messages.push(name))
    await late.subscribeAsync('mics/#')
    // A retained message would arrive before this one.
    await late.publishAsync('mics/last', '', { qos: 1 })
    await eventually(() => messages).toContain('mics/last')
    expect(messages).toEqual(['mics/last'])
  })

  it('needs the right user name and password, and the permission to publish', async () => {
    expect((await send(broker.closedPort, account)).outcome).toBe('sent')
    const wrong = await send(broker.closedPort, { username: 'mics', password: 'wrong' })
    expect(wrong).toMatchObject({
      outcome: 'failed',
      error: expect.stringMatching(/refused the message: .*Not authorized/i),
    })
    expect((await send(broker.closedPort)).outcome).toBe('failed')
    const forbidden = await send(broker.port, { topic: 'other' })
    expect(forbidden).toMatchObject({ outcome: 'failed', error: expect.stringMatching(/Not authorized/i) })
  })

  it('uses MQTT 3.1.1, if the broker does not support 5', async () => {
    const versions: number[] = []
    const port = await startBroker((version) => {
      versions.push(version)
      return version === 5 ? 1 : 0
    })
    expect((await send(port)).outcome).toBe('sent')
    expect(versions).toEqual([5, 4])
  })

  it('is tried again, if the broker is not available', async () => {
    const unavailable = await startBroker(() => 3)
    expect(await send(unavailable)).toMatchObject({
      outcome: 'retry',
      error: expect.stringContaining('Server unavailable'),
    })
    expect(await send(1)).toMatchObject({
      outcome: 'retry',
      error: expect.stringMatching(/^Connection refused by 127.0.0.1:1/),
    })
    const closing = await startBroker(() => null)
    expect((await send(closing)).outcome).toBe('retry')
    const mute = await startBroker(() => undefined)
    const late = await send(mute, {}, { ...kit, timeoutMs: 200 })
    expect(late).toMatchObject({ outcome: 'retry', error: expect.stringMatching(/within 0.2 s\.$/) })
    const stop = new AbortController()
    const stopped = send(mute, {}, { ...kit, signal: stop.signal })
    stop.abort()
    await expect(stopped).rejects.toThrow('aborted')
  })

  // Conformance: C-14.60.
  it('may use link-local addresses, but not those of metadata services or of this program', async () => {
    const destinations = createDestinations()
    destinations.blockListener('0.0.0.0', broker.port)
    const blockedHost = (host: string) => {
      const config = mqtt.parse({ url: `mqtt://${host}:${broker.port}`, topic: 'a' })
      return findBlockedHost(mqtt, config, destinations)
    }
    expect(await blockedHost('169.254.7.7')).toBe(null)
    expect(await blockedHost('[fe80::7]')).toBe(null)
    for (const host of [
      '169.254.169.254',
      '2852039166',
      '[::ffff:a9fe:a9fe]',
      '224.0.0.1',
      '0.0.0.0',
      '127.0.0.1',
      'LOCALHOST',
    ]) {
      expect([host, await blockedHost(host)]).not.toContain(null)
      const config = mqtt.parse({ url: `mqtt://${host}:${broker.port}`, topic: 'a' })
      const result = await mqtt.send(config, buildMessage(), { ...kit, destinations })
      expect(result).toMatchObject({ outcome: 'failed', error: expect.stringMatching(/^Nothing is sent to/) })
    }
  })
})

// The certificate is trusted in another process, because Node.js reads NODE_EXTRA_CA_CERTS when it starts.
it('uses TLS with a trusted certificate for the name of the server', async () => {
  const { key, cert } = await certificate
  const folder = await createTestFolder()
  onTestEnd(() => folder.drop())
  const authorityPath = join(folder.path, 'ca.pem')
  await writeFile(authorityPath, (await authority).cert)
  const web = createHttpsServer({ key, cert }, (_, response) => response.writeHead(204).end())
  web.listen(0, '127.0.0.1')
  await once(web, 'listening')
  onTestEnd(() => web.close())
  const tls = await startMailServer({ key, cert, secure: true })
  const starttls = await startMailServer({ key, cert, disabledCommands: [], authOptional: false })
  const from = 'mics@venue.example'
  const channels = ['localhost', '127.0.0.1'].flatMap((host) => [
    ['email', { host, port: tls.port, security: 'tls', username: null, password: null, from, to: [from] }],
    ['email', { host, port: starttls.port, security: 'starttls', ...mailAccount, from, to: [from] }],
    ['mqtt', { url: `mqtts://${host}:${broker.tlsPort}`, topic: 'mics' }],
    ['webhook', { url: `https://${host}:${(web.address() as AddressInfo).port}/` }],
  ])
  // Bundled like the program, because bundling changes the exports of packages that are loaded on demand.
  await build({
    entryPoints: {
      child: fileURLToPath(new URL('../../../test/support/notifications/send-child.ts', import.meta.url)),
    },
    outdir: folder.path,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); const __dirname = import.meta.dirname;",
    },
  })
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authorityPath }
  const args = [join(folder.path, 'child.mjs'), JSON.stringify(channels)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  const results = JSON.parse(stdout) as SendResult[]
  expect(results.slice(0, 4).map(({ error }) => error)).toEqual([null, null, null, null])
  for (const { outcome, error } of results.slice(4)) {
    expect(outcome).toBe('retry')
    expect(error).toMatch(/^The certificate of 127.0.0.1:\d+ was not accepted \(ERR_TLS_CERT_ALTNAME_INVALID\)/)
  }
  expect([...tls.mails, ...starttls.mails].map(({ isEncrypted }) => isEncrypted)).toEqual([true, true])
})

/**
 * Starts a broker that accepts one message from each client. `respond` returns the return code for a version, null to
 * close the connection, or undefined to send nothing.
 */
async function startBroker(respond: (version: number) => number | null | undefined): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    onTestEnd(() => socket.destroy())
    socket.on('data', (bytes) => {
      const kind = bytes.readUInt8(0) >> 4
      // PUBLISH with QoS 1: the packet identifier follows the topic.
      if (kind === 3)
        socket.write(Buffer.from([0x40, 2, ...bytes.subarray(bytes.indexOf('mics/alerts') + 11).subarray(0, 2)]))
      if (kind !== 1) return
      const code = respond(bytes.readUInt8(bytes.indexOf('MQTT') + 4))
      if (code === null) socket.destroy()
      else if (code !== undefined) socket.write(Buffer.from([0x20, 2, 0, code]))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => server.close())
  return (server.address() as AddressInfo).port
}
