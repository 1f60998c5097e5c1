/** OSC over time: repetition, loss and return of targets and of the port, and several processes. */

import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import type { ReceivedMessage } from '../src/domain/osc/packet.ts'
import { configFor, startApp } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { startWithOsc } from './support/osc-app.ts'
import { collectFrames, openOscClient } from './support/osc-client.ts'
import { createTestDatabase } from './support/store/databases.ts'

/** Listens for TCP connections. `close` also ends the connections. */
async function listen(port: number, onConnection: (socket: Socket) => void): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    onConnection(socket)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  onTestEnd(close)
  return { close }
}

// Conformance: C-16.37.
it('repeats unchanged values within 10 seconds', async () => {
  const client = await openOscClient()
  await startWithOsc({ targets: [{ host: '127.0.0.1', port: client.port }] })
  const names = () => client.messages.filter(({ address }) => address === '/micwatch/ch/1/name').length
  await eventually(names).toBeGreaterThan(0)
  const [before, startedAt] = [names(), performance.now()]
  await eventually(names).toBe(before + 2)
  const elapsed = performance.now() - startedAt
  // The first repetition may have been due at once. A loaded machine only delays repetitions.
  expect(elapsed).toBeGreaterThan(9_000)
})

// Conformance: C-16.33, C-16.43.
it('sends all values to a TCP target that reconnects', async () => {
  const port = await freePort()
  const received: ReceivedMessage[][] = []
  const collect = (socket: Socket) => void received.push(collectFrames(socket))
  const first = await listen(port, collect)
  const { simulator, id } = await startWithOsc({ targets: [{ host: '127.0.0.1', port, transport: 'tcp' }] })
  const valuesOf = (index: number) => new Map(received[index]?.map(({ address, args }) => [address, args[0]]))
  await eventually(() => valuesOf(0).get('/micwatch/ch/1/name')).toBe('Zoe')
  await first.close()
  simulator.show.set(id, { battery: 31 }, 1)
  await listen(port, collect)
  await eventually(() => valuesOf(1).get('/micwatch/ch/1/battery')).toBe(31)
  await eventually(() => valuesOf(1).get('/micwatch/ch/2/state')).toBeDefined()
})

// Conformance: C-16.44.
it('starts receiving when its port becomes free', async () => {
  const port = await freePort()
  const other = await listen(port, () => {})
  const { app } = await startWithOsc({ listen: `127.0.0.1:${port}` })
  const details = async () => (await app.get('/api/health/')).json.details.join()
  await eventually(details).toContain('the port is in use')
  await other.close()
  await eventually(details).not.toContain('OSC')
  const client = await openOscClient()
  client.send(port, { address: '/micwatch/subscribe', args: [] })
  await eventually(() => client.value('/micwatch/ch/1/name')).toBe('Zoe')
})

// Conformance: C-16.49.
it('sends to targets from one of two processes, answers subscribers from each, and fails over', async () => {
  const database = await createTestDatabase('sqlite')
  onTestEnd(database.drop)
  const target = await openOscClient()
  const targets = [{ host: '127.0.0.1', port: target.port }]
  const [firstPort, secondPort] = [await freePort(), await freePort()]
  const first = await startWithOsc({ targets, listen: `127.0.0.1:${firstPort}` }, {}, { databaseUrl: database.url })
  await eventually(() => target.value('/micwatch/ch/1/name')).toBe('Zoe')
  const second = await startApp({
    manufacturers: [configFor(first.simulator)],
    databaseUrl: database.url,
    dataDir: first.app.dataDir,
    config: { osc: { targets, listen: `127.0.0.1:${secondPort}` } },
  })
  const [one, two] = [await openOscClient(), await openOscClient()]
  const subscribe = { address: '/micwatch/subscribe', args: [] }
  one.send(firstPort, subscribe)
  two.send(secondPort, subscribe)
  for (const client of [one, two]) await eventually(() => client.value('/micwatch/ch/1/name')).toBe('Zoe')
  target.messages.splice(0)
  first.simulator.show.set(first.id, { battery: 47 }, 1)
  for (const client of [one, two, target]) await eventually(() => client.value('/micwatch/ch/1/battery')).toBe(47)
  const changes = target.messages.filter(({ address, args }) => address === '/micwatch/ch/1/battery' && args[0] === 47)
  // A second process that sends would send the change a second time; a repetition may have been due.
  expect(changes.length).toBeLessThanOrEqual(2)
  await eventually(async () => (await second.get('/api/health/')).json.status).toBe('healthy')
  await first.app.close()
  first.simulator.show.set(first.id, { battery: 48 }, 1)
  await eventually(() => target.value('/micwatch/ch/1/battery')).toBe(48)
})
