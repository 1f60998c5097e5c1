/** REST client. Errors are return values; nothing throws. */

import type { SessionBody } from '../../src/contract/access.ts'
import type { DataBody } from '../../src/contract/data.ts'
import type { Method } from '../../src/contract/endpoint.ts'
import type { HealthBody } from '../../src/contract/health.ts'
import { isRecord } from '../../src/domain/json.ts'
import { formatDuration, toSentence } from './format.ts'
import { t } from './i18n.ts'
import type { Address, Received, Sent, Shape } from './operations.ts'
import { readServiceClock } from './service-time.ts'

export interface Problem {
  readonly kind: 'unreachable' | 'sign_in' | 'not_allowed' | 'refused' | 'not_understood'
  /** Undefined without a response. */
  readonly status?: number
  /** The service's error text, or this page's own text if there was no usable response. */
  readonly detail: string
  /** The invalid field of the request. `detail` describes the error. */
  readonly field?: string | undefined
  /** Retry-After of a 429 or 503 response. */
  readonly waitSeconds?: number | undefined
  /** The present record if another person has changed it: with status 412, and for moves with 409. */
  readonly current?: unknown
}

export type ApiResponse<Body> =
  | {
      readonly ok: true
      readonly body: Body
      /** For `POST /api/undo/{id}`. */
      readonly undoId?: string | undefined
    }
  | { readonly ok: false; readonly problem: Problem }

export interface Api {
  data(): Promise<ApiResponse<DataBody>>
  health(): Promise<ApiResponse<HealthBody>>
  /** Cached unless `isFresh`. */
  session(isFresh?: boolean): Promise<ApiResponse<SessionBody>>
  /** The mount prefix is added to `address`. Aborting `cancel` ends the request as if there were no connection. */
  read<const A extends Address<'GET'>, S extends Shape>(
    address: A,
    shape: S,
    cancel?: AbortSignal,
  ): Promise<ApiResponse<Received<'GET', A, S>>>
  /** Includes the CSRF token of the session. With `version`, it changes no other version of the record. */
  write<M extends WriteMethod, const A extends Address<M>, S extends Shape>(
    method: M,
    address: A,
    body: Sent<M, A>,
    shape: S,
    version?: number,
  ): Promise<ApiResponse<Received<M, A, S>>>
  upload<const A extends Address<'POST'>>(
    address: A,
    form: FormData,
  ): Promise<ApiResponse<Received<'POST', A, 'object'>>>
}

export type WriteMethod = Exclude<Method, 'GET'>

const timeoutMs = 10_000
/** Writes may take longer than reads, because password hashing is queued and some writes wait for a poll. */
const writeTimeoutMs = 45_000
/** The longest wait before a rate-limited request is sent again. A rejected sign-in would have to wait for minutes. */
const longestWaitMs = 3_000

