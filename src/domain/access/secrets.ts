import { isRecord } from '../json.ts'

const secretName = /password|secret|shared_key|token|api_key|auth/i

export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/** Replaces secrets in responses. A client that sends it back keeps the stored secret. */
export const mask = '********'

export function maskSecrets(value: unknown, isSecret = false): unknown {
  if (typeof value === 'string') return isSecret ? mask : value
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, isSecret))
  if (!isRecord(value)) return value
  return mapEntries(value, (name, item) => maskSecrets(item, isSecret || isSecretName(name)))
}

/** A secret must be entered: none is stored, or the stored one was entered for another address. */
export class MaskError extends Error {
  override readonly name = 'MaskError'
}

/**
 * Replaces every `********` with the stored secret. List entries are matched by `url`, so that no device receives the
 * password of another one. Throws a `MaskError` with the key if no secret is stored.
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

export interface NamedSecret {
  /** For example `shared_key` or `devices.0.password`. */
  readonly key: string
  readonly secret: string
}

/** A secret with the scheme, host and port that receive it. */
export interface SecretUse extends NamedSecret {
  readonly origin: string
}

/**
 * Parses a `URL`, or returns null. Passed as an argument, because `domain` is compiled without the types of Node.js and
 * of the browser.
 */
export type ParseUrl = (address: string) => { readonly origin: string } | null

/** Returns scheme, host and port. `ws` counts as `http`, `wss` as `https`. */
export function originOf({ origin }: { readonly origin: string }): string {
  return origin.replace(/^ws/, 'http')
}

/** Lists the HTTP and WebSocket origins that may receive credentials. */
export function listHttpOrigins(value: unknown, parse: ParseUrl): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap((item) => listHttpOrigins(item, parse))
  }
  const url = typeof value === 'string' && /^(https?|wss?):/.test(value) ? parse(value) : null
  return url === null ? [] : [originOf(url)]
}

export function hasNewOrigin(stored: unknown, changed: unknown, parse: ParseUrl): boolean {
  const known = new Set(listHttpOrigins(stored, parse))
  return listHttpOrigins(changed, parse).some((origin) => !known.has(origin))
}

/** Lists the secrets in a configuration or a change. `********` is not a secret. */
export function listSecrets(value: unknown, path = '', isSecret = false): NamedSecret[] {
  if (typeof value === 'string') return isSecret && value !== mask && value !== '' ? [{ key: path, secret: value }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) =>
    listSecrets(item, path === '' ? name : `${path}.${name}`, isSecret || isSecretName(name)),
  )
}

/**
 * Lists the secrets that a change would send to an address for which they were not entered. Without this check, anyone
 * who may change an address could read the stored secrets there.
 */
export function listMovedSecrets(uses: {
  readonly before: readonly SecretUse[]
  readonly after: readonly SecretUse[]
  readonly entered: readonly NamedSecret[]
}): SecretUse[] {
  const { before, after, entered } = uses
  const isKnown = ({ secret, origin }: SecretUse) =>
    entered.some((known) => known.secret === secret) ||
    before.some((known) => known.secret === secret && known.origin === origin)
  return after.filter((use) => !isKnown(use))
}

/** Throws a `MaskError` with the key of the first secret in `listMovedSecrets`. */
export function refuseMovedSecrets(uses: Parameters<typeof listMovedSecrets>[0]): void {
  const [moved] = listMovedSecrets(uses)
  if (moved === undefined) return
  const { key, origin } = moved
  throw new MaskError(`${key}: enter it again, because the stored value was not entered for ${origin}`)
}

function findStoredItem(item: unknown, index: number, stored: unknown): unknown {
  if (!Array.isArray(stored)) return undefined
  if (!isRecord(item)) return stored[index]
  return stored.find((other) => isRecord(other) && other.url === item.url)
}

function mapEntries(value: Readonly<Record<string, unknown>>, map: (name: string, item: unknown) => unknown) {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(name, item)]))
}
