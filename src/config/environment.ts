/** Reads environment variables and flags, which override the configuration file. */

import { ConfigError, type SchemaNode } from './config-error.ts'
import { File } from './file-schema.ts'
import { findNearest } from './nearest.ts'
import { findReader, type ReadText, readNumber } from './scalars.ts'
import { readTextFile, readValueFile } from './text-file.ts'

/** Flags override everything else. */
export interface ConfigFlags {
  readonly config?: string | undefined
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly mount?: string | undefined
  readonly data_dir?: string | undefined
  readonly database_url?: string | undefined
  readonly redis_url?: string | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Short variable names. The name derived from the full key also works. */
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
  /** The first variable that is set is used. */
  readonly names: readonly string[]
  readonly read: ReadText
}

/** Writing to equipment can only be allowed in the file. */
const fileOnlyKeys = ['control_role', 'control_during_shows', 'control_unconfirmed']

/** Key of the file -> reader; null for keys that no variable can set. */
const keys = listKeys(File as unknown as SchemaNode, '')

function listKeys(schema: SchemaNode, prefix: string): { key: string; read: ReadText | null }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, node]) => {
    const key = `${prefix}${name}`
    if (node.properties !== undefined) return listKeys(node, `${key}.`)
    return [{ key, read: fileOnlyKeys.includes(key) ? null : findReader(node) }]
  })
}

/** One variable for each scalar and list of the file. */
const variables: readonly Variable[] = keys.flatMap(({ key, read }) => {
  if (read === null) return []
  const shortName = shortNames[key]
  return [{ key, read, names: shortName === undefined ? [toName(key)] : [shortName, toName(key)] }]
})

function toName(key: string): string {
  return `MICWATCH_${key.replaceAll('.', '_').toUpperCase()}`
}

/** The names that variables of file-only keys would have. */
const fileOnlyNames = keys.flatMap(({ key, read }) => (read === null ? [toName(key)] : []))

/** Every variable name. With `_FILE`, the variable names a file that contains the value. */
export const variableNames = variables.flatMap(({ names }) => names.flatMap((name) => [name, toFileName(name)]))

function toFileName(name: string): string {
  return `${name}_FILE`
}

/** An empty variable is treated as not set; `findSetting` has one exception. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}

/** Kubernetes sets MICWATCH_PORT=tcp://… for a service named micwatch. */
function isInjected(value: string | undefined): boolean {
  return value?.startsWith('tcp://') === true
}

/** Calls `onFailure` with the name of a variable that cannot be read, and leaves its key out. */
export function fromEnvironment(env: Environment, onFailure: (name: string, failure: ConfigError) => void): object {
  const entries = variables.flatMap((variable) => {
    const setting = findSetting(env, variable)
    if (setting === undefined) return []
    try {
      const text = textOf(env, setting)
      return [[variable.key, text === '' ? text : variable.read(text)] as const]
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      onFailure(setting.name, error)
      return []
    }
  })
  return nest(entries)
}

interface Setting {
  readonly name: string
  /** True for the variable with `_FILE`, which names a file that contains the value. */
  readonly isFile: boolean
  /** The variable with `_FILE`, if both are set, which is an error. */
  readonly conflict?: string | undefined
}

function findSetting(env: Environment, { key, names }: Variable): Setting | undefined {
  const isUsed = (name: string) => isSet(env[name]) && !isInjected(env[name])
  const [direct, file] = [names.find(isUsed), names.map(toFileName).find(isUsed)]
  if (direct !== undefined && file !== undefined) return { name: direct, isFile: false, conflict: file }
  // A deployment that passes an empty key by mistake would otherwise encrypt secrets with a new key.
  const empty = key === 'secret_key' ? names.find((name) => env[name] === '') : undefined
  const name = direct ?? file ?? empty
  return name === undefined ? undefined : { name, isFile: name === file }
}

function textOf(env: Environment, { name, isFile, conflict }: Setting): string {
  if (conflict !== undefined) throw new ConfigError(`${conflict} is set too; remove one of them`)
  const value = env[name] ?? ''
  return isFile ? readValueFile(value) : value
}

