/** A conversation with one device over TCP: messages both ways, cut as its protocol says. */

import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { checkDestination, guardedLookup, portOf } from './destinations.ts'
import { ApiError } from './errors.ts'
import { type Link, maxConnectMs } from './link.ts'
import { connectionTrouble } from './trouble.ts'

/** Cuts what has come into whole messages; what is left waits for more. Must not keep what can never become one. */
export type Framing = (text: string) => { readonly messages: readonly string[]; readonly rest: string }

export interface LineOptions {
  readonly framing: Framing
  /** From the first moment to the last: an abort lets go at once. */
  readonly signal: AbortSignal
  /** Not a byte for so long: lost. Unless told, a line may be silent for ever. */
  readonly silentMs?: number
}

export interface Line {
  /** What came, as it came: those of one packet together. Ends quietly on abort, throws the manufacturer's ApiError when the line is lost. */
  readonly messages: AsyncIterable<readonly string[]>
  /** Waits for its turn. What cannot be sent any more is a line that is lost, and `messages` says so. */
  send(text: string): Promise<void>
  /** Says goodbye, if there is something to say, and lets go. */
  close(farewell?: string): void
}

/** A message that does not end within so many characters is none. */
const maxRestChars = 64 * 1024
/** So long the goodbye may take. */
const farewellMs = 200

/** Throws the manufacturer's ApiError when nobody is there; on abort the signal's reason. */
export async function openLine(link: Link, options: LineOptions): Promise<Line> {
  const { framing, signal, silentMs } = options
  const url = new URL(link.settings.baseUrl)
  const connectMs = Math.min(maxConnectMs, link.settings.timeoutMs)
  const toApiError = (error: unknown, patienceMs = connectMs) => {
    if (error instanceof ApiError) return error
    return new link.errors.ApiError(connectionTrouble(error, url.host, patienceMs), { cause: error })
  }
  await link.enter(signal)
  const socket = await connect(link, url, { connectMs, signal }).catch((error) => {
    signal.throwIfAborted()
    throw toApiError(error)
  })
  const end = () => socket.destroy()
  signal.addEventListener('abort', end, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', end))
  if (silentMs !== undefined) {
    socket.setTimeout(silentMs, () => socket.destroy(Object.assign(new Error('silent'), { code: 'SILENT' })))
  }

  async function* read(): AsyncGenerator<readonly string[]> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        const cut = framing(rest + decoder.decode(chunk, { stream: true }))
        rest = cut.rest
        if (rest.length > maxRestChars) throw Object.assign(new Error('endless'), { code: 'BODY_TOO_LARGE' })
        if (cut.messages.length > 0) yield cut.messages
      }
      if (!signal.aborted) throw new link.errors.ApiError(`${url.host} closed the connection`)
    } catch (error) {
      if (!signal.aborted) throw toApiError(error, silentMs)
    } finally {
      socket.destroy()
    }
  }

  return {
    messages: read(),
    async send(text) {
      await link.enter(signal)
      socket.write(text)
    },
    close(farewell) {
      if (farewell === undefined || socket.destroyed) return void socket.destroy()
      // From now on nobody reads, and a peer that does not either must not hold us.
      const timer = setTimeout(() => socket.destroy(), farewellMs)
      socket.once('close', () => clearTimeout(timer)).resume()
      socket.end(farewell, () => socket.destroySoon())
    },
  }
}

async function connect(
  link: Link,
  url: URL,
  { connectMs, signal }: { connectMs: number; signal: AbortSignal },
): Promise<Socket> {
  checkDestination(link.destinations, url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const lookup = guardedLookup(link.destinations, portOf(url))
  const socket = createConnection({ host, port: portOf(url), lookup, noDelay: true, keepAlive: true })
  // Whoever reads hears of it too; without a listener it would end the process.
  socket.on('error', () => {})
  const late = setTimeout(() => socket.destroy(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })), connectMs)
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(late)
  }
}
