/** A real OpenID Connect provider, a hostile one, and a browser without pages that follows their redirects. */

import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { freePort } from '../../scripts/free-port.ts'
import { onTestEnd } from './cleanup.ts'

export const client = { client_id: 'micwatch', client_secret: 'a secret of this client' }
export type Claims = Readonly<Record<string, unknown>>

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsaJwk = { ...rsa.privateKey.export({ format: 'jwk' }), kid: 'rsa', use: 'sig', alg: 'RS256' }
const ecJwk = { ...ec.privateKey.export({ format: 'jwk' }), kid: 'ec', use: 'sig', alg: 'ES256' }

async function listen(handler: RequestListener, port = 0) {
  const server = createServer(handler)
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const stop = async () => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  onTestEnd(stop)
  return { port: (server.address() as AddressInfo).port, stop }
}

/** The user who signs in; null if the user cancels. */
export type SigningIn = { readonly sub: string; readonly claims: Claims } | null

export interface RealProvider {
  readonly issuer: string
  user: SigningIn
  /** Accepts sign-ins that are started by this service. Until then, nothing responds. */
  serve(
    callback: string,
    options?: { readonly algorithm?: 'RS256' | 'ES256'; readonly inIdToken?: boolean },
  ): Promise<void>
  stop(): Promise<void>
}

/** Chooses the address of a provider, which does not respond until `serve` is called. */
export async function createProvider(): Promise<RealProvider> {
  const port = await freePort()
  let stopServing = async () => {}
  const issuer = `http://127.0.0.1:${port}`
  const real: RealProvider = {
    issuer,
    user: { sub: 'u1', claims: { name: 'Ana Smith', groups: ['crew'] } },
    async serve(callback, { algorithm = 'RS256', inIdToken = false } = {}) {
      const provider = new Provider(issuer, {
        clients: [{ ...client, redirect_uris: [callback], id_token_signed_response_alg: algorithm }],
        claims: { openid: ['sub'], profile: ['name', 'groups'] },
        conformIdTokenClaims: !inIdToken,
        cookies: { keys: ['a key of the provider'] },
        jwks: { keys: [rsaJwk, ecJwk] },
        features: { devInteractions: { enabled: false } },
        ttl: { Session: 60, Interaction: 60, Grant: 60, AccessToken: 60, IdToken: 60 },
        findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...real.user?.claims }) }),
        interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
        async loadExistingGrant(context) {
          const accountId = context.oidc.session?.accountId ?? ''
          const grant = new context.oidc.provider.Grant({ clientId: client.client_id, accountId })
          grant.addOIDCScope('openid profile email')
          await grant.save()
          return grant
        },
      })
      const handle = provider.callback()
      const interact = (request: IncomingMessage, response: ServerResponse) => {
        const denied = { error: 'access_denied', error_description: 'cancelled' }
        const result = real.user === null ? denied : { login: { accountId: real.user.sub, remember: false } }
        return provider.interactionFinished(request, response, result)
      }
      const listening = await listen((request, response) => {
        if (request.url?.startsWith('/interaction/')) void interact(request, response)
        else void handle(request, response)
      }, port)
      stopServing = listening.stop
    },
    stop: () => stopServing(),
  }
  return real
}

// --- A hostile provider -----------------------------------------------------------------------------------------------

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

export interface Forgery {
  readonly header?: object
  /** Claims instead of the correct ones; undefined removes a claim. */
  readonly claims?: Claims
  /** Signs the first two parts of the token; by default correctly. */
  signature?(input: string): Buffer
}

const signWith = (key: KeyObject) => (input: string) => sign('sha256', Buffer.from(input), key)
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
const seconds = () => Math.floor(Date.now() / 1000)

