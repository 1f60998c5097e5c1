/** A conversation with one device over TCP: messages both ways, cut as its protocol says. */

import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { maxConnectMs, type UpstreamClient } from './client.ts'
import { checkDestination, guardedLookup, portOf } from './destinations.ts'
import { createInbox, type DeviceSocket, type DeviceSocketOptions } from './device-socket.ts'
import { describeConnectionError } from './error-messages.ts'
import { ApiError } from './errors.ts'

/** Cuts what has come into whole messages; what is left waits for more. Must not keep what can never become one. */
export type Framing = (text: string) => { readonly messages: readonly string[]; readonly rest: string }

export interface TcpOptions extends DeviceSocketOptions {
  readonly framing: Framing
  /** Not a byte for so long: lost. Unless told, a line may be silent for ever. */
  readonly silentMs?: number
}

/** A message that does not end within so many characters is none. */
const maxRestChars = 64 * 1024
/** While so many messages wait to be read, the device is not heard. */
const maxWaiting = 512
/** So long a goodbye may take: a device that is cut off in the middle of it may hang. */
const farewellMs = 200

/** Throws the manufacturer's ApiError when nobody is there; on abort the signal's reason. */
export async function openTcpSocket(client: UpstreamClient, options: TcpOptions): Promise<DeviceSocket> {
  const { framing, signal, silentMs, farewell } = options
  const url = new URL(client.settings.baseUrl)
  const connectMs = Math.min(maxConnectMs, client.settings.timeoutMs)
  const toApiError = (error: unknown) => {
    if (error instanceof ApiError) return error
    return new client.errors.ApiError(describeConnectionError(error, url.host, connectMs), { cause: error })
  }
  await client.waitForTurn(signal)
  const socket = await connect(client, url, { connectMs, signal }).catch((error) => {
    signal.throwIfAborted()
    throw toApiError(error)
  })
  const inbox = createInbox({ onEmpty: () => void socket.resume(), onLeft: close })
  const lose = (error: unknown) => {
    inbox.fail(toApiError(error))
    socket.destroy()
  }
  let isClosed = false

  function close(): void {
    if (isClosed) return
    isClosed = true
    signal.removeEventListener('abort', close)
    inbox.end()
    const words = socket.destroyed || !socket.writable ? undefined : farewell?.()
    if (words === undefined) return void socket.destroy()
    // Both sides let go in peace, unless the other one does not.
    const timer = setTimeout(() => socket.destroy(), farewellMs)
    socket.once('close', () => clearTimeout(timer)).resume()
    socket.end(words)
  }

  const decoder = new TextDecoder()
  let rest = ''
  socket.on('data', (chunk: Buffer) => {
    if (isClosed) return
    const cut = framing(rest + decoder.decode(chunk, { stream: true }))
    rest = cut.rest
    if (cut.messages.length > 0) inbox.put(cut.messages)
    if (inbox.size > maxWaiting) socket.pause()
    if (rest.length > maxRestChars) lose(Object.assign(new Error('endless'), { code: 'BODY_TOO_LARGE' }))
  })
  socket.on('error', lose)
  socket.on('end', () => lose(new client.errors.ApiError(`${url.host} closed the connection`)))
  if (silentMs !== undefined) {
    socket.setTimeout(silentMs, () => {
      const { bytesRead } = socket
      // After a long turn of our own what has come waits to be read, and the clock strikes first.
      setImmediate(() => {
        if (socket.bytesRead === bytesRead) lose(Object.assign(new Error('silent'), { code: 'SILENT' }))
      })
    })
  }
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()

  return {
    messages: inbox.messages,
    remoteAddress: socket.remoteAddress ?? '',
    async send(text) {
      await client.waitForTurn(signal)
      if (socket.writable) socket.write(text)
    },
    close,
  }
}

async function connect(
  client: UpstreamClient,
  url: URL,
  { connectMs, signal }: { connectMs: number; signal: AbortSignal },
): Promise<Socket> {
  checkDestination(client.destinations, url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const lookup = guardedLookup(client.destinations, portOf(url))
  const socket = createConnection({ host, port: portOf(url), lookup, noDelay: true, keepAlive: true })
  // A socket that nobody listens to any more must not end the process.
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
