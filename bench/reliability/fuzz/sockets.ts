/** Fuzzes the WebSocket with valid, meaningless and malformed messages, and with malformed frames. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { createRandom, type Random } from './random.ts'
import { addProblem, count, type FuzzReport, recordDuration, runConcurrently } from './report.ts'
import type { Target } from './rest.ts'

/** Must be less than the number of invalid messages after which the service closes a connection. */
const messagesPerConnection = 15

/** Close codes with which a connection may end after such messages; 1005 and 1006 mean that no code was received. */
const allowedCloseCodes: readonly number[] = [1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009]

export async function fuzzMessages(report: FuzzReport, target: Target, total: number): Promise<void> {
  const url = `${target.address.replace(/^http/, 'ws')}/ws`
  await runConcurrently(4, Math.ceil(total / messagesPerConnection), async (index) => {
    const random = createRandom(report.seed + 1_000_000 + index)
    const socket = new WebSocket(url, { headers: target.headers, perMessageDeflate: false })
    const failure = await once(socket, 'open').then(() => null, String)
    if (failure !== null) return addProblem(report, `a WebSocket was rejected: ${failure}`)
    socket.on('error', () => {})
    let responses = 0
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data))
      if (type === 'pong' || type === 'error') responses += 1
    })
    const closed = new Promise<number>((resolve) => socket.on('close', resolve))
    const startedAt = performance.now()
    for (let sent = 0; sent < messagesPerConnection; sent++) {
      socket.send(randomMessage(random))
      count(report, 'message')
    }
    const code = await Promise.race([waitForResponses(() => responses >= messagesPerConnection), closed])
    recordDuration(report, `responses to messages (seed ${report.seed}, ${index})`, performance.now() - startedAt)
    count(report, `message end ${code}`)
    if (code !== 0 && !allowedCloseCodes.includes(code))
      addProblem(report, `messages ended with ${code} (seed ${report.seed}, ${index})`)
    socket.terminate()
  })
}

function randomMessage(random: Random): string {
  const kind = random.integer(0, 4)
  if (kind === 0) return JSON.stringify({ type: 'ping', id: random.json(4) })
  if (kind === 1) return JSON.stringify({ type: random.json(1), ...(random.json(2) as object) })
  if (kind === 2) return JSON.stringify(random.json(5))
  if (kind === 3) return random.text(80)
  const levels = random.integer(1, 20_000)
  return `{"type":"ping","id":${'['.repeat(levels)}${']'.repeat(levels)}}`
}

/** Waits up to 6 s until `isDone` returns true. Resolves to 0, because the connection was not closed. */
async function waitForResponses(isDone: () => boolean): Promise<number> {
  for (let waitedMs = 0; waitedMs < 6000 && !isDone(); waitedMs += 5)
    await new Promise((resolve) => setTimeout(resolve, 5))
  return 0
}

const upgrade =
  'GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

/** Sends random frames on `total` connections; the service must survive. */
export async function fuzzFrames(report: FuzzReport, target: Target, total: number): Promise<void> {
  const { hostname, port } = new URL(target.address)
  const headers = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  await runConcurrently(8, total, async (index) => {
    const random = createRandom(report.seed + 2_000_000 + index)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.write(`${upgrade}${headers.join('')}\r\n`)
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    const first = await Promise.race([new Promise<Buffer>((resolve) => socket.once('data', resolve)), ended])
    if (!String(first).startsWith('HTTP/1.1 101'))
      addProblem(report, `a WebSocket was rejected: ${String(first).slice(0, 80)}`)
    for (let frames = random.integer(1, 6); frames > 0; frames--) socket.write(randomFrame(random))
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 50))])
    count(report, socket.destroyed ? 'frames closed' : 'frames open')
    socket.destroy()
  })
}

function randomFrame(random: Random): Buffer {
  if (random.chance(0.3)) return random.bytes(random.integer(1, 300))
  const payload = random.chance(0.5)
    ? Buffer.from(randomMessage(random)).subarray(0, 60_000)
    : random.bytes(random.integer(0, 200))
  const first = random.pick([0x81, 0x81, 0x82, 0x01, 0x00, 0x80, 0x88, 0x89, 0x8a, 0x83, 0xc1, 0xf1])
  const isMasked = random.chance(0.9)
  const length = random.chance(0.9) ? payload.length : random.integer(0, 70_000)
  const head = length < 126 ? [length] : [126, length >> 8, length & 255]
  head[0] = (head[0] as number) | (isMasked ? 0x80 : 0)
  return Buffer.concat([Buffer.from([first, ...head]), isMasked ? random.bytes(4) : Buffer.alloc(0), payload])
}
