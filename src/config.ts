/** Combines flags, environment, file and defaults, in this order of precedence, into one frozen Config. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type AudioConfig, toAudio } from './config/audio.ts'
import { type BackupConfig, toBackup } from './config/backup.ts'
import {
  ConfigError,
  type ConfigProblem,
  findSchemaErrors,
  type SchemaError,
  toConfigError,
} from './config/config-error.ts'
import {
  type ConfigFlags,
  type Environment,
  environmentName,
  fromEnvironment,
  fromFlags,
  isSet,
} from './config/environment.ts'
import { File } from './config/file-schema.ts'
import { type HeartbeatConfig, toHeartbeat } from './config/heartbeat.ts'
import { type MqttConfig, type OscConfig, toMqtt, toOsc } from './config/integrations.ts'
import { type OidcConfig, toOidc } from './config/oidc.ts'
import { fillReferences } from './config/references.ts'
import { type Position, readTextFile, YamlText } from './config/text-file.ts'
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

/** The file that names the latest version. */
export interface UpdateNoticeConfig {
  readonly url: string
}

type ComputedKeys =
  | 'server'
  | 'log'
  | 'settings'
  | 'rate_limit'
  | 'discovery_interfaces'
  | 'database_url'
  | 'tls'
  | 'history_remote_write'
  | 'backup'
  | 'heartbeat'
  | 'update_notice'
  | 'provisioning'
  | 'osc'
  | 'mqtt'
  | 'oidc'
  | 'audio'

export interface Config extends Omit<Filled<File>, ComputedKeys> {
  /** The path of the configuration file; null if there is none. */
  readonly file: string | null
  /** `public_url` contains the mount prefix. */
  readonly server: Filled<NonNullable<File['server']>>
  /** The lowest level of events that are logged; null for the default of the command. */
  readonly log: NonNullable<File['log']> | null
  readonly settings: Filled<NonNullable<File['settings']>>
  readonly rate_limit: Filled<NonNullable<File['rate_limit']>>
  readonly discovery_interfaces: Filled<NonNullable<File['discovery_interfaces']>>
  readonly database_url: string
  /** `auto`: Micwatch creates a self-signed certificate. */
  readonly tls: 'auto' | { readonly cert: string; readonly key: string } | null
  readonly history_remote_write: RemoteWriteConfig | null
  /** Scheduled backups; null if none are configured. */
  readonly backup: BackupConfig | null
  /** Requests to a dead man's switch; null if none are configured. */
  readonly heartbeat: HeartbeatConfig | null
  /** Null if the latest version is not read, which is the default. */
  readonly update_notice: UpdateNoticeConfig | null
  /** Null if neither a port nor a target is configured. */
  readonly osc: OscConfig | null
  readonly mqtt: MqttConfig | null
  /** The path of a file that is applied at every start; null if there is none. */
  readonly provisioning: string | null
  /** Sign-in through an OpenID Connect provider; null if it is not configured. */
  readonly oidc: OidcConfig | null
  /** Null if no audio is configured: streams are then not sought. */
  readonly audio: AudioConfig | null
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
   * credential is then skipped instead of causing an error, and its stored record stays unchanged. So are `heartbeat`,
   * `history_remote_write`, `mqtt`, `oidc` and `osc`.
   */
  readonly isOffline?: boolean
}

/** Reads the configuration. Throws a ConfigError if it is invalid. */
export function readConfig(flags: ConfigFlags, env: Environment, options: ReadOptions = {}): Config {
  const { config, problems } = inspectConfig(flags, env, options)
  const [first] = problems
  if (first !== undefined) throw toConfigError(first)
  return config
}

export interface Inspection {
  /** Sections with problems have their defaults. */
  readonly config: Config
  readonly problems: readonly ConfigProblem[]
  /** Returns the position of a key in the file. */
  locate(path: readonly string[]): Position | null
}

