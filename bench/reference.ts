/**
 * Minimal reference implementations, each run in a separate process:
 * `http <file> [<ws url>]` answers every request with the contents of the file and the header fields in `<file>.head`.
 *   It receives the changes from the WebSocket and applies them to the parsed body, without sending them.
 * `parse <ws url>` parses every frame.
 * `crowd <file>` receives the changes of the systems listed in the file and keeps the levels of all channels. For the
 *   marked devices, it sends levels to its clients every 100 ms, and other changes at once.
 * `relay <ws url>` forwards every WebSocket frame to all clients.
 * `receivers <file>` enables metering on the receivers whose ports are listed in the file, and discards the samples.
 */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createConnection } from 'node:net'
import { gzipSync } from 'node:zlib'
import { WebSocket, WebSocketServer } from 'ws'

const [mode, target = '', mirror] = process.argv.slice(2)
if (mode === 'http') serveFile(target, mirror)
else if (mode === 'parse') receive(target, () => {}, printReady)
else if (mode === 'crowd') serveCrowd(target)
else if (mode === 'relay') relay(target)
else if (mode === 'receivers') readReceivers(target)
else
  throw new Error(
    'Usage: reference.ts http <file> [<ws url>] | parse <ws url> | crowd <file> | relay <ws url> | receivers <file>',
  )

interface Frame {
  readonly device_id: string
  readonly channels?: readonly Entry[]
  readonly transmitters?: readonly Entry[]
}

interface Entry {
  readonly channel: number
  readonly [field: string]: unknown
}

function serveFile(file: string, mirror: string | undefined): void {
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
  const listen = () => server.listen(0, '127.0.0.1', () => printAddress('http', server.address()))
  if (mirror === undefined) listen()
  else receive(mirror, createReceivers(bytes), listen)
}

/** Returns a function that applies a frame to the receivers of data.json, in the order of their first frames. */
function createReceivers(body: Buffer): (frame: Frame) => void {
  const { receivers } = JSON.parse(String(body)) as {
    receivers: { channels: (Entry & { transmitter: object | null })[] }[]
  }
  const byDevice = new Map<string, (typeof receivers)[number]>()
  return ({ device_id, channels = [], transmitters = [] }) => {
    const receiver = byDevice.get(device_id) ?? receivers[byDevice.size]
    if (receiver === undefined) return
    byDevice.set(device_id, receiver)
    for (const { channel: number, ...fields } of channels) {
      const channel = receiver.channels.find((known) => known.channel === number)
      if (channel !== undefined) Object.assign(channel, fields)
    }
    for (const { channel: number, ...fields } of transmitters) {
      const channel = receiver.channels.find((known) => known.channel === number)
      if (channel?.transmitter) Object.assign(channel.transmitter, fields)
    }
  }
}

function receive(url: string, onFrame: (frame: Frame) => void, onOpen: () => void): void {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  socket.on('message', (data) => onFrame(JSON.parse(String(data))))
  socket.on('close', () => process.exit())
  socket.on('open', onOpen)
}

function serveCrowd(file: string): void {
  const systems: { readonly mirror: string; readonly marked: readonly { readonly id: string }[] }[] = JSON.parse(
    readFileSync(file, 'utf8'),
  )
  const marked = new Set(systems.flatMap((system) => system.marked.map(({ id }) => id)))
  const levels = new Map<string, Frame['channels']>()
  const changed = new Set<string>()
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  const send = (message: object) => {
    for (const client of server.clients) client.send(JSON.stringify(message), { binary: false })
  }
  setInterval(() => {
    const values = [...changed].map((id) => [id, levels.get(id)])
    changed.clear()
    if (values.length > 0) send({ type: 'levels', values })
  }, 100)
  let opened = 0
  for (const [index, { mirror }] of systems.entries()) {
    const onFrame = ({ device_id, channels, transmitters }: Frame) => {
      const isWatched = index === 0 && marked.has(device_id)
      if (channels === undefined) {
        if (isWatched) send({ type: 'channel', device_id, transmitters })
        return
      }
      levels.set(`${index} ${device_id}`, channels)
      if (isWatched) changed.add(`${index} ${device_id}`)
    }
    receive(mirror, onFrame, () => {
      opened += 1
      if (opened === systems.length) printAddress('ws', server.address())
    })
  }
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

function printReady(): void {
  console.log('{}')
}

function printAddress(scheme: string, address: AddressInfo | string | null): void {
  console.log(JSON.stringify({ address: `${scheme}://127.0.0.1:${(address as AddressInfo).port}` }))
}
