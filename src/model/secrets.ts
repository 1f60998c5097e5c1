/** Which values of a manufacturer's configuration are secret, and how they look from outside. */

const secretName = /password|secret|shared_key|token|api_key|auth/i

/** Whether what stands under this key of a configuration is secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/** What is given back in a secret's place; written back, it leaves the secret as it is. */
export const mask = '********'

/** The configuration as anybody may see it. */
export function maskSecrets(value: unknown, isSecret = false): unknown {
  if (typeof value === 'string') return isSecret ? mask : value
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, isSecret))
  if (!isObject(value)) return value
  return mapEntries(value, (name, item) => maskSecrets(item, isSecret || isSecretName(name)))
}

/** A mask that stands for nothing. */
export class MaskError extends Error {
  override readonly name = 'MaskError'
}

/**
 * The reverse: every mask replaced by what is stored in its place. Entries of a list are recognised by their `url`, so
 * that no device gets another one's password. Throws MaskError, naming the key, where nothing is stored.
 */
export function unmaskSecrets(value: unknown, stored: unknown, path = '', isSecret = false): unknown {
  if (isSecret && value === mask) {
    if (stored === undefined) throw new MaskError(`${path}: ${mask} stands for a stored value, and there is none`)
    return stored
  }
  const inner = (name: string | number) => (path === '' ? String(name) : `${path}.${name}`)
  if (Array.isArray(value)) {
    return value.map((item, at) => unmaskSecrets(item, findStoredItem(item, at, stored), inner(at), isSecret))
  }
  if (!isObject(value)) return value
  const before = isObject(stored) ? stored : {}
  return mapEntries(value, (name, item) =>
    unmaskSecrets(item, before[name], inner(name), isSecret || isSecretName(name)),
  )
}

function findStoredItem(item: unknown, at: number, stored: unknown): unknown {
  if (!Array.isArray(stored)) return undefined
  if (!isObject(item)) return stored[at]
  return stored.find((one) => isObject(one) && one.url === item.url)
}

function mapEntries(value: Readonly<Record<string, unknown>>, map: (name: string, item: unknown) => unknown) {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(name, item)]))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