/** Reads the configuration, and finds every problem that can be found without contacting anything. */
export function inspectConfig(
  flags: ConfigFlags,
  env: Environment,
  { isOffline = false }: ReadOptions = {},
): Inspection {
  const problems = new Problems(findPath(flags, env))
  const { path } = problems
  const { file, locate } = readFile(problems, env, isOffline)
  const unread = fromEnvironment(env, (key, { message, cause }) => problems.add({ key, what: message, cause }))
  const fromEnv = check(unread, problems, ({ key }) => ({ key: environmentName(env, key) }))
  const toFlag = (key: string) => `--${key.replaceAll('_', '-').replace('server.', '')}`
  const fromArgs = check(fromFlags(flags), problems, ({ key }) => ({ key: toFlag(key) }))
  const merged: File = {
    ...file,
    ...fromEnv,
    ...fromArgs,
    server: { ...file.server, ...fromEnv.server, ...fromArgs.server },
    rate_limit: { ...file.rate_limit, ...fromEnv.rate_limit },
    settings: { ...file.settings, ...fromEnv.settings },
    discovery_interfaces: { ...file.discovery_interfaces, ...fromEnv.discovery_interfaces },
    backup: { ...file.backup, ...fromEnv.backup },
    heartbeat: { ...file.heartbeat, ...fromEnv.heartbeat },
    update_notice: { ...file.update_notice, ...fromEnv.update_notice },
    osc: { ...file.osc, ...fromEnv.osc },
    mqtt: { ...file.mqtt, ...fromEnv.mqtt },
    oidc: { ...file.oidc, ...fromEnv.oidc },
    ...((file.audio ?? fromEnv.audio) && { audio: { ...file.audio, ...fromEnv.audio } }),
  }
  const data_dir = merged.data_dir ?? './data'
  const mount = (merged.server?.mount ?? '').replace(/\/+$/, '')
  const public_url = merged.server?.public_url ?? null
  const port = merged.server?.port ?? 8080
  const redirect_port = merged.server?.redirect_port ?? null
  const tls = typeof merged.tls === 'object' || merged.tls === 'auto' ? merged.tls : null
  const mqtt = toMqtt(merged.mqtt ?? {})
  const oidc = toOidc(merged.oidc ?? {})
  const update_url = merged.update_notice?.url
  const heartbeat = toHeartbeat(merged.heartbeat ?? {})
  const backup = toBackup(merged.backup ?? {}, data_dir)
  const report = (sections: readonly string[], keys: readonly string[], what: string) => {
    if (!sections.some((section) => problems.concern(section)))
      problems.add({ file: path ?? 'configuration', key: keys.join('.'), what, ...locate(keys) })
  }
  const repeated = findRepeatedCode(merged.manufacturers ?? [])
  if (repeated !== null) report(['manufacturers'], ['manufacturers', ...repeated.key.split('.')], repeated.problem)
  // Strict transport requires TLS with a configured certificate. With `auto`, browsers would reject the service as soon
  // as Micwatch creates a new self-signed certificate.
  if (merged.server?.strict_transport === true && typeof tls !== 'object')
    report(['tls'], ['server', 'strict_transport'], 'requires tls: {cert, key}')
  if (redirect_port !== null && tls === null)
    report(['tls'], ['server', 'redirect_port'], 'requires tls: auto or {cert, key}')
  if (redirect_port === port) report(['server'], ['server', 'redirect_port'], 'must differ from port')
  if (backup?.with_history === true && merged.database_url?.startsWith('postgres'))
    report(['backup', 'database_url'], ['backup', 'with_history'], withHistoryProblem)
  if (heartbeat === 'incomplete') report(['heartbeat'], ['heartbeat'], 'url is missing')
  if (mqtt === 'incomplete') report(['mqtt'], ['mqtt'], 'url is missing')
  if (typeof oidc === 'string') report(['oidc'], ['oidc'], `${oidc} is missing`)
  const config = Object.freeze({
    file: path,
    server: {
      name: merged.server?.name ?? null,
      host: merged.server?.host ?? '127.0.0.1',
      port,
      redirect_port,
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
    require_totp: merged.require_totp ?? [],
    public_read: merged.public_read ?? false,
    tls,
    provisioning: merged.provisioning ?? null,
    planning_center_url: merged.planning_center_url ?? planningCenterUrl,
    discovery_ranges: merged.discovery_ranges ?? [],
    discovery_interfaces: { include: [], exclude: [], ...merged.discovery_interfaces },
    rate_limit: {
      ...defaultRateLimit,
      ...merged.rate_limit,
      overrides: { ...defaultRateLimit.overrides, ...merged.rate_limit?.overrides },
    },
    settings: { ...serviceDefaults, ...merged.settings },
    control: merged.control ?? [],
    control_role: merged.control_role ?? 'admin',
    control_during_shows: merged.control_during_shows ?? false,
    control_unconfirmed: merged.control_unconfirmed ?? false,
    history_remote_write: toRemoteWrite(merged.history_remote_write ?? null),
    backup,
    heartbeat: heartbeat === 'incomplete' ? null : heartbeat,
    update_notice: update_url === undefined ? null : { url: update_url },
    osc: toOsc(merged.osc ?? {}),
    mqtt: mqtt === 'incomplete' ? null : mqtt,
    oidc: typeof oidc === 'string' ? null : oidc,
    audio: toAudio(merged.audio),
    listening: merged.listening ?? false,
    audio_evidence: merged.audio_evidence ?? false,
    listening_without_tls: merged.listening_without_tls ?? false,
    manufacturers: merged.manufacturers ?? [],
  })
  return { config, problems: problems.list, locate }
}

const withHistoryProblem = 'requires SQLite; for PostgreSQL, use pg_dump, which includes the history'

type PartialProblem = Partial<ConfigProblem> & Pick<ConfigProblem, 'what'>

/** Collects the problems of one configuration. */
class Problems {
  readonly path: string | null
  readonly list: ConfigProblem[] = []
  readonly #sections = new Set<string>()

  /** `path` is the path of the file; null if there is none. */
  constructor(path: string | null) {
    this.path = path
  }

  add(problem: PartialProblem, section?: string): void {
    this.list.push({ file: null, line: null, column: null, key: null, suggestion: null, ...problem })
    if (section !== undefined) this.#sections.add(section)
  }

  /** True if a value of this section is invalid. */
  concern(section: string): boolean {
    return this.#sections.has(section)
  }
}

function toRemoteWrite(entry: NonNullable<File['history_remote_write']> | null): RemoteWriteConfig | null {
  return entry && { headers: {}, interval_seconds: 10, ...entry }
}

/** Returns the path of the file: the given one, or the default if it exists. */
function findPath(flags: ConfigFlags, env: Environment): string | null {
  if (flags.config !== undefined) return flags.config
  if (isSet(env.MICWATCH_CONFIG)) return env.MICWATCH_CONFIG
  return existsSync(defaultFile) ? defaultFile : null
}

interface ReadFile {
  readonly file: File
  locate(path: readonly string[]): Position | null
}

/** Returns the valid sections of the file. */
function readFile(problems: Problems, env: Environment, isOffline: boolean): ReadFile {
  const { path } = problems
  const empty = { file: {}, locate: () => null }
  if (path === null) return empty
  let yaml: YamlText
  try {
    yaml = new YamlText(readTextFile(path))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.add({ what: error.message, cause: error.cause })
    return empty
  }
  for (const { what, position } of yaml.errors) problems.add({ file: path, what, ...position })
  if (yaml.errors.length > 0) return empty
  const locate = (keys: readonly string[]) => yaml.locate(keys)
  const incomplete = new Set<number>()
  const skipped = new Set<string>()
  const unresolved = new Set<string>()
  const filled = fillReferences(yaml.values ?? {}, env, (keys, { message: what, cause }) => {
    const [section = '', index, name] = keys
    const key = keys.join('.')
    if (isOffline && onlineSections.includes(section)) skipped.add(section)
    else if (isOffline && section === 'manufacturers' && name === 'config') incomplete.add(Number(index))
    else {
      unresolved.add(key)
      problems.add({ file: path, key, what, cause, ...locate(keys) }, section)
    }
  })
  const complete =
    skipped.size === 0
      ? filled
      : Object.fromEntries(Object.entries(filled as object).filter(([name]) => !skipped.has(name)))
  const file = check(complete, problems, ({ path: keys, key }) =>
    unresolved.has(key) ? null : { file: path, key: key === '' ? null : key, ...locate(keys) },
  )
  const manufacturers = file.manufacturers?.filter((_, index) => !incomplete.has(index))
  return { file: manufacturers === undefined ? file : { ...file, manufacturers }, locate }
}

/** The sections that commands which contact no one do not need. */
const onlineSections = ['heartbeat', 'history_remote_write', 'mqtt', 'oidc', 'osc']

/**
 * Validates values of one origin, and returns the valid sections. `describe` returns where an error is; null if it is a
 * consequence of a known problem.
 */
function check(
  values: unknown,
  problems: Problems,
  describe: (error: SchemaError) => Partial<ConfigProblem> | null,
): File {
  const schemaErrors = findSchemaErrors(File, values)
  const isInvalid = (key: string) =>
    schemaErrors.some(
      ({ path: [section, name] }) => section === undefined || (section === 'server' && (name ?? key) === key),
    )
  const server = Object.entries((values as File).server ?? {}).filter(([key]) => !isInvalid(key))
  const errors = [...schemaErrors, ...findServerErrors(Object.fromEntries(server))]
  for (const error of errors) {
    const { problem: what, suggestion } = error
    const origin = describe(error)
    if (origin !== null) problems.add({ ...origin, what, suggestion }, error.path[0])
  }
  if (errors.some(({ path }) => path.length === 0)) return {}
  const invalid = new Set(errors.map(({ path: [section] }) => section))
  return Object.fromEntries(Object.entries(values as File).filter(([section]) => !invalid.has(section)))
}

/** Checks rules that the schema cannot express. */
function findServerErrors({
  allowed_hosts = [],
  trusted_proxies = [],
  public_url,
}: NonNullable<File['server']>): SchemaError[] {
  return [
    ...listErrors('allowed_hosts', allowed_hosts, checkHostName),
    ...listErrors('trusted_proxies', trusted_proxies, checkProxy),
    ...listErrors('public_url', public_url ?? [], checkPublicUrl),
  ]
}

function listErrors(key: string, values: string | readonly string[], check: (value: string) => string | null) {
  const isList = typeof values !== 'string'
  return (isList ? values : [values]).flatMap((value, index): SchemaError[] => {
    const problem = check(value)
    const path = ['server', key, ...(isList ? [String(index)] : [])]
    return problem === null ? [] : [{ path, key: path.join('.'), problem, suggestion: null }]
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
