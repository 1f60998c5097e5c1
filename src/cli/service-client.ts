/** Requests of commands to the running service. */

import { isRecord, parseJson } from '../domain/json.ts'

/** The service did not respond. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** Throws an `UnreachableError` if the service does not respond. */
export async function requestService(base: string, path: string, init: RequestInit): Promise<Response> {
  return fetch(base + path, init).catch((cause) => {
    throw unreachable(base, cause)
  })
}

export function unreachable(base: string, cause: unknown): UnreachableError {
  return new UnreachableError(
    `The service does not respond at ${base}/. Start it, or specify its address with --url.`,
    { cause },
  )
}

/** Returns the reason in the body of an error response. */
export function describeRefusal(status: number, text: string): string {
  const answer = parseJson(text)
  const { error, details } = isRecord(answer) ? answer : {}
  return [error ?? `The service responded with ${status}.`, details].filter(Boolean).join(' ')
}

export function bearer(token: string | undefined): { authorization?: string } {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}
