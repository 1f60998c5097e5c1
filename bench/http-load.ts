/** HTTP load over plain sockets, so that the load generator uses less CPU time than the server. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuTimeMs, percentile } from './harness.ts'

export interface HttpLoad {
  readonly path: string
  readonly seconds: number
  readonly connections: number
  readonly headers?: Readonly<Record<string, string>>
  /** Each request has an `If-None-Match` field with the ETag of the last response. */
  readonly isConditional?: boolean
  /** The process whose CPU time is measured. */
  readonly pid?: number
}

export interface HttpLoadFigures {
  readonly perSecond: number
  readonly p99Ms: number
  /** CPU time per 1,000 responses, the figure least affected by other load on the machine. */
  readonly cpuMs: number | null
}

export async function requestsPerSecond(address: string, load: HttpLoad): Promise<number> {
  const { perSecond } = await loadHttp(address, load)
  return perSecond
}

/**
 * Sends requests for `seconds`; each connection sends the next request as soon as it has a response. Throws if a status
 * is neither 200 nor 304.
 */
export async function loadHttp(
  address: string,
  { path, seconds, connections, headers, isConditional, pid = 0 }: HttpLoad,
): Promise<HttpLoadFigures> {
  const { hostname, port, host } = new URL(address)
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const requestHead = `GET ${path} HTTP/1.1\r\n${lines.join('')}`
  const durations: number[] = []
  let failure: Error | undefined
  const buffer = Buffer.alloc(readBytes)
  const open = async (): Promise<Socket> => {
    let requestedAt = performance.now()
    const read = createResponseReader((status, etag) => {
      if (status !== 200 && status !== 304) failure ??= new Error(`${path} returned ${status}`)
      const now = performance.now()
      durations.push(now - requestedAt)
      requestedAt = now
      socket.write(isConditional ? `${requestHead}if-none-match: ${etag}\r\n\r\n` : `${requestHead}\r\n`)
    })
    const callback = (size: number) => {
      read(buffer.subarray(0, size))
      return true
    }
    // All sockets read into one large buffer, which costs less than an allocation per read.
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } })
    await once(socket, 'connect')
    socket.on('error', (error) => {
      failure ??= error
    })
    requestedAt = performance.now()
    socket.write(`${requestHead}\r\n`)
    return socket
  }
  const sockets = await Promise.all(Array.from({ length: connections }, open))
  await sleep(100)
  const [before, startedAt, cpuBefore] = [durations.length, performance.now(), await cpuTimeMs(pid)]
  await sleep(seconds * 1000)
  const measured = durations.slice(before)
  const [endedAt, cpuAfter] = [performance.now(), await cpuTimeMs(pid)]
  for (const socket of sockets) socket.destroy()
  if (failure !== undefined) throw failure
  const cpuMs = cpuBefore === null || cpuAfter === null ? null : ((cpuAfter - cpuBefore) / measured.length) * 1000
  return { perSecond: measured.length / ((endedAt - startedAt) / 1000), p99Ms: percentile(measured, 99), cpuMs }
}

const readBytes = 1024 * 1024
const maxHeadBytes = 4 * 1024

/** The parser understands only the HTTP that is needed to find the end of a response. */
function createResponseReader(onResponse: (status: number, etag: string) => void): (chunk: Buffer) => void {
  let head = ''
  let status = 0
  let etag = ''
  let remaining = 0
  return (chunk) => {
    let offset = 0
    if (remaining === 0) {
      const bufferedLength = head.length
      head += chunk.toString('latin1', 0, maxHeadBytes)
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const fields = head.slice(0, end)
      status = Number(fields.slice(9, 12))
      etag = /\r\netag: (.+)/i.exec(fields)?.[1] ?? ''
      remaining = Number(/\r\ncontent-length: (\d+)/i.exec(fields)?.[1] ?? 0)
      offset = end + 4 - bufferedLength
      head = ''
    }
    remaining -= chunk.length - offset
    if (remaining === 0) onResponse(status, etag)
  }
}
