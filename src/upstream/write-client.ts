/** Sends Prometheus remote-write requests to one receiver. Does not follow redirects. */

import type { Pool } from 'undici'
import { parseRetryAfter } from '../domain/access/limits.ts'
import { type Destinations, guardedConnector, loadHttpLibrary, portOf, withoutLinkLocal } from './destinations.ts'
import { codeOf, describeConnectionError, isCertificateCode } from './errors.ts'

export interface WriteReceiver {
  readonly url: string
  /** Their values are secrets. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * - `rejected`: sending the same request again would not help.
 * - `failed`: it can be retried.
 */
export type WriteResult =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'rejected'; readonly error: string }
  | { readonly outcome: 'failed'; readonly error: string; readonly retryAfterSeconds: number | null }

export interface WriteClient {
  /** Sends a compressed request. Throws only if the signal aborts. */
  send(request: Uint8Array, signal: AbortSignal): Promise<WriteResult>
  close(): Promise<void>
}

const timeoutMs = 30_000
const connectMs = 5_000

export function createWriteClient(
  { url: address, headers }: WriteReceiver,
  destinations: Destinations,
  now: () => number,
): WriteClient {
  const url = new URL(address)
  let pool: Promise<Pool> | undefined
  return {
    async send(request, signal) {
      try {
        pool ??= openPool(url, destinations)
        const response = await (await pool).request({
          method: 'POST',
          path: url.pathname + url.search,
          headers: { ...headers, ...formatHeaders },
          body: request,
          signal,
        })
        // Error texts are not read, because they may repeat header values.
        await response.body.dump()
        return toResult(response.statusCode, response.headers, { host: url.host, now: now() })
      } catch (error) {
        signal.throwIfAborted()
        return { outcome: 'failed', error: describeFailure(error, url.host), retryAfterSeconds: null }
      }
    },
    async close() {
      await (await pool)?.destroy()
    },
  }
}

async function openPool(url: URL, destinations: Destinations): Promise<Pool> {
  const trust = { verifySsl: true }
  const { Pool } = await loadHttpLibrary()
  return new Pool(url.origin, {
    connections: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: await guardedConnector(withoutLinkLocal(destinations), { port: portOf(url), timeout: connectMs, trust }),
  })
}

const formatHeaders = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'user-agent': 'Micwatch',
  'x-prometheus-remote-write-version': '0.1.0',
}

function toResult(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  { host, now }: { readonly host: string; readonly now: number },
): WriteResult {
  if (status >= 200 && status < 300) return { outcome: 'accepted' }
  const error = `${host} responded with status ${status}`
  if (status >= 400 && status < 500 && status !== 429) return { outcome: 'rejected', error }
  const [retryAfter, date] = [headers['retry-after'], headers.date].map((value) => String(value ?? ''))
  return { outcome: 'failed', error, retryAfterSeconds: parseRetryAfter(retryAfter, date, now) }
}

function describeFailure(error: unknown, host: string): string {
  const code = codeOf(error)
  if (code === 'BLOCKED_DESTINATION') return `nothing is sent to ${host}: the address is not allowed`
  if (isCertificateCode(code)) return `the certificate of ${host} was not accepted (${code})`
  return describeConnectionError(error, host, timeoutMs)
}
