/** Many clients on a wall that never rests: frames delivered a second. Reference: a bare `ws` broadcast of the same frames. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { atRate, type Bench, cpuOf, type Figure } from './harness.ts'
import { type Change, clientFrame, openRelay, toChanges, upstreamFrame } from './push.ts'
import { startMicwatch } from './servers.ts'

const clients = 100
const receivers = 100
const channelsPerReceiver = 4
const updatesPerSecond = 10
const warmUpMs = 500
const seconds = 2

export const fanOut = (nodeOptions: readonly string[]): Bench => ({
  name: 'fan-out',
  runs: 3,
  async open(atEnd) {
    const options = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond: 0 }
    const simulator = await startShureSimulator(options)
    atEnd(() => simulator.close())
    const micwatch = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    const relay = await openRelay(atEnd)
    const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), micwatch.receivers)
    const size = `${clients} clients × ${receivers} receivers × ${updatesPerSecond} updates/s`

    return {
      async measure() {
        const ours = await deliver(`${micwatch.address}/ws`, micwatch.pid, changes, (change, level) =>
          simulator.push.send(upstreamFrame(change, level)),
        )
        const reference = await deliver(relay.address, relay.pid, changes, (change, level) =>
          relay.send(clientFrame(change, level)),
        )
        const figures: Figure[] = [
          { name: `${size}, frames`, unit: '/s', ours: ours.perSecond, reference: reference.perSecond },
        ]
        if (ours.cpuMs !== null && reference.cpuMs !== null) {
          const name = 'server CPU for 10,000 frames'
          figures.push({ name, unit: 'ms', ours: ours.cpuMs, reference: reference.cpuMs })
        }
        return figures
      },
    }
  },
})

async function deliver(
  address: string,
  pid: number,
  changes: readonly Change[],
  send: (change: Change, level: number) => void,
): Promise<{ perSecond: number; cpuMs: number | null }> {
  const sockets = await Promise.all(Array.from({ length: clients }, () => openSocket(address)))
  let frames = 0
  for (const socket of sockets) {
    countFrames(socket, (count) => {
      frames += count
    })
  }
  const sending = atRate(receivers * updatesPerSecond, (warmUpMs + 200) / 1000 + seconds, (nth) => {
    const change = changes[nth % changes.length] as Change
    send(change, -90 + (Math.floor(nth / changes.length) % 60))
  })
  await sleep(warmUpMs)
  const [before, startedAt, cpuBefore] = [frames, performance.now(), await cpuOf(pid)]
  await sleep(seconds * 1000)
  const [after, endedAt, cpuAfter] = [frames, performance.now(), await cpuOf(pid)]
  await sending
  for (const socket of sockets) socket.destroy()
  await sleep(200)
  const delivered = after - before
  if (delivered === 0) throw new Error(`${address} delivered nothing`)
  const cpuMs = cpuBefore === null || cpuAfter === null ? null : ((cpuAfter - cpuBefore) / delivered) * 10_000
  return { perSecond: delivered / ((endedAt - startedAt) / 1000), cpuMs }
}

/** A WebSocket after its handshake, as a plain socket: a hundred full clients would leave the server no core. */
async function openSocket(address: string): Promise<Socket> {
  const { hostname, port, host, pathname } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
  )
  let head = Buffer.alloc(0)
  while (!head.includes('\r\n\r\n')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    head = Buffer.concat([head, chunk])
  }
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`${address} refused the WebSocket`)
  socket.pause()
  socket.unshift(head.subarray(head.indexOf('\r\n\r\n') + 4))
  return socket
}

/** Reads only the lengths of the frames; those of a server are not masked. */
function countFrames(socket: Socket, tell: (count: number) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  let toSkip = 0
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = Math.min(toSkip, bytes.length)
    toSkip -= at
    let count = 0
    while (toSkip === 0 && at < bytes.length) {
      const size = readSize(bytes, at)
      if (size === null) break
      count += 1
      const end = at + size
      at = Math.min(end, bytes.length)
      toSkip = end - at
    }
    rest = bytes.subarray(at)
    tell(count)
  })
  socket.resume()
}

/** Of the whole frame that begins at `at`; null while its head is not all there. */
function readSize(bytes: Buffer, at: number): number | null {
  const length = (bytes[at + 1] ?? 0) & 0x7f
  if (at + 2 > bytes.length) return null
  if (length < 126) return 2 + length
  if (length === 126) return at + 4 > bytes.length ? null : 4 + bytes.readUInt16BE(at + 2)
  return at + 10 > bytes.length ? null : 10 + Number(bytes.readBigUInt64BE(at + 2))
}
