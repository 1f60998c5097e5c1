/** OSC with real sockets: targets, subscribers, consoles, commands and hostile packets. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import type { ReceivedMessage } from '../src/domain/osc/packet.ts'
import { type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { startWithOsc } from './support/osc-app.ts'
import { collectFrames, connectOsc, openOscClient } from './support/osc-client.ts'

async function listenTcp(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer(onConnection).listen(0, '127.0.0.1')
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})))
  onTestEnd(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server, 'listening')
  return (server.address() as { port: number }).port
}

const listMarkers = async (app: TestApp) => (await app.get('/api/events/?kind=marker')).json.results

async function readCounter(app: TestApp, kind: 'bad' | 'excess'): Promise<number> {
  const text = String((await app.get('/metrics')).bytes)
  return Number(new RegExp(`^micwatch_osc_${kind}_packets_total\\S* (\\d+)`, 'm').exec(text)?.[1])
}

// Conformance: C-16.33, C-16.35.
it('sends values and alerts to UDP and TCP targets on change', async () => {
  const udp = await openOscClient()
  const received: ReceivedMessage[][] = []
  const tcpPort = await listenTcp((socket) => received.push(collectFrames(socket)))
  const targets = [
    { host: '127.0.0.1', port: udp.port },
    { host: 'localhost', port: tcpPort, transport: 'tcp' },
  ]
  const { simulator, id } = await startWithOsc({ targets })
  await eventually(() => udp.value('/micwatch/ch/1/name')).toBe('Zoe')
  await eventually(() => udp.value('/micwatch/ch/1/rf')).toBe(-47)
  await eventually(() => udp.value('/micwatch/ch/1/muted')).toBe(0)
  simulator.show.set(id, { battery: 9 }, 1)
  await eventually(() => udp.value('/micwatch/ch/1/state')).toBe('battery_critical')
  await eventually(() => udp.value('/micwatch/ch/1/battery')).toBe(9)
  await eventually(() => udp.value('/micwatch/alert/raised')).toMatch(/^\d+$/)
  await eventually(() => received.flat().map(({ args }) => args[0])).toContain('battery_critical')
  await eventually(() => received.flat().some(({ address }) => address === '/micwatch/alert/raised')).toBe(true)
  simulator.show.set(id, { battery: 90 }, 1)
  await eventually(() => udp.value('/micwatch/alert/cleared')).toBe(udp.value('/micwatch/alert/raised'))
})

// Conformance: C-16.39.
it('sends all values at once to a subscriber, over UDP to its port and over TCP on its connection', async () => {
  const port = await freePort()
  const { simulator, id } = await startWithOsc({ listen: `127.0.0.1:${port}` })
  const [udp, tcp] = [await openOscClient(), await connectOsc(port)]
  const subscribe = { address: '/micwatch/subscribe', args: [] }
  udp.send(port, subscribe)
  tcp.send(subscribe)
  for (const client of [udp, tcp]) {
    await eventually(() => client.value('/micwatch/ch/1/name')).toBe('Zoe')
    await eventually(() => client.value('/micwatch/ch/2/state')).toBeDefined()
  }
  simulator.show.set(id, { battery: 33 }, 1)
  for (const client of [udp, tcp]) await eventually(() => client.value('/micwatch/ch/1/battery')).toBe(33)
  udp.send(port, { ...subscribe, args: [0] })
  simulator.show.set(id, { battery: 34 }, 1)
  await eventually(() => tcp.value('/micwatch/ch/1/battery')).toBe(34)
  expect(udp.value('/micwatch/ch/1/battery')).toBe(33)
  udp.send(port, subscribe)
  await eventually(() => udp.value('/micwatch/ch/1/battery')).toBe(34)
})

// Conformance: C-16.40.
it('accepts at most 32 subscribers', async () => {
  const port = await freePort()
  await startWithOsc({ listen: `127.0.0.1:${port}` })
  const clients = await Promise.all(Array.from({ length: 33 }, () => openOscClient()))
  for (const client of clients.slice(0, 32)) client.send(port, { address: '/micwatch/subscribe', args: [] })
  const hasValues = (client: (typeof clients)[number]) => client.value('/micwatch/ch/1/name') !== undefined
  await eventually(() => clients.filter(hasValues).length).toBe(32)
  const [first, last] = [clients[0], clients[32]]
  last?.send(port, { address: '/micwatch/subscribe', args: [] })
  first?.messages.splice(0)
  first?.send(port, { address: '/micwatch/subscribe', args: [] })
  await eventually(() => first !== undefined && hasValues(first)).toBe(true)
  expect(last !== undefined && hasValues(last)).toBe(false)
  first?.send(port, { address: '/micwatch/subscribe', args: [0] })
  await eventually(() => {
    last?.send(port, { address: '/micwatch/subscribe', args: [] })
    return last !== undefined && hasValues(last)
  }).toBe(true)
})

// Conformance: C-16.38, C-16.41.
it('carries out commands as the actor osc', async () => {
  const port = await freePort()
  const { app, simulator, id } = await startWithOsc({ listen: `127.0.0.1:${port}` })
  const client = await openOscClient()
  const send = (address: string, ...args: (string | number)[]) => client.send(port, { address, args })
  send('/micwatch/marker', 'x'.repeat(600))
  const markers = await until('the marker is stored', async () => {
    const found = await listMarkers(app)
    return found.length > 0 ? found : undefined
  })
  expect(markers[0]).toMatchObject({ text: 'x'.repeat(500), by: 'osc' })
  const startsIn = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  // Of several shows with the title, the nearest one is started.
  for (const starts_at of [startsIn(48), startsIn(-30), undefined])
    await app.post('/api/shows/', { title: 'Gala', starts_at })
  const show = (await app.post('/api/shows/', { title: 'Gala', starts_at: startsIn(2) })).json
  send('/micwatch/show/start', 'Gala')
  const state = async () => (await app.get(`/api/shows/${show.id}/`)).json.state
  await eventually(state).toBe('running')
  send('/micwatch/show/end', show.id)
  await eventually(state).toBe('ended')
  simulator.show.set(id, { battery: 9 }, 1)
  const alert = await until('the alert is raised', async () => (await app.get('/api/alerts/?state=open')).json[0])
  send(`/micwatch/alert/${alert.id}/ack`)
  const alerts = async () => (await app.get('/api/alerts/')).json
  await eventually(alerts).toContainEqual(
    expect.objectContaining({ id: alert.id, state: 'acknowledged', acknowledged_by: 'osc' }),
  )
})

/** Returns an address of this machine that is not a loopback address. */
function findAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}

