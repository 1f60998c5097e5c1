/** Combines flags, environment, file and defaults, in this order of precedence, into one frozen Config. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, findSchemaError, type SchemaError } from './config/config-error.ts'
import {
  type ConfigFlags,
  type Environment,
  environmentName,
  fromEnvironment,
  fromFlags,
  isSet,
} from './config/environment.ts'
import { File, type ManufacturerEntry } from './config/file-schema.ts'
import { type MqttConfig, type OscConfig, toMqtt, toOsc } from './config/integrations.ts'
import { type OidcConfig, toOidc } from './config/oidc.ts'
import { fillReferences } from './config/references.ts'
import { parseYaml, readTextFile } from './config/text-file.ts'
import { findRepeatedCode } from './domain/equipment/manufacturer-config.ts'
import { parseAddress } from './domain/identity/address.ts'
import { planningCenterUrl } from './domain/imports/planning-center.ts'
import { serviceDefaults } from './domain/settings.ts'

export { ConfigError } from './config/config-error.ts'

type Filled<T> = { readonly [Key in keyof T]-?: Exclude<T[Key], undefined> }

/** Where the recorded levels are also sent. The values of the headers are secrets. */
export interface RemoteWriteConfig {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly interval_seconds: number
}

type ComputedKeys =
  | 'server'
  | 'log'
  | 'settings'
  | 'rate_limit'
  | 'database_url'
  | 'tls'
  | 'history_remote_write'
  | 'osc'
  | 'mqtt'
  | 'oidc'

export interface Config extends Omit<Filled<File>, ComputedKeys> {
  /** The path of the configuration file; null if there is none. */
  readonly file: string | null
  /** `public_url` contains the mount prefix. */
  readonly server: Filled<NonNullable<File['server']>>
  /** The lowest level of events that are logged; null for the default of the command. */
  readonly log: NonNullable<File['log']> | null
  readonly settings: Filled<NonNullable<File['settings']>>
  readonly rate_limit: Filled<NonNullable<File['rate_limit']>>
  readonly database_url: string
  /** `auto`: Micwatch creates a self-signed certificate. */
  readonly tls: 'auto' | { readonly cert: string; readonly key: string } | null
  readonly history_remote_write: RemoteWriteConfig | null
  /** Null if neither a port nor a target is configured. */
  readonly osc: OscConfig | null
  readonly mqtt: MqttConfig | null
  /** Sign-in through an OpenID Connect provider; null if it is not configured. */
  readonly oidc: OidcConfig | null
}

const defaultFile = 'micwatch.yaml'

const defaultRateLimit = {
  max_requests: 120,
  window_seconds: 60,
  overrides: {
    'POST /api/discover/': { max_requests: 2, window_seconds: 60 },
    'POST /api/ingest/': { max_requests: 600, window_seconds: 60 },
    'GET /api/auth/oidc/login': { max_requests: 20, window_seconds: 60 },
  },
}

export interface ReadOptions {
  /**
   * True for commands that contact no upstream. A manufacturer whose entry refers to a missing variable, file or
   * credential is then skipped instead of causing an error, and its stored record stays unchanged. So are `history_remote_write`, `mqtt`, `oidc` and
   * `osc`.
   */
  readonly isOffline?: boolean
}

