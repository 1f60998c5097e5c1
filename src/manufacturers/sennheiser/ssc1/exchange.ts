/** Requests to an SSC 1 device over a socket of their own. Each is repeated until it is answered. */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { describeNoResponse } from '../../../upstream/errors.ts'
import { openUdpSocket, type UdpSocket } from '../../../upstream/udp.ts'
import { formatGetRequest, parseMessage, type SscMessage } from './codec.ts'

interface Question {
  accepts(message: SscMessage): boolean
  answer(message: SscMessage | null): void
}

/** The device is lost if it sends nothing for this long, although it is asked something every few seconds. */
const silentMs = 10_000
/** A datagram may be lost. */
const repeatEveryMs = 500
const maxRequests = 6

export class Exchange {
  readonly #client: UpstreamClient
  readonly #socket: UdpSocket
  /** Messages that answer no request. */
  readonly #unread: SscMessage[] = []
  #question: Question | null = null
  #wake = () => {}
  #end: { readonly error: unknown } | null = null

  static async open(client: UpstreamClient, signal: AbortSignal, closingMessage?: string): Promise<Exchange> {
    const socket = await openUdpSocket(client, { signal, silentMs, closingMessage: () => closingMessage })
    const exchange = new Exchange(client, socket)
    void exchange.#read(signal)
    return exchange
  }

  static async use<T>(
    client: UpstreamClient,
    signal: AbortSignal,
    work: (exchange: Exchange) => Promise<T>,
  ): Promise<T> {
    const exchange = await Exchange.open(client, signal)
    try {
      return await work(exchange)
    } finally {
      exchange.close()
    }
  }

  private constructor(client: UpstreamClient, socket: UdpSocket) {
    this.#client = client
    this.#socket = socket
  }

  send(text: string): Promise<void> {
    return this.#socket.send(text)
  }

  /** Returns the next message that answers no request, or null if none arrives in time. */
  async next(withinMs: number): Promise<SscMessage | null> {
    const until = performance.now() + withinMs
    for (;;) {
      const message = this.#unread.shift()
      if (message !== undefined) return message
      this.#throwIfEnded()
      const leftMs = until - performance.now()
      if (leftMs <= 0) return null
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  /** Makes `next` return this message again. */
  putBack(message: SscMessage): void {
    this.#unread.unshift(message)
  }

  /**
   * Returns the value in the answer, or undefined if the device rejects the address. By default, the value is read, and
   * every answer is accepted. Throws if the device does not answer.
   */
  async ask(
    address: string,
    text = formatGetRequest([address]),
    accepts: (value: unknown) => boolean = () => true,
  ): Promise<unknown> {
    const answer = await this.#askFor((message) => isAbout(message, address, accepts), text)
    return answer.values.get(address)
  }

  /** Returns the values that the device does not reject. */
  async askAll(addresses: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const isAboutOne = (message: SscMessage) => addresses.some((address) => isAbout(message, address, () => true))
    const { values } = await this.#askFor(isAboutOne, formatGetRequest(addresses))
    return values
  }

  /** Sends a request that must not be repeated. Resolves with null if no answer arrives in time. */
  request(address: string, text: string, withinMs: number): Promise<SscMessage | null> {
    return this.#request((message) => isAbout(message, address, () => true), text, withinMs)
  }

  close(): void {
    this.#socket.close()
  }

  async #askFor(accepts: Question['accepts'], text: string): Promise<SscMessage> {
    for (let count = 0; count < maxRequests; count += 1) {
      const answer = await this.#request(accepts, text, repeatEveryMs)
      if (answer !== null) return answer
    }
    const { host } = new URL(this.#client.settings.baseUrl)
    throw new this.#client.errors.ApiError(describeNoResponse(host, maxRequests * repeatEveryMs))
  }

  async #request(accepts: Question['accepts'], text: string, withinMs: number): Promise<SscMessage | null> {
    this.#throwIfEnded()
    const answered = new Promise<SscMessage | null>((resolve) => {
      this.#question = { accepts, answer: resolve }
    })
    const timer = setTimeout(() => this.#question?.answer(null), withinMs)
    try {
      await this.send(text)
      const answer = await answered
      if (answer === null) this.#throwIfEnded()
      return answer
    } finally {
      clearTimeout(timer)
      this.#question = null
    }
  }

  #throwIfEnded(): void {
    if (this.#end !== null) throw this.#end.error
  }

  async #read(signal: AbortSignal): Promise<void> {
    let error: unknown
    try {
      for await (const texts of this.#socket.messages) for (const text of texts) this.#receive(text)
    } catch (cause) {
      error = cause
    }
    this.#end = { error: error ?? signal.reason ?? new Error('the socket is closed') }
    this.#question?.answer(null)
    this.#wake()
  }

  #receive(text: string): void {
    const message = parseMessage(text)
    if (message === null) return
    if (this.#question?.accepts(message)) this.#question.answer(message)
    else this.#unread.push(message)
    this.#wake()
  }
}

function isAbout(message: SscMessage, address: string, accepts: (value: unknown) => boolean): boolean {
  const { values, errors } = message
  if (values.has(address)) return accepts(values.get(address))
  return errors.some((error) => address === error.address || address.startsWith(`${error.address}/`))
}
