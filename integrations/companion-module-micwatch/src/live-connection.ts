/**
 * The connection to Micwatch's live interface, version 2. It reconnects after 1 to 30 seconds, and then resumes where it
 * was interrupted.
 */

import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { InstanceStatus } from '@companion-module/base'
import { WebSocket } from 'ws'
import { readFailure } from './api.ts'
import type { Settings } from './config.ts'
import { describeError, describeResponse, type Problem } from './problems.ts'
import { type LiveMessage, parseMessage } from './wire.ts'

export type ConnectionState = 'connecting' | 'online' | Problem

interface Handlers {
  onMessage(message: LiveMessage): void
  onState(state: ConnectionState): void
}

export interface LiveConnectionOptions extends Handlers {
  readonly settings: Settings
  /** Returns the id of the group to which the connection is limited; null: everything. */
  findGroup(): Promise<number | null>
}

const subprotocol = 'micwatch.v2'
const handshakeTimeoutMs = 10_000
/** Micwatch sends a message at least every second. */
const silenceMs = 5_000
const maxDelaySeconds = 30
/** The token that opened the connection has expired or was revoked. */
const signedOutCode = 4401

/** Returns how long to wait before the next attempt, after this number of failures in a row. */
export const retryDelayMs = (failures: number): number => Math.min(2 ** (failures - 1), maxDelaySeconds) * 1000

export class LiveConnection {
  readonly #options: LiveConnectionOptions
  #socket: WebSocket | null = null
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #isStopped = false
  /** The last message that was applied. Null: the next connection begins with a snapshot. */
  #position: { seq: number; readonly epoch: string } | null = null

  constructor(options: LiveConnectionOptions) {
    this.#options = options
  }

  start(): void {
    this.#options.onState('connecting')
    void this.#connect()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#socket?.terminate()
  }

  async #connect(): Promise<void> {
    const { settings, findGroup } = this.#options
    try {
      const group = await findGroup()
      if (!this.#isStopped) this.#open(group)
    } catch (error) {
      this.#retry(describeError(error, settings.url))
    }
  }

  #open(group: number | null): void {
    const { url, token, acceptAnyCertificate } = this.#options.settings
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws?${this.#query(group)}`, subprotocol, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      rejectUnauthorized: !acceptAnyCertificate,
      handshakeTimeout: handshakeTimeoutMs,
    })
    this.#socket = socket
    /** The first reason counts: an `error` follows a rejected upgrade, and `close` follows both. */
    let problem: Problem | null = null
    socket.on('unexpected-response', (_request, response) => {
      void this.#readRejection(response).then((rejection) => {
        problem ??= rejection
        socket.terminate()
      })
    })
    socket.on('error', (error) => {
      problem ??= describeError(error, url)
    })
    socket.on('open', () => {
      if (!this.#isStopped) this.#watch(socket)
    })
    socket.on('message', (data) => {
      if (this.#isStopped) return
      this.#watch(socket)
      this.#receive(socket, data.toString())
    })
    socket.on('close', (code, reason) => this.#retry(problem ?? describeClose(code, reason.toString(), url)))
  }

  #query(group: number | null): URLSearchParams {
    const query = new URLSearchParams({ ack: '1' })
    if (group !== null) query.set('group', String(group))
    if (this.#options.settings.levelsIntervalMs === null) query.set('levels', 'false')
    if (this.#position !== null) {
      query.set('since', String(this.#position.seq))
      query.set('epoch', this.#position.epoch)
    }
    return query
  }

  async #readRejection(response: IncomingMessage): Promise<Problem> {
    const { url, token } = this.#options.settings
    const body = await text(response).catch(() => '')
    return describeResponse(readFailure(response.statusCode ?? 0, body), url, token !== null)
  }

  /** Ends the connection if nothing is received for a while, because TCP reports a lost network only after minutes. */
  #watch(socket: WebSocket): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => socket.terminate(), silenceMs)
  }

  #receive(socket: WebSocket, data: string): void {
    try {
      const message = parseMessage(data)
      if (message === null) return
      this.#options.onMessage(message)
      this.#follow(socket, message)
    } catch {
      // Without a position, the next connection begins with a snapshot.
      this.#position = null
      socket.close(1002)
    }
  }

  #follow(socket: WebSocket, message: LiveMessage): void {
    if (message.type === 'levels') socket.send(JSON.stringify({ type: 'ack', at: message.at }))
    if (message.type === 'snapshot' || message.type === 'resumed') {
      this.#position = { seq: message.seq, epoch: message.epoch }
      this.#failures = 0
      this.#options.onState('online')
    } else if ('seq' in message && this.#position !== null) this.#position.seq = message.seq
  }

  #retry(problem: Problem): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    this.#failures += 1
    this.#options.onState(problem)
    this.#timer = setTimeout(() => void this.#connect(), retryDelayMs(this.#failures))
  }
}

function describeClose(code: number, reason: string, url: string): Problem {
  if (code === signedOutCode) return describeResponse({ status: 401, message: reason }, url, true)
  const { host } = new URL(url)
  const detail = reason === '' ? '' : `: ${reason}`
  return { status: InstanceStatus.ConnectionFailure, message: `Connection to Micwatch at ${host} lost${detail}.` }
}
