/** The two cookies: the session's (of a kiosk: its token), and the one by which a browser is known again. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionLimits } from '../model/people.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Where people reach the service; null where the configuration does not say. */
    publicUrl: URL | null
  }
}

/** Longer than this no browser keeps a cookie. */
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

/** Until the token ends: a screen on the wall must not ask for a password in the middle of a run. */
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
 * The name of a cookie. Browsers do not keep the cookies of different ports apart, so the name has to: by the public
 * address where one is configured, which services behind one load balancer share, else by the port. Over TLS the prefix
 * binds the cookie to this very host.
 */
function nameOf(request: FastifyRequest, what: 'sid' | 'browser'): string {
  const { publicUrl } = request.server
  const isSecure = request.protocol === 'https'
  const prefix = isSecure ? '__Host-' : ''
  if (publicUrl !== null) return `${prefix}micwatch_${what}_${scopeOf(publicUrl)}`
  return isSecure ? `${prefix}micwatch_${what}` : `micwatch_${what}_${request.socket.localPort ?? 0}`
}

/** Host, port and path in characters that a cookie's name may have. */
function scopeOf({ host, pathname }: URL): string {
  return (host + pathname.replace(/\/+$/, '')).replace(/[^\w.-]/g, '_')
}

/** Lax, not Strict: a link from a chat must open signed in, and no GET changes anything. */
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
