/** DNS service discovery (RFC 6763) over multicast DNS (RFC 6762), limited to browsing for services. Performs no I/O. */

/** A discovered service, assembled from its DNS records. */
export interface Service {
  /** For example `_ssc._udp`, without the domain. */
  readonly type: string
  /** The name of this instance as users see it. */
  readonly instance: string
  readonly port: number
  /** IPv4 addresses. */
  readonly addresses: readonly string[]
  /** The entries of the TXT record, by lower-case key. */
  readonly text: Readonly<Record<string, string>>
}

export type DnsRecord =
  | { readonly type: 'PTR'; readonly name: string; readonly target: readonly string[] }
  | { readonly type: 'SRV'; readonly name: string; readonly port: number; readonly host: string }
  | { readonly type: 'TXT'; readonly name: string; readonly text: Readonly<Record<string, string>> }
  | { readonly type: 'A'; readonly name: string; readonly address: string }

const typeNumbers = { A: 1, PTR: 12, TXT: 16, SRV: 33 } as const
const headerBytes = 12
/** The top bit of a question's class requests a unicast response (RFC 6762 §5.4). */
const unicastResponseClass = 0x8001
const maxRecords = 500
const maxLabels = 128

/** Encodes one query for all instances of these service types. */
export function encodeQuestion(types: readonly string[]): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(types.length, 4)
  const questions = types.flatMap((type) => {
    const end = Buffer.alloc(4)
    end.writeUInt16BE(typeNumbers.PTR, 0)
    end.writeUInt16BE(unicastResponseClass, 2)
    return [encodeName([...type.split('.'), 'local']), end]
  })
  return Buffer.concat([header, ...questions])
}

/** Parses the records of one message, up to the first malformed record. */
export function parseRecords(message: Buffer): DnsRecord[] {
  const records: DnsRecord[] = []
  try {
    const questions = message.readUInt16BE(4)
    const count = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10)
    let offset = headerBytes
    for (let index = 0; index < questions; index++) offset = readName(message, offset).end + 4
    for (let index = 0; index < Math.min(count, maxRecords); index++) {
      const { labels, end } = readName(message, offset)
      const type = message.readUInt16BE(end)
      const dataAt = end + 10
      offset = dataAt + message.readUInt16BE(end + 8)
      if (offset > message.length) break
      const record = readRecord(message, { type, labels, dataAt, endAt: offset })
      if (record !== null) records.push(record)
    }
  } catch (error) {
    // The message is truncated or malformed; the records before this point are kept.
    if (!(error instanceof RangeError)) throw error
  }
  return records
}

/** Returns the services of these types that have both a port and an address. */
export function toServices(records: readonly DnsRecord[], types: readonly string[]): Service[] {
  const services: Service[] = []
  for (const type of types) {
    const domain = `${type}.local`.toLowerCase()
    for (const pointer of records) {
      if (pointer.type !== 'PTR' || pointer.name !== domain) continue
      const name = nameOf(pointer.target)
      if (services.some((other) => other.type === type && other.instance === pointer.target[0])) continue
      const service = records.find((other) => other.type === 'SRV' && other.name === name)
      if (service?.type !== 'SRV') continue
      const addresses = records.flatMap((other) =>
        other.type === 'A' && other.name === service.host ? [other.address] : [],
      )
      const texts = records.flatMap((other) => (other.type === 'TXT' && other.name === name ? [other.text] : []))
      services.push({
        type,
        instance: pointer.target[0] ?? '',
        port: service.port,
        addresses: [...new Set(addresses)],
        text: Object.assign({}, ...texts),
      })
    }
  }
  return services.filter(({ addresses }) => addresses.length > 0)
}

function readRecord(
  message: Buffer,
  record: { type: number; labels: readonly string[]; dataAt: number; endAt: number },
): DnsRecord | null {
  const { type, dataAt, endAt } = record
  const name = nameOf(record.labels)
  switch (type) {
    case typeNumbers.A:
      return endAt - dataAt === 4 ? { type: 'A', name, address: [...message.subarray(dataAt, endAt)].join('.') } : null
    case typeNumbers.PTR:
      return { type: 'PTR', name, target: readName(message, dataAt).labels }
    case typeNumbers.SRV: {
      const host = nameOf(readName(message, dataAt + 6).labels)
      return { type: 'SRV', name, port: message.readUInt16BE(dataAt + 4), host }
    }
    case typeNumbers.TXT:
      return { type: 'TXT', name, text: readText(message.subarray(dataAt, endAt)) }
    default:
      return null
  }
}

/** Parses length-prefixed `key=value` strings (RFC 6763 §6); if a key occurs twice, its first value is used. */
function readText(data: Buffer): Record<string, string> {
  const text: Record<string, string> = {}
  for (let offset = 0; offset < data.length; offset += 1 + (data[offset] ?? 0)) {
    const pair = data.toString('utf8', offset + 1, offset + 1 + (data[offset] ?? 0))
    const [, key = '', value = ''] = /^([^=]+)=?(.*)$/s.exec(pair) ?? []
    if (key !== '') text[key.toLowerCase()] ??= value
  }
  return text
}

/** Reads a name and follows compression pointers (RFC 1035 §4.1.4). Throws a RangeError if a pointer is invalid. */
function readName(message: Buffer, start: number): { labels: string[]; end: number } {
  const labels: string[] = []
  let end: number | undefined
  for (let offset = start, jumps = 0; ; ) {
    const length = message.readUInt8(offset)
    if (length === 0) return { labels, end: end ?? offset + 1 }
    if (length >= 0xc0) {
      end ??= offset + 2
      offset = message.readUInt16BE(offset) & 0x3fff
      jumps += 1
    } else {
      labels.push(message.toString('utf8', offset + 1, offset + 1 + length))
      offset += 1 + length
    }
    if (jumps + labels.length > maxLabels) throw new RangeError('a name is too long or circular')
  }
}

/** Joins the labels in lower case, because DNS names are case-insensitive. */
function nameOf(labels: readonly string[]): string {
  return labels.join('.').toLowerCase()
}

function encodeName(labels: readonly string[]): Buffer {
  const parts = labels.map((label) => {
    const text = Buffer.from(label)
    return Buffer.concat([Buffer.from([text.length]), text])
  })
  return Buffer.concat([...parts, Buffer.from([0])])
}
