/**
 * Authorizes requests by host name, origin, listener, session or token, and role. Which routes are open without
 * credentials depends on the address on which the service listens, never on that of the client.
 */

import { timingSafeEqual } from 'node:crypto'
import { hostname } from 'node:os'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Access } from '../../actions/access/access.ts'
import { type Credential, csrfTokenOf } from '../../actions/access/credentials.ts'
import type { Config } from '../../config.ts'
import type { RolePermission } from '../../contract/values.ts'
import { type Actor, isAllowed, localPermissions, permissions } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { isInNetwork, isLoopback, parseAddress, parseNetwork } from '../../domain/identity/address.ts'
import { readSessionCookie } from './cookies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The identity of the request; set before any handler runs. */
    actor: Actor
    /** The session or token of the request; null if it has neither. */
    credential: Credential | null
    /** True if the request comes from this machine, as far as can be determined. */
    isLocal: boolean
  }
  interface FastifyContextConfig {
    /** The permission that the route requires; by default `read` for GET and `operate` for other methods. */
    needs?: RolePermission | 'nothing'
    /** True if a trusted proxy may request the route without credentials, to check the service. */
    isProbe?: boolean
    /** True if users may use the route who must set up an authenticator app before anything else. */
    isOwnAccount?: boolean
  }
}

/** Authorizes a request: sets the request's actor, or throws. Returns synchronously if the credential is cached. */
export type Guard = (request: FastifyRequest) => Promise<void> | undefined

export function createGuard(config: Config, access: Access, log: FastifyBaseLogger): Guard {
  const { host, allowed_hosts, trusted_proxies } = config.server
  const isLocalListener = isLoopback(host) && !config.require_login
  const localName = hostname()
  const names = [host, localName, `${localName}.local`, ...allowed_hosts]
  const ownNames = new Set(names.map((name) => name.toLowerCase().replace(/\.$/, '')))
  const isTrusted = trustProxies(trusted_proxies)
  const warnUntrusted = createForwardingWarning(log)
  return (request) => {
    const isForwarded = hasForwardingHeader(request)
    const isFromProxy = () => isTrusted(request.socket.remoteAddress ?? '')
    if (isForwarded) {
      if (isFromProxy()) checkForwarded(request)
      else warnUntrusted(request.socket.remoteAddress ?? '')
    }
    checkHost(request, ownNames)
    checkOrigin(request)
    const isLocal = isLocalListener && !isForwarded
    const route = request.routeOptions.config
    const isOwnCheck = route.isProbe === true && !isForwarded && isFromProxy()
    const needs = isOwnCheck ? 'nothing' : (route.needs ?? (isReading(request) ? 'read' : 'operate'))
    request.isLocal = isLocal
    request.credential = null
    request.actor = anonymousActor(request, isLocal)
    if (needs === 'nothing') return undefined

    const isOpen = (isLocal && localPermissions.includes(needs)) || (config.public_read && needs === 'read')
    const presented = readCredential(request)
    const admit = (credential: Credential | null) => {
      const valid = presented === null ? null : validCredential(credential, presented)
      // For an unknown path or method no permission is checked, so that the error response says that it is unknown.
      if (valid !== null) {
        if (access.needsTotp(valid.user) && route.isOwnAccount !== true) throw new RequestError('totp_needed')
        use(request, valid, isOpen || request.is404 ? null : needs)
      }
      // An expired cookie is ignored on open routes; an invalid token is always reported.
      else if (!isOpen || presented?.via === 'header') throw new RequestError('sign_in_needed')
    }
    if (presented === null) {
      admit(null)
      return undefined
    }
    const found = access.credentials.find(presented.secret, request.ip)
    if (!(found instanceof Promise)) {
      admit(found)
      return undefined
    }
    return found.then(admit, (error) => {
      // Open routes stay available while the database is unreachable.
      if (!isOpen || presented.via === 'header') throw error
    })
  }
}

function anonymousActor(request: FastifyRequest, isLocal: boolean): Actor {
  const { ip: address, id } = request
  return isLocal
    ? { kind: 'local', id: null, name: 'local', role: 'operator', address, request: id }
    : { kind: 'guest', id: null, name: 'guest', role: 'viewer', address, request: id }
}

function use(request: FastifyRequest, credential: Credential, needs: RolePermission | null): void {
  const { kind, id, name, role, csrfToken } = credential
  if (csrfToken !== null && !isReading(request) && !isSame(request.headers['x-csrf-token'], csrfToken)) {
    throw new RequestError('csrf_token_needed')
  }
  if (needs !== null && !isAllowed(role, needs)) throw new RequestError('not_allowed', { subject: permissions[needs] })
  request.credential = credential
  request.actor = { kind, id, name, role, address: request.ip, request: request.id }
}

interface PresentedCredential {
  readonly via: 'header' | 'cookie'
  readonly secret: string
}

/**
 * Reads the credential of a request. A bearer token takes precedence over the cookie. Other authorization schemes are
 * ignored, because a proxy may use them.
 */
