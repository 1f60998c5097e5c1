/**
 * Minimal reference implementations, each run in a separate process:
 * `http <file>` answers every request with the contents of the file and the header fields in `<file>.head`.
 * `relay <ws url>` forwards every WebSocket frame to all clients.
 * `receivers <file>` enables metering on the receivers whose ports are listed in the file, and discards the samples.
 */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createConnection } from 'node:net'
import { gzipSync } from 'node:zlib'
import { WebSocket, WebSocketServer } from 'ws'

const [mode, target = ''] = process.argv.slice(2)
if (mode === 'http') serveFile(target)
else if (mode === 'relay') relay(target)
else if (mode === 'receivers') readReceivers(target)
else throw new Error('Usage: reference.ts http <file> | relay <ws url> | receivers <file>')

function serveFile(file: string): void {
  const bytes = readFileSync(file)
  const gzip = gzipSync(bytes, { level: 1 })
  const head: Record<string, string> = JSON.parse(readFileSync(`${file}.head`, 'utf8'))
  const { etag } = head
  const server = createServer((request, response) => {
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, head).end()
    const acceptsGzip = request.headers['accept-encoding'] !== undefined
    const body = acceptsGzip ? gzip : bytes
    response.writeHead(200, {
      ...head,
      'content-length': body.length,
      ...(acceptsGzip && { 'content-encoding': 'gzip' }),
    })
    response.end(body)
  })
  server.listen(0, '127.0.0.1', () => printAddress('http', server.address()))
}

function relay(url: string): void {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  const upstream = new WebSocket(url, { perMessageDeflate: false })
  upstream.on('message', (data) => {
    for (const client of server.clients) client.send(data, { binary: false })
  })
  upstream.on('close', () => process.exit())
  upstream.on('open', () => printAddress('ws', server.address()))
}

function readReceivers(file: string): void {
  const ports: readonly number[] = JSON.parse(readFileSync(file, 'utf8'))
  const startedAt = performance.now()
  const received = new Set<number>()
  for (const port of ports) {
    const socket = createConnection({ host: '127.0.0.1', port, noDelay: true })
    socket.write('< SET 0 METER_RATE 00100 >')
    socket.on('data', () => {
      if (received.has(port)) return
      received.add(port)
      if (received.size === ports.length) {
        console.log(JSON.stringify({ address: '', allReceivedMs: performance.now() - startedAt }))
      }
    })
    socket.on('close', () => process.exit())
  }
}

function printAddress(scheme: string, address: AddressInfo | string | null): void {
  console.log(JSON.stringify({ address: `${scheme}://127.0.0.1:${(address as AddressInfo).port}` }))
}
