/** A conversation with a DSQD: one question at a time, each answered with one line, or refused with one. */

import type { UpstreamClient } from '../../upstream/client.ts'
import { describeConnectionError } from '../../upstream/error-messages.ts'
import { type Framing, openTcpSocket } from '../../upstream/tcp.ts'
import { type Address, parseReply, query, type Value } from './codec.ts'

export interface Dialogue {
  /** The device's, as the name it was given resolved. */
  readonly address: string
  /** Null where the device refuses to say. Throws the manufacturer's ApiError when no answer comes in time. */
  ask(name: string, address?: Address): Promise<readonly Value[] | null>
  close(): void
}

const byLines: Framing = (text) => {
  const messages = text.split(/\r?\n/)
  const rest = messages.pop() ?? ''
  return { messages, rest }
}

/** Throws the manufacturer's ApiError when nobody is there; on abort the signal's reason. */
export async function converse(client: UpstreamClient, signal: AbortSignal): Promise<Dialogue> {
  const { timeoutMs, baseUrl } = client.settings
  const { host } = new URL(baseUrl)
  const ending = new AbortController()
  const line = await openTcpSocket(client, { framing: byLines, signal: AbortSignal.any([signal, ending.signal]) })
  const answers = flatten(line.messages)

  async function nextAnswer(): Promise<string> {
    const { value, done } = await answers.next()
    if (!done) return value
    signal.throwIfAborted()
    throw new client.errors.ApiError(describeConnectionError({ code: 'DEADLINE' }, host, timeoutMs))
  }

  return {
    address: line.remoteAddress,
    async ask(name, address) {
      await line.send(query(name, address))
      const late = setTimeout(() => ending.abort(), timeoutMs)
      try {
        for (;;) {
          const reply = parseReply(await nextAnswer())
          if (reply === null) return null
          // Any other is the answer to a question of somebody else on the same port.
          if (reply.name === name && (reply.address ?? address) === address) return reply.values
        }
      } finally {
        clearTimeout(late)
      }
    },
    close() {
      ending.abort()
      line.close()
    },
  }
}

async function* flatten(packets: AsyncIterable<readonly string[]>): AsyncGenerator<string, undefined> {
  for await (const lines of packets) yield* lines
}
