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
