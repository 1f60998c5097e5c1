/** Creates authentication headers: HTTP Digest (RFC 7616), a key in a header, and Basic (RFC 7617). */

import { createHash, randomBytes } from 'node:crypto'
import { isHeaderValue } from '../domain/text.ts'

export type Credentials =
  | DigestCredentials
  | BasicCredentials
  | { readonly scheme: 'bearer'; readonly token: string }
  | { readonly scheme: 'none' }

interface BasicCredentials {
  readonly scheme: 'basic'
  /** If null, no credentials are sent until `signInAs` sets the user name. */
  readonly username: string | null
  readonly secret: string
}

/** Returns an empty text without a secret. */
export function secretOf(credentials: Credentials): string {
  if (credentials.scheme === 'none') return ''
  return credentials.scheme === 'bearer' ? credentials.token : credentials.secret
}

interface DigestCredentials {
  readonly scheme: 'digest'
  readonly username: string
  readonly secret: string
  /** A header that carries the secret with every request, in addition to the digest. */
  readonly header?: string | null
  /** A header that carries the secret instead of a digest, once the upstream has sent a 401 without a challenge. */
  readonly keyHeader?: string
}

export interface Authorizer {
  /**
   * Returns the headers for the next request. Each call uses up a nonce count, so requests must be sent in the order of
   * the calls.
   */
  headers(method: string, uri: string): Record<string, string>
  /**
   * Reads the challenges of a 401 and the headers of the rejected request. Returns true if a retry may succeed.
   * `attempt` counts the requests of a call, starting at 1. Any new challenge allows a second attempt. Further attempts
   * are allowed only while the upstream calls the nonce stale: parallel requests may arrive out of order.
   */
  learn(challenges: string, sent: Readonly<Record<string, string>>, attempt?: number): boolean
  /** Reads the Authentication-Info header of a successful response. */
  confirm(authenticationInfo: string): void
  /** Sets the user name of Basic credentials, for devices whose user name depends on the product. */
  signInAs?(username: string): void
}

/** With Digest, Basic credentials are never sent, even if the upstream requests them. */
export function createAuthorizer(
  credentials: Credentials,
  createCnonce = () => randomBytes(16).toString('hex'),
): Authorizer {
  switch (credentials.scheme) {
    case 'digest':
      return createDigest(credentials, createCnonce)
    case 'basic':
      return createBasic(credentials.username, credentials.secret)
    case 'bearer': {
      const headers = { authorization: `Bearer ${credentials.token}` }
      return { headers: () => headers, learn: () => false, confirm: () => {} }
    }
    case 'none':
      return { headers: () => ({}), learn: () => false, confirm: () => {} }
    default:
      return credentials satisfies never
  }
}

export interface Challenge {
  readonly scheme: string
  readonly parameters: Readonly<Record<string, string>>
}

