/** Detects and masks the secret values of a manufacturer's configuration. */

import { isRecord } from '../json.ts'

const secretName = /password|secret|shared_key|token|api_key|auth/i

/** Whether the value of this configuration key is secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/** The text that replaces secrets in responses. If a client sends it back, the stored secret is kept. */
export const mask = '********'

/** Returns the configuration with `********` in place of its secrets. */
export function maskSecrets(value: unknown, isSecret = false): unknown {
  if (typeof value === 'string') return isSecret ? mask : value
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, isSecret))
  if (!isRecord(value)) return value
  return mapEntries(value, (name, item) => maskSecrets(item, isSecret || isSecretName(name)))
}

/** Thrown if a secret is given as `********` but none is stored for it. */
export class MaskError extends Error {
  override readonly name = 'MaskError'
}

/**
 * Replaces every `********` with the stored secret. List entries are matched by `url`, so that no device is given the
 * password of another device. Throws a `MaskError` with the key if no secret is stored.
 */
export function unmaskSecrets(value: unknown, stored: unknown, path = '', isSecret = false): unknown {
  if (isSecret && value === mask) {
    if (stored === undefined) throw new MaskError(`${path}: ${mask} stands for a stored value, but no value is stored`)
    return stored
  }
  const childPath = (name: string | number) => (path === '' ? String(name) : `${path}.${name}`)
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      unmaskSecrets(item, findStoredItem(item, index, stored), childPath(index), isSecret),
    )
  }
  if (!isRecord(value)) return value
  const before = isRecord(stored) ? stored : {}
  return mapEntries(value, (name, item) =>
    unmaskSecrets(item, before[name], childPath(name), isSecret || isSecretName(name)),
  )
}

function findStoredItem(item: unknown, index: number, stored: unknown): unknown {
  if (!Array.isArray(stored)) return undefined
  if (!isRecord(item)) return stored[index]
  return stored.find((other) => isRecord(other) && other.url === item.url)
}

function mapEntries(value: Readonly<Record<string, unknown>>, map: (name: string, item: unknown) => unknown) {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(name, item)]))
}
