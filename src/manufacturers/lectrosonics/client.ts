/** A session with a DSQD: one query at a time, each answered with one line. */

import type { UpstreamClient } from '../../upstream/client.ts'
import { describeConnectionError } from '../../upstream/errors.ts'
import { createMessageReader } from '../../upstream/queries.ts'
import { type Framing, openTcpSocket } from '../../upstream/tcp.ts'
import { type Address, formatQuery, parseReply, type Value } from './codec.ts'

/** An answer without values: `ERROR`, or a malformed line. */
export type Rejection = 'refused' | 'malformed'

export interface Session {
  /** The device's IP address. */
  readonly address: string
  /** Throws the manufacturer's ApiError if no answer arrives in time. */
  query(name: string, address?: Address): Promise<Answer>
  /** Like `query`, but returns undefined if no answer to this query arrives within this time although others do. */
  tryQuery(query: { readonly name: string; readonly address?: Address }, withinMs: number): Promise<Answer | undefined>
  close(): void
}

export type Answer = readonly Value[] | Rejection

const byLines: Framing = (text) => {
  const messages = text.split(/\r?\n/)
  const rest = messages.pop() ?? ''
  return { messages, rest }
}

/** Throws the manufacturer's ApiError if the connection fails, and the signal's reason on abort. */
export async function openSession(client: UpstreamClient, signal: AbortSignal): Promise<Session> {
  const { timeoutMs, baseUrl } = client.settings
  const { host } = new URL(baseUrl)
  const closed = new AbortController()
  const socket = await openTcpSocket(client, { framing: byLines, signal: AbortSignal.any([signal, closed.signal]) })
  const messages = createMessageReader(socket.messages)
  const late = () => new client.errors.ApiError(describeConnectionError({ code: 'DEADLINE' }, host, timeoutMs))

  const send: Session['tryQuery'] = async ({ name, address }, withinMs) => {
    await socket.send(formatQuery(name, address))
    for (const deadline = performance.now() + withinMs; ; ) {
      const message = await messages.next(deadline - performance.now())
      signal.throwIfAborted()
      if (message === null) return undefined
      if (message === undefined) throw late()
      const reply = parseReply(message)
      if (reply === null) return /^\s*ERROR\b/i.test(message) ? 'refused' : 'malformed'
      // Other replies are late, or answers to other clients that are connected to the same port.
      if (reply.name === name && (reply.address ?? address) === address) return reply.values
    }
  }

  return {
    address: socket.remoteAddress,
    async tryQuery(query, withinMs) {
      const answer = await send(query, Math.min(withinMs, timeoutMs / 2))
      if (answer === undefined && performance.now() - client.receivedAt >= timeoutMs) throw late()
      return answer
    },
    async query(name, address) {
      const answer = await send({ name, ...(address !== undefined && { address }) }, timeoutMs)
      if (answer !== undefined) return answer
      closed.abort()
      throw late()
    },
    close() {
      closed.abort()
      socket.close()
    },
  }
}