/**
 * Parses one WWW-Authenticate header, or several that were joined. Returns scheme and parameter names in lower case.
 */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = []
  const item = /([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/g
  for (const [, word = '', quoted, bare] of header.matchAll(item)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? bare
    if (value === undefined) challenges.push({ scheme: word.toLowerCase(), parameters: {} })
    else {
      const current = challenges.at(-1)
      if (current !== undefined) current.parameters[word.toLowerCase()] = value
    }
  }
  return challenges
}

/** In order of preference (RFC 7616 §3.3 and §6.1). */
const hashes: Readonly<Record<string, string>> = { 'sha-256': 'sha256', 'sha-512-256': 'sha512-256', md5: 'md5' }

export interface DigestRequest {
  readonly username: string
  readonly secret: string
  readonly method: string
  readonly uri: string
  readonly nonceCount: number
  readonly cnonce: string
}

export function digestHeader(challenge: Challenge, request: DigestRequest): string {
  const { realm = '', nonce = '', opaque, userhash } = challenge.parameters
  const algorithm = challenge.parameters.algorithm ?? 'MD5'
  const { username, secret, method, uri, cnonce } = request
  const hash = (text: string) =>
    createHash(hashOf(algorithm) ?? 'md5')
      .update(text)
      .digest('hex')
  const nc = request.nonceCount.toString(16).padStart(8, '0')
  const identity = hash(`${username}:${realm}:${secret}`)
  const a1 = /-sess$/i.test(algorithm) ? hash(`${identity}:${nonce}:${cnonce}`) : identity
  const a2 = hash(`${method}:${uri}`)
  const hasQop = offersAuth(challenge)
  const response = hasQop ? hash(`${a1}:${nonce}:${nc}:${cnonce}:auth:${a2}`) : hash(`${a1}:${nonce}:${a2}`)
  const parts = [
    `username=${quote(userhash === 'true' ? hash(`${username}:${realm}`) : username)}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri=${quote(uri)}`,
    `algorithm=${algorithm}`,
    `response="${response}"`,
  ]
  if (hasQop) parts.push('qop=auth', `nc=${nc}`, `cnonce=${quote(cnonce)}`)
  if (opaque !== undefined) parts.push(`opaque=${quote(opaque)}`)
  if (userhash === 'true') parts.push('userhash=true')
  return `Digest ${parts.join(', ')}`
}

/** The limit while the upstream calls each nonce stale. */
const maxAttempts = 4

function createDigest(credentials: DigestCredentials, createCnonce: () => string): Authorizer {
  const { username, secret, header, keyHeader } = credentials
  const fixed: Record<string, string> = header ? { [header]: secret } : {}
  let keyed: Record<string, string> = {}
  /** True once the upstream has sent a Digest or Basic challenge. The key header is then never sent to it. */
  let hasSentChallenge = false
  /**
   * True once the upstream has accepted a request without credentials. A later 401 is then no reason to send the key.
   */
  let isUnprotected = false
  let challenge: Challenge | undefined
  let nonceCount = 0
  const tryKeyHeader = (sent: Readonly<Record<string, string>>): boolean => {
    if (keyHeader === undefined || secret === '' || !isHeaderValue(secret) || sent[keyHeader] !== undefined)
      return false
    if (hasSentChallenge || isUnprotected) return false
    keyed = { [keyHeader]: secret }
    return true
  }
  const setChallenge = (next: Challenge) => {
    if (next.parameters.nonce !== challenge?.parameters.nonce) nonceCount = 0
    challenge = next
  }
  return {
    headers(method, uri) {
      if (challenge === undefined) return { ...fixed, ...keyed }
      nonceCount += 1
      const authorization = digestHeader(challenge, {
        username,
        secret,
        method,
        uri,
        nonceCount,
        cnonce: createCnonce(),
      })
      return { ...fixed, authorization }
    },
    learn(challenges, sent, attempt = 1) {
      const parsed = parseChallenges(challenges)
      const supported = parsed.filter(isSupported)
      if (parsed.some(({ scheme }) => scheme === 'digest' || scheme === 'basic')) {
        hasSentChallenge = true
        keyed = {}
      }
      const ordered = Object.values(hashes)
      const preference = ({ parameters: { algorithm } }: Challenge) => ordered.indexOf(hashOf(algorithm ?? 'MD5') ?? '')
      const best = supported.sort((a, b) => preference(a) - preference(b))[0]
      if (best === undefined) return attempt === 1 && tryKeyHeader(sent)
      // If the same nonce is offered again without `stale`, the credentials are wrong, not the nonce.
      const sentNonce = parseChallenges(sent.authorization ?? '')[0]?.parameters.nonce
      const isStale = best.parameters.stale?.toLowerCase() === 'true'
      if (sentNonce === best.parameters.nonce && !isStale) return false
      setChallenge(best)
      return attempt === 1 || (isStale && attempt < maxAttempts)
    },
    confirm(authenticationInfo) {
      isUnprotected ||= challenge === undefined && Object.keys(keyed).length === 0
      const nextnonce = parseChallenges(`info ${authenticationInfo}`)[0]?.parameters.nextnonce
      if (challenge === undefined || nextnonce === undefined) return
      setChallenge({ ...challenge, parameters: { ...challenge.parameters, nonce: nextnonce } })
    },
  }
}

function createBasic(configured: string | null, secret: string): Authorizer {
  let headers: Record<string, string> = {}
  const signInAs = (username: string) => {
    headers = { authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}` }
  }
  if (configured !== null) signInAs(configured)
  return { headers: () => headers, learn: () => false, confirm: () => {}, signInAs }
}

function isSupported(challenge: Challenge): boolean {
  const { nonce, qop, algorithm = 'MD5' } = challenge.parameters
  const isKnown = challenge.scheme === 'digest' && nonce !== undefined && hashOf(algorithm) !== undefined
  return isKnown && (qop === undefined || offersAuth(challenge))
}

function offersAuth(challenge: Challenge): boolean {
  return challenge.parameters.qop?.split(',').some((qop) => qop.trim().toLowerCase() === 'auth') ?? false
}

function hashOf(algorithm: string): string | undefined {
  return hashes[algorithm.toLowerCase().replace(/-sess$/, '')]
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
