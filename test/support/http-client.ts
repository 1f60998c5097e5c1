/** Sends raw HTTP requests: any Host, any header, any body. A response contains the raw bytes and the parsed JSON. */

import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
  readonly json: any
}

type Headers = OutgoingHttpHeaders

export interface HttpClient {
  get(path: string, headers?: Headers): Promise<HttpResponse>
  post(path: string, body?: unknown, headers?: Headers): Promise<HttpResponse>
  put(path: string, body: unknown, headers?: Headers): Promise<HttpResponse>
  send(method: string, path: string, options?: { headers?: Headers; body?: string | Buffer }): Promise<HttpResponse>
  /** Sends these bytes unchanged and returns everything until the server closes the connection. */
  raw(text: string): Promise<string>
}

/** A service that is silent for this time does not respond at all, even on a busy machine. */
const silenceMs = 60_000

/** `check` is called with every response, and throws if it is not as expected. */
export function httpClient(
  url: string,
  check: (method: string, path: string, response: HttpResponse) => void = () => {},
): HttpClient {
  const base = new URL(url)
  const prefix = base.pathname.replace(/\/$/, '')
  const send: HttpClient['send'] = (method, path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const clientRequest = request(
        { host: base.hostname, port: base.port, method, path: prefix + path, headers, agent: false },
        async (response) => {
          try {
            const chunks: Buffer[] = []
            for await (const chunk of response) chunks.push(chunk as Buffer)
            const bytes = Buffer.concat(chunks)
            const { statusCode: status = 0, headers } = response
            const received = { status, headers, bytes, json: parse(bytes, headers) }
            check(method, path, received)
            resolve(received)
          } catch (error) {
            reject(error)
          }
        },
      )
      clientRequest.on('error', reject)
      clientRequest.setTimeout(silenceMs, () => clientRequest.destroy(new Error(`${method} ${path}: no response`)))
      clientRequest.end(body)
    })
  const sendJson = (method: string, path: string, body: unknown, headers: Headers = {}) =>
    send(method, path, { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
  return {
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body, headers = {}) =>
      body === undefined ? send('POST', path, { headers }) : sendJson('POST', path, body, headers),
    put: (path, body, headers) => sendJson('PUT', path, body, headers),
    raw: (text) =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(base.port), base.hostname, () => socket.write(text))
        let response = ''
        socket.setEncoding('utf8').on('data', (chunk) => {
          response += chunk
        })
        socket.on('error', reject).on('close', () => resolve(response))
      }),
  }
}

function parse(bytes: Buffer, headers: IncomingHttpHeaders): unknown {
  if (headers['content-encoding'] !== undefined) return undefined
  if (!headers['content-type']?.startsWith('application/json') || bytes.length === 0) return undefined
  return JSON.parse(bytes.toString())
}
