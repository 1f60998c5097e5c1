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
  const taken: number[] = []
  let trouble: Error | undefined
  const buffer = Buffer.alloc(readBytes)
  const open = async (): Promise<Socket> => {
    let askedAt = performance.now()
    const read = readAnswers((status, etag) => {
      if (status !== 200 && status !== 304) trouble ??= new Error(`${path} answered ${status}`)
      const now = performance.now()
      taken.push(now - askedAt)
      askedAt = now
      socket.write(isConditional ? `${start}if-none-match: ${etag}\r\n\r\n` : `${start}\r\n`)
    })
    const callback = (size: number) => {
      read(buffer.subarray(0, size))
      return true
    }
    // All read into the same place, and much at a time: it costs less than to be handed what was read.
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } })
    await once(socket, 'connect')
    socket.on('error', (error) => {
      trouble ??= error
    })
    askedAt = performance.now()
    socket.write(`${start}\r\n`)
    return socket
  }
  const sockets = await Promise.all(Array.from({ length: connections }, open))
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

const readBytes = 1024 * 1024
const maxHeadBytes = 4 * 1024

/** Just enough of HTTP to see where an answer ends. */
function readAnswers(tell: (status: number, etag: string) => void): (chunk: Buffer) => void {
  let head = ''
  let status = 0
  let etag = ''
  let left = 0
  return (chunk) => {
    let at = 0
    if (left === 0) {
      const start = head.length
      head += chunk.toString('latin1', 0, maxHeadBytes)
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
  }
}
