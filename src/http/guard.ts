/**
 * Who may come in: by host name, by origin, by listener, by session or token, by role. What is open without credentials
 * depends on the listener, never on the peer.
 */

import { timingSafeEqual } from 'node:crypto'
import { hostname } from 'node:os'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { type Credential, type Credentials, csrfTokenOf } from '../actions/credentials.ts'
import { type Actor, isAllowed, localPermissions, type Permission, permissions } from '../model/access.ts'
import { isInNetwork, parseAddress, parseNetwork } from '../model/address.ts'
import { RequestError } from '../model/errors.ts'
import { readSessionCookie } from './cookies.ts'

export interface GuardSettings {
  /** What the service listens on. */
  readonly host: string
  readonly allowedHosts: readonly string[]
  readonly requireLogin: boolean
  /** Pages, reads and the WebSocket are open to anybody. */
  readonly publicRead: boolean
  /** Networks whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[]
}

export interface GuardDeps extends GuardSettings {
  readonly credentials: Pick<Credentials, 'find'>
  readonly log: Pick<FastifyBaseLogger, 'warn'>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set before any handler runs. */
    actor: Actor
    /** The session or token shown; null without one. */
    credential: Credential | null
    /** Whoever asks sits at this machine, as far as anybody can tell. */
    isLocal: boolean
  }
  interface FastifyContextConfig {
    /** What the route asks for; without it `read` for GET and `operate` for everything else. */
    needs?: Permission | 'nothing'
  }
}

/** Sets the request's actor, or refuses. What is in memory is decided at once. */
export function createGuard(deps: GuardDeps): (request: FastifyRequest) => Promise<void> | undefined {
  const isLocalListener = isLoopback(deps.host) && !deps.requireLogin
  const own = hostname()
  const names = [deps.host, own, `${own}.local`, ...deps.allowedHosts]
  const ownNames = new Set(names.map((name) => name.toLowerCase().replace(/\.$/, '')))
  const isTrusted = trustProxies(deps.trustedProxies)
  const tellForwarded = createTeller(deps.log)
  return (request) => {
    const isForwarded = hasForwardingHeader(request)
    if (isForwarded) {
      if (isTrusted(request.socket.remoteAddress ?? '')) checkForwarded(request)
      else tellForwarded(request.socket.remoteAddress ?? '')
    }
    checkHost(request, ownNames)
    checkOrigin(request)
    const isLocal = isLocalListener && !isForwarded
    const needs = request.routeOptions.config.needs ?? (isReading(request) ? 'read' : 'operate')
    request.isLocal = isLocal
    request.credential = null
    request.actor = stranger(request, isLocal)
    if (needs === 'nothing') return undefined

    const isOpen = (isLocal && localPermissions.includes(needs)) || (deps.publicRead && needs === 'read')
    const shown = readCredential(request)
    const admit = (credential: Credential | null) => {
      const valid = shown === null ? null : validCredential(credential, shown)
      // Whether there is such an address and method comes before whose it is.
      if (valid !== null) use(request, valid, isOpen || request.is404 ? null : needs)
      // A cookie that has ended is no cookie; a token that is none is a mistake worth telling.
      else if (!isOpen || shown?.via === 'header') throw new RequestError('sign_in_needed')
    }
    if (shown === null) {
      admit(null)
      return undefined
    }
    const found = deps.credentials.find(shown.secret, request.ip)
    if (!(found instanceof Promise)) {
      admit(found)
      return undefined
    }
    return found.then(admit, (error) => {
      // A store that is away closes no door that stands open anyway.
      if (!isOpen || shown.via === 'header') throw error
    })
  }
}

function stranger(request: FastifyRequest, isLocal: boolean): Actor {
  const { ip: address, id } = request
  return isLocal
    ? { kind: 'local', id: null, name: 'local', role: 'operator', address, request: id }
    : { kind: 'guest', id: null, name: 'guest', role: 'viewer', address, request: id }
}

function use(request: FastifyRequest, credential: Credential, needs: Permission | null): void {
  const { kind, id, name, role, csrfToken } = credential
  if (csrfToken !== null && !isReading(request) && !isSame(request.headers['x-csrf-token'], csrfToken)) {
    throw new RequestError('csrf_token_needed')
  }
  if (needs !== null && !isAllowed(role, needs)) throw new RequestError('not_allowed', { about: permissions[needs] })
  request.credential = credential
  request.actor = { kind, id, name, role, address: request.ip, request: request.id }
}

