/** Reads environment variables and flags as values of the configuration file, which they override. */

import { File } from './file-schema.ts'
import type { SchemaNode } from './schema-error.ts'

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

export type Environment = Readonly<Record<string, string | undefined>>

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
export function fromEnvironment(env: Environment): object {
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
export function environmentName(env: Environment, key: string): string {
  const variable = variables.find((known) => key === known.key || key.startsWith(`${known.key}.`))
  return (variable && nameIn(env, variable)) ?? key
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
