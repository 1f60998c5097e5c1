/** Parses a manufacturer's connection settings, which have two equivalent notations: see `keyAliases`. */

import type { RateLimit } from '../domain/access/limits.ts'
import { keyAliases } from '../domain/equipment/manufacturer-config.ts'
import { isRecord } from '../domain/json.ts'
import { isFreeHeaderName, isHeaderValue } from '../domain/text.ts'
import { parseFingerprint } from './certificate.ts'

type Config = Readonly<Record<string, unknown>>

export interface ConnectionSettings {
  /** The addresses of the system and of individual devices. */
  readonly addresses: readonly Address[]
  /** Undefined if not configured. */
  readonly username: string | undefined
  readonly verifySsl: boolean
  readonly timeoutMs: number
  readonly rateLimit: RateLimit
  readonly isEnabled: boolean
  readonly pollIntervalSeconds: number | undefined
  readonly streamTimeoutMs: number
  /** The header that carries the key in addition to the digest; null to send none. */
  readonly authHeader: string | null
}

export interface Address {
  /** Without a final slash. Contains a port if the scheme is not http or https. */
  readonly baseUrl: string
  readonly secret: string
  /** True for the address of a system (`api_base_url`), false for an individual device. */
  readonly isSystem: boolean
  /** Null for an individual device. */
  readonly websocketUrl: string | null
  /** The pinned certificate. */
  readonly fingerprint: string | null
  /** The display name of an individual device; null for a system. */
  readonly name: string | null
}

/** URL schemes of individual devices that do not use HTTP (for example `tcp:`), with their default ports. */
export type DevicePorts = Readonly<Record<string, number>>

/** The message names the key and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const plainKeys = [
  ...Object.keys(keyAliases),
  'shared_key',
  'fingerprint',
  'websocket_url',
  'websocket_other_host',
  'stream_timeout',
  'enabled',
  'devices',
  'calls_per_second',
  'burst',
  'auth_header',
  'auth_header_name',
]

/** Throws ConfigError for an unknown key, a wrong type, or a setting with different values in the two notations. */
export function parseConnection(config: Config, devicePorts: DevicePorts = {}): ConnectionSettings {
  const known = new Set([...plainKeys, ...Object.values(keyAliases)])
  for (const key of Object.keys(config)) {
    if (!known.has(key)) throw new ConfigError(`${key}: unknown key; expected one of ${[...known].join(', ')}`)
  }
  const read = createReader(config)
  const authHeader = read.authHeader()
  const checkSecret = authHeader === null ? requirePlainText : requireHeaderValue
  const secret = read.secret(checkSecret)
  const systemUrl = read.text('api_base_url')
  const devices = config.devices ?? []
  if (!Array.isArray(devices)) throw new ConfigError('devices: expected a list of addresses')
  const addresses = devices.map((device, index) =>
    parseDevice(device, `devices.${index}`, { secret, checkSecret, devicePorts }),
  )
  const websocketUrl = readWebSocketUrl(read, systemUrl)
  if (systemUrl !== undefined) {
    const baseUrl = parseBaseUrl(systemUrl, 'api_base_url')
    const fingerprint = readFingerprint(config.fingerprint, 'fingerprint')
    addresses.unshift({ baseUrl, secret, isSystem: true, websocketUrl, fingerprint, name: null })
  }
  const urls = new Set<string>()
  for (const { baseUrl } of addresses) {
    if (urls.has(baseUrl)) throw new ConfigError(`devices: ${baseUrl} is listed twice; remove one`)
    urls.add(baseUrl)
  }
  // The default in the interface specification (see docs/conformance.md) is 30 s with BASE_URL and 10 s with
  // api_base_url.
  const defaultTimeout = (config.BASE_URL ?? null) === null ? 10 : 30
  return {
    addresses,
    username: read.username(),
    verifySsl: read.flag('ssl_verify') ?? true,
    timeoutMs: (read.whole('timeout', 1, 60) ?? defaultTimeout) * 1000,
    rateLimit: {
      perSecond: read.number('calls_per_second', 0.1, 10_000) ?? 10,
      burst: read.number('burst', 1, 10_000) ?? 20,
    },
    isEnabled: read.flag('enabled') ?? true,
    pollIntervalSeconds: read.whole('poll_interval', 1, 3600),
    streamTimeoutMs: (read.number('stream_timeout', 1, 3600) ?? 60) * 1000,
    authHeader,
  }
}

type CheckText = (text: string, key: string) => void

function requirePlainText(text: string, key: string): void {
  if (/\p{Cc}/u.test(text))
    throw new ConfigError(`${key}: expected text without line breaks or other control characters`)
}

function requireHeaderValue(text: string, key: string): void {
  requirePlainText(text, key)
  if (isHeaderValue(text)) return
  throw new ConfigError(
    `${key}: expected characters that are valid in an HTTP header: Latin letters, digits and symbols, no space at either end`,
  )
}

