/** Sends one request after another on a single connection, to observe what the server does with the connection. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { onTestEnd } from '../cleanup.ts'

interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Connection {
  /** Sends `head`, completed with Host and the final empty line, then `body`. Returns the next response. */
  request(head: string, body?: string): Promise<Response>
  write(text: string): void
  /** Returns the next response. Rejects if the connection ends before it. */
  receive(): Promise<Response>
  close(): void
}

export async function openConnection(port: number): Promise<Connection> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  onTestEnd(() => socket.destroy())
  const write = (text: string) => void socket.write(text)
  const receive = () =>
    new Promise<Response>((resolve, reject) => {
      let received = ''
      const onData = (chunk: Buffer) => {
        received += chunk.toString('latin1')
        const response = parse(received)
        if (response === null) return
        socket.off('data', onData)
        resolve(response)
      }
      socket.on('data', onData)
      socket.once('close', () => reject(new Error(`closed after ${JSON.stringify(received)}`)))
    })
  return {
    write,
    receive,
    close: () => socket.destroy(),
    request(head, body = '') {
      const response = receive()
      write(`${head}\r\nHost: localhost\r\n\r\n${body}`)
      return response
    },
  }
}

/** Parses the response; returns null while it is incomplete. */
function parse(received: string) {
  const end = received.indexOf('\r\n\r\n')
  const [first = '', ...lines] = received.slice(0, end).split('\r\n')
  const fields = lines.map((line) => /^([^:]+): *(.*)$/.exec(line) ?? [])
  const headers = Object.fromEntries(fields.map(([, name = '', value = '']) => [name.toLowerCase(), value]))
  const body = received.slice(end + 4)
  if (end === -1 || body.length < Number(headers['content-length'])) return null
  return { status: Number(first.split(' ')[1]), headers, body }
}
