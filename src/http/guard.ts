/** Who may come in: by host name, by origin, by listener. What is open depends on the listener, never on the peer. */

import { hostname } from 'node:os'
import type { FastifyRequest } from 'fastify'
import { Refusal } from '../model/errors.ts'

export interface GuardSettings {
  /** What the service listens on. */
  readonly host: string
  readonly allowedHosts: readonly string[]
  readonly requireLogin: boolean
  /** Answered to anybody, whatever the listener. */
  readonly openPaths: readonly string[]
}

/** Throws the refusal a request deserves. */
export function createGuard(settings: GuardSettings): (request: FastifyRequest) => void {
  const isLocal = isLoopback(settings.host) && !settings.requireLogin
  const ownNames = new Set([settings.host, hostname(), ...settings.allowedHosts].map((name) => name.toLowerCase()))
  const openPaths = new Set(settings.openPaths)
  return (request) => {
    checkHost(request, ownNames)
    checkOrigin(request)
    const [path = ''] = request.url.split('?')
    if (openPaths.has(path.replace(/\/$/, ''))) return
    if (!isLocal || isForwarded(request)) throw new Refusal('sign_in_needed')
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Against DNS rebinding: a name that is not ours is not answered, on any path. */
function checkHost(request: FastifyRequest, ownNames: ReadonlySet<string>): void {
  const { rawHeaders } = request.raw
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1
  const host = request.headers.host ?? ''
  if (hosts !== 1 || !request.url.startsWith('/')) throw new Refusal('misdirected', { about: host })
  const name = hostName(host)
  // Bound to all addresses, it answers for the one that was asked.
  const bound = request.socket.localAddress?.replace(/^::ffff:/, '')
  if (!isLoopback(name) && !ownNames.has(name) && name !== bound) throw new Refusal('misdirected', { about: host })
}

function hostName(host: string): string {
  const name = host.toLowerCase().replace(/:\d*$/, '')
  return name.startsWith('[') ? name.slice(1, -1) : name
}

/** Against pages of other sites that the operator has open. */
function checkOrigin(request: FastifyRequest): void {
  const { headers, method } = request
  const site = headers['sec-fetch-site']
  const isUpgrade = headers.upgrade !== undefined
  const changes = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
  if (!changes && !isUpgrade) {
    const mode = headers['sec-fetch-mode']
    if (site === 'cross-site' && mode !== 'navigate') throw new Refusal('foreign_origin')
    return
  }
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new Refusal('foreign_origin')
  const own = `${request.protocol}://${headers.host}`
  if (headers.origin !== undefined && headers.origin !== own) throw new Refusal('foreign_origin')
}

/** Somebody stands between us and the peer, so the listener says nothing about who asks. */
function isForwarded({ headers }: FastifyRequest): boolean {
  if (headers.forwarded ?? headers.via ?? headers['x-real-ip']) return true
  for (const name in headers) if (name.startsWith('x-forwarded-')) return true
  return false
}