/** Reads the configuration. Throws a ConfigError if it is invalid. */
export function readConfig(flags: ConfigFlags, env: Environment, { isOffline = false }: ReadOptions = {}): Config {
  const { path, file } = readFile(findPath(flags, env), env, isOffline)
  const fromEnv = check(fromEnvironment(env), (key) => environmentName(env, key))
  const fromArgs = check(fromFlags(flags), (key) => `--${key.replaceAll('_', '-').replace('server.', '')}`)
  const merged: File = {
    ...file,
    ...fromEnv,
    ...fromArgs,
    server: { ...file.server, ...fromEnv.server, ...fromArgs.server },
    rate_limit: { ...file.rate_limit, ...fromEnv.rate_limit },
    settings: { ...file.settings, ...fromEnv.settings },
    osc: { ...file.osc, ...fromEnv.osc },
    mqtt: { ...file.mqtt, ...fromEnv.mqtt },
    oidc: { ...file.oidc, ...fromEnv.oidc },
  }
  const data_dir = merged.data_dir ?? './data'
  const mount = (merged.server?.mount ?? '').replace(/\/+$/, '')
  const public_url = merged.server?.public_url ?? null
  const tls = typeof merged.tls === 'object' || merged.tls === 'auto' ? merged.tls : null
  checkCodes(merged.manufacturers ?? [], `${path ?? 'configuration'}: manufacturers`)
  // Strict transport requires TLS with a configured certificate. With `auto`, browsers would reject the service as soon
  // as Micwatch creates a new self-signed certificate.
  if (merged.server?.strict_transport === true && typeof tls !== 'object') {
    throw new ConfigError(`${path ?? 'configuration'}: server.strict_transport: requires tls: {cert, key}`)
  }
  return Object.freeze({
    file: path,
    server: {
      name: merged.server?.name ?? null,
      host: merged.server?.host ?? '127.0.0.1',
      port: merged.server?.port ?? 8080,
      mount,
      allowed_hosts: merged.server?.allowed_hosts ?? [],
      trusted_proxies: merged.server?.trusted_proxies ?? [],
      public_url: public_url === null || mount === '' ? public_url : new URL(mount, public_url).href,
      frame_ancestors: merged.server?.frame_ancestors ?? [],
      strict_transport: merged.server?.strict_transport ?? false,
      drain_seconds: merged.server?.drain_seconds ?? 0,
    },
    log: merged.log ?? null,
    log_format: merged.log_format ?? 'json',
    data_dir,
    database_url: merged.database_url ?? `sqlite:${join(data_dir, 'micwatch.db')}`,
    redis_url: merged.redis_url ?? null,
    secret_key: merged.secret_key ?? null,
    require_login: merged.require_login ?? false,
    public_read: merged.public_read ?? false,
    tls,
    planning_center_url: merged.planning_center_url ?? planningCenterUrl,
    discovery_ranges: merged.discovery_ranges ?? [],
    rate_limit: {
      ...defaultRateLimit,
      ...merged.rate_limit,
      overrides: { ...defaultRateLimit.overrides, ...merged.rate_limit?.overrides },
    },
    settings: { ...serviceDefaults, ...merged.settings },
    history_remote_write: toRemoteWrite(merged.history_remote_write ?? null),
    osc: toOsc(merged.osc ?? {}),
    mqtt: readMqtt(merged.mqtt ?? {}, path),
    oidc: readOidc(merged.oidc ?? {}, path),
    manufacturers: merged.manufacturers ?? [],
  })
}

function readMqtt(entry: NonNullable<File['mqtt']>, path: string | null): MqttConfig | null {
  const mqtt = toMqtt(entry)
  if (mqtt === 'incomplete') throw new ConfigError(`${path ?? 'configuration'}: mqtt: url is missing`)
  return mqtt
}

function readOidc(entry: NonNullable<File['oidc']>, path: string | null): OidcConfig | null {
  const oidc = toOidc(entry)
  if (typeof oidc === 'string') throw new ConfigError(`${path ?? 'configuration'}: oidc: ${oidc} is missing`)
  return oidc
}

function toRemoteWrite(entry: NonNullable<File['history_remote_write']> | null): RemoteWriteConfig | null {
  return entry && { headers: {}, interval_seconds: 10, ...entry }
}

function checkCodes(manufacturers: readonly ManufacturerEntry[], where: string): void {
  const repeated = findRepeatedCode(manufacturers)
  if (repeated !== null) throw new ConfigError(`${where}.${repeated.key}: ${repeated.problem}`)
}

/** Returns the path of the file: the given one, or the default if it exists. */
function findPath(flags: ConfigFlags, env: Environment): string | null {
  if (flags.config !== undefined) return flags.config
  if (isSet(env.MICWATCH_CONFIG)) return env.MICWATCH_CONFIG
  return existsSync(defaultFile) ? defaultFile : null
}