/** Returns the name of the variable for a key or for an item of its list. */
export function environmentName(env: Environment, key: string): string {
  const variable = variables.find((known) => key === known.key || key.startsWith(`${known.key}.`))
  return (variable && findSetting(env, variable)?.name) ?? key
}

export function fromFlags({ config: _, host, port, mount, ...top }: ConfigFlags): object {
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

/** Adds the variables of the file in MICWATCH_ENVIRONMENT_FILE that are not set. */
export function loadEnvironmentFile(env: Record<string, string | undefined>): void {
  const path = env.MICWATCH_ENVIRONMENT_FILE
  if (!isSet(path)) return
  for (const [name, value] of Object.entries(parseEnvironmentFile(readTextFile(path)))) {
    if (!isSet(env[name])) env[name] = value
  }
}

// Unlike in a shell, a # within a value is part of it, and quotes are only special at the beginning of a part.
const quoted = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"/
const unquoted = /((?:[^\\\n'" \t]|\\[\s\S])(?:[^\\\n]|\\[\s\S])*)/
const part = `[ \\t]*(?:${quoted.source}|${unquoted.source})`
const assignment = new RegExp(`^[ \\t]*(?<name>[A-Za-z_]\\w*)[ \\t]*=(?<value>(?:${part})*)`, 'gm')

/**
 * Parses `NAME=value` lines. Lines that begin with # or a semicolon are comments. Other lines are ignored, as systemd
 * does.
 */
export function parseEnvironmentFile(text: string): Environment {
  const lines = text.replaceAll('\r\n', '\n')
  return Object.fromEntries(
    [...lines.matchAll(assignment)].map(({ groups = {} }) => [groups.name ?? '', joinParts(groups.value ?? '')]),
  )
}

function joinParts(value: string): string {
  const parts = [...value.matchAll(new RegExp(part, 'g'))].map(([, single, double, plain]) => {
    if (single !== undefined) return single
    if (double !== undefined) return double.replace(/\\([\s\S])/g, unescapeQuoted)
    return (plain ?? '').replace(/(\\[\s\S])|[ \t]+$/g, (_, escaped = '') => escaped.replace(/^\\\n?/, ''))
  })
  return parts.join('')
}

/** Within double quotes, a backslash is only special before these characters and at the end of a line. */
function unescapeQuoted(text: string, character: string): string {
  if (character === '\n') return ''
  return '"\\`$'.includes(character) ? character : text
}

/** Variables that are not keys of the file. The examples and the launcher of the archives use the last three. */
const otherNames = ['MICWATCH_CONFIG', 'MICWATCH_ENVIRONMENT_FILE', 'MICWATCH_HOME', 'MICWATCH_URL', 'MICWATCH_TOKEN']

const knownNames = [...variableNames, ...otherNames]

export function listVariableWarnings(env: Environment): string[] {
  const isFromOrchestrator = findInjected(env)
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('MICWATCH_') && !knownNames.includes(name) && !isFromOrchestrator(name),
  )
  return unknown.map((name) => `${name} has no effect, because there is no such variable${suggest(name)}`)
}

/**
 * Returns a predicate for variables that an orchestrator injects. Besides MICWATCH_PORT=tcp://10.0.0.1:80, Kubernetes
 * sets MICWATCH_SERVICE_HOST, MICWATCH_PORT_80_TCP_ADDR and others.
 */
function findInjected(env: Environment): (name: string) => boolean {
  const injected = Object.keys(env).filter((name) => isInjected(env[name]))
  const prefixes = injected.map((name) => name.replace(/_PORT(_.*)?$/, ''))
  return (name) =>
    injected.includes(name) ||
    prefixes.some((prefix) => name.startsWith(`${prefix}_SERVICE_`) || name.startsWith(`${prefix}_PORT_`))
}

function suggest(name: string): string {
  if (fileOnlyNames.includes(name)) return '; this can only be set in the configuration file'
  const nearest = findNearest(name, knownNames)
  return nearest === null ? '; docs/configuration.md lists all' : `; did you mean ${nearest}?`
}
