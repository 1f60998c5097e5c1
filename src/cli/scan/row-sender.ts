/** Sends rows of `rtl_power` to the service as they come, in one request for as long as it lasts. */

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { isRecord, parseJson } from '../../domain/json.ts'
import { unreachable } from '../service-client.ts'
import {
  authorizationOf,
  defaultRetryMs,
  describeResponse,
  isTemporary,
  RefusedError,
  type SweepTarget,
  sweepsPath,
} from './service-target.ts'

/** Rows are left out while the service is this far behind. */
const maxUnsentBytes = 4 * 1024 * 1024
const lastResponseMs = 3000

export class RowSender {
  readonly #target: SweepTarget
  readonly #report: (text: string) => void
  readonly #onFail: (error: unknown) => void
  #request: ClientRequest | null = null
  #retry: NodeJS.Timeout | undefined
  #hasConnected = false
  #isInterrupted = false
  #isEnding = false
  /** Rows that the service has confirmed with a response. */
  rowsRead = 0

  constructor(target: SweepTarget, report: (text: string) => void, onFail: (error: unknown) => void) {
    this.#target = target
    this.#report = report
    this.#onFail = onFail
  }

  /** `rows`: whole lines. */
  send(rows: string): void {
    if (this.#request === null && this.#retry === undefined) this.#request = this.#open()
    if (this.#request === null || this.#request.writableLength > maxUnsentBytes) return
    this.#request.write(rows)
  }

  /** Ends the request, and waits for the response. */
  async end(): Promise<void> {
    clearTimeout(this.#retry)
    this.#isEnding = true
    const request = this.#request
    if (request === null) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => request.destroy(), lastResponseMs)
      request.once('close', () => {
        clearTimeout(timer)
        resolve()
      })
      request.end()
    })
  }

  #open(): ClientRequest {
    const { base, source } = this.#target
    const url = new URL(`${base}${sweepsPath}?source=${encodeURIComponent(source)}`)
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const headers = { ...authorizationOf(this.#target), 'content-type': 'text/csv' }
    const request = send(url, { method: 'PUT', headers, agent: false })
    let response: IncomingMessage | null = null
    request.on('socket', (socket) => socket.setKeepAlive(true, 30_000))
    request.on('socket', (socket) => socket.once('connect', () => this.#connected()))
    request.on('response', (received) => {
      response = received
      this.#receive(received).catch(() => this.#interrupt())
    })
    request.on('error', (cause) => {
      if (response !== null) return
      if (this.#hasConnected) this.#interrupt()
      else this.#fail(unreachable(base, cause))
    })
    request.on('close', () => {
      if (this.#request === request) this.#request = null
    })
    return request
  }

  #connected(): void {
    this.#hasConnected = true
    if (this.#isInterrupted) this.#report('The service accepts rows again.')
    this.#isInterrupted = false
  }

  async #receive(response: IncomingMessage): Promise<void> {
    const { statusCode = 0 } = response
    const body = await text(response)
    if (statusCode >= 200 && statusCode < 300) {
      const receipt = parseJson(body)
      if (isRecord(receipt)) this.rowsRead += Number(receipt.rows_read)
      this.#interrupt()
    } else if (isTemporary(statusCode) && this.rowsRead > 0) this.#interrupt(describeResponse(statusCode, body))
    else this.#fail(new RefusedError(describeResponse(statusCode, body)))
  }

  /** The service was stopped, or another program sends to this source. */
  #interrupt(reason = `The service at ${this.#target.base}/ has ended the request.`): void {
    if (this.#isEnding) return
    if (!this.#isInterrupted) this.#report(`${reason} Rows are left out until it accepts them again.`)
    this.#isInterrupted = true
    this.#request = null
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
    }, defaultRetryMs)
  }

  #fail(error: unknown): void {
    this.#request = null
    this.#onFail(error)
  }
}
