/** A conversation with one device over UDP: nobody says whether it is there, so silence is all there is to go by. */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { abortable } from './abortable.ts'
import type { UpstreamClient } from './client.ts'
import { portOf, resolveDestination } from './destinations.ts'
import { createInbox, type DeviceSocket, type DeviceSocketOptions } from './device-socket.ts'
import { describeConnectionError } from './error-messages.ts'
import { ApiError } from './errors.ts'

export interface UdpOptions extends DeviceSocketOptions {
  /** Not a datagram for so long: lost. */
  readonly silentMs: number
  /**
   * For a device that answers to this port whoever asks. Links share it, each with a socket of its own; conversations over
   * one link share that socket, hear the same, and only the last of them says goodbye.
   */
  readonly localPort?: number
}

/** So many datagrams wait to be read; what comes then is lost, as it may be in the network. */
const maxWaiting = 512

/**
 * From a port of our own, to and from this one device; a message is a datagram. Throws the manufacturer's ApiError where
 * its name does not resolve; on abort the signal's reason.
 */
export async function openUdpSocket(client: UpstreamClient, options: UdpOptions): Promise<DeviceSocket> {
  const { signal, silentMs, farewell } = options
  const url = new URL(client.settings.baseUrl)
  const toApiError = (error: unknown) => {
    if (error instanceof ApiError) return error
    return new client.errors.ApiError(describeConnectionError(error, url.host, silentMs), { cause: error })
  }
  await client.waitForTurn(signal)
  const { socket, leave } = await takeSocket(client, url, options).catch((error) => {
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
    socket.off('message', hear)
    if (!leave()) return void socket.off('error', lose)
    const words = farewell?.()
    if (words === undefined) socket.close()
    else socket.send(words, () => socket.close())
  }

  function hear(bytes: Buffer): void {
    heard += 1
    silence.refresh()
    if (inbox.size < maxWaiting) inbox.put([bytes.toString('utf8')])
  }

  socket.on('error', lose).on('message', hear)
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()

  return {
    messages: inbox.messages,
    remoteAddress: socket.remoteAddress().address,
    async send(text) {
      await client.waitForTurn(signal)
      // Of several in a row the next one is told that nobody listens, and without a callback that would be lost.
      if (!isClosed) socket.send(text, (error) => error && lose(error))
    },
    close,
  }
}

/** `leave` tells whether nobody else is left. */
async function takeSocket(
  client: UpstreamClient,
  url: URL,
  { signal, localPort }: UdpOptions,
): Promise<{ readonly socket: Socket; leave(): boolean }> {
  if (localPort === undefined) return { socket: await connect(client, url, signal), leave: () => true }
  const bound = client.boundSockets.get(localPort) ?? { opening: connect(client, url, undefined, localPort), users: 0 }
  client.boundSockets.set(localPort, bound)
  bound.users += 1
  const leave = () => {
    bound.users -= 1
    if (bound.users === 0) client.boundSockets.delete(localPort)
    return bound.users === 0
  }
  try {
    const socket = await abortable(bound.opening, signal)
    return { socket, leave }
  } catch (error) {
    if (leave()) bound.opening.then((socket) => socket.close()).catch(() => {})
    throw error
  }
}

/** Connected: what others send never reaches us, and a port where nobody listens says so. */
async function connect(
  client: UpstreamClient,
  url: URL,
  signal: AbortSignal | undefined,
  localPort?: number,
): Promise<Socket> {
  const resolving = resolveDestination(client.destinations, url)
  const { address, family } = await (signal === undefined ? resolving : abortable(resolving, signal))
  const socket = createSocket({ type: family === 6 ? 'udp6' : 'udp4', reuseAddr: localPort !== undefined })
  try {
    if (localPort !== undefined) {
      socket.bind(localPort)
      await once(socket, 'listening')
    }
    socket.connect(portOf(url), address)
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.close()
    throw error
  }
}
