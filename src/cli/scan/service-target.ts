/** The service that sweeps are sent to, and what it answers. */

import { bearer, describeRefusal } from '../service-client.ts'

export interface SweepTarget {
  /** The address of the service without a slash at the end. */
  readonly base: string
  readonly token: string | undefined
  readonly source: string
}

export const sweepsPath = '/api/sweeps/'

/** The service refuses sweeps for good. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

export const authorizationOf = ({ token }: SweepTarget) => bearer(token)

/** Responses after which the same sweeps may be accepted later: too many, no room, restarting. */
export function isTemporary(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504
}

export function describeResponse(status: number, text: string): string {
  const reason = describeRefusal(status, text)
  if (status === 401) return `${reason} Specify the token of an operator with --token or MICWATCH_TOKEN.`
  if (status === 403) return `${reason} Sweeps need the token of an operator: see --token.`
  return reason
}

/** The time after which another attempt is worthwhile, in milliseconds. */
export function retryAfterMs(header: string | null | undefined): number {
  const seconds = Number(header ?? Number.NaN)
  return seconds > 0 ? Math.min(60, seconds) * 1000 : defaultRetryMs
}

export const defaultRetryMs = 2000
