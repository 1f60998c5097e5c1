/** Reads the description of a stream by RTSP (RFC 2326, 10.2), as RAVENNA devices offer it. */

import type { Socket } from 'node:net'
import { maxSdpBytes } from '../domain/audio/sdp.ts'
import { abortWithin } from '../platform/wait.ts'
import { type Destinations, openSocket } from './destinations.ts'
import { ApiError, describeConnectionError } from './errors.ts'

const usualPort = '554'
const maxHeadBytes = 8192
const maxRedirects = 3
const endOfHead = '\r\n\r\n'

interface RtspOptions {
  readonly destinations: Destinations
  readonly signal: AbortSignal
  /** For the connection, the response and all redirects together. */
  readonly timeoutMs: number
}

interface RtspResponse {
  readonly status: number
  readonly reason: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Returns the SDP of an address such as `rtsp://10.0.0.5/by-name/Stage`. Throws an ApiError that says what is wrong. */
export async function describeRtsp(address: string, options: RtspOptions): Promise<string> {
  const signal = abortWithin(options.timeoutMs, options.signal)
  let url = toRtspUrl(address)
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const { status, reason, headers, body } = await requestDescription(url, { ...options, signal })
    if (status === 200) return body
    const location = headers.get('location')
    const isRedirect = status >= 300 && status < 400 && location !== undefined
    if (!isRedirect) throw new ApiError(`${url.host} responded to DESCRIBE with ${status} ${reason}`, { status })
    url = toRtspUrl(location)
  }
  throw new ApiError(`${url.host} redirects more than ${maxRedirects} times`)
}

function toRtspUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || url.protocol !== 'rtsp:' || url.hostname === '' || url.username !== '' || url.password !== '') {
    throw new ApiError(`expected an address that begins with rtsp:// and has no password: ${address}`)
  }
  if (url.port === '') url.port = usualPort
  return url
}

async function requestDescription(url: URL, { destinations, signal, timeoutMs }: RtspOptions): Promise<RtspResponse> {
  let socket: Socket | null = null
  try {
    socket = await openSocket(url, destinations, signal)
    // Without a listener, a late error would end the process.
    socket.on('error', () => {})
    socket.write(`DESCRIBE ${url.href} RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\nUser-Agent: Micwatch\r\n\r\n`)
    return await readResponse(socket, url.host)
  } catch (error) {
    if (error instanceof ApiError) throw error
    const cause = signal.aborted ? { code: 'DEADLINE' } : error
    throw new ApiError(describeConnectionError(cause, url.host, timeoutMs), { cause: error })
  } finally {
    socket?.destroy()
  }
}

async function readResponse(socket: Socket, host: string): Promise<RtspResponse> {
  let received = Buffer.alloc(0)
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk])
    const response = parseResponse(received, host)
    if (response !== null) return response
  }
  throw new ApiError(`${host} closed the connection in the middle of its response`)
}

/** Returns null while the response is incomplete. */
function parseResponse(received: Buffer, host: string): RtspResponse | null {
  const at = received.indexOf(endOfHead)
  if (at === -1) {
    if (received.length > maxHeadBytes) throw new ApiError(`the header of ${host} has more than 8 KiB`)
    return null
  }
  const head = parseHead(received.toString('latin1', 0, at), host)
  const length = Number(head.headers.get('content-length') ?? '0')
  if (!Number.isSafeInteger(length) || length < 0 || length > maxSdpBytes) {
    throw new ApiError(`the description of ${host} has more than 16 KiB`)
  }
  const body = received.subarray(at + endOfHead.length)
  return body.length < length ? null : { ...head, body: body.toString('utf8', 0, length) }
}

function parseHead(text: string, host: string): Omit<RtspResponse, 'body'> {
  const [first = '', ...lines] = text.split('\r\n')
  const [, status = '', reason = ''] = /^RTSP\/1\.0 (\d{3}) ?([^\r\n]{0,100})/.exec(first) ?? []
  if (status === '') throw new ApiError(`${host} does not respond with RTSP`)
  const headers = lines.flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
    return name === '' ? [] : [[name.toLowerCase(), value.trim()]]
  })
  return { status: Number(status), reason, headers: new Map(headers) }
}
