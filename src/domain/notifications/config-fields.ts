import { RequestError } from '../errors.ts'

/** A parsed `URL`, or null. A parameter, because Node.js and the browser have the class, and this folder has neither. */
type ParseUrl = (text: string) => ParsedUrl | null

type ParsedUrl = Readonly<
  Record<'protocol' | 'username' | 'password' | 'hostname' | 'port' | 'pathname' | 'search' | 'hash', string>
>

/** Returns the valid value, or throws a `FieldError`. */
export type FieldParser<T> = (value: unknown, parseUrl: ParseUrl) => T

interface ConfigField {
  readonly name: string
  readonly valid: FieldParser<unknown>
  readonly isOptional?: true | 'null'
}

/** The message describes the expected value. */
class FieldError extends Error {
  override readonly name = 'FieldError'
}

/** Throws a RequestError that names the first invalid field; unknown fields are invalid. */
export function parseFields(
  config: Readonly<Record<string, unknown>>,
  fields: readonly ConfigField[],
  parseUrl: ParseUrl,
): Readonly<Record<string, unknown>> {
  const unknownName = Object.keys(config).find((name) => fields.every((field) => field.name !== name))
  if (unknownName !== undefined) throw configError(unknownName, 'unknown field')
  const entries = fields.map((field) => [field.name, parseField(field, config[field.name], parseUrl)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

export function configError(field: string, problem: string): RequestError {
  return new RequestError('bad_request', { details: `config.${field}: ${problem}` })
}

function parseField({ name, valid, isOptional }: ConfigField, value: unknown, parseUrl: ParseUrl): unknown {
  if (isOptional === true && (value === undefined || value === null || value === '')) return undefined
  if (isOptional === 'null' && (value === null || value === '')) return null
  try {
    return valid(value, parseUrl)
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    throw configError(name, value === undefined ? 'missing' : error.message)
  }
}

/** Text on one line. A `pattern` comes with a description of the matching text. */
export function line(
  maxChars: number,
  { pattern, expected }: { readonly pattern: RegExp; readonly expected: string } = { pattern: /^/, expected: '' },
): FieldParser<string> {
  return (value) => {
    if (typeof value !== 'string' || value === '') throw new FieldError(expected || 'expected text')
    if (value.length > maxChars) throw new FieldError(`expected at most ${maxChars} characters`)
    if (!isOneLine(value)) throw new FieldError('expected text without line breaks and control characters')
    if (!pattern.test(value)) throw new FieldError(expected)
    return value
  }
}

/** A secret that is sent in a header: ASCII without spaces. */
export function headerToken(): FieldParser<string> {
  return line(1000, { pattern: /^[!-~]+$/, expected: 'expected a token of ASCII characters without spaces' })
}

export function choice<const T extends string>(values: readonly T[]): FieldParser<T> {
  return (value) => {
    const found = values.find((entry) => entry === value)
    if (found === undefined) throw new FieldError(`expected ${values.join(', ')}`)
    return found
  }
}

export function port(): FieldParser<number> {
  return (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535) return value
    throw new FieldError('expected a port between 1 and 65535')
  }
}

export function list<T>(field: FieldParser<T>, maxItems: number): FieldParser<readonly T[]> {
  return (value, parseUrl) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxItems) {
      throw new FieldError(`expected a list of 1 to ${maxItems} items`)
    }
    return value.map((item) => field(item, parseUrl))
  }
}

/** Without brackets. */
export function hostName(): FieldParser<string> {
  const parse = line(255, { pattern: /^[^\s/@?#[\]\\%]+$/, expected: 'expected a host name or an IP address' })
  return (value, parseUrl) => {
    const host = parse(value, parseUrl)
    if (parseUrl(addressOf(host, 1)) === null) throw new FieldError('expected a host name or an IP address')
    return host
  }
}

export function addressOf(host: string, portNumber: number, usesTls = false): string {
  return `${usesTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${portNumber}`
}

interface UrlRules {
  /** Default: http and https. */
  readonly protocols?: readonly string[]
  /** Restricts the part after the host; default: anything. */
  readonly path?: 'none' | 'no_query'
}

const webProtocols = ['http:', 'https:']

/** A URL without credentials, which have fields of their own. */
export function webUrl({ protocols = webProtocols, path }: UrlRules = {}): FieldParser<string> {
  const schemes = protocols.map((protocol) => `${protocol}//`).join(' or ')
  const parse = line(2048, { pattern: /^[^\s\\]+$/, expected: `expected a URL that begins with ${schemes}` })
  return (value, parseUrl) => {
    const text = parse(value, parseUrl)
    const url = parseUrl(text)
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
