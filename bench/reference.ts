/**
 * The least that could do the same, each in a process of its own:
 * `http <file>` answers every request with that file's bytes under the header fields of `<file>.head`, `relay <ws url>` hands on every frame to every client,
 * `lines <file>` has every receiver whose address stands there meter, and reads what comes.
 */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createConnection } from 'node:net'
import { gzipSync } from 'node:zlib'
import { WebSocket, WebSocketServer } from 'ws'

const [kind, target = ''] = process.argv.slice(2)
if (kind === 'http') serveFile(target)
else if (kind === 'relay') relay(target)
else if (kind === 'lines') readLines(target)
else throw new Error('say http <file>, relay <ws url> or lines <file>')

function serveFile(file: string): void {
  const bytes = readFileSync(file)
  const gzip = gzipSync(bytes, { level: 1 })
  const head: Record<string, string> = JSON.parse(readFileSync(`${file}.head`, 'utf8'))
  const { etag } = head
  const server = createServer((request, response) => {
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, head).end()
    const wantsGzip = request.headers['accept-encoding'] !== undefined
    const body = wantsGzip ? gzip : bytes
    response.writeHead(200, {
      ...head,
      'content-length': body.length,
      ...(wantsGzip && { 'content-encoding': 'gzip' }),
    })
    response.end(body)
  })
  server.listen(0, '127.0.0.1', () => say('http', server.address()))
}

function relay(url: string): void {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  const upstream = new WebSocket(url, { perMessageDeflate: false })
  upstream.on('message', (data) => {
    for (const client of server.clients) client.send(data, { binary: false })
  })
  upstream.on('close', () => process.exit())
  upstream.on('open', () => say('ws', server.address()))
}

function readLines(file: string): void {
  const ports: readonly number[] = JSON.parse(readFileSync(file, 'utf8'))
  const startedAt = performance.now()
  const heard = new Set<number>()
  for (const port of ports) {
    const socket = createConnection({ host: '127.0.0.1', port, noDelay: true })
    socket.write('< SET 0 METER_RATE 00100 >')
    socket.on('data', () => {
      if (heard.has(port)) return
      heard.add(port)
      if (heard.size === ports.length) {
        console.log(JSON.stringify({ address: '', untilHeardMs: performance.now() - startedAt }))
      }
    })
    socket.on('close', () => process.exit())
  }
}

function say(scheme: string, bound: AddressInfo | string | null): void {
  console.log(JSON.stringify({ address: `${scheme}://127.0.0.1:${(bound as AddressInfo).port}` }))
}
