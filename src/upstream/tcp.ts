/** A session with one device over TCP. The protocol's framing splits the byte stream into messages. */

import { once } from 'node:events'
import { createConnection, type OnReadOpts, type Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { maxConnectMs, type UpstreamClient } from './client.ts'
import { checkDestination, type Destinations, guardedLookup, isBlocked, portOf } from './destinations.ts'
import { createInbox, type DeviceSocket, type DeviceSocketOptions } from './device-socket.ts'
import { ApiError, describeConnectionError } from './errors.ts'

/**
 * Splits received text into complete messages and an incomplete rest. Must drop text that can never become a complete
 * message.
 */
export type Framing = (text: string) => { readonly messages: readonly string[]; readonly rest: string }

export interface TcpOptions extends DeviceSocketOptions {
  readonly framing: Framing
  /**
   * Called with bytes as soon as they arrive, unless they continue an unfinished message. Returns the bytes that remain
   * for `framing`.
   */
  readonly onArrival?: (bytes: Buffer) => Buffer
  /** The device is lost if no data arrives for this long. If undefined, the connection may stay idle forever. */
  readonly silentMs?: number
  /** Default: utf8. With latin1, each character is one byte. */
  readonly encoding?: 'utf8' | 'latin1'
}

const readBuffer = Buffer.alloc(64 * 1024)
/** A longer message is an error. */
const maxRestChars = 64 * 1024
/** The socket is paused while more messages than this are unread. */
const maxQueued = 512
/**
 * The time limit for closing the connection cleanly after the closing message. Some devices hang if the connection is
 * cut in the middle of that message.
 */
const closingMessageMs = 200

/** Throws the manufacturer's ApiError if the connection fails, and the signal's reason on abort. */
export async function openTcpSocket(client: UpstreamClient, options: TcpOptions): Promise<DeviceSocket> {
  const { framing, onArrival, signal, silentMs, closingMessage, encoding = 'utf8', refusedAdvice } = options
  const url = new URL(client.settings.baseUrl)
  const connectMs = Math.min(maxConnectMs, client.settings.timeoutMs)
  const toApiError = (error: unknown) => {
    if (error instanceof ApiError) return error
    return new client.errors.ApiError(describeConnectionError(error, url.host, connectMs, refusedAdvice), {
      cause: error,
    })
  }
  await client.waitForTurn(signal)
  let onBytes = (_: Buffer) => {}
  const onRead = (length: number, buffer: Buffer) => {
    onBytes(buffer.subarray(0, length))
    return true
  }
  // `onBytes` is set when the connection opens, before anything is read from it.
  const socket = await connect(client, url, { connectMs, signal, onRead }).catch((error) => {
    signal.throwIfAborted()
    throw toApiError(error)
  })
  const tap = client.traffic.open('tcp', encoding)
  const inbox = createInbox({ onEmpty: () => void socket.resume(), onClose: close })
  const fail = (error: unknown) => {
    clearTimeout(silenceTimer)
    inbox.fail(toApiError(error))
    socket.destroy()
  }
  // The timeout of the socket would also restart when data is sent.
  const silenceTimer = silentMs === undefined ? undefined : setTimeout(onSilence, silentMs)
  let isClosed = false

  function close(): void {
    if (isClosed) return
    isClosed = true
    tap.closed()
    clearTimeout(silenceTimer)
    signal.removeEventListener('abort', close)
    inbox.end()
    // Writes everything sent in this turn of the event loop.
    socket.uncork()
    const lastMessage = socket.destroyed || !socket.writable ? undefined : closingMessage?.()
    if (lastMessage === undefined) return void socket.destroy()
    // Destroys the socket if the device does not close its side in time.
    const timer = setTimeout(() => socket.destroy(), closingMessageMs)
    socket.once('close', () => clearTimeout(timer)).resume()
    tap.sent(lastMessage)
    socket.end(lastMessage, encoding)
  }

  function onSilence(): void {
    const { bytesRead } = socket
    // If the event loop was blocked, this timer fires before data that has already arrived is read.
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) fail(Object.assign(new Error('silent'), { code: 'SILENT' }))
    })
  }

  const decoder = new StringDecoder(encoding)
  let rest = ''
  const take = (received: Buffer) => {
    const bytes = onArrival === undefined || rest !== '' ? received : onArrival(received)
    if (bytes.length === 0) return
    const frames = framing(rest + decoder.write(bytes))
    rest = frames.rest
    if (frames.messages.length > 0) inbox.push(frames.messages)
    if (inbox.size > maxQueued) socket.pause()
    if (rest.length > maxRestChars) fail(Object.assign(new Error('endless'), { code: 'BODY_TOO_LARGE' }))
  }
  onBytes = (received) => {
    if (isClosed) return
    client.recordReceived()
    tap.received(received)
    silenceTimer?.refresh()
    try {
      take(received)
    } catch (error) {
      // A message that cannot be handled ends this session only, not the process.
      fail(new client.errors.ApiError(`a message from ${url.host} could not be handled (${error})`, { cause: error }))
    }
  }
  socket.on('error', fail)
  socket.on('end', () => fail(new client.errors.ApiError(`${url.host} closed the connection`)))
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()

  return {
    messages: inbox.messages,
    get remoteAddress() {
      return socket.remoteAddress ?? ''
    },
    async send(text) {
      await client.waitForTurn(signal)
      if (!socket.writable) return
      // Everything sent within one turn of the event loop is written at once.
      if (socket.writableCorked === 0) {
        socket.cork()
        setImmediate(() => socket.uncork())
      }
      tap.sent(text)
      socket.write(text, encoding)
    },
    close,
  }
}

/** Most addresses of a network have no host. Checking one costs only a socket: no session and no error. */
export async function isListening(
  url: URL,
  { destinations, signal, timeoutMs }: { destinations: Destinations; signal: AbortSignal; timeoutMs: number },
): Promise<boolean> {
  if (signal.aborted || isBlocked(destinations, url)) return false
  const socket = createConnection({ ...targetOf(destinations, url), signal, timeout: timeoutMs })
  let isAccepted = false
  socket.once('connect', () => {
    isAccepted = true
    socket.destroy()
  })
  socket.once('timeout', () => socket.destroy()).on('error', () => {})
  await new Promise((resolve) => socket.once('close', resolve))
  return isAccepted
}

async function connect(
  client: UpstreamClient,
  url: URL,
  { connectMs, signal, onRead }: { connectMs: number; signal: AbortSignal; onRead: OnReadOpts['callback'] },
): Promise<Socket> {
  checkDestination(client.destinations, url)
  // Reading into one buffer, without a stream, costs a third less for the many small messages of a metering device. The
  // buffer is shared, because every read is handled before the next one begins.
  const onread = { buffer: () => readBuffer, callback: onRead }
  const socket = createConnection({
    ...targetOf(client.destinations, url),
    noDelay: true,
    keepAlive: true,
    onread,
  })
  // Without a listener, a late error would end the process.
  socket.on('error', () => {})
  const timer = setTimeout(() => socket.destroy(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })), connectMs)
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function targetOf(destinations: Destinations, url: URL) {
  const port = portOf(url)
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, lookup: guardedLookup(destinations, port) }
}