export function createApi(mount: string, signal: AbortSignal): Api {
  let session: Promise<ApiResponse<SessionBody>> | undefined

  const api: Api = {
    data: () => api.read('/api/data.json', 'object'),
    health: () => api.read('/api/health/', 'object'),
    session(isFresh = false) {
      if (isFresh) session = undefined
      session ??= api.read('/api/auth/session', 'object')
      return session
    },
    read: (address, shape, cancel) => ask(address, { cache: 'no-cache', signal: cancel }, timeoutMs, shape),
    write: (method, address, body, shape, version) =>
      withCsrfToken((csrf) => {
        const headers = {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(version !== undefined && { 'if-match': `"${version}"` }),
          ...csrf,
        }
        return ask(address, { method, headers, body: JSON.stringify(body) }, writeTimeoutMs, shape)
      }),
    upload: (address, form) =>
      // The browser sets the content type, which contains the boundary between the parts.
      withCsrfToken((headers) => ask(address, { method: 'POST', headers, body: form }, writeTimeoutMs, 'object')),
  }
  return api

  async function withCsrfToken<Body>(
    send: (headers: Readonly<Record<string, string>>) => Promise<ApiResponse<Body>>,
  ): Promise<ApiResponse<Body>> {
    const sendWith = (token: string | null) => send(token === null ? {} : { 'x-csrf-token': token })
    const token = await csrfToken()
    const response = await sendWith(token)
    if (response.ok || response.problem.kind !== 'not_allowed') return response
    // The user may have signed in again in another tab.
    const current = await csrfToken(true)
    return current === token ? response : sendWith(current)
  }

  async function csrfToken(isFresh = false): Promise<string | null> {
    const response = await api.session(isFresh)
    if (!response.ok) session = undefined
    return response.ok ? response.body.csrf_token : null
  }

  async function ask<Body>(
    path: string,
    request: RequestInit,
    withinMs: number,
    shape: Shape,
  ): Promise<ApiResponse<Body>> {
    const sentAt = Date.now()
    const startedAt = performance.now()
    try {
      const response = await fetch(`${mount}${path}`, {
        ...request,
        headers: { accept: 'application/json', ...request.headers },
        signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs), ...(request.signal ? [request.signal] : [])]),
      })
      readServiceClock({
        at: Date.parse(response.headers.get('date') ?? ''),
        resolutionMs: 1_000,
        sentAt,
        receivedAt: Date.now(),
      })
      const waitMs = 1_000 * Number(response.headers.get('retry-after'))
      const leftMs = Math.floor(withinMs - (performance.now() - startedAt))
      if (response.status === 429 && waitMs > 0 && waitMs <= Math.min(longestWaitMs, leftMs)) {
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        return ask(path, request, leftMs - waitMs, shape)
      }
      const isText = shape === 'text' && response.ok
      const body: unknown =
        response.status === 204 ? null : isText ? await response.text() : await response.json().catch(() => undefined)
      // Health returns 503 with its normal body when the database is unreachable.
      const isRefusal = !response.ok && (!isRecord(body) || 'error' in body)
      if (!isRefusal && hasShape<Body>(body, shape)) {
        return { ok: true, body, undoId: response.headers.get('x-undo-id') ?? undefined }
      }
      return { ok: false, problem: problemOf(path, response, body) }
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError'
      const detail = isLate ? t('request.timeout', { time: formatDuration(withinMs) }) : t('request.connectionFailed')
      return { ok: false, problem: { kind: 'unreachable', detail } }
    }
  }
}

const kinds: Readonly<Record<number, Problem['kind']>> = { 401: 'sign_in', 403: 'not_allowed' }
/** A 401 response means wrong credentials here. */
const credentialPaths: readonly string[] = ['/api/auth/login', '/api/auth/kiosk', '/api/auth/setup']

function problemOf(path: string, { ok, status, statusText, headers }: Response, body: unknown): Problem {
  if (ok) return { kind: 'not_understood', detail: t('request.unexpectedBody', { path }) }
  const kind = kinds[status] ?? 'refused'
  // The service's sentence is for programs, which have no session that could have ended.
  if (kind === 'sign_in' && !credentialPaths.includes(path))
    return { kind, status, detail: t('problems.sign_in.ended') }
  const error = isRecord(body) && typeof body.error === 'string' ? body.error : null
  if (error === null)
    return { kind, status, detail: t('request.status', { path: path, status: `${status} ${statusText}`.trim() }) }
  const details = isRecord(body) && typeof body.details === 'string' ? body.details : null
  // `details` has the form "field: what was expected".
  const [, field, says] = /^([\w.]+): (.+)$/s.exec(details ?? '') ?? []
  const wait = Number(headers.get('retry-after') ?? 0)
  return {
    ...{ kind, status },
    detail: says === undefined ? [error, details].filter(Boolean).join(' ') : toSentence(says),
    field,
    waitSeconds: wait > 0 ? wait : undefined,
    current: isRecord(body) ? body.current : undefined,
  }
}

/** Only the kind of value is checked, because the tests of the service check its responses against the contract. */
function hasShape<Body>(value: unknown, shape: Shape): value is Body {
  switch (shape) {
    case 'list':
      return Array.isArray(value)
    case 'page':
      return isRecord(value) && typeof value.count === 'number' && Array.isArray(value.results)
    case 'object':
      return isRecord(value)
    case 'text':
      return typeof value === 'string'
    case 'nothing':
      return value === null
    default:
      return shape satisfies never
  }
}
