/**
 * Parses the announcements of devices: services from the records of multicast DNS responses (RFC 6763), and Attribute
 * Replies of the Service Location Protocol. Performs no I/O.
 */

import type { ResponsePacket } from 'multicast-dns'

/** A service, assembled from its DNS records. */
export interface Service {
  /** For example `_ssc._udp`, without the domain. */
  readonly type: string
  /** The name that users see. */
  readonly instance: string
  readonly port: number
  /** IPv4 addresses. */
  readonly addresses: readonly string[]
  /** The entries of the TXT record, by lower-case key. */
  readonly text: Readonly<Record<string, string>>
}

export type DnsRecord = ResponsePacket['answers'][number]

/** Returns the services of these types that have both a port and an address. */
export function toServices(records: readonly DnsRecord[], types: readonly string[]): Service[] {
  const recordsOf = indexByName(records)
  const services: Service[] = []
  const seen = new Set<string>()
  for (const type of types) {
    for (const record of recordsOf(`${type}.local`)) {
      if (record.type !== 'PTR' || seen.has(record.data)) continue
      seen.add(record.data)
      const service = toService(recordsOf, type, record.data)
      if (service !== null && service.addresses.length > 0) services.push(service)
    }
  }
  return services
}

type RecordsOf = (name: string) => readonly DnsRecord[]

/** DNS names are case-insensitive. */
function indexByName(records: readonly DnsRecord[]): RecordsOf {
  const byName = new Map<string, DnsRecord[]>()
  for (const record of records) {
    const name = record.name.toLowerCase()
    const known = byName.get(name)
    if (known === undefined) byName.set(name, [record])
    else known.push(record)
  }
  return (name) => byName.get(name.toLowerCase()) ?? []
}

function toService(recordsOf: RecordsOf, type: string, name: string): Service | null {
  const location = recordsOf(name).find((record) => record.type === 'SRV')
  if (location === undefined) return null
  const { port, target } = location.data
  const addresses = recordsOf(target).flatMap((record) => (record.type === 'A' ? [record.data] : []))
  const texts = recordsOf(name).flatMap((record) => (record.type === 'TXT' ? [readText([record.data].flat())] : []))
  // A subtype lists names of its type (RFC 6763, section 7.1).
  const baseType = type.split('._sub.').at(-1)
  const instance = name.slice(0, -`.${baseType}.local`.length)
  return { type, instance, port, addresses: [...new Set(addresses)], text: Object.assign({}, ...texts) }
}

/** Parses `key=value` strings (RFC 6763 §6). The first value of a repeated key wins. */
function readText(strings: readonly (Buffer | string)[]): Record<string, string> {
  const text: Record<string, string> = {}
  for (const pair of strings) {
    const [, key = '', value = ''] = /^([^=]+)=?(.*)$/s.exec(String(pair)) ?? []
    if (key !== '') text[key.toLowerCase()] ??= value
  }
  return text
}

/**
 * Parses Attribute Replies of the Service Location Protocol (RFC 2608 §10.4), which some devices multicast without a
 * request. Performs no I/O.
 */
export type SlpAttributes = Readonly<Record<string, string>>

const version = 2
const attributeReply = 7
/**
 * The length of the fields before the language tag: version, function, length, flags, extension, XID, and length of the
 * tag.
 */
const headerBytes = 14
const maxAttributes = 50

/** Returns the attributes by lower-case name; null if the datagram is not a complete and valid Attribute Reply. */
export function parseAttributeReply(datagram: Buffer): SlpAttributes | null {
  if (datagram.length < headerBytes || datagram[0] !== version || datagram[1] !== attributeReply) return null
  if (datagram.readUIntBE(2, 3) !== datagram.length) return null
  const errorAt = headerBytes + datagram.readUInt16BE(12)
  const listAt = errorAt + 4
  if (listAt > datagram.length || datagram.readUInt16BE(errorAt) !== 0) return null
  const endAt = listAt + datagram.readUInt16BE(errorAt + 2)
  return endAt > datagram.length ? null : parseAttributes(datagram.toString('utf8', listAt, endAt))
}

/**
 * Parses a list such as `(acn-fctn=QLXD4),(cid=…),keyword`. Reserved characters within a value are escaped, for
 * instance as `\29` (§5).
 */
function parseAttributes(text: string): SlpAttributes {
  const attributes: Record<string, string> = Object.create(null)
  let remaining = maxAttributes
  for (const [, name = '', value = ''] of text.matchAll(/\(([^()=,]{1,100})=([^()]*)\)/g)) {
    if (remaining === 0) break
    remaining -= 1
    attributes[name.trim().toLowerCase()] ??= decodeEscapes(value)
  }
  return attributes
}

function decodeEscapes(value: string): string {
  return value.replace(/\\([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)))
}