function createReader(config: Config) {
  const getValue = (key: string): unknown => {
    const alias = keyAliases[key]
    const value = config[key] ?? undefined
    if (alias === undefined) return value
    const aliasValue = config[alias] ?? undefined
    if (value !== undefined && aliasValue !== undefined && !isSameSetting(key, alias, value, aliasValue)) {
      throw new ConfigError(`${key}: ${key} and ${alias} have different values; remove one`)
    }
    return value ?? aliasValue
  }
  const nameOf = (key: string) => (config[key] === getValue(key) ? key : (keyAliases[key] ?? key))
  const readTyped = <T>(key: string, expected: string, isValid: (value: unknown) => value is T): T | undefined => {
    const value = getValue(key)
    if (value === undefined || isValid(value)) return value
    throw new ConfigError(`${nameOf(key)}: expected ${expected}`)
  }
  const number = (key: string, min: number, max: number) =>
    readTyped(key, `a number from ${min} to ${max}`, (value): value is number => isBetween(value, min, max))
  const flag = (key: string) => readTyped(key, 'true or false', (value): value is boolean => typeof value === 'boolean')
  const text = (key: string) => readTyped(key, 'text', (value): value is string => typeof value === 'string')
  const checkedText = (key: string, check: CheckText) => {
    const value = text(key)
    if (value !== undefined) check(value, nameOf(key))
    return value
  }
  return {
    text,
    username: () => checkedText('username', requireHeaderValue),
    /** Returns the name of the header that carries the secret, or null. */
    authHeader: () => {
      const name = text('auth_header_name') ?? 'X-Vendor-Auth-Key'
      if (!isFreeHeaderName(name)) {
        throw new ConfigError('auth_header_name: expected the name of an HTTP header that Micwatch does not use itself')
      }
      return flag('auth_header') ? name : null
    },
    number,
    flag,
    whole: (key: string, min: number, max: number) =>
      readTyped(
        key,
        `whole seconds from ${min} to ${max}`,
        (value): value is number => isBetween(value, min, max) && Number.isInteger(value),
      ),
    webSocketUrl: () => {
      const url = text('websocket_url')
      return url === undefined ? null : parseUrl(url, 'websocket_url', ['ws:', 'wss:', 'http:', 'https:']).href
    },
    secret: (check: CheckText) => {
      const key = checkedText('shared_key', check)
      const password = checkedText('password', check)
      if (key !== undefined && password !== undefined && key !== password) {
        throw new ConfigError('shared_key: shared_key and password have different values; remove one')
      }
      return key ?? password ?? ''
    },
  }
}

/**
 * Reads the WebSocket URL. Credentials are also sent to it, so a host other than the system's must be allowed
 * explicitly.
 */
function readWebSocketUrl(read: ReturnType<typeof createReader>, systemUrl: string | undefined): string | null {
  const url = read.webSocketUrl()
  const mayDiffer = read.flag('websocket_other_host') ?? false
  if (url === null || systemUrl === undefined || mayDiffer) return url
  if (new URL(url).hostname === new URL(systemUrl).hostname) return url
  throw new ConfigError('websocket_url: expected the same host as api_base_url; or set websocket_other_host: true')
}

/** Treats two spellings of one address as equal. */
function isSameSetting(key: string, alias: string, a: unknown, b: unknown): boolean {
  if (a === b) return true
  const areAddresses = key === 'api_base_url' && typeof a === 'string' && typeof b === 'string'
  return areAddresses && parseBaseUrl(a, key) === parseBaseUrl(b, alias)
}

function isBetween(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max
}

function parseDevice(
  device: unknown,
  path: string,
  { secret, checkSecret, devicePorts }: { secret: string; checkSecret: CheckText; devicePorts: DevicePorts },
): Address {
  const settings = typeof device === 'string' ? { url: device } : device
  if (!isRecord(settings)) throw new ConfigError(`${path}: expected an address`)
  const { url, password, fingerprint, name = null } = settings
  const key = device === settings ? `${path}.url` : path
  if (typeof url !== 'string') throw new ConfigError(`${key}: expected an address`)
  if (password !== undefined && typeof password !== 'string') throw new ConfigError(`${path}.password: expected text`)
  if (password !== undefined) checkSecret(password, `${path}.password`)
  if (name !== null && typeof name !== 'string') throw new ConfigError(`${path}.name: expected text`)
  const baseUrl = parseBaseUrl(url, key, devicePorts)
  const fields = { websocketUrl: null, fingerprint: readFingerprint(fingerprint, `${path}.fingerprint`), name }
  return { baseUrl, secret: password ?? secret, isSystem: false, ...fields }
}

function readFingerprint(value: unknown = null, path: string): string | null {
  if (value === null || value === '') return null
  const fingerprint = typeof value === 'string' ? parseFingerprint(value) : null
  if (fingerprint !== null) return fingerprint
  throw new ConfigError(`${path}: expected the certificate's SHA-256 fingerprint, 64 hex digits`)
}

/** Parses and normalizes an address. It identifies the source, so different spellings must give the same result. */
function parseBaseUrl(text: string, path: string, devicePorts: DevicePorts = {}): string {
  const url = parseUrl(text, path, ['http:', 'https:', ...Object.keys(devicePorts)])
  const port = devicePorts[url.protocol]
  if (port === undefined) return url.href.replace(/\/+$/, '')
  if (url.hostname === '' || !['', '/'].includes(url.pathname)) {
    throw new ConfigError(`${path}: expected ${url.protocol}//host or ${url.protocol}//host:port`)
  }
  return `${url.protocol}//${url.hostname.toLowerCase()}:${url.port || port}`
}

function parseUrl(text: string, path: string, schemes: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !schemes.includes(url.protocol) || url.hash !== '') {
    throw new ConfigError(`${path}: expected an address that begins with ${schemes.join('// or ')}//`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError(`${path}: expected an address without credentials; set username and password instead`)
  }
  if (url.search !== '') throw new ConfigError(`${path}: expected an address without a query`)
  return url
}
