/** A manufacturer's connection settings: the two equivalent forms of the interface specification -> one. */

import { keyAliases } from '../model/manufacturer-config.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import { parseFingerprint } from './certificate.ts'
import { isRecord } from './fields.ts'
import { isFreeHeaderName, isHeaderValue } from './header-text.ts'

type Config = Readonly<Record<string, unknown>>

export interface ConnectionSettings {
  /** The system's address and those of single devices. */
  readonly addresses: readonly Address[]
  readonly username: string
  readonly verifySsl: boolean
  readonly timeoutMs: number
  readonly rateLimit: RateLimit
  readonly isEnabled: boolean
  readonly pollIntervalSeconds: number | undefined
  readonly streamTimeoutMs: number
  /** Name of the header that carries the key beside the digest; null: none is sent. */
  readonly authHeader: string | null
}

export interface Address {
  /** Without a final slash, and with its port where the scheme is not the web's. */
  readonly baseUrl: string
  readonly secret: string
  /** Where it pushes, if the configuration says so: only ever the system's. */
  readonly websocketUrl: string | null
  /** Of a single device: its pinned certificate, and what people call it. */
  readonly fingerprint: string | null
  readonly name: string | null
}

/** The schemes of single devices that are no web servers (`tcp:`), each with the port used where none is given. */
export type DevicePorts = Readonly<Record<string, number>>

