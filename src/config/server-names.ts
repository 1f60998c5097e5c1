/** Finds names and addresses in the section `server` that can never match, and suggests corrections. */

import { parseAddress } from '../domain/identity/address.ts'
import type { File } from './file-schema.ts'
import type { SchemaError } from './schema-error.ts'

/** Checks rules that the schema cannot express. Returns the first error, or null. */
export function findServerError({
  allowed_hosts = [],
  trusted_proxies = [],
  public_url,
}: NonNullable<File['server']>): SchemaError | null {
  const errors = [
    ...listErrors('allowed_hosts', allowed_hosts, checkHostName),
    ...listErrors('trusted_proxies', trusted_proxies, checkProxy),
    ...listErrors('public_url', public_url ?? [], checkPublicUrl),
  ]
  return errors[0] ?? null
}

function listErrors(key: string, values: string | readonly string[], check: (value: string) => string | null) {
  const isList = typeof values !== 'string'
  return (isList ? values : [values]).flatMap((value, index): SchemaError[] => {
    const problem = check(value)
    return problem === null ? [] : [{ key: isList ? `server.${key}.${index}` : `server.${key}`, problem }]
  })
}

/** A host name is compared with what browsers send, without its port. */
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
