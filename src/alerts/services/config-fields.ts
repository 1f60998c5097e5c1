/** Validates the `config` of notification channels, field by field. */

import { RequestError } from '../../domain/errors.ts'

/** Returns the valid value, or throws a `FieldError`. */
type Field<T> = (value: unknown) => T

type Fields = Readonly<Record<string, Field<unknown>>>

type ConfigOf<F extends Fields> = { readonly [Name in keyof F]: ReturnType<F[Name]> }

/** Says what a field should contain. */
class FieldError extends Error {
  override readonly name = 'FieldError'
}

/** Validates every field. Throws a RequestError that names the first invalid one; unknown fields are invalid. */
export function parseFields<F extends Fields>(config: Readonly<Record<string, unknown>>, fields: F): ConfigOf<F> {
  const unknownName = Object.keys(config).find((name) => !Object.hasOwn(fields, name))
  if (unknownName !== undefined) throw configError(unknownName, 'unknown field')
  const entries = Object.entries(fields).map(([name, parse]) => [name, parseField(name, parse, config[name])])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as ConfigOf<F>
}

export function configError(field: string, problem: string): RequestError {
  return new RequestError('bad_request', { details: `config.${field}: ${problem}` })
}

function parseField(name: string, parse: Field<unknown>, value: unknown): unknown {
  try {
    return parse(value)
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    throw configError(name, value === undefined ? 'missing' : error.message)
  }
}

/** A field that may be absent, null or empty. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return (value) => (value === undefined || value === null || value === '' ? undefined : field(value))
}

/** A field that must be present and may be null or empty; both are stored as null. */
export function nullable<T>(field: Field<T>): Field<T | null> {
  return (value) => (value === null || value === '' ? null : field(value))
}

/** Text on one line. A `pattern` comes with the description of what it matches. */
export function line(
  maxChars: number,
  { pattern, expected }: { readonly pattern: RegExp; readonly expected: string } = { pattern: /^/, expected: '' },
): Field<string> {
  return (value) => {
    if (typeof value !== 'string' || value === '') throw new FieldError(expected || 'expected text')
    if (value.length > maxChars) throw new FieldError(`expected at most ${maxChars} characters`)
    if (!isOneLine(value)) throw new FieldError('expected text without line breaks and control characters')
    if (!pattern.test(value)) throw new FieldError(expected)
    return value
  }
}

/** A secret that is sent in a header: ASCII without spaces. */
export function headerToken(): Field<string> {
  return line(1000, { pattern: /^[!-~]+$/, expected: 'expected a token of ASCII characters without spaces' })
}

export function choice<const T extends string>(values: readonly T[]): Field<T> {
  return (value) => {
    const found = values.find((entry) => entry === value)
    if (found === undefined) throw new FieldError(`expected ${values.join(', ')}`)
    return found
  }
}

export function port(): Field<number> {
  return (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535) return value
    throw new FieldError('expected a port between 1 and 65535')
  }
}

export function list<T>(field: Field<T>, maxItems: number): Field<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxItems) {
      throw new FieldError(`expected a list of 1 to ${maxItems} items`)
    }
    return value.map(field)
  }
}

/** A host name or an IP address, without brackets. */
export function hostName(): Field<string> {
  const parse = line(255, { pattern: /^[^\s/@?#[\]\\%]+$/, expected: 'expected a host name or an IP address' })
  return (value) => {
    const host = parse(value)
    if (!URL.canParse(addressOf(host, 1))) throw new FieldError('expected a host name or an IP address')
    return host
  }
}

/** The address of a service that is reached by a host name or an IP address and a port. */
export function addressOf(host: string, portNumber: number, usesTls = false): string {
  return `${usesTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${portNumber}`
}

interface UrlRules {
  /** Default: http and https. */
  readonly protocols?: readonly string[]
  /** What must follow the host; default: anything. */
  readonly path?: 'none' | 'no_query'
}

const webProtocols = ['http:', 'https:']

/** A URL without credentials, which have fields of their own. */
export function webUrl({ protocols = webProtocols, path }: UrlRules = {}): Field<string> {
  const schemes = protocols.map((protocol) => `${protocol}//`).join(' or ')
  const parse = line(2048, { pattern: /^[^\s\\]+$/, expected: `expected a URL that begins with ${schemes}` })
  return (value) => {
    const text = parse(value)
    const url = URL.canParse(text) ? new URL(text) : null
    if (url === null || !protocols.includes(url.protocol) || url.hostname === '' || url.port === '0') {
      throw new FieldError(`expected a URL that begins with ${schemes}`)
    }
    if (url.username !== '' || url.password !== '')
      throw new FieldError('expected a URL without user name and password')
    if (url.hash !== '') throw new FieldError('expected a URL without #')
    if (path !== undefined && url.search !== '') throw new FieldError('expected a URL without ?')
    if (path === 'none' && !['', '/'].includes(url.pathname)) throw new FieldError('expected a URL without a path')
    return text
  }
}

function isOneLine(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(text)
}