// Conformance: C-16.42.
it.skipIf(findAddress() === undefined)('accepts packets and commands of others only where configured', async () => {
  const address = findAddress() ?? ''
  const client = await openOscClient()
  const start = async (osc: object) => {
    const port = await freePort()
    const { app } = await startWithOsc({ listen: `0.0.0.0:${port}`, ...osc })
    // The sender's address is that of the interface through which it reaches the listener.
    const send = (message: string, ...args: string[]) => client.send(port, { address: message, args }, address)
    const events = async () => (await listMarkers(app)).length
    return { app, send, events, port }
  }
  const closed = await start({})
  closed.send('/micwatch/subscribe')
  closed.send('/micwatch/marker', 'no')
  client.send(closed.port, { address: '/micwatch/marker', args: ['yes'] })
  await eventually(closed.events).toBe(1)
  expect(client.messages).toEqual([])
  const readable = await start({ accept: [`${address}/32`] })
  readable.send('/micwatch/marker', 'no')
  readable.send('/micwatch/subscribe')
  await eventually(() => client.messages.length).toBeGreaterThan(0)
  expect(await readable.events()).toBe(0)
  const open = await start({ accept: [`${address}/32`], allow_commands: true })
  open.send('/micwatch/marker', 'yes')
  await eventually(open.events).toBe(1)
})

