/** A conversation with one device over UDP: nobody says whether it is there, so silence is all there is to go by. */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { portOf, resolveDestination } from './destinations.ts'
import { ApiError } from './errors.ts'
import type { Link } from './link.ts'
import { connectionTrouble } from './trouble.ts'

export interface DatagramOptions {
  /** From the first moment to the last: an abort lets go at once. */
  readonly signal: AbortSignal
  /** Not a datagram for so long: lost. */
  readonly silentMs: number
}

export interface Datagrams {
  /** What came, oldest first. Ends quietly on abort, throws the manufacturer's ApiError when the device has fallen silent. */
  readonly messages: AsyncIterable<readonly string[]>
  /** Waits for its turn. Whether it arrives nobody knows. */
  send(text: string): Promise<void>
  /** Says goodbye, if there is something to say, and lets go. */
  close(farewell?: string): void
}

/** So many datagrams wait to be read; older ones give way, as they would in the network. */
const maxWaiting = 512

/** From a port of our own, to and from this one device. Throws the manufacturer's ApiError where its name does not resolve. */
export async function openDatagrams(link: Link, { signal, silentMs }: DatagramOptions): Promise<Datagrams> {
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
  let waiting: string[] = []
  let trouble: unknown
  let isClosed = false
  let wake = () => {}
  const fail = (error: unknown) => {
    trouble ??= error
    wake()
  }
  const silence = setTimeout(() => fail(Object.assign(new Error('silent'), { code: 'SILENT' })), silentMs)
  const close = () => {
    if (isClosed) return
    isClosed = true
    clearTimeout(silence)
    signal.removeEventListener('abort', close)
    socket.close()
    wake()
  }
  signal.addEventListener('abort', close, { once: true })
  socket.on('error', fail)
  socket.on('message', (bytes) => {
    silence.refresh()
    if (waiting.push(bytes.toString('utf8')) > maxWaiting) waiting.shift()
    wake()
  })

  async function* read(): AsyncGenerator<readonly string[]> {
    try {
      while (!isClosed) {
        if (waiting.length > 0) {
          const messages = waiting
          waiting = []
          yield messages
        } else if (trouble !== undefined) throw toApiError(trouble)
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      close()
    }
  }

  return {
    messages: read(),
    async send(text) {
      await link.enter(signal)
      if (!isClosed) socket.send(text)
    },
    close(farewell) {
      if (farewell === undefined || isClosed) close()
      else socket.send(farewell, close)
    },
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
