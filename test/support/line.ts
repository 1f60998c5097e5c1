/** A line between two services, which can be cut, slowed down and delayed. */

import { connect, createServer, type Socket } from 'node:net'
import { onTestEnd } from './cleanup.ts'

export interface Line {
  /** The address of the service at the other end. */
  readonly url: string
  /** Ends all connections, and accepts none until `restore`. */
  cut(): void
  restore(): void
  /** Stops forwarding data, without ending connections. */
  silence(): void
  /** Returns how many messages of this type the service has sent. */
  countOf(type: string): number
  /** Returns how many bytes the service has sent. */
  bytesFromService(): number
  /** Limits each direction of a connection, from its next chunk on. */
  limit(options: { readonly bytesPerSecond: number; readonly delayMs: number }): void
}

const chunkBytes = 1400

/** Opens a line to a service on this machine. */
export async function openLine(port: number): Promise<Line> {
  const sockets = new Set<Socket>()
  const counts = new Map<string, number>()
  let sentBytes = 0
  let isCut = false
  let isSilent = false
  let bytesPerSecond = Number.POSITIVE_INFINITY
  let delayMs = 0

  /** Carries chunks one after another, each delayed by `delayMs` in addition. */
  function carry(from: Socket, to: Socket): void {
    let freeAt = 0
    let waiting = 0
    from.on('data', (data: Buffer) => {
      for (let start = 0; start < data.length; start += chunkBytes) {
        const chunk = data.subarray(start, start + chunkBytes)
        if (isSilent) return
        freeAt = Math.max(freeAt, performance.now()) + (chunk.length / bytesPerSecond) * 1000
        waiting += 1
        // The sender waits, as with a real line, whose buffers are small.
        if (waiting > 8) from.pause()
        setTimeout(
          () => {
            waiting -= 1
            if (waiting < 4) from.resume()
            if (!isSilent && !to.destroyed) to.write(chunk)
          },
          freeAt - performance.now() + delayMs,
        )
      }
    })
    from.on('close', () => to.destroy())
    from.on('error', () => to.destroy())
  }

  /** Counts the messages in the texts that the service sends, which are not compressed. */
  function count(from: Socket): void {
    let rest = ''
    from.on('data', (data: Buffer) => {
      sentBytes += data.length
      const text = rest + data.toString('latin1')
      let end = 0
      for (const match of text.matchAll(/\{"type":"(\w+)"/g)) {
        counts.set(match[1] ?? '', (counts.get(match[1] ?? '') ?? 0) + 1)
        end = match.index + match[0].length
      }
      // A chunk may end within the start of a message.
      rest = text.slice(Math.max(end, text.length - 40))
    })
  }

  const server = createServer((client) => {
    if (isCut) return void client.destroy()
    const target = connect(port, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    }
    carry(client, target)
    carry(target, client)
    count(target)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestEnd(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the line has no address')
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    restore() {
      isCut = false
      isSilent = false
    },
    silence() {
      isSilent = true
    },
    limit(options) {
      bytesPerSecond = options.bytesPerSecond
      delayMs = options.delayMs
    },
    bytesFromService: () => sentBytes,
    countOf: (type) => counts.get(type) ?? 0,
  }
}
