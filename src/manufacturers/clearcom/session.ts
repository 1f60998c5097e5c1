/**
 * Requests to a station, which says how to sign in. A FreeSpeak II Base II requests Basic credentials. An Arcadia issues
 * a token that expires unless it is renewed. Resources are only read, and the remote mic kill (`rmk`) is never requested.
 */

import { isRecord, parseJson } from '../../domain/json.ts'
import { secretOf } from '../../upstream/authorize.ts'
import type { UpstreamClient, UpstreamResponse } from '../../upstream/client.ts'
import { resolveDestination } from '../../upstream/destinations.ts'
import type { ApiError } from '../../upstream/errors.ts'
import { findStation, idOf, type ListedEndpoints, readEndpoints, readRoles, type Station } from './station.ts'

const defaultUser = 'admin'
const loginPath = '/auth/local/login'
/** A token that is not renewed expires. */
const renewAfterMs = 30_000

const devicePath = '/api/1/devices/1'
const deviceListPath = '/api/1/devices/'
const endpointsPath = '/api/1/devices/endpoints'
/** On a FreeSpeak II Base II. */
const ownEndpointsPath = '/api/1/devices/1/endpoints/'
const rolesetsPath = '/api/2/rolesets'

export class StationSession {
  readonly #client: UpstreamClient
  readonly #signal: AbortSignal
  readonly #renewMs: number
  /** A Base II lists only its own endpoints, and has no rolesets. */
  #isBaseTwo = false
  #token: string | null = null
  #renewedAt = 0

  constructor(client: UpstreamClient, signal: AbortSignal, renewMs = renewAfterMs) {
    this.#client = client
    this.#signal = signal
    this.#renewMs = renewMs
  }

  /** Signs in and reads everything. Throws the manufacturer's ApiError if the host is not a station. */
  async readStation(): Promise<Station> {
    const { host } = new URL(this.#client.settings.baseUrl)
    const device = await this.readDevice()
    const listed = await this.readEndpoints()
    const roles = await this.readRoles()
    const { address: ip } = await resolveDestination(this.#client.destinations, new URL(this.#client.settings.baseUrl))
    return { id: idOf(device, host), host, ip, name: this.#client.settings.name ?? null, device, roles, ...listed }
  }

  async readDevice(): Promise<Station['device']> {
    const { status, body } = await this.#get(devicePath)
    const device = findStation(status === 404 ? (await this.#get(deviceListPath)).body : body)
    if (device !== null) return device
    throw this.#error('responds, but is not a Clear-Com station', { failureKind: 'unusable' })
  }

  async readEndpoints(): Promise<ListedEndpoints> {
    const all = this.#isBaseTwo ? null : await this.#get(endpointsPath)
    this.#isBaseTwo ||= all?.status === 404
    const { body } = this.#isBaseTwo || all === null ? await this.#get(ownEndpointsPath) : all
    const listed = isRecord(body) ? body.endpoints : body
    if (Array.isArray(listed)) return readEndpoints(listed)
    throw this.#error('sent an invalid response: expected a list of endpoints', { status: 200 })
  }

  /** Empty if the station has no rolesets. */
  async readRoles(): Promise<Station['roles']> {
    return readRoles(this.#isBaseTwo ? [] : (await this.#get(rolesetsPath)).body)
  }

  /** Renews the token if necessary. */
  async keepAlive(): Promise<void> {
    if (this.#token === null || performance.now() - this.#renewedAt < this.#renewMs) return
    const jwtversion = versionOf(this.#token)
    if (jwtversion === null) return
    const response = await this.#request('POST', '/auth/refresh', {
      body: { jwtversion },
      accept: [400, 401, 403, 404],
    })
    this.#setToken(tokenIn(response) ?? (await this.#logIn()))
  }

  /** Signs in if the station requests it, also when a token has expired or the station has restarted. */
  async #get(path: string): Promise<UpstreamResponse> {
    const read = () => this.#request('GET', path, { accept: [401, 404] })
    const response = await read()
    if (response.status !== 401) return response
    await this.#signIn(response)
    const again = await read()
    if (again.status === 401) throw this.#rejected(again)
    return again
  }

  async #signIn(refused: UpstreamResponse): Promise<void> {
    const { settings, authorizer } = this.#client
    if (secretOf(settings.credentials) === '') throw this.#client.toError(401, refused.headers)
    const requestsBasic = /^\s*basic\b/i.test(refused.headers['www-authenticate'] ?? '')
    const token = requestsBasic ? null : await this.#logIn()
    if (token !== null) return this.#setToken(token)
    this.#token = null
    this.#isBaseTwo = true
    authorizer.signInAs?.(this.#user)
  }

  /** Returns null if the station has no login. */
  async #logIn(): Promise<string | null> {
    const body = { logemail: this.#user, logpassword: secretOf(this.#client.settings.credentials) }
    this.#token = null
    const response = await this.#request('POST', loginPath, { body, accept: [400, 401, 403, 404] })
    const token = tokenIn(response)
    if (token === null && response.status !== 404) throw this.#rejected(response)
    return token
  }

  #request(method: string, path: string, options: { readonly body?: object; readonly accept: readonly number[] }) {
    const headers: Record<string, string> = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }
    return this.#client.request(method, path, { ...options, headers, kind: 'list', signal: this.#signal })
  }

  #setToken(token: string | null): void {
    this.#token = token
    this.#renewedAt = performance.now()
  }

  get #user(): string {
    return this.#client.settings.username ?? defaultUser
  }

  #rejected({ status, headers }: UpstreamResponse): ApiError {
    const hint = 'check the username and the password of this manufacturer'
    return this.#error(`rejected the credentials of the user ${this.#user}; ${hint}`, {
      status: 401,
      response: { status, headers },
    })
  }

  #error(problem: string, details: ConstructorParameters<typeof ApiError>[1]): ApiError {
    return new this.#client.errors.ApiError(`${new URL(this.#client.settings.baseUrl).host} ${problem}`, details)
  }
}

/** Characters that are valid in a header; anything else is no token. */
function tokenIn({ body }: UpstreamResponse): string | null {
  const token = isRecord(body) ? body.jwt : null
  return typeof token === 'string' && /^[\w.~+/=-]{1,8192}$/.test(token) ? token : null
}

/** The version that a renewal must name. */
function versionOf(token: string): number | null {
  const [, payload = ''] = token.split('.')
  const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'))
  return isRecord(claims) && typeof claims.ver === 'number' ? claims.ver : null
}
