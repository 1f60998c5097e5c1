/** A conversation with one device over UDP: nobody says whether it is there, so silence is all there is to go by. */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { type Conversation, type ConversationOptions, createInbox } from './conversation.ts'
import { portOf, resolveDestination } from './destinations.ts'
import { ApiError } from './errors.ts'
import type { Link } from './link.ts'
import { connectionTrouble } from './trouble.ts'

export interface DatagramOptions extends ConversationOptions {
  /** Not a datagram for so long: lost. */
  readonly silentMs: number
}

/** So many datagrams wait to be read; what comes then is lost, as it may be in the network. */
const maxWaiting = 512

/**
 * From a port of our own, to and from this one device; a message is a datagram. Throws the manufacturer's ApiError where
 * its name does not resolve; on abort the signal's reason.
 */
export async function openDatagrams(link: Link, options: DatagramOptions): Promise<Conversation> {
  const { signal, silentMs, farewell } = options
  const url = new URL(link.settings.baseUrl)
  const toApiError = (error: unknown) => {
    if (error instanceof ApiError) return error
    return new link.errors.ApiError(connectionTrouble(error, url.host, silentMs), { cause: error })
  }
  await link.enter(signal)
  const socket = await connect(link, url, signal).catch((error) => {
    signal.throwIfAborted()
    throw toApiError(error)
  })
  const inbox = createInbox({ onLeft: close })
  const lose = (error: unknown) => inbox.fail(toApiError(error))
  let heard = 0
  const silence = setTimeout(() => {
    const before = heard
    // After a long turn of our own what has come waits to be read, and the clock strikes first.
    setImmediate(() => {
      if (heard === before) lose(Object.assign(new Error('silent'), { code: 'SILENT' }))
    })
  }, silentMs)
  let isClosed = false

  function close(): void {
    if (isClosed) return
    isClosed = true
    clearTimeout(silence)
    signal.removeEventListener('abort', close)
    inbox.end()
    const words = farewell?.()
    if (words === undefined) socket.close()
    else socket.send(words, () => socket.close())
  }

  socket.on('error', lose)
  socket.on('message', (bytes) => {
    heard += 1
    silence.refresh()
    if (!isClosed && inbox.size < maxWaiting) inbox.put([bytes.toString('utf8')])
  })
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()

  return {
    messages: inbox.messages,
    remoteAddress: socket.remoteAddress().address,
    async send(text) {
      await link.enter(signal)
      if (!isClosed) socket.send(text)
    },
    close,
  }
}

/** Connected: what others send never reaches us, and a port where nobody listens says so. */
async function connect(link: Link, url: URL, signal: AbortSignal): Promise<Socket> {
  const { address, family } = await resolveDestination(link.destinations, url)
  signal.throwIfAborted()
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  try {
    socket.connect(portOf(url), address)
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.close()
    throw error
  }
}
