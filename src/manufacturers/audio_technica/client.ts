/**
 * The session with a receiver: one query at a time. A receiver accepts one session and refuses others, so all
 * users of a client share a session. The last one to close it closes the connection.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { abortable } from '../../platform/wait.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { codeOf, describeNoResponse } from '../../upstream/errors.ts'
import { createMessageReader } from '../../upstream/queries.ts'
import { openTcpSocket } from '../../upstream/tcp.ts'
import {
  createReplyParser,
  describeErrorCode,
  formatQuery,
  isBusy,
  parseInteger,
  type Query,
  type Reply,
  splitMessages,
} from './codec.ts'

interface Connection {
  /** The receiver's IP address. */
  readonly address: string
  readonly model: Reply
  /** Throws the manufacturer's ApiError if no reply arrives in time, and the signal's reason on abort. */
  query(query: Query): Promise<Reply>
  /** Like `query`, but returns null if no reply to this query arrives within this time although others do. */
  tryQuery(query: Query, withinMs: number): Promise<Reply | null>
}

export interface Session extends Connection {
  close(): void
}

interface SharedConnection {
  readonly opening: Promise<Connection>
  readonly lifetime: AbortController
  users: number
}

const sharedConnections = new WeakMap<UpstreamClient, SharedConnection>()

/** The pause before a refused session is requested again. The receiver may not have noticed yet that one was closed. */
const reopenMs = 250
const openAttempts = 2
/** The pause before a query is repeated to a busy receiver. */
const busyMs = 200
const busyAttempts = 5

/** `0000` addresses an ESW, `0001` a System 20 PRO receiver, or the first of several that are linked. */
const linkIds = ['0000', '0001']
const modelQuery: Query = { command: 'gmymodel' }

/**
 * Opens a session, or joins the open one. Throws the manufacturer's ApiError if the receiver is unreachable or does not
 * report its model, and the signal's reason on abort.
 */
export async function openSession(client: UpstreamClient, signal: AbortSignal): Promise<Session> {
  signal.throwIfAborted()
  const shared = sharedConnections.get(client) ?? share(client)
  shared.users += 1
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    shared.users -= 1
    if (shared.users === 0) end(client, shared)
  }
  try {
    const { address, model, query, tryQuery } = await abortable(shared.opening, signal)
    return {
      address,
      model,
      query: (wanted) => abortable(query(wanted), signal),
      tryQuery: (wanted, withinMs) => abortable(tryQuery(wanted, withinMs), signal),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

function share(client: UpstreamClient): SharedConnection {
  const lifetime = new AbortController()
  // An error ends the connection for all its users.
  const endWith = (error: unknown) => {
    end(client, shared, error)
    throw error
  }
  let last: Promise<unknown> = Promise.resolve()
  const enqueue = <T>(send: () => Promise<T>): Promise<T> => {
    const reply = last.then(send).catch(endWith)
    last = reply.catch(() => {})
    return reply
  }
  const opening = open(client, lifetime.signal).then(
    ({ query, tryQuery, ...connection }): Connection => ({
      ...connection,
      query: (wanted) => enqueue(() => query(wanted)),
      tryQuery: (wanted, withinMs) => enqueue(() => tryQuery(wanted, withinMs)),
    }),
    endWith,
  )
  const shared: SharedConnection = { opening, lifetime, users: 0 }
  sharedConnections.set(client, shared)
  return shared
}

function end(client: UpstreamClient, shared: SharedConnection, reason?: unknown): void {
  if (sharedConnections.get(client) === shared) sharedConnections.delete(client)
  shared.lifetime.abort(reason)
}

async function open(client: UpstreamClient, signal: AbortSignal): Promise<Connection> {
  for (let attempt = 1; attempt <= openAttempts; attempt += 1) {
    if (attempt > 1) await pauseUnlessAborted(reopenMs, signal)
    const connection = await connect(client, signal)
    if (connection !== null) return connection
  }
  const { host } = new URL(client.settings.baseUrl)
  throw new client.errors.ApiError(
    `${host} refused the session, and a receiver accepts only one; close the other program that is connected to it, and check the address`,
  )
}

/** Returns null if the receiver refuses the connection or closes it without a reply. */
async function connect(client: UpstreamClient, signal: AbortSignal): Promise<Connection | null> {
  const { ApiError } = client.errors
  const { timeoutMs, baseUrl } = client.settings
  const { host } = new URL(baseUrl)
  const socket = await openTcpSocket(client, { framing: splitMessages, signal }).catch((error) => {
    if (codeOf(error) === 'ECONNREFUSED') return null
    throw error
  })
  if (socket === null) return null
  const messages = createMessageReader(socket.messages)
  const parse = createReplyParser()
  let hasReceived = false
  let lostBy: unknown

  const late = () => new ApiError(describeNoResponse(host, timeoutMs))

  async function receive(withinMs: number): Promise<string | null> {
    const message = await messages.next(withinMs).catch((error) => {
      lostBy = error
      throw error
    })
    signal.throwIfAborted()
    if (message === undefined) throw new ApiError(`the session with ${host} was closed`)
    hasReceived ||= message !== null
    return message
  }

  /** Returns null if no reply arrives in time. */
  async function exchange(query: Query, linkId: string, withinMs: number): Promise<Reply | null> {
    await socket?.send(formatQuery(query, linkId))
    for (const deadline = performance.now() + withinMs; ; ) {
      const message = await receive(deadline - performance.now())
      if (message === null) return null
      const reply = parse(message)
      if (reply?.command === query.command) return isOfChannel(reply, query) ? reply : { ...query, values: null }
    }
  }

  async function exchangeWhenReady(query: Query, linkId: string, withinMs: number): Promise<Reply | null> {
    for (let attempt = 1; ; attempt += 1) {
      const reply = await exchange(query, linkId, withinMs)
      if (reply === null || !isBusy(reply) || attempt === busyAttempts) return reply
      await pauseUnlessAborted(busyMs, signal)
    }
  }

  async function identify(): Promise<{ readonly linkId: string; readonly model: Reply }> {
    let rejection: Reply | null = null
    for (const linkId of linkIds) {
      const model = await exchangeWhenReady(modelQuery, linkId, timeoutMs / linkIds.length)
      if (model !== null && 'values' in model && model.values !== null) return { linkId, model }
      rejection ??= model
    }
    if (!hasReceived) throw late()
    const reason = rejection !== null && 'errorCode' in rejection ? ` (${describeErrorCode(rejection.errorCode)})` : ''
    throw new ApiError(`${host} responds, but does not report the model of an Audio-Technica receiver${reason}`, {
      failureKind: 'unusable',
    })
  }

  try {
    const { linkId, model } = await identify()
    return {
      address: socket.remoteAddress,
      model,
      async query(query) {
        const reply = await exchangeWhenReady(query, linkId, timeoutMs)
        if (reply === null) throw late()
        return reply
      },
      async tryQuery(query, withinMs) {
        const reply = await exchangeWhenReady(query, linkId, Math.min(withinMs, timeoutMs / 2))
        if (reply === null && performance.now() - client.receivedAt >= timeoutMs) throw late()
        return reply
      },
    }
  } catch (error) {
    socket.close()
    if (error === lostBy && !hasReceived && codeOf(error) !== 'BODY_TOO_LARGE') return null
    throw error
  }
}

/** Rejections do not contain the channel. */
function isOfChannel(reply: Reply, { channel }: Query): boolean {
  return channel === undefined || 'errorCode' in reply || parseInteger(reply.values?.[0] ?? '') === channel
}

async function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