/** Tokens that must not be accepted, by what is wrong with them. */
export const forgeries: Readonly<Record<string, Forgery>> = {
  'another key': { signature: signWith(stranger.privateKey) },
  'no signature': { header: { alg: 'none' }, signature: () => Buffer.alloc(0) },
  'the client secret as key': {
    header: { alg: 'HS256' },
    signature: (input) => createHmac('sha256', client.client_secret).update(input).digest(),
  },
  'the public key as secret': {
    header: { alg: 'HS256' },
    signature: (input) =>
      createHmac('sha256', rsa.publicKey.export({ format: 'pem', type: 'spki' }))
        .update(input)
        .digest(),
  },
  'another algorithm': {
    header: { alg: 'RS512' },
    signature: (input) => sign('sha512', Buffer.from(input), rsa.privateKey),
  },
  'an unknown key id': { header: { kid: 'other' } },
  'an altered claim': { signature: () => signWith(rsa.privateKey)('other.input') },
  'another audience': { claims: { aud: 'another-client' } },
  'several audiences without an authorized party': { claims: { aud: ['micwatch', 'another-client'] } },
  'another issuer': { claims: { iss: 'https://login.example' } },
  'another nonce': { claims: { nonce: 'another' } },
  'no nonce': { claims: { nonce: undefined } },
  'an expired token': { claims: { iat: seconds() - 7200, exp: seconds() - 3600 } },
  'a token of the future': { claims: { nbf: seconds() + 3600 } },
  'no expiry': { claims: { exp: undefined } },
  'no subject': { claims: { sub: undefined } },
}

/** A provider that signs in everyone, with a token that `forgery` changes. `respond` overrides responses, by path. */
export async function startHostileProvider() {
  let nonce = ''
  const hostile = {
    issuer: '',
    forgery: {} as Forgery,
    /** How far its clock is ahead. */
    aheadMs: 0,
    respond: {} as Record<string, (response: ServerResponse) => void>,
    stop: async () => {},
  }
  const token = () => {
    const { header, claims, signature = signWith(rsa.privateKey) } = hostile.forgery
    const times = { iat: seconds(), exp: seconds() + 60 }
    const body = { iss: hostile.issuer, sub: 'u9', aud: client.client_id, nonce, ...times, groups: ['crew'], ...claims }
    const input = `${encode({ alg: 'RS256', kid: 'rsa', ...header })}.${encode(body)}`
    return `${input}.${signature(input).toString('base64url')}`
  }
  const documents: Record<string, () => object> = {
    '/.well-known/openid-configuration': () => ({
      issuer: hostile.issuer,
      authorization_endpoint: `${hostile.issuer}/authorize`,
      token_endpoint: `${hostile.issuer}/token`,
      jwks_uri: `${hostile.issuer}/jwks`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256', 'RS512', 'HS256', 'none'],
    }),
    '/jwks': () => ({
      keys: [{ ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa', use: 'sig' }],
    }),
    '/token': () => ({ access_token: 'a', token_type: 'Bearer', id_token: token() }),
  }
  const { port, stop } = await listen((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', hostile.issuer)
    const respond = hostile.respond[pathname]
    if (respond !== undefined) return respond(response)
    if (pathname === '/authorize') {
      nonce = searchParams.get('nonce') ?? ''
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '' }).toString()
      response.writeHead(302, { location: back.href }).end()
      return
    }
    const document = documents[pathname]
    const date = new Date(Date.now() + hostile.aheadMs).toUTCString()
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json', date })
    response.end(JSON.stringify(document?.() ?? {}))
  })
  hostile.issuer = `http://127.0.0.1:${port}`
  hostile.stop = stop
  return hostile
}

// --- A browser without pages ------------------------------------------------------------------------------------------

export interface Visit {
  readonly status: number
  readonly url: URL
  readonly body: string
  /** Every address that was opened, the first included. */
  readonly addresses: readonly string[]
}

/** Keeps cookies by origin and follows redirects, as far as `stopAt` does not match the next address. */
export function createVisitor(accept = 'text/html') {
  const cookies = new Map<string, Map<string, string>>()
  const jarOf = (origin: string) => cookies.get(origin) ?? new Map<string, string>()
  const cookieHeader = (origin: string) => [...jarOf(origin)].map(([name, value]) => `${name}=${value}`).join('; ')
  async function visit(address: string, stopAt = /^$/, opened: readonly string[] = []): Promise<Visit> {
    const url = new URL(address)
    const addresses = [...opened, address]
    if (addresses.length > 20) throw new Error(`too many redirects: ${addresses.join(' ')}`)
    const headers = { accept, cookie: cookieHeader(url.origin) }
    const response = await fetch(url, { redirect: 'manual', headers })
    const jar = jarOf(url.origin)
    cookies.set(url.origin, jar)
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      if (value === '' || /max-age=0/i.test(header)) jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get('location')
    const next = location === null ? null : new URL(location, url)
    const body = await response.text()
    if (next !== null && !stopAt.test(next.href)) return visit(next.href, stopAt, addresses)
    return { status: response.status, url: next ?? url, body, addresses }
  }
  return { visit, cookieHeader }
}
