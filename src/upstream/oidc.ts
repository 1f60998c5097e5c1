/**
 * Communicates with an OpenID Connect provider: discovery, authorization code with PKCE, ID token, user info. Requests
 * go only to allowed addresses, follow no redirects, and are limited in time and size.
 */

import type { Configuration, CustomFetch, CustomFetchOptions, ServerMetadata } from 'openid-client'
import { OidcError, type ProviderIdentity } from '../domain/access/oidc.ts'
import { isLoopback } from '../domain/identity/address.ts'
import { findJsonExcess } from '../domain/json-limits.ts'
import { abortable, abortWithin } from '../platform/wait.ts'
import { type Destinations, guardedConnector, loadHttpLibrary, portOf, withoutLinkLocal } from './destinations.ts'
import { codeOf, describeConnectionError, describeServiceError } from './errors.ts'
import { excerptOf, readBytes } from './response-body.ts'

export interface OidcProviderOptions {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string | null
  readonly scopes: readonly string[]
  readonly role_claim: string
  readonly destinations: Destinations
  /** Per request. Default: 5 s. */
  readonly timeoutMs?: number
}

/** Ties the provider's response to the browser that started the sign-in. */
export interface OidcChecks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

const defaultTimeoutMs = 5_000
const maxBodyBytes = 256 * 1024
/** Enough for a user in thousands of groups. */
const maxBodyValues = 20_000
/** The provider's metadata is used for this long. */
const discoveryMs = 3_600_000
const algorithms = ['RS256', 'ES256']
const clockToleranceSeconds = 30

/** The library is loaded at the first sign-in. */
const loadLibrary = () => import('openid-client')

interface Discovered {
  readonly configuration: Configuration
  readonly at: number
}

/** All methods throw an `OidcError`. */
export class OidcProvider {
  readonly #options: OidcProviderOptions
  readonly #destinations: Destinations
  #discovered: Discovered | null = null
  #discovering: Promise<Discovered> | null = null
  /** Null if the last response contained no time. */
  #clockAheadMs: number | null = null
  /** ID tokens are rejected if the clocks differ by more. */
  readonly clockToleranceMs = clockToleranceSeconds * 1000

  constructor(options: OidcProviderOptions) {
    this.#options = options
    this.#destinations = withoutLinkLocal(options.destinations)
  }

  get issuer(): string {
    return this.#options.issuer
  }