/** A configuration that cannot be used; the message names the key and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const plainKeys = [
  ...Object.keys(keyAliases),
  'shared_key',
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

/** Throws ConfigError for an unknown key, a wrong type, or one setting given twice with different values. */
export function parseConnection(config: Config, devicePorts: DevicePorts = {}): ConnectionSettings {
  const known = new Set([...plainKeys, ...Object.values(keyAliases)])
  for (const key of Object.keys(config)) {
    if (!known.has(key)) throw new ConfigError(`${key}: unknown key; expected one of ${[...known].join(', ')}`)
  }
  const read = reader(config)
  const authHeader = read.authHeader()
  const checkSecret = authHeader === null ? requirePlainText : requireHeaderValue
  const secret = read.secret(checkSecret)
  const systemUrl = read.text('api_base_url')
  const devices = config.devices ?? []
  if (!Array.isArray(devices)) throw new ConfigError('devices: expected a list of addresses')
  const addresses = devices.map((device, at) =>
    parseDevice(device, `devices.${at}`, { secret, checkSecret, devicePorts }),
  )
  const websocketUrl = readWebSocketUrl(read, systemUrl)
  if (systemUrl !== undefined) {
    const baseUrl = parseBaseUrl(systemUrl, 'api_base_url')
    addresses.unshift({ baseUrl, secret, websocketUrl, fingerprint: null, name: null })
  }
  const urls = addresses.map(({ baseUrl }) => baseUrl)
  const twice = urls.find((url, at) => urls.indexOf(url) !== at)
  if (twice !== undefined) throw new ConfigError(`devices: ${twice} is given twice; keep one`)
  // The specification's form with BASE_URL allows 30 s, the other 10.
  const defaultTimeout = (config.BASE_URL ?? null) === null ? 10 : 30
  return {
    addresses,
    username: read.username() ?? 'api',
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
  if (/\p{Cc}/u.test(text)) throw new ConfigError(`${key}: expected text without line breaks and control characters`)
}

function requireHeaderValue(text: string, key: string): void {
  requirePlainText(text, key)
  if (isHeaderValue(text)) return
  throw new ConfigError(
    `${key}: expected characters that an HTTP header can carry: Latin letters, digits and signs, no space at either end`,
  )
}

function reader(config: Config) {
  const value = (key: string): unknown => {
    const other = keyAliases[key]
    const given = config[key] ?? undefined
    if (other === undefined) return given
    const twin = config[other] ?? undefined
    if (given !== undefined && twin !== undefined && !isSameSetting(key, other, given, twin)) {
      throw new ConfigError(`${key}: given as ${key} and as ${other} with different values; keep one`)
    }
    return given ?? twin
  }
  const nameOf = (key: string) => (config[key] === value(key) ? key : (keyAliases[key] ?? key))
  const typed = <T>(key: string, expected: string, is: (given: unknown) => given is T): T | undefined => {
    const given = value(key)
    if (given === undefined || is(given)) return given
    throw new ConfigError(`${nameOf(key)}: expected ${expected}`)
  }
  const number = (key: string, min: number, max: number) =>
    typed(key, `a number from ${min} to ${max}`, (one): one is number => isBetween(one, min, max))
  const flag = (key: string) => typed(key, 'true or false', (one): one is boolean => typeof one === 'boolean')
  const text = (key: string) => typed(key, 'text', (one): one is string => typeof one === 'string')
  const checkedText = (key: string, check: CheckText) => {
    const given = text(key)
    if (given !== undefined) check(given, nameOf(key))
    return given
  }
  return {
    text,
    username: () => checkedText('username', requireHeaderValue),
    /** Name of the header that carries the secret; null when it is not sent in one. */
    authHeader: () => {
      const name = text('auth_header_name') ?? 'X-Vendor-Auth-Key'
      if (!isFreeHeaderName(name)) {
        throw new ConfigError('auth_header_name: expected the name of an HTTP header that Micwatch does not set itself')
      }
      return flag('auth_header') ? name : null
    },
    number,
    flag,
    whole: (key: string, min: number, max: number) =>
      typed(
        key,
        `whole seconds from ${min} to ${max}`,
        (one): one is number => isBetween(one, min, max) && Number.isInteger(one),
      ),
    webSocketUrl: () => {
      const url = text('websocket_url')
      return url === undefined ? null : parseUrl(url, 'websocket_url', ['ws:', 'wss:', 'http:', 'https:']).href
    },
    secret: (check: CheckText) => {
      const key = checkedText('shared_key', check)
      const password = checkedText('password', check)
      if (key !== undefined && password !== undefined && key !== password) {
        throw new ConfigError('shared_key: given beside a different password; keep one')
      }
      return key ?? password ?? ''
    },
  }
}

/** Credentials go there too, so another host than the system's has to be allowed in so many words. */
function readWebSocketUrl(read: ReturnType<typeof reader>, systemUrl: string | undefined): string | null {
  const url = read.webSocketUrl()
  const mayDiffer = read.flag('websocket_other_host') ?? false
  if (url === null || systemUrl === undefined || mayDiffer) return url
  if (new URL(url).hostname === new URL(systemUrl).hostname) return url
  throw new ConfigError('websocket_url: expected the same host as api_base_url; or set websocket_other_host: true')
}

/** Two spellings of one address are one setting. */
function isSameSetting(key: string, other: string, a: unknown, b: unknown): boolean {
  if (a === b) return true
  const areAddresses = key === 'api_base_url' && typeof a === 'string' && typeof b === 'string'
  return areAddresses && parseBaseUrl(a, key) === parseBaseUrl(b, other)
}

function isBetween(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max
}

function parseDevice(
  device: unknown,
  path: string,
  { secret, checkSecret, devicePorts }: { secret: string; checkSecret: CheckText; devicePorts: DevicePorts },
): Address {
  const about = typeof device === 'string' ? { url: device } : device
  if (!isRecord(about)) throw new ConfigError(`${path}: expected an address`)
  const { url, password, fingerprint = null, name = null } = about
  const key = device === about ? `${path}.url` : path
  if (typeof url !== 'string') throw new ConfigError(`${key}: expected an address`)
  if (password !== undefined && typeof password !== 'string') throw new ConfigError(`${path}.password: expected text`)
  if (password !== undefined) checkSecret(password, `${path}.password`)
  if (name !== null && typeof name !== 'string') throw new ConfigError(`${path}.name: expected text`)
  const pinned = fingerprint === null ? null : parseFingerprint(String(fingerprint))
  if (fingerprint !== null && pinned === null) {
    throw new ConfigError(`${path}.fingerprint: expected the certificate's SHA-256 fingerprint, 64 hex digits`)
  }
  const baseUrl = parseBaseUrl(url, key, devicePorts)
  return { baseUrl, secret: password ?? secret, websocketUrl: null, fingerprint: pinned, name }
}

/** One spelling for one address: it names the source. */
function parseBaseUrl(text: string, path: string, devicePorts: DevicePorts = {}): string {
  const url = parseUrl(text, path, ['http:', 'https:', ...Object.keys(devicePorts)])
  if (url.search !== '') throw new ConfigError(`${path}: expected an address without a query`)
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
    throw new ConfigError(`${path}: credentials do not belong in the address; use username and password`)
  }
  return url
}
