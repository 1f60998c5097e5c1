/** Requests to Micwatch's REST interface. */

import { Agent, fetch } from 'undici'
import type { Settings } from './config.ts'
import { describeError, describeResponse, type FailedResponse, ProblemError } from './problems.ts'

const timeoutMs = 10_000

export class MicwatchApi {
  readonly #settings: Settings
  readonly #agent: Agent

  constructor(settings: Settings) {
    this.#settings = settings
    this.#agent = new Agent({ connect: { rejectUnauthorized: !settings.acceptAnyCertificate } })
  }

  get(path: string): Promise<unknown> {
    return this.#request('GET', path)
  }

  post(path: string, body: object): Promise<unknown> {
    return this.#request('POST', path, body)
  }

  put(path: string, body: object): Promise<unknown> {
    return this.#request('PUT', path, body)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  /** Returns the body of a successful response. Otherwise throws a ProblemError. */
  async #request(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown> {
    const { url, token } = this.#settings
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          accept: 'application/json',
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(timeoutMs),
      })
      const text = await response.text()
      if (response.ok) return JSON.parse(text)
      throw new ProblemError(describeResponse(readFailure(response.status, text), url, token !== null))
    } catch (error) {
      throw new ProblemError(describeError(error, url))
    }
  }
}

/** Reads the message in the body of a response that is no success. */
export function readFailure(status: number, body: string): FailedResponse {
  try {
    const parsed: unknown = JSON.parse(body)
    if (typeof parsed === 'object' && parsed !== null && 'error' in parsed && typeof parsed.error === 'string') {
      const details = 'details' in parsed && typeof parsed.details === 'string' ? ` ${parsed.details}` : ''
      return { status, message: parsed.error + details }
    }
  } catch {
    // Not from Micwatch, for instance the page of a proxy.
  }
  return { status, message: '' }
}