interface Shown {
  readonly via: 'header' | 'cookie'
  readonly secret: string
}

/** A token in the header stands above the cookie. Other schemes are somebody else's: a proxy's, say. */
function readCredential(request: FastifyRequest): Shown | null {
  const token = /^bearer +(.*)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined) return { via: 'header', secret: token.trim() }
  const session = readSessionCookie(request)
  return session === null ? null : { via: 'cookie', secret: session }
}

/** Sessions come as cookies and tokens in the header; only a kiosk, which may do no more than look, keeps its token. */
function validCredential(found: Credential | null, { via, secret }: Shown): Credential | null {
  if (found === null || via === 'header') return found?.kind === 'token' ? found : null
  if (found.kind === 'user') return found
  return found.role === 'viewer' ? { ...found, csrfToken: csrfTokenOf(secret) } : null
}

function isSame(given: string | string[] | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(String(given ?? '')), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Against DNS rebinding: a name that is not ours is not answered, on any path. */
function checkHost(request: FastifyRequest, ownNames: ReadonlySet<string>): void {
  const { rawHeaders } = request.raw
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  const { host } = request
  const name = hostName(host)
  if (hosts !== 1 || !request.url.startsWith('/')) throw new RequestError('misdirected', { about: name })
  // The address that was connected to; what it is when we listen on all of them, only the connection knows.
  const isBound = () => isSameAddress(name, request.socket.localAddress ?? '')
  if (!isLoopback(name) && !ownNames.has(name) && !isBound()) throw new RequestError('misdirected', { about: name })
}

/** Without port, brackets and the dot of the root. */
export function hostName(host: string): string {
  const name = host.toLowerCase().replace(/\.?(:\d*)?$/, '')
  return name.startsWith('[') ? name.slice(1, -1) : name
}

function isSameAddress(a: string, b: string): boolean {
  const bytes = parseAddress(a)
  return bytes !== null && String(bytes) === String(parseAddress(b))
}

/** Against pages of other sites that the operator has open. */
function checkOrigin(request: FastifyRequest): void {
  const { headers } = request
  const site = headers['sec-fetch-site']
  if (isReading(request) && !request.ws) {
    const mode = headers['sec-fetch-mode']
    if (site === 'cross-site' && mode !== 'navigate') throw new RequestError('foreign_origin')
    return
  }
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new RequestError('foreign_origin')
  const own = `${request.protocol}://${request.host}`
  if (headers.origin !== undefined && headers.origin !== own) throw new RequestError('foreign_origin')
}

// --- Proxies ----------------------------------------------------------------------------------------------------------

/** Is this the address of a proxy whose forwarding headers are believed? */
export function trustProxies(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.flatMap((one) => parseNetwork(one) ?? [])
  return (address) => {
    const bytes = parseAddress(address)
    return bytes !== null && parsed.some((network) => isInNetwork(bytes, network))
  }
}

/** Somebody stands between us and the peer, so the listener says nothing about who asks. */
function hasForwardingHeader({ headers }: FastifyRequest): boolean {
  if (headers.forwarded ?? headers.via ?? headers['x-real-ip']) return true
  for (const name in headers) if (name.startsWith('x-forwarded-')) return true
  return false
}

/** A proxy that is believed has to speak clearly. */
function checkForwarded({ headers }: FastifyRequest): void {
  const listOf = (name: string) => {
    const value = headers[name]
    return value === undefined
      ? []
      : String(value)
          .split(',')
          .map((one) => one.trim())
  }
  const say = (name: string) => new RequestError('bad_request', { details: `${name}: cannot be understood` })
  if (!listOf('x-forwarded-for').every((one) => parseAddress(one) !== null)) throw say('X-Forwarded-For')
  if (!listOf('x-forwarded-proto').every((one) => one === 'http' || one === 'https')) throw say('X-Forwarded-Proto')
  if (!listOf('x-forwarded-host').every((one) => /^[\w.:[\]-]+$/.test(one))) throw say('X-Forwarded-Host')
}

/** One line an address and hour, for as many addresses as are worth remembering. */
function createTeller(log: GuardDeps['log']): (address: string) => void {
  const told = new Map<string, number>()
  return (address) => {
    const now = performance.now()
    if (now - (told.get(address) ?? Number.NEGATIVE_INFINITY) < 3_600_000) return
    if (told.size >= 1000) told.clear()
    told.set(address, now)
    log.warn({ address }, 'forwarding headers from an address that is not in server.trusted_proxies are not believed')
  }
}
