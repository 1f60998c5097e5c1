/** HTTP load over bare sockets, so that the load costs less than what it loads. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOf, percentile } from './harness.ts'

export interface HttpLoad {
  readonly path: string
  readonly seconds: number
  readonly connections: number
  readonly headers?: Readonly<Record<string, string>>
  /** Each request names the tag of the last answer. */
  readonly isConditional?: boolean
  /** Whose CPU time is read. */
  readonly pid?: number
}

export interface HttpLoadFigures {
  readonly perSecond: number
  readonly p99Ms: number
  /** For 1,000 answers; what others do on the machine changes it least. */
  readonly cpuMs: number | null
}

export async function requestsPerSecond(address: string, load: HttpLoad): Promise<number> {
  const { perSecond } = await loadHttp(address, load)
  return perSecond
}

/** Every connection asks again as soon as it is answered. Throws when an answer is neither 200 nor 304. */
export async function loadHttp(
  address: string,
  { path, seconds, connections, headers, isConditional, pid = 0 }: HttpLoad,
): Promise<HttpLoadFigures> {
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
  const taken: number[] = []
  let trouble: Error | undefined
  for (const socket of sockets) {
    socket.on('error', (error) => {
      trouble ??= error
    })
    let askedAt = performance.now()
    onAnswer(socket, (status, etag) => {
      if (status !== 200 && status !== 304) trouble ??= new Error(`${path} answered ${status}`)
      const now = performance.now()
      taken.push(now - askedAt)
      askedAt = now
      socket.write(isConditional ? `${start}if-none-match: ${etag}\r\n\r\n` : `${start}\r\n`)
    })
    socket.write(`${start}\r\n`)
  }
  await sleep(100)
  const [before, startedAt, cpuBefore] = [taken.length, performance.now(), await cpuOf(pid)]
  await sleep(seconds * 1000)
  const answered = taken.slice(before)
  const [endedAt, cpuAfter] = [performance.now(), await cpuOf(pid)]
  for (const socket of sockets) socket.destroy()
  if (trouble !== undefined) throw trouble
  const cpuMs = cpuBefore === null || cpuAfter === null ? null : ((cpuAfter - cpuBefore) / answered.length) * 1000
  return { perSecond: answered.length / ((endedAt - startedAt) / 1000), p99Ms: percentile(answered, 99), cpuMs }
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
