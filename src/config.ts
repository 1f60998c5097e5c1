/** Combines flags, environment, file and defaults, in this order of precedence, into one frozen Config. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { parseDocument } from 'yaml'
import { flag, headers, integer, networks, section, text, textList, webAddress, writeAddress } from './config/fields.ts'
import { type MqttConfig, MqttSection, type OscConfig, OscSection, toMqtt, toOsc } from './config/integrations.ts'
import { type OidcConfig, OidcSection, toOidc } from './config/oidc.ts'
import { findRepeatedCode } from './domain/installation-file.ts'
import { findUnstorable } from './domain/json.ts'
import { serviceDefaults } from './domain/settings.ts'

/** A configuration that cannot be used. The message is one line: the file or flag, the key, and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const Limit = Type.Object(
  { max_requests: integer(1, 1_000_000), window_seconds: integer(1, 86_400) },
  { additionalProperties: false, description: '{max_requests, window_seconds}' },
)

const Manufacturer = Type.Object(
  {
    code: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'lower-case letters, digits, _ and -' }),
    name: Type.Optional(text('text')),
    plugin: Type.Optional(text('the code of a plugin')),
    api_enabled: Type.Optional(flag),
    config: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'a section of keys' })),
  },
  { additionalProperties: false, description: 'a manufacturer with at least a code' },
)

const File = section({
  server: section({
    // Digits and dots alone are not a host name.
    host: Type.Union([Type.String({ format: 'ipv4' }), Type.String({ pattern: '[^\\d.]' })], {
      description: 'a host name or address',
    }),
    port: integer(0, 65_535),
    mount: Type.String({ pattern: '^(/[A-Za-z0-9._~-]+)*/?$', description: 'a path such as /micwatch, or empty' }),
    allowed_hosts: textList('host names'),
    trusted_proxies: networks(),
    public_url: Type.Union([Type.Null(), webAddress], { description: 'an address such as https://mics.example' }),
    frame_ancestors: Type.Array(
      Type.String({ pattern: "^('self'|https?://(\\*\\.)?[\\w.-]+(:(\\d+|\\*))?|https?://\\[[\\da-f:]+\\](:\\d+)?)$" }),
      {
        description: "a list of origins such as https://wall.example, or 'self'",
      },
    ),
    strict_transport: flag,
    /** How long a stopping service continues to respond. */
    drain_seconds: integer(0, 60),
  }),
  log: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    description: 'trace, debug, info, warn, error, fatal or silent',
  }),
  data_dir: text('a folder'),
  database_url: Type.Union([Type.Null(), Type.String({ pattern: '^(sqlite:.|postgres(ql)?://.)' })], {
    description: 'sqlite:<file> or postgres://…',
  }),
  redis_url: Type.Union([Type.Null(), Type.String({ pattern: '^rediss?://.' })], { description: 'redis://…' }),
  secret_key: Type.Union([Type.Null(), Type.String({ pattern: '^[0-9a-fA-F]{64}$' })], {
    description: '64 hexadecimal digits',
  }),
  require_login: flag,
  public_read: flag,
  tls: Type.Union(
    [
      Type.Literal('off'),
      Type.Literal(false),
      Type.Literal('auto'),
      Type.Object({ cert: Type.String(), key: Type.String() }, { additionalProperties: false }),
    ],
    { description: 'off, auto, or {cert: file, key: file}' },
  ),
  planning_center_url: webAddress,
  discovery_ranges: networks('^\\d{1,3}(\\.\\d{1,3}){3}/\\d{1,2}$'),
  rate_limit: section({
    max_requests: integer(1, 1_000_000),
    window_seconds: integer(1, 86_400),
    overrides: Type.Record(Type.String(), Limit, { description: 'a section of endpoints' }),
  }),
  settings: section({
    DEFAULT_POLLING_INTERVAL: integer(1, 3600),
    WEBSOCKET_BROADCASTING: flag,
    CACHE_TIMEOUT: integer(0, 86_400),
  }),
  history_remote_write: Type.Union(
    [
      Type.Null(),
      Type.Object(
        { url: writeAddress, headers: Type.Optional(headers), interval_seconds: Type.Optional(integer(1, 300)) },
        { additionalProperties: false },
      ),
    ],
    { description: '{url, headers, interval_seconds}, with an http or https address and 1 to 300 seconds' },
  ),
  osc: OscSection,
  mqtt: MqttSection,
  oidc: OidcSection,
  manufacturers: Type.Array(Manufacturer, { description: 'a list of manufacturers' }),
})

type File = Type.Static<typeof File>
export type ManufacturerEntry = Type.Static<typeof Manufacturer>

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

/** Command-line flags, which override everything else. */
export interface ConfigFlags {
  readonly config?: string | undefined
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly mount?: string | undefined
  readonly data_dir?: string | undefined
  readonly database_url?: string | undefined
  readonly redis_url?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

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
   * True for commands that contact no upstream. A manufacturer whose entry refers to a missing variable is then skipped
   * instead of causing an error, and its stored record stays unchanged. So are `history_remote_write`, `mqtt`, `oidc` and
   * `osc`.
   */
  readonly isOffline?: boolean
}

