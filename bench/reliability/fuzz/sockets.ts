/** The WebSocket: messages that mean something, nothing or worse, and frames that are none. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { createRandom, type Random } from './random.ts'
import { complain, count, type FuzzReport, inLanes, noteTime } from './report.ts'
import type { Target } from './rest.ts'

/** Fewer than the nonsense for which a connection ends. */
const perConnection = 15

/** Codes a connection may be closed with. */
const goodCodes: readonly number[] = [1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009]

export async function fuzzMessages(report: FuzzReport, target: Target, total: number): Promise<void> {
  const url = `${target.address.replace(/^http/, 'ws')}/ws`
  await inLanes(4, Math.ceil(total / perConnection), async (nth) => {
    const random = createRandom(report.seed + 1_000_000 + nth)
    const socket = new WebSocket(url, { headers: target.headers, perMessageDeflate: false })
    const trouble = await once(socket, 'open').then(() => null, String)
    if (trouble !== null) return complain(report, `a WebSocket was refused: ${trouble}`)
    socket.on('error', () => {})
    let answers = 0
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data))
      if (type === 'pong' || type === 'error') answers += 1
    })
    const closed = new Promise<number>((resolve) => socket.on('close', resolve))
    const startedAt = performance.now()
    for (let sent = 0; sent < perConnection; sent++) {
      socket.send(messageOf(random))
      count(report, 'message')
    }
    const code = await Promise.race([answered(() => answers >= perConnection), closed])
    noteTime(report, `answers to messages (seed ${report.seed}, ${nth})`, performance.now() - startedAt)
    count(report, `message end ${code}`)
    if (code !== 0 && !goodCodes.includes(code))
      complain(report, `messages ended with ${code} (seed ${report.seed}, ${nth})`)
    socket.terminate()
  })
}

function messageOf(random: Random): string {
  const kind = random.whole(0, 4)
  if (kind === 0) return JSON.stringify({ type: 'ping', id: random.json(4) })
  if (kind === 1) return JSON.stringify({ type: random.json(1), ...(random.json(2) as object) })
  if (kind === 2) return JSON.stringify(random.json(5))
  if (kind === 3) return random.text(80)
  const levels = random.whole(1, 20_000)
  return `{"type":"ping","id":${'['.repeat(levels)}${']'.repeat(levels)}}`
}

/** Gives 0 once it is so; a number, like the code of an end. */
async function answered(isSo: () => boolean): Promise<number> {
  for (let waitedMs = 0; waitedMs < 6000 && !isSo(); waitedMs += 5)
    await new Promise((resolve) => setTimeout(resolve, 5))
  return 0
}

const upgrade =
  'GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

/** Each is one connection; what matters is that the service outlives it. */
export async function fuzzFrames(report: FuzzReport, target: Target, total: number): Promise<void> {
  const { hostname, port } = new URL(target.address)
  const headers = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  await inLanes(8, total, async (nth) => {
    const random = createRandom(report.seed + 2_000_000 + nth)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.write(`${upgrade}${headers.join('')}\r\n`)
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    const first = await Promise.race([new Promise<Buffer>((resolve) => socket.once('data', resolve)), ended])
    if (!String(first).startsWith('HTTP/1.1 101'))
      complain(report, `a WebSocket was refused: ${String(first).slice(0, 80)}`)
    for (let frames = random.whole(1, 6); frames > 0; frames--) socket.write(frameOf(random))
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 50))])
    count(report, socket.destroyed ? 'frames ended' : 'frames outlived')
    socket.destroy()
  })
}

function frameOf(random: Random): Buffer {
  if (random.chance(0.3)) return random.bytes(random.whole(1, 300))
  const payload = random.chance(0.5)
    ? Buffer.from(messageOf(random)).subarray(0, 60_000)
    : random.bytes(random.whole(0, 200))
  const first = random.pick([0x81, 0x81, 0x82, 0x01, 0x00, 0x80, 0x88, 0x89, 0x8a, 0x83, 0xc1, 0xf1])
  const isMasked = random.chance(0.9)
  const length = random.chance(0.9) ? payload.length : random.whole(0, 70_000)
  const head = length < 126 ? [length] : [126, length >> 8, length & 255]
  head[0] = (head[0] as number) | (isMasked ? 0x80 : 0)
  return Buffer.concat([Buffer.from([first, ...head]), isMasked ? random.bytes(4) : Buffer.alloc(0), payload])
}
