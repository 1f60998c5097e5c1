/** Calls to the REST interface. What a page must handle is a value; nothing here throws. */

import type { DataBody, HealthBody, PageBody } from '../src/model/api.ts'
import type { SessionBody } from '../src/model/people.ts'
import { formatDuration, toSentence } from './format.ts'
import { t } from './i18n.ts'

export interface Problem {
  readonly kind: 'unreachable' | 'sign_in' | 'not_allowed' | 'refused' | 'not_understood'
  /** What the server, or the browser, said. */
  readonly detail: string
  /** Which field of what was sent is wrong, if it was one; `detail` says what with it. */
  readonly field?: string | undefined
  /** How long the server wants to be left alone: 429 and 503 pass by themselves. */
  readonly waitSeconds?: number | undefined
}

export type Answer<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly problem: Problem }

/** Does the answer have the shape that was asked for? */
export type Shape<Body> = (value: unknown) => value is Body

/** Health, with what a server may tell beside it. */
export type Health = HealthBody & { readonly version?: string }

export interface Api {
  /** The whole picture. */
  data(manufacturer: string | null): Promise<Answer<DataBody>>
  health(): Promise<Answer<Health>>
  /** Who is signed in; asked once a page, or again when `isFresh`. */
  session(isFresh?: boolean): Promise<Answer<SessionBody>>
  /** `path` begins with `/api/`; the mount prefix goes before it by itself. */
  read<Body>(path: string, isBody: Shape<Body>): Promise<Answer<Body>>
  /** With the CSRF token where one is needed. */
  write<Body>(method: WriteMethod, path: string, body: object | undefined, isBody: Shape<Body>): Promise<Answer<Body>>
  /** How far the server's clock is ahead of this device's, as of the last answer. */
  clockAheadMs(): number
}

export type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const timeoutMs = 10_000
/** Passwords are hashed one after another, and a poll may take its time. */
const writeTimeoutMs = 45_000

export function createApi(mount: string, signal: AbortSignal): Api {
  let clockAheadMs = 0
  let session: Promise<Answer<SessionBody>> | undefined

  const api: Api = {
    data: (manufacturer) => {
      const query = manufacturer === null ? '' : `?${new URLSearchParams({ manufacturer })}`
      return api.read(`/api/data.json${query}`, isDataBody)
    },
    health: () => api.read('/api/health/', isHealth),
    session(isFresh = false) {
      if (isFresh) session = undefined
      session ??= api.read('/api/auth/session', isSession)
      return session
    },
    read: (path, isBody) => ask(path, { cache: 'no-cache' }, timeoutMs, isBody),
    async write(method, path, body, isBody) {
      const token = await csrfToken()
      const answer = await send(token)
      if (answer.ok || answer.problem.kind !== 'not_allowed') return answer
      // Somebody may have signed in again in another tab since this page was opened.
      const current = await csrfToken(true)
      return current === token ? answer : send(current)

      function send(csrf: string | null) {
        const headers = {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(csrf !== null && { 'x-csrf-token': csrf }),
        }
        return ask(path, { method, headers, body: JSON.stringify(body) }, writeTimeoutMs, isBody)
      }
    },
    clockAheadMs: () => clockAheadMs,
  }
  return api

  async function csrfToken(isFresh = false): Promise<string | null> {
    const answer = await api.session(isFresh)
    if (!answer.ok) session = undefined
    return answer.ok ? answer.body.csrf_token : null
  }

  async function ask<Body>(
    path: string,
    request: RequestInit,
    withinMs: number,
    isBody: Shape<Body>,
  ): Promise<Answer<Body>> {
    try {
      const response = await fetch(`${mount}${path}`, {
        ...request,
        headers: { accept: 'application/json', ...request.headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]),
      })
      const date = Date.parse(response.headers.get('date') ?? '')
      // The header has whole seconds: half of one is the best guess.
      if (!Number.isNaN(date)) clockAheadMs = date + 500 - Date.now()
      const body: unknown = response.status === 204 ? null : await response.json().catch(() => undefined)
      // Health answers 503 with its ordinary object when the database is out of reach.
      const isRefusal = !response.ok && (!isRecord(body) || 'error' in body)
      if (!isRefusal && isBody(body)) return { ok: true, body }
      return { ok: false, problem: problemOf(path, response, body) }
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError'
      const detail = isLate ? t('request.timeout', { time: formatDuration(withinMs) }) : t('request.connectionFailed')
      return { ok: false, problem: { kind: 'unreachable', detail } }
    }
  }
}

const kinds: Readonly<Record<number, Problem['kind']>> = { 401: 'sign_in', 403: 'not_allowed' }

function problemOf(path: string, { ok, status, statusText, headers }: Response, body: unknown): Problem {
  if (ok) return { kind: 'not_understood', detail: t('request.unexpectedBody', { path }) }
  const kind = kinds[status] ?? 'refused'
  const error = isRecord(body) && typeof body.error === 'string' ? body.error : null
  if (error === null)
    return { kind, detail: t('request.status', { path: path, status: `${status} ${statusText}`.trim() }) }
  const details = isRecord(body) && typeof body.details === 'string' ? body.details : null
  // `details` is "field: what was expected there".
  const [, field, says] = /^([\w.]+): (.+)$/s.exec(details ?? '') ?? []
  const wait = Number(headers.get('retry-after') ?? 0)
  return {
    kind,
    detail: says === undefined ? [error, details].filter(Boolean).join(' ') : toSentence(says),
    field,
    waitSeconds: wait > 0 ? wait : undefined,
  }
}

// --- Shapes -----------------------------------------------------------------------------------------------------------

/** Some object; the rest is believed. */
export function isObject<Body extends object>(value: unknown): value is Body {
  return isRecord(value)
}

/** One page of a list: ask for it with `page` or `page_size`. */
export function isPage<Item>(value: unknown): value is PageBody<Item> {
  return isRecord(value) && typeof value.count === 'number' && Array.isArray(value.results)
}

/** A whole list. */
export function isList<Item>(value: unknown): value is readonly Item[] {
  return Array.isArray(value)
}

/** The answer to what leaves nothing to say. */
export function isNothing(value: unknown): value is null {
  return value === null
}

function isDataBody(value: unknown): value is DataBody {
  return isRecord(value) && Array.isArray(value.receivers) && isRecord(value.config)
}

function isHealth(value: unknown): value is Health {
  return isRecord(value) && typeof value.status === 'string' && Array.isArray(value.manufacturers)
}

function isSession(value: unknown): value is SessionBody {
  return isRecord(value) && typeof value.role === 'string' && typeof value.kind === 'string'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