/** Reads the configuration. Throws a ConfigError if it is invalid. */
export function readConfig(flags: ConfigFlags, env: Environment, { isOffline = false }: ReadOptions = {}): Config {
  const { path, file } = readFile(flags.config ?? env.MICWATCH_CONFIG, env, isOffline)
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
      host: merged.server?.host ?? '127.0.0.1',
      port: merged.server?.port ?? 8080,
      mount: (merged.server?.mount ?? '').replace(/\/+$/, ''),
      allowed_hosts: merged.server?.allowed_hosts ?? [],
      trusted_proxies: merged.server?.trusted_proxies ?? [],
      public_url: merged.server?.public_url ?? null,
      frame_ancestors: merged.server?.frame_ancestors ?? [],
      strict_transport: merged.server?.strict_transport ?? false,
      drain_seconds: merged.server?.drain_seconds ?? 0,
    },
    log: merged.log ?? null,
    data_dir,
    database_url: merged.database_url ?? `sqlite:${join(data_dir, 'micwatch.db')}`,
    redis_url: merged.redis_url ?? null,
    secret_key: merged.secret_key ?? null,
    require_login: merged.require_login ?? false,
    public_read: merged.public_read ?? false,
    tls,
    planning_center_url: merged.planning_center_url ?? 'https://api.planningcenteronline.com',
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

function readFile(
  givenPath: string | undefined,
  env: Environment,
  isOffline: boolean,
): { path: string | null; file: File } {
  const path = givenPath ?? defaultFile
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && givenPath === undefined) return { path: null, file: {} }
    const reason = code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'not permitted for this user' : message
    throw new ConfigError(`${path}: cannot be read (${reason})`, { cause: error })
  }
  let values: unknown
  try {
    values = parseYaml(content) ?? {}
  } catch (error) {
    throw new ConfigError(`${path}: ${(error as Error).message}`)
  }
  const incomplete = new Set<number>()
  const skipped = new Set<string>()
  const filled = fillReferences(values, '', (name, key) => {
    const known = env[name]
    if (known !== undefined) return known
    const section = onlineSections.find((section) => key.startsWith(`${section}.`))
    if (isOffline && section !== undefined) {
      skipped.add(section)
      return ''
    }
    const index = isOffline ? /^manufacturers\.(\d+)\.config\./.exec(key)?.[1] : undefined
    if (index === undefined) throw new ConfigError(`${path}: ${key}: the environment variable ${name} is not set`)
    incomplete.add(Number(index))
    return ''
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

/** Replaces every string of the form `${NAME}` with the result of `lookUp`. */
function fillReferences(value: unknown, key: string, lookUp: (name: string, key: string) => string): unknown {
  if (typeof value === 'string') {
    const name = /^\$\{(\w+)\}$/.exec(value)?.[1]
    return name === undefined ? value : lookUp(name, key)
  }
  if (Array.isArray(value)) return value.map((item, index) => fillReferences(item, `${key}.${index}`, lookUp))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => {
    const path = key === '' ? name : `${key}.${name}`
    return [name, fillReferences(inner, path, lookUp)]
  })
  return Object.fromEntries(entries)
}

/** Variables that are not named after the whole path of their key. The name with the whole path is accepted too. */
const shortNames: Readonly<Record<string, string>> = {
  'server.host': 'MICWATCH_HOST',
  'server.port': 'MICWATCH_PORT',
  'server.mount': 'MICWATCH_MOUNT',
  'server.allowed_hosts': 'MICWATCH_ALLOWED_HOSTS',
  'server.trusted_proxies': 'MICWATCH_TRUSTED_PROXIES',
  'server.public_url': 'MICWATCH_PUBLIC_URL',
}

interface Variable {
  readonly key: string
  /** The names of the variable; the first one that is set is used. */
  readonly names: readonly string[]
  readonly read: (text: string) => unknown
}

/** The environment variables: one for each scalar and list of the file. */
const variables = listVariables(File as unknown as SchemaNode, '')

function listVariables(schema: SchemaNode, prefix: string): Variable[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, node]) => {
    const key = `${prefix}${name}`
    if (node.properties !== undefined) return listVariables(node, `${key}.`)
    const read = findReader(node)
    if (read === null) return []
    const pathName = `MICWATCH_${key.replaceAll('.', '_').toUpperCase()}`
    const shortName = shortNames[key]
    return [{ key, names: shortName === undefined ? [pathName] : [shortName, pathName], read }]
  })
}