  /** Returns the provider's sign-in address. */
  async authorizationUrl(redirectUri: string, { state, nonce, verifier }: OidcChecks): Promise<URL> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await loadLibrary()
    const configuration = await this.#discover()
    return run(async () =>
      buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: this.#options.scopes.join(' '),
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      }),
    )
  }

  /** Exchanges the code in the provider's redirect for the identity of the user. */
  async identify(callback: URL, { state, nonce, verifier }: OidcChecks): Promise<ProviderIdentity> {
    const { authorizationCodeGrant, fetchUserInfo } = await loadLibrary()
    const configuration = await this.#discover()
    return run(async () => {
      const tokens = await authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new OidcError('untrusted', 'The provider sent no ID token.')
      const { iss: issuer, sub: subject } = claims
      const isComplete = claims[this.#options.role_claim] !== undefined
      // Many providers send groups and names only here.
      if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) {
        return { issuer, subject, claims }
      }
      const userInfo = await fetchUserInfo(configuration, tokens.access_token, subject)
      return { issuer, subject, claims: { ...userInfo, ...claims } }
    })
  }

  /** Discovers the provider again. Returns how far this clock is ahead of the provider's; null if unknown. */
  async check(): Promise<number | null> {
    this.#discovered = null
    await this.#discover()
    return this.#clockAheadMs
  }

  async #discover(): Promise<Configuration> {
    const known = this.#discovered
    if (known !== null && performance.now() - known.at < discoveryMs) return known.configuration
    this.#discovering ??= run(() => this.#load()).finally(() => {
      this.#discovering = null
    })
    this.#discovered = await this.#discovering
    return this.#discovered.configuration
  }

  async #load(): Promise<Discovered> {
    const library = await loadLibrary()
    const { issuer, client_id, client_secret } = this.#options
    const address = new URL(issuer)
    const request: CustomFetch = (url, options) => this.#fetch(url, options)
    const extensions = address.protocol === 'http:' ? [library.allowInsecureRequests] : []
    const found = await library.discovery(address, client_id, undefined, undefined, {
      execute: extensions,
      [library.customFetch]: request,
    })
    const metadata = acceptedMetadata(found.serverMetadata(), address)
    const usesBasic = metadata.token_endpoint_auth_methods_supported?.includes('client_secret_basic') ?? true
    const withSecret = usesBasic ? library.ClientSecretBasic : library.ClientSecretPost
    const configuration = new library.Configuration(
      metadata,
      client_id,
      { [library.clockTolerance]: clockToleranceSeconds },
      client_secret === null ? library.None() : withSecret(client_secret),
    )
    configuration[library.customFetch] = request
    for (const extend of extensions) extend(configuration)
    // Otherwise, the library relies on the connection alone and does not verify the signature of the ID token.
    library.enableNonRepudiationChecks(configuration)
    return { configuration, at: performance.now() }
  }

  /** Sends one request of the library. */
  async #fetch(address: string, { method, headers, body, signal }: CustomFetchOptions): Promise<Response> {
    const url = new URL(address)
    if (url.protocol !== 'https:' && !isLoopback(url.hostname)) {
      throw new OidcError('untrusted', `The provider has the address ${url.origin}, which is not encrypted.`)
    }
    const timeoutMs = this.#options.timeoutMs ?? defaultTimeoutMs
    const cancel = abortWithin(timeoutMs, signal)
    const { Client } = await loadHttpLibrary()
    const client = new Client(url.origin, {
      maxHeaderSize: 16 * 1024,
      connect: await guardedConnector(this.#destinations, {
        port: portOf(url),
        timeout: timeoutMs,
        trust: { verifySsl: true },
      }),
    })
    try {
      const request = client.request({
        method: method === 'POST' ? 'POST' : 'GET',
        path: url.pathname + url.search,
        headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': 'Micwatch' },
        body: body === undefined || body === null ? null : String(body),
        signal: cancel,
      })
      // undici ignores the signal of a request that has no connection yet.
      const response = await abortable(request, cancel)
      const time = Date.parse(String(response.headers.date))
      this.#clockAheadMs = Number.isNaN(time) ? null : Date.now() - time
      if (response.statusCode >= 500)
        throw new OidcError('unreachable', `${url.host} responded with status ${response.statusCode}`)
      const bytes = await abortable(readBytes(response.body, undefined, maxBodyBytes), cancel)
      const excess = findJsonExcess(bytes, maxBodyValues)
      if (excess !== null) throw new OidcError('untrusted', `${url.host} responded with ${excess.message}`)
      const content = bytes.toString('utf8')
      return new Response(isBodyless(response.statusCode) ? null : content, {
        status: response.statusCode,
        headers: toHeaders(response.headers),
      })
    } catch (error) {
      throw error instanceof OidcError
        ? error
        : toConnectionError(error, { host: url.host, isLate: cancel.reason?.name === 'TimeoutError', timeoutMs })
    } finally {
      await client.destroy()
    }
  }
}

/** Returns the provider's metadata, with the accepted algorithms. */
function acceptedMetadata(found: ReturnType<Configuration['serverMetadata']>, address: URL): ServerMetadata {
  const { supportsPKCE: _, ...metadata } = found
  // The library also accepts the address of a service for all organizations, whose administrators could assign roles
  // here.
  if (new URL(metadata.issuer).href !== address.href) {
    throw new OidcError('untrusted', `the issuer is ${metadata.issuer}; set oidc.issuer to that address`)
  }
  const supported = metadata.id_token_signing_alg_values_supported ?? ['RS256']
  const accepted = supported.filter((algorithm) => algorithms.includes(algorithm))
  if (accepted.length > 0) return { ...metadata, id_token_signing_alg_values_supported: accepted }
  throw new OidcError(
    'untrusted',
    `ID tokens are signed with ${supported.join(', ')}; ${algorithms.join(' or ')} is needed`,
  )
}

function toConnectionError(
  error: unknown,
  { host, isLate, timeoutMs }: { host: string; isLate: boolean; timeoutMs: number },
): OidcError {
  const cause = isLate ? Object.assign(new Error('no response'), { code: 'DEADLINE' }) : error
  const reason = describeServiceError(codeOf(cause), host) ?? describeConnectionError(cause, host, timeoutMs)
  return new OidcError('unreachable', reason, { cause })
}

/** Runs calls of the library, and converts its errors. */
async function run<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toOidcError(error)
  }
}

/** The reason contains no secret, code or token. */
function toOidcError(error: unknown): OidcError {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof OidcError) return current
    if (isProviderError(current)) {
      const problem = current.error === 'access_denied' ? 'denied' : 'provider_error'
      return new OidcError(problem, `the provider responded with the error ${excerptOf(current.error)}`)
    }
  }
  return new OidcError('untrusted', messagesOf(error).join(': '))
}

/** True if the provider responded with a protocol error. */
function isProviderError(error: Error): error is Error & { readonly error: string } {
  return 'error' in error && typeof error.error === 'string'
}

function messagesOf(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...messagesOf(error.cause)] : []
}

function isBodyless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

function toHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  )
  return new Headers(entries)
}
