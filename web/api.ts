/** Typed calls to the REST interface. What a page must handle is a value; nothing here throws. */

import type { DataBody, HealthBody } from '../src/model/api.ts'

export interface Problem {
  readonly kind: 'unreachable' | 'sign_in' | 'refused' | 'not_understood'
  /** What the server, or the browser, said. */
  readonly detail: string
}

export type Answer<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly problem: Problem }

/** Health, with what a server may tell beside it. */
export type Health = HealthBody & { readonly version?: string }

export interface Api {
  /** The whole picture. */
  data(manufacturer: string | null): Promise<Answer<DataBody>>
  health(): Promise<Answer<Health>>
}

const timeoutMs = 10_000

export function createApi(mount: string, signal: AbortSignal): Api {
  return {
    data: (manufacturer) => {
      const query = manufacturer === null ? '' : `?${new URLSearchParams({ manufacturer })}`
      return get(`${mount}/api/data.json${query}`, signal, isDataBody)
    },
    health: () => get(`${mount}/api/health/`, signal, isHealth),
  }
}

async function get<Body>(
  path: string,
  signal: AbortSignal,
  isBody: (value: unknown) => value is Body,
): Promise<Answer<Body>> {
  try {
    const response = await fetch(path, {
      headers: { accept: 'application/json' },
      cache: 'no-cache',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const body: unknown = await response.json().catch(() => null)
    // Health answers 503 with its ordinary object when the database is out of reach.
    if (isBody(body)) return { ok: true, body }
    if (response.ok) return fail('not_understood', `${path} did not answer with the expected object.`)
    const detail = errorText(body) ?? `${path} answered ${response.status} ${response.statusText}`.trim()
    return fail(response.status === 401 ? 'sign_in' : 'refused', detail)
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError'
    return fail('unreachable', isLate ? `No answer within ${timeoutMs / 1000} s.` : 'The connection failed.')
  }
}

function fail(kind: Problem['kind'], detail: string): { ok: false; problem: Problem } {
  return { ok: false, problem: { kind, detail } }
}

/** The sentence of the interface's error body, in either of its shapes. */
function errorText(body: unknown): string | null {
  if (!isRecord(body)) return null
  const { error, message, detail } = body
  for (const candidate of [error, message, detail]) {
    if (typeof candidate === 'string') return candidate
    if (isRecord(candidate) && typeof candidate.message === 'string') return candidate.message
  }
  return null
}

function isDataBody(value: unknown): value is DataBody {
  return isRecord(value) && Array.isArray(value.receivers) && isRecord(value.config)
}

function isHealth(value: unknown): value is Health {
  return isRecord(value) && typeof value.status === 'string' && Array.isArray(value.manufacturers)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