/** Returns the parser of a variable; null if the values are neither scalars nor lists of texts. */
function findReader({ type, items, anyOf, enum: values }: SchemaNode): Variable['read'] | null {
  if (anyOf !== undefined) return anyOf.map(findReader).find((read) => read !== null) ?? null
  if (type === 'array') return items?.type === 'string' ? readList : null
  if (type === 'integer') return readNumber
  if (type === 'boolean') return readFlag
  return type === 'string' || values !== undefined ? String : null
}

/**
 * Reads the environment variables. An empty variable is treated as not set, except for the secret key: a deployment
 * that passes an empty key by mistake would otherwise encrypt secrets with a new key.
 */
function fromEnvironment(env: Environment): object {
  const entries = variables.flatMap((variable) => {
    const value = env[nameIn(env, variable) ?? '']
    return value === undefined ? [] : [[variable.key, variable.read(value)] as const]
  })
  return nest(entries)
}

function nameIn(env: Environment, { key, names }: Variable): string | undefined {
  return names.find((name) => env[name] !== undefined && (env[name] !== '' || key === 'secret_key'))
}

/** Returns the name of the variable that was read for a key or for an item of its list. */
function environmentName(env: Environment, key: string): string {
  const variable = variables.find((known) => key === known.key || key.startsWith(`${known.key}.`))
  return (variable && nameIn(env, variable)) ?? key
}

function fromFlags({ config: _, host, port, mount, ...top }: ConfigFlags): object {
  const entries = [
    ['server.host', host],
    ['server.port', port === undefined ? undefined : readNumber(port)],
    ['server.mount', mount],
    ...Object.entries(top),
  ] as const
  return nest(entries.filter(([, value]) => value !== undefined))
}

/** Creates an object from keys such as `server.port`. */
function nest(entries: readonly (readonly [string, unknown])[]): object {
  const nested: Record<string, unknown> = {}
  for (const [key, value] of entries) {
    const [first = '', second] = key.split('.')
    nested[first] = second === undefined ? value : { ...(nested[first] as object), [second]: value }
  }
  return nested
}

function readNumber(value: string): unknown {
  return /^\d+$/.test(value) ? Number(value) : value
}

/** Parses a comma-separated list. */
function readList(value: string): readonly string[] {
  const items = value.split(',').map((item) => item.trim())
  return items.filter((item) => item !== '')
}

function readFlag(value: string): unknown {
  const flags: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false }
  return flags[value.toLowerCase()] ?? value
}

/** Validates values against the schema. `describeKey` formats a key for the error message. */
function check(values: unknown, describeKey: (key: string) => string): File {
  const error = findSchemaError(File, values)
  if (error !== null) throw new ConfigError(`${describeKey(error.key)}: ${error.problem}`)
  return values as File
}

/** Parses YAML into JSON values that can be stored. Throws an error with a one-line message. */
export function parseYaml(content: string): unknown {
  const values = parsePlainYaml(content)
  const fault = findUnstorable(values)
  if (fault === null) return values
  throw new SyntaxError(fault.path.length === 0 ? fault.problem : `${fault.path.join('.')}: ${fault.problem}`)
}

function parsePlainYaml(content: string): unknown {
  try {
    // Prevents the library from printing warnings.
    const document = parseDocument(content, { logLevel: 'error' })
    // Warnings are treated as errors: after an unknown tag, for example, the value would not be what the user meant.
    const [problem] = [...document.errors, ...document.warnings]
    if (problem !== undefined) throw problem
    return document.toJS()
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n')
    throw new SyntaxError(`not valid YAML: ${line.replace(/:$/, '')}`, { cause: error })
  }
}

/** Finds the first violation of a schema whose descriptions state the expected values; null if the values are valid. */
export function findSchemaError(
  schema: Type.TSchema,
  values: unknown,
): { readonly key: string; readonly problem: string } | null {
  const [error] = Value.Errors(schema, values)
  if (error === undefined) return null
  const path = error.instancePath.split('/').slice(1)
  const key = path.join('.')
  if (error.keyword === 'boolean') return { key, problem: 'unknown key' }
  const missing = (error.params as { requiredProperties?: string[] }).requiredProperties?.[0]
  const expected = expectedAt(schema, path)
  return {
    key,
    problem: missing === undefined ? `expected ${expected}` : `expected ${expected} (${missing} is missing)`,
  }
}

interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
  readonly enum?: readonly unknown[]
  readonly $defs?: Readonly<Record<string, SchemaNode>>
  readonly $ref?: string
}

/** Returns the description of the innermost schema node on the path; nodes without a description are skipped. */
function expectedAt(schema: Type.TSchema, path: readonly string[]): string {
  let node: SchemaNode | undefined = schema as unknown as SchemaNode
  let definitions: SchemaNode['$defs']
  let expected = node.description ?? 'a section of keys'
  for (const step of path) {
    node = node?.properties?.[step] ?? node?.items
    definitions = node?.$defs ?? definitions
    if (node?.$ref !== undefined) node = definitions?.[node.$ref]
    expected = node?.description ?? expected
  }
  return expected
}
