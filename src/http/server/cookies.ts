/** The session cookie, which for a kiosk contains its token, and the cookie that identifies a known browser. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionLimits } from '../../domain/access/people.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Public URL of the service; null if it is not configured. */
    publicUrl: URL | null
  }
}

/** Browsers limit the lifetime of cookies to 400 days. */
const longestSeconds = 400 * 24 * 3600

export function readSessionCookie(request: FastifyRequest): string | null {
  return readCookie(request, nameOf(request, 'sid'))
}

export function readBrowserCookie(request: FastifyRequest): string | null {
  const value = readCookie(request, nameOf(request, 'browser'))
  return value !== null && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : null
}

export function setCookies(reply: FastifyReply, { session, browser }: { session: string; browser: string }): void {
  const { request } = reply
  reply.header('set-cookie', [
    toCookie(request, 'sid', session, sessionLimits.totalMs / 1000),
    toCookie(request, 'browser', browser, longestSeconds),
  ])
}

/** Sets a cookie that lasts as long as the token, so that a wall screen does not ask for a password during a show. */
export function setKioskCookie(
  reply: FastifyReply,
  { token, endsInMs }: { token: string; endsInMs: number | null },
): void {
  const seconds = endsInMs === null ? longestSeconds : Math.min(longestSeconds, Math.ceil(endsInMs / 1000))
  reply.header('set-cookie', toCookie(reply.request, 'sid', token, seconds))
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.header('set-cookie', toCookie(reply.request, 'sid', '', 0))
}

/**
 * Returns the name of a cookie. Browsers share cookies between the ports of a host, so services on one host need
 * different names. If a public URL is configured, the name contains its host, port and path, because all instances
 * behind a load balancer must use the same name. Otherwise the name contains the local port, except over TLS. Over
 * TLS, the prefix `__Host-` binds the cookie to this host.
 */
function nameOf(request: FastifyRequest, what: 'sid' | 'browser'): string {
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

/**
 * Builds a cookie with SameSite=Lax, so that users who follow a link from another site are signed in. This is safe
 * because no GET changes anything.
 */
function toCookie(request: FastifyRequest, what: 'sid' | 'browser', value: string, seconds: number): string {
  const secure = request.protocol === 'https' ? '; Secure' : ''
  return `${nameOf(request, what)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`
}

function readCookie({ headers }: FastifyRequest, name: string): string | null {
  for (const pair of headers.cookie?.split(';') ?? []) {
    const [key = '', value = ''] = pair.split('=', 2)
    if (key.trim() === name) return value.trim()
  }
  return null
}