// Conformance: C-16.31, C-16.32.
it('counts and drops malformed packets, and continues', async () => {
  const port = await freePort()
  const { app } = await startWithOsc({ listen: `127.0.0.1:${port}` })
  const [udp, tcp] = [await openOscClient(), await connectOsc(port)]
  for (let length = 1; length <= 100; length++) udp.send(port, randomBytes(length))
  udp.send(port, { address: '/micwatch/marker', args: [5] })
  const closed = once(tcp.socket, 'close')
  tcp.socket.write(Buffer.from('7fffffff00000000', 'hex'))
  await closed
  await eventually(() => readCounter(app, 'bad')).toBeGreaterThan(90)
  udp.send(port, { address: '/micwatch/subscribe', args: [] })
  await eventually(() => udp.value('/micwatch/ch/1/name')).toBe('Zoe')
})

// Conformance: C-16.48.
it('counts and drops packets above the rate of an address, and answers others', async () => {
  const port = await freePort()
  const { app } = await startWithOsc({ listen: `127.0.0.1:${port}` })
  const [flooding, other] = [await openOscClient('127.0.0.2'), await openOscClient()]
  const flood = setInterval(() => {
    for (let count = 0; count < 100; count++) flooding.send(port, { address: '/unknown', args: [] })
  }, 5)
  onTestEnd(async () => clearInterval(flood))
  await eventually(() => readCounter(app, 'excess')).toBeGreaterThan(1000)
  await eventually(() => {
    other.send(port, { address: '/micwatch/subscribe', args: [] })
    return other.value('/micwatch/ch/1/name')
  }).toBe('Zoe')
  expect(await readCounter(app, 'bad')).toBe(0)
})

// Conformance: C-16.36.
it('writes names and colors to the strips of consoles', async () => {
  const [x32, wing] = [await openOscClient(), await openOscClient()]
  const strips = [
    { type: 'x32', host: '127.0.0.1', port: x32.port, slots: [null, 1] },
    { type: 'wing', host: '127.0.0.1', port: wing.port, slots: { 12: 1 } },
  ]
  const { simulator, id } = await startWithOsc({ strips })
  await eventually(() => x32.value('/ch/02/config/name')).toBe('Zoe')
  await eventually(() => wing.value('/ch/12/name')).toBe('Zoe')
  expect(x32.value('/ch/02/config/color')).toBe(2)
  simulator.show.set(id, { battery: 9 }, 1)
  await eventually(() => x32.value('/ch/02/config/color')).toBe(1)
  await eventually(() => wing.value('/ch/12/col')).toBe(9)
})

// Conformance: C-16.43.
it('retries targets that read nothing, close or refuse, without affecting others', async () => {
  let connections = 0
  const hanging = await listenTcp((socket) => socket.pause())
  const closing = await listenTcp((socket) => {
    connections += 1
    socket.destroy()
  })
  const healthy = await openOscClient()
  const targets = [
    ...[hanging, closing, await freePort()].map((port) => ({ host: '127.0.0.1', port, transport: 'tcp' })),
    { host: '127.0.0.1', port: healthy.port },
  ]
  const { app, simulator, id } = await startWithOsc({ targets })
  for (const battery of [40, 41, 42]) {
    simulator.show.set(id, { battery }, 1)
    await eventually(() => healthy.value('/micwatch/ch/1/battery')).toBe(battery)
  }
  await eventually(() => connections).toBeGreaterThan(1)
  expect((await app.get('/api/health/')).json.status).toBe('healthy')
})

// Conformance: C-16.44.
it('reports in health that its port is in use', async () => {
  const port = await listenTcp(() => {})
  const { app } = await startWithOsc({ listen: `127.0.0.1:${port}` })
  await eventually(async () => (await app.get('/api/health/')).json.details).toContain(
    `OSC: cannot listen on 127.0.0.1:${port}: the port is in use.`,
  )
})
