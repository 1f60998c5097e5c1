/** Requests a second for everything at once. Reference: a bare node:http server that answers the same bytes. */

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { type AtEnd, type Bench, type Figure, makeFolder } from './harness.ts'
import { startMicwatch, startReference } from './servers.ts'

const receivers = 100
const channelsPerReceiver = 4
const path = '/api/data.json'
const seconds = 0.7

interface Case {
  readonly name: string
  readonly connections: number
  /** Whether the upstream pushes all the while, five times a second for every receiver; it is polled in any case. */
  readonly isLive: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** Each request names the tag of the last answer. */
  readonly isConditional?: boolean
}

const gzip = { 'accept-encoding': 'gzip' }
const cases: readonly Case[] = [
  { name: '16 connections, levels change', connections: 16, isLive: true },
  { name: '1 connection, levels change', connections: 1, isLive: true },
  { name: '16 connections, gzip, levels change', connections: 16, isLive: true, headers: gzip },
  { name: '16 connections, nothing pushed', connections: 16, isLive: false },
  { name: '16 connections, gzip, nothing pushed', connections: 16, isLive: false, headers: gzip },
  { name: '16 connections, If-None-Match, nothing pushed', connections: 16, isLive: false, isConditional: true },
]

export const dataJson = (nodeOptions: readonly string[]): Bench => ({
  name: 'data.json',
  runs: 3,
  async open(atEnd) {
    const simulator = await startShureSimulator({ receivers, channelsPerReceiver, richList: true, story: false })
    atEnd(() => simulator.close())
    const { address } = await startMicwatch(atEnd, simulator, { pollSeconds: 1, nodeOptions })
    const reference = await startBareHttp(atEnd, await fetch(address + path))
    return {
      async measure() {
        const figures: Figure[] = []
        for (const one of cases) {
          if (one.isLive) simulator.push.resume()
          await sleep(200)
          const ours = await requestsPerSecond(address, one)
          // The reference has both cores to itself and the load.
          simulator.push.pause()
          const bare = await requestsPerSecond(reference.address, one)
          figures.push({ name: one.name, unit: '/s', ours, reference: bare })
        }
        return figures
      },
    }
  },
})

async function startBareHttp(atEnd: AtEnd, answer: Response) {
  const file = join(await makeFolder(atEnd), 'body.json')
  await writeFile(file, Buffer.from(await answer.arrayBuffer()))
  return startReference(atEnd, 'http', file)
}

/** Every connection asks again as soon as it is answered. Throws when an answer is neither 200 nor 304. */
async function requestsPerSecond(address: string, { connections, headers, isConditional }: Case): Promise<number> {
  const { hostname, port, host } = new URL(address)
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const start = `GET ${path} HTTP/1.1\r\n${lines.join('')}`
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      await once(socket, 'connect')
      return socket
    }),
  )
  let answered = 0
  let trouble: Error | undefined
  for (const socket of sockets) {
    socket.on('error', (error) => {
      trouble ??= error
    })
    onAnswer(socket, (status, etag) => {
      if (status !== 200 && status !== 304) trouble ??= new Error(`${path} answered ${status}`)
      answered += 1
      socket.write(isConditional ? `${start}if-none-match: ${etag}\r\n\r\n` : `${start}\r\n`)
    })
    socket.write(`${start}\r\n`)
  }
  await sleep(100)
  const [before, startedAt] = [answered, performance.now()]
  await sleep(seconds * 1000)
  const rate = (answered - before) / ((performance.now() - startedAt) / 1000)
  for (const socket of sockets) socket.destroy()
  if (trouble !== undefined) throw trouble
  return rate
}

/** Just enough of HTTP to see where an answer ends. */
function onAnswer(socket: Socket, tell: (status: number, etag: string) => void): void {
  let head = ''
  let status = 0
  let etag = ''
  let left = 0
  socket.on('data', (chunk) => {
    let at = 0
    if (left === 0) {
      const start = head.length
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const fields = head.slice(0, end)
      status = Number(fields.slice(9, 12))
      etag = /\r\netag: (.+)/i.exec(fields)?.[1] ?? ''
      left = Number(/\r\ncontent-length: (\d+)/i.exec(fields)?.[1] ?? 0)
      at = end + 4 - start
      head = ''
    }
    left -= chunk.length - at
    if (left === 0) tell(status, etag)
  })
}
