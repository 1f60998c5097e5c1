/** A session with a DSQD: one query at a time, each answered with one line. */

import type { UpstreamClient } from '../../upstream/client.ts'
import { describeConnectionError } from '../../upstream/error-messages.ts'
import { type Framing, openTcpSocket } from '../../upstream/tcp.ts'
import { type Address, formatQuery, parseReply, type Value } from './codec.ts'

/** Why an answer has no values: the device answers `ERROR`, or in another form. */
export type Rejection = 'refused' | 'malformed'

export interface Session {
  /** The device's IP address. */
  readonly address: string
  /** Sends a query. Throws the manufacturer's ApiError if no answer arrives in time. */
  query(name: string, address?: Address): Promise<readonly Value[] | Rejection>
  close(): void
}

const byLines: Framing = (text) => {
  const messages = text.split(/\r?\n/)
  const rest = messages.pop() ?? ''
  return { messages, rest }
}

/** Opens a session. Throws the manufacturer's ApiError if the connection fails, and the signal's reason on abort. */
export async function openSession(client: UpstreamClient, signal: AbortSignal): Promise<Session> {
  const { timeoutMs, baseUrl } = client.settings
  const { host } = new URL(baseUrl)
  const closed = new AbortController()
  const socket = await openTcpSocket(client, { framing: byLines, signal: AbortSignal.any([signal, closed.signal]) })
  const answers = flatten(socket.messages)

  async function nextAnswer(): Promise<string> {
    const { value, done } = await answers.next()
    if (!done) return value
    signal.throwIfAborted()
    throw new client.errors.ApiError(describeConnectionError({ code: 'DEADLINE' }, host, timeoutMs))
  }

  return {
    address: socket.remoteAddress,
    async query(name, address) {
      await socket.send(formatQuery(name, address))
      const timer = setTimeout(() => closed.abort(), timeoutMs)
      try {
        for (;;) {
          const answer = await nextAnswer()
          const reply = parseReply(answer)
          if (reply === null) return /^\s*ERROR\b/i.test(answer) ? 'refused' : 'malformed'
          // Other replies are answers to other clients that are connected to the same port.
          if (reply.name === name && (reply.address ?? address) === address) return reply.values
        }
      } finally {
        clearTimeout(timer)
      }
    },
    close() {
      closed.abort()
      socket.close()
    },
  }
}

async function* flatten(packets: AsyncIterable<readonly string[]>): AsyncGenerator<string, undefined> {
  for await (const lines of packets) yield* lines
}
