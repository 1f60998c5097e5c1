/** Sends one request after another on a single connection, to observe what the server does with the connection. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { onTestEnd } from '../cleanup.ts'

export interface Connection {
  /** Adds Host and the final empty line to `head`. Rejects if the connection ends before the response. */
  request(head: string, body?: string): Promise<{ status: number; headers: Record<string, string>; body: string }>
  write(text: string): void
  close(): void
}

export async function openConnection(port: number): Promise<Connection> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  onTestEnd(() => socket.destroy())
  const write = (text: string) => void socket.write(text)
  return {
    write,
    close: () => socket.destroy(),
    request: (head, body = '') =>
      new Promise((resolve, reject) => {
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
        write(`${head}\r\nHost: localhost\r\n\r\n${body}`)
      }),
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
