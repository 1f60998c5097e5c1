/** Replaces references such as `${NAME}` in the values of the configuration file. */

import { join } from 'node:path'
import { ConfigError } from './config-error.ts'
import { type Environment, isSet } from './environment.ts'
import { readScalar } from './scalars.ts'
import { readValueFile } from './text-file.ts'

/** A value that consists of a single reference: a variable with or without a default, a file, or a credential. */
const reference = /^\$\{(?:(?<kind>file|credential):(?!-)(?<target>[^}]+)|(?<name>\w+)(?<default>:-(?<text>.*))?)\}$/s

const forms = `\${NAME}, \${NAME:-default}, \${file:/path} or \${credential:name}`

/**
 * Replaces every reference with its value, converted to the type of its key. If a reference cannot be resolved,
 * `onFailure` is called, and the value is empty.
 */
export function fillReferences(
  values: unknown,
  env: Environment,
  onFailure: (path: readonly string[], failure: ConfigError) => void,
): unknown {
  const fill = (value: unknown, path: readonly string[]): unknown => {
    if (typeof value === 'string') return value.startsWith('${') && value.endsWith('}') ? resolve(value, path) : value
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, String(index)]))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner, [...path, name])]))
  }
  const resolve = (text: string, path: readonly string[]) => {
    try {
      return readScalar(path, lookUp(text, env))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      onFailure(path, error)
      return ''
    }
  }
  return fill(values, [])
}

function lookUp(text: string, env: Environment): string {
  const groups = reference.exec(text)?.groups
  if (groups === undefined) throw new ConfigError(`${text} is not a reference; expected ${forms}`)
  const { kind, target = '', name = '', default: hasDefault, text: fallback = '' } = groups
  if (kind === 'file') return readValueFile(target)
  if (kind === 'credential') return readCredential(target, env)
  const value = env[name]
  if (isSet(value)) return value
  if (hasDefault !== undefined) return fallback
  if (value === undefined) throw new ConfigError(`the environment variable ${name} is not set`)
  throw new ConfigError(`the environment variable ${name} is empty; \${${name}:-} permits that`)
}

/** Reads a credential from the service manager (LoadCredential in a systemd unit). */
function readCredential(name: string, env: Environment): string {
  const folder = env.CREDENTIALS_DIRECTORY
  if (!isSet(folder)) {
    throw new ConfigError(`the credential ${name} is not available, because CREDENTIALS_DIRECTORY is not set`)
  }
  if (!/^[^/]+$/.test(name) || /^\.\.?$/.test(name)) {
    throw new ConfigError(`${name} is not the name of a credential; a file is written as \${file:/path}`)
  }
  return readValueFile(join(folder, name))
}
