/**
 * The session cookie, which for a kiosk contains its token, the cookie that identifies a known browser, and that of a sign-in
 * at a provider.
 */

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { oidcLoginMs } from '../../domain/access/oidc.ts'
import { sessionLimits } from '../../domain/access/people.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Public URL of the service; null if it is not configured. */
    publicUrl: URL | null
  }
}

/** Browsers limit the lifetime of cookies to 400 days. */
const longestSeconds = 400 * 24 * 3600

type CookieKind = 'sid' | 'browser' | 'oidc'

export function readSessionCookie(request: FastifyRequest): string | null {
  return readCookie(request, 'sid')
}

export function readBrowserCookie(request: FastifyRequest): string | null {
  const value = readCookie(request, 'browser')
  return value !== null && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : null
}

export function readOidcCookie(request: FastifyRequest): string | null {
  return readCookie(request, 'oidc')
}

/** Sets the cookie that ties a sign-in at a provider to this browser; null removes it. */
export function setOidcCookie(reply: FastifyReply, secret: string | null): void {
  setCookie(reply, 'oidc', secret ?? '', secret === null ? 0 : oidcLoginMs / 1000)
}

export function setCookies(reply: FastifyReply, { session, browser }: { session: string; browser: string }): void {
  setCookie(reply, 'sid', session, sessionLimits.totalMs / 1000)
  setCookie(reply, 'browser', browser, longestSeconds)
}

/** Sets a cookie that lasts as long as the token, so that a wall screen does not ask for a password during a show. */
export function setKioskCookie(
  reply: FastifyReply,
  { token, endsInMs }: { token: string; endsInMs: number | null },
): void {
  const seconds = endsInMs === null ? longestSeconds : Math.min(longestSeconds, Math.ceil(endsInMs / 1000))
  setCookie(reply, 'sid', token, seconds)
}

export function clearSessionCookie(reply: FastifyReply): void {
  setCookie(reply, 'sid', '', 0)
}

/**
 * Sets a cookie with SameSite=Lax, so that users who follow a link from another site, or return from a sign-in provider,
 * are signed in. This is safe because no GET changes anything for a signed-in user.
 */
function setCookie(reply: FastifyReply, what: CookieKind, value: string, maxAge: number): void {
  const { request } = reply
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: request.protocol === 'https' } as const
  // Fastify collects several Set-Cookie headers of one response in a list.
  reply.header('set-cookie', stringifySetCookie({ name: nameOf(request, what), value, maxAge, ...attributes }))
}

function readCookie(request: FastifyRequest, what: CookieKind): string | null {
  const { cookie } = request.headers
  return cookie === undefined ? null : (parseCookie(cookie)[nameOf(request, what)] ?? null)
}

/**
 * Returns the name of a cookie. Browsers share cookies between the ports of a host, so services on one host need
 * different names. If a public URL is configured, the name contains its host, port and path, because all instances
 * behind a load balancer must use the same name. Otherwise the name contains the local port, except over TLS. Over
 * TLS, the prefix `__Host-` binds the cookie to this host.
 */
function nameOf(request: FastifyRequest, what: CookieKind): string {
  const { publicUrl } = request.server
  const isSecure = request.protocol === 'https'
  const prefix = isSecure ? '__Host-' : ''
  if (publicUrl !== null) return `${prefix}micwatch_${what}_${scopeOf(publicUrl)}`
  return isSecure ? `${prefix}micwatch_${what}` : `micwatch_${what}_${request.socket.localPort ?? 0}`
}

/** Returns the host, port and path, with every character replaced that a cookie name must not contain. */
function scopeOf({ host, pathname }: URL): string {
  return (host + pathname.replace(/\/+$/, '')).replace(/[^\w.-]/g, '_')
}
