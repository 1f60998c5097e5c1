/** Sends messages by HTTP: checks the address when it connects, follows no redirects, and limits time and size. */

import { parseRetryAfter } from '../../domain/access/limits.ts'
import { isRecord, parseJson } from '../../domain/json.ts'
import { abortable } from '../../platform/wait.ts'
import { guardedConnector, loadHttpLibrary, portOf, withoutLinkLocal } from '../../upstream/destinations.ts'
import { cleanText } from '../../upstream/fields.ts'
import { createResult, defaultTimeoutMs, redact, runWithinLimit, toFailure } from './send-result.ts'
import type { SendKit, SendResult } from './service.ts'

export interface PostOptions {
  readonly url: URL
  /** The name of the service in errors. Default: the host. */
  readonly name?: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string
  /** Removed from the response, because a service may repeat them. */
  readonly secrets?: readonly string[]
  /** Returns why a response with a status of success is a failure. */
  findProblem?(response: ReceivedResponse): string | null
  findRetryAfter?(json: unknown): unknown
}

export interface ReceivedResponse {
  readonly status: number
  readonly text: string
  /** Undefined if the response is not JSON. */
  readonly json: unknown
}

const maxBodyBytes = 64 * 1024
const maxReasonChars = 120

/** Sends one POST request. Never throws, unless the kit's signal aborts. */
export async function post(options: PostOptions, kit: SendKit): Promise<SendResult> {
  const name = options.name ?? options.url.host
  try {
    return await runWithinLimit(kit, (signal) => request(options, kit, signal))
  } catch (error) {
    kit.signal.throwIfAborted()
    return toFailure(error, name, kit)
  }
}

async function request(options: PostOptions, kit: SendKit, signal: AbortSignal): Promise<SendResult> {
  const { url, headers, body } = options
  const timeout = kit.timeoutMs ?? defaultTimeoutMs
  const destinations = withoutLinkLocal(kit.destinations)
  const { Client } = await loadHttpLibrary()
  const client = new Client(url.origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16 * 1024,
    connect: await guardedConnector(destinations, { port: portOf(url), timeout, trust: { verifySsl: true } }),
  })
  try {
    const request = client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        accept: 'application/json, text/plain',
        'accept-encoding': 'identity',
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Micwatch',
        ...headers,
      },
      body,
      signal,
    })
    // undici ignores the signal of a request that has no connection yet.
    const response = await abortable(request, signal)
    const text = redact(await readText(response.body), options.secrets ?? [])
    return toResult(options, { status: response.statusCode, text, json: parseJson(text) }, response.headers, kit.now())
  } finally {
    await client.destroy()
  }
}

/** Reads the beginning of a body. The status decides the outcome, so an incomplete body is no error. */
async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= maxBodyBytes) break
    }
  } catch {}
  return Buffer.concat(chunks).subarray(0, maxBodyBytes).toString('utf8')
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

function toResult(
  { url, name = url.host, findProblem, findRetryAfter }: PostOptions,
  response: ReceivedResponse,
  headers: ResponseHeaders,
  now: number,
): SendResult {
  const { status, text, json } = response
  const details = { status, response: text }
  if (status >= 200 && status < 300) {
    const problem = findProblem?.(response) ?? null
    return problem === null ? createResult('sent', details) : createResult('failed', { ...details, error: problem })
  }
  const error = describeStatus(name, response)
  if (!isTemporary(status)) return createResult('failed', { ...details, error })
  const [retryAfter, date] = [headers['retry-after'], headers.date].map((value) => String(value ?? ''))
  const retryAfterSeconds = parseRetryAfter(retryAfter, date, now) ?? toSeconds(findRetryAfter?.(json))
  return createResult('retry', { ...details, error, retryAfterSeconds })
}

function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

function toSeconds(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? Math.ceil(value) : null
}

function describeStatus(name: string, response: ReceivedResponse): string {
  const { status } = response
  if (status >= 300 && status < 400) {
    return `${name} responded with a redirect (status ${status}), which is not followed. Enter the address to which it leads.`
  }
  const reason = findReason(response)
  const sentence = `${name} responded with status ${status}${reason === '' ? '' : `: ${reason}`}.`
  if (status === 401 || status === 403) return `${sentence} Check the credentials.`
  return status === 404 ? `${sentence} Check the address.` : sentence
}

/** Finds the explanation in an error response: a field of its JSON, or a short text. */
function findReason({ text, json }: ReceivedResponse): string {
  const fields = isRecord(json) ? [json.errorDescription, json.description, json.message, json.error] : [text]
  const found = fields.find((field) => typeof field === 'string' && field !== '') ?? ''
  const reason = cleanText(String(found), maxReasonChars + 1).replace(/\.$/, '')
  return reason.length > maxReasonChars || reason.startsWith('<') ? '' : reason
}

/** Parts of this length in a URL are keys. */
const minKeyChars = 16

/** The parts that a response must not repeat. */
export function secretsOf({ href, pathname, search, searchParams }: URL): readonly string[] {
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= minKeyChars)
  return [href, ...(pathname === '/' ? [] : [pathname, pathname + search]), ...parts]
}