function readCredential(request: FastifyRequest): PresentedCredential | null {
  const token = /^bearer +(.*)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined) return { via: 'header', secret: token.trim() }
  const session = readSessionCookie(request)
  return session === null ? null : { via: 'cookie', secret: session }
}

/**
 * Accepts sessions in cookies and tokens in the header. A kiosk may have its token in a cookie, with read access only.
 */
function validCredential(found: Credential | null, { via, secret }: PresentedCredential): Credential | null {
  if (found === null || via === 'header') return found?.kind === 'token' ? found : null
  if (found.kind === 'user') return found
  return found.role === 'viewer' ? { ...found, permissions: [], csrfToken: csrfTokenOf(secret) } : null
}

function isSame(value: string | string[] | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(String(value ?? '')), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/** Protects against DNS rebinding: rejects unknown host names on every path. */
function checkHost(request: FastifyRequest, ownNames: ReadonlySet<string>): void {
  const { rawHeaders } = request.raw
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  const { host } = request
  const name = hostName(host)
  if (hosts !== 1 || !request.url.startsWith('/')) throw new RequestError('misdirected', { subject: name })
  // A request may also name the address at which it arrived. If the service listens on all addresses, that address is
  // only known per connection.
  const isBound = () => isSameAddress(name, request.socket.localAddress ?? '')
  if (!isLoopback(name) && !ownNames.has(name) && !isBound()) throw new RequestError('misdirected', { subject: name })
}

/** Returns the host name without port, brackets and trailing dot. */
export function hostName(host: string): string {
  const name = host.toLowerCase().replace(/\.?(:\d*)?$/, '')
  return name.startsWith('[') ? name.slice(1, -1) : name
}

function isSameAddress(a: string, b: string): boolean {
  const bytes = parseAddress(a)
  return bytes !== null && String(bytes) === String(parseAddress(b))
}

/** Protects against cross-site requests from other pages in the operator's browser. */
function checkOrigin(request: FastifyRequest): void {
  const { headers } = request
  const site = headers['sec-fetch-site']
  if (isReading(request) && !request.ws) {
    const mode = headers['sec-fetch-mode']
    if (site === 'cross-site' && mode !== 'navigate') throw new RequestError('foreign_origin')
    return
  }
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new RequestError('foreign_origin')
  // Browsers write the host of an origin in lower case.
  const ownOrigin = `${request.protocol}://${request.host.toLowerCase()}`
  if (headers.origin !== undefined && headers.origin !== ownOrigin) throw new RequestError('foreign_origin')
}

// --- Proxies ---------------------------------------------------------------------------------------------------------

/** Returns a function that checks whether an address belongs to a trusted proxy. */
export function trustProxies(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.flatMap((network) => parseNetwork(network) ?? [])
  return (address) => {
    if (parsed.length === 0) return false
    const bytes = parseAddress(address)
    return bytes !== null && parsed.some((network) => isInNetwork(bytes, network))
  }
}

/** True if a proxy forwarded the request. The address on which it arrived does not show where the client is. */
function hasForwardingHeader({ headers }: FastifyRequest): boolean {
  if (headers.forwarded ?? headers.via ?? headers['x-real-ip']) return true
  for (const name in headers) if (name.startsWith('x-forwarded-')) return true
  return false
}

/**
 * True for TLS to this service or to a trusted proxy, and on this machine. `request.protocol` is that of a trusted proxy, if
 * one has forwarded the request.
 */
export function isTls(request: FastifyRequest): boolean {
  if (request.protocol === 'https') return true
  return !hasForwardingHeader(request) && isLoopback(request.socket.remoteAddress ?? '')
}

/** Rejects invalid forwarding headers of a trusted proxy. */
function checkForwarded({ headers }: FastifyRequest): void {
  const listOf = (name: string) => {
    const value = headers[name]
    return value === undefined
      ? []
      : String(value)
          .split(',')
          .map((part) => part.trim())
  }
  const invalid = (name: string) => new RequestError('bad_request', { details: `${name}: invalid value` })
  if (!listOf('x-forwarded-for').every((address) => parseAddress(address) !== null)) throw invalid('X-Forwarded-For')
  if (!listOf('x-forwarded-proto').every((protocol) => protocol === 'http' || protocol === 'https'))
    throw invalid('X-Forwarded-Proto')
  if (!listOf('x-forwarded-host').every((host) => /^[\w.:[\]-]+$/.test(host))) throw invalid('X-Forwarded-Host')
}

/** Logs at most one warning per address and hour, and remembers a limited number of addresses. */
function createForwardingWarning(log: FastifyBaseLogger): (address: string) => void {
  const lastWarnings = new Map<string, number>()
  return (address) => {
    const now = performance.now()
    if (now - (lastWarnings.get(address) ?? Number.NEGATIVE_INFINITY) < 3_600_000) return
    if (lastWarnings.size >= 1000) lastWarnings.clear()
    lastWarnings.set(address, now)
    log.warn({ address }, 'forwarding headers ignored: the address is not in server.trusted_proxies')
  }
}
