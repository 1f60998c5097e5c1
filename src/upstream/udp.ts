/** A session with one device over UDP. UDP does not report a lost device, so a receive timeout detects it. */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { abortable } from '../platform/wait.ts'
import type { UpstreamClient } from './client.ts'
import { portOf, resolveDestination } from './destinations.ts'
import { createInbox, type DeviceSocket, type DeviceSocketOptions } from './device-socket.ts'
import { ApiError, describeConnectionError } from './errors.ts'

export interface UdpSocket extends DeviceSocket {
  /** The IP address of this machine from which messages are sent. */
  readonly localAddress: string
  /** Yields an empty batch if no message is waiting. */
  nudge(): void
}

export interface UdpOptions extends DeviceSocketOptions {
  /** The device is lost if no datagram arrives for this long. */
  readonly silentMs: number
  /**
   * The local port to which the device always replies, whatever port a request came from. Each client binds its own
   * socket to it. Sessions of one client share that socket and receive the same datagrams. Only the last one to close
   * sends its closing message.
   */
  readonly localPort?: number
  /** Default: utf8. With latin1, each character is one byte. */
  readonly encoding?: 'utf8' | 'latin1'
}

/** Further unread datagrams are dropped, as the network may drop them too. */
const maxQueued = 512

/**
 * Opens a socket that exchanges datagrams only with this device; each message is one datagram. Throws the
 * manufacturer's ApiError if the host name does not resolve, and the signal's reason on abort.
 */
export async function openUdpSocket(client: UpstreamClient, options: UdpOptions): Promise<UdpSocket> {
  const { signal, silentMs, closingMessage, encoding = 'utf8', refusedAdvice } = options
  const url = new URL(client.settings.baseUrl)
  const toApiError = (error: unknown) => {
    if (error instanceof ApiError) return error
    return new client.errors.ApiError(describeConnectionError(error, url.host, silentMs, refusedAdvice), {
      cause: error,
    })
  }
  await client.waitForTurn(signal)
  const { socket, release } = await acquireSocket(client, url, options).catch((error) => {
    signal.throwIfAborted()
    throw toApiError(error)
  })
  const tap = client.traffic.open('udp', encoding)
  const inbox = createInbox({ onClose: close })
  const fail = (error: unknown) => inbox.fail(toApiError(error))
  let receivedCount = 0
  const silenceTimer = setTimeout(() => {
    const countBefore = receivedCount
    // If the event loop was blocked, this timer fires before datagrams that have already arrived are read.
    setImmediate(() => {
      if (receivedCount === countBefore) fail(Object.assign(new Error('silent'), { code: 'SILENT' }))
    })
  }, silentMs)
  let isClosed = false

  function close(): void {
    if (isClosed) return
    isClosed = true
    tap.closed()
    clearTimeout(silenceTimer)
    signal.removeEventListener('abort', close)
    inbox.end()
    socket.off('message', onMessage)
    if (!release()) return void socket.off('error', fail)
    const lastMessage = closingMessage?.()
    if (lastMessage === undefined) return void socket.close()
    tap.sent(lastMessage)
    socket.send(Buffer.from(lastMessage, encoding), () => socket.close())
  }

  function onMessage(bytes: Buffer): void {
    receivedCount += 1
    client.recordReceived()
    tap.received(bytes)
    silenceTimer.refresh()
    if (inbox.size < maxQueued) inbox.push([bytes.toString(encoding)])
  }

  socket.on('error', fail).on('message', onMessage)
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()

  return {
    messages: inbox.messages,
    nudge: inbox.nudge,
    remoteAddress: socket.remoteAddress().address,
    localAddress: socket.address().address,
    async send(text) {
      await client.waitForTurn(signal)
      // A "port unreachable" reply to one datagram makes the next send fail. Without a callback, that error would be
      // lost.
      if (isClosed) return
      tap.sent(text)
      socket.send(Buffer.from(text, encoding), (error) => error && fail(error))
    },
    close,
  }
}

/**
 * Opens a socket, or shares one that is already bound to the local port. `release` returns true if no other session
 * uses the socket.
 */
async function acquireSocket(
  client: UpstreamClient,
  url: URL,
  { signal, localPort }: UdpOptions,
): Promise<{ readonly socket: Socket; release(): boolean }> {
  if (localPort === undefined) return { socket: await connect(client, url, signal), release: () => true }
  const bound = client.boundSockets.get(localPort) ?? { opening: connect(client, url, undefined, localPort), users: 0 }
  client.boundSockets.set(localPort, bound)
  bound.users += 1
  const release = () => {
    bound.users -= 1
    if (bound.users === 0) client.boundSockets.delete(localPort)
    return bound.users === 0
  }
  try {
    const socket = await abortable(bound.opening, signal)
    return { socket, release }
  } catch (error) {
    if (release()) bound.opening.then((socket) => socket.close()).catch(() => {})
    throw error
  }
}

/** Creates a connected socket, which receives only from this device and reports a closed port as an error. */
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