function readFile(
  path: string | null,
  env: Environment,
  isOffline: boolean,
): { readonly path: string | null; readonly file: File } {
  if (path === null) return { path, file: {} }
  const content = readTextFile(path)
  let values: unknown
  try {
    values = parseYaml(content) ?? {}
  } catch (error) {
    throw new ConfigError(`${path}: ${(error as Error).message}`)
  }
  const incomplete = new Set<number>()
  const skipped = new Set<string>()
  const filled = fillReferences(values, env, (key, { message, cause }) => {
    const section = isOffline ? onlineSections.find((section) => key.startsWith(`${section}.`)) : undefined
    const index = isOffline ? /^manufacturers\.(\d+)\.config\./.exec(key)?.[1] : undefined
    if (section !== undefined) skipped.add(section)
    else if (index !== undefined) incomplete.add(Number(index))
    else throw new ConfigError(`${path}: ${key}: ${message}`, { cause })
  })
  const complete =
    skipped.size === 0
      ? filled
      : Object.fromEntries(Object.entries(filled as object).filter(([name]) => !skipped.has(name)))
  const file = check(complete, (key) => (key === '' ? path : `${path}: ${key}`))
  const { manufacturers } = file
  if (manufacturers === undefined || incomplete.size === 0) return { path, file }
  return { path, file: { ...file, manufacturers: manufacturers.filter((_, index) => !incomplete.has(index)) } }
}

/** The sections that commands which contact no one do not need. */
const onlineSections = ['history_remote_write', 'mqtt', 'oidc', 'osc']

/** Validates values of one origin. `describeKey` formats a key for the error message. */
function check(values: unknown, describeKey: (key: string) => string): File {
  const error = findSchemaError(File, values) ?? findServerError((values as File).server ?? {})
  if (error !== null) throw new ConfigError(`${describeKey(error.key)}: ${error.problem}`)
  return values as File
}

/** Checks rules that the schema cannot express. Returns the first error, or null. */
function findServerError({
  allowed_hosts = [],
  trusted_proxies = [],
  public_url,
}: NonNullable<File['server']>): SchemaError | null {
  const errors = [
    ...listErrors('allowed_hosts', allowed_hosts, checkHostName),
    ...listErrors('trusted_proxies', trusted_proxies, checkProxy),
    ...listErrors('public_url', public_url ?? [], checkPublicUrl),
  ]
  return errors[0] ?? null
}

function listErrors(key: string, values: string | readonly string[], check: (value: string) => string | null) {
  const isList = typeof values !== 'string'
  return (isList ? values : [values]).flatMap((value, index): SchemaError[] => {
    const problem = check(value)
    return problem === null ? [] : [{ key: isList ? `server.${key}.${index}` : `server.${key}`, problem }]
  })
}

/** A host name is compared with the Host header, without its port. */
function checkHostName(value: string): string | null {
  if (value.includes('*')) return `${value} would match no host, because * is not supported; list every name`
  const name = toHostName(value)
  if (name === value.toLowerCase().replace(/\.$/, '')) return null
  const expected = 'expected a host name or address without scheme, port and path'
  return name === null ? `${expected}, such as mics.example` : `${expected}: write ${name} instead of ${value}`
}

/** Returns the host of an address or name, as browsers send it. */
function toHostName(value: string): string | null {
  const isIpv6 = value.includes(':') && parseAddress(value) !== null
  const address = isIpv6 ? `http://[${value}]` : /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
  if (!URL.canParse(address)) return null
  const name = new URL(address).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return name === '' ? null : name
}

/** A network without its prefix length would be a single address that no proxy has. */
function checkProxy(value: string): string | null {
  const bytes = value.includes('/') ? null : parseAddress(value)
  if (bytes === null || bytes.at(-1) !== 0) return null
  return `${value} is a network without a prefix length; write ${value}/${bytes.length === 4 ? 24 : 64}, for example`
}

function checkPublicUrl(value: string): string | null {
  const { origin, pathname } = new URL(value)
  if (pathname === '/') return null
  return `expected an address without a path: write ${origin}, and set server.mount to ${pathname.replace(/\/+$/, '')}`
}
