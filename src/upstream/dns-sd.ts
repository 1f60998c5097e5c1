/** DNS service discovery (RFC 6763) over multicast DNS (RFC 6762), as far as it takes to ask who offers a service. Pure. */

/** A service that somebody offers: put together of the records that tell of it. */
export interface Service {
  /** Such as `_ssc._udp`, without the domain. */
  readonly type: string
  /** What people call this one. */
  readonly instance: string
  readonly port: number
  /** IPv4. */
  readonly addresses: readonly string[]
  /** The text record's keys, in lower case. */
  readonly text: Readonly<Record<string, string>>
}

export type DnsRecord =
  | { readonly type: 'PTR'; readonly name: string; readonly target: readonly string[] }
  | { readonly type: 'SRV'; readonly name: string; readonly port: number; readonly host: string }
  | { readonly type: 'TXT'; readonly name: string; readonly text: Readonly<Record<string, string>> }
  | { readonly type: 'A'; readonly name: string; readonly address: string }

const typeNumbers = { A: 1, PTR: 12, TXT: 16, SRV: 33 } as const
const headerBytes = 12
/** The top bit of a question's class: answers may come straight to us (RFC 6762 §5.4). */
const unicastWanted = 0x8001
const maxRecords = 500
const maxLabels = 128

/** One message that asks for all instances of these service types. */
export function encodeQuestion(types: readonly string[]): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(types.length, 4)
  const questions = types.flatMap((type) => {
    const end = Buffer.alloc(4)
    end.writeUInt16BE(typeNumbers.PTR, 0)
    end.writeUInt16BE(unicastWanted, 2)
    return [encodeName([...type.split('.'), 'local']), end]
  })
  return Buffer.concat([header, ...questions])
}

/** The records of one message; none where it makes no sense from some point on. */
export function parseRecords(message: Buffer): DnsRecord[] {
  const records: DnsRecord[] = []
  try {
    const questions = message.readUInt16BE(4)
    const count = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10)
    let at = headerBytes
    for (let n = 0; n < questions; n++) at = readName(message, at).end + 4
    for (let n = 0; n < Math.min(count, maxRecords); n++) {
      const { labels, end } = readName(message, at)
      const type = message.readUInt16BE(end)
      const dataAt = end + 10
      at = dataAt + message.readUInt16BE(end + 8)
      if (at > message.length) break
      const record = readRecord(message, { type, labels, dataAt, endAt: at })
      if (record !== null) records.push(record)
    }
  } catch (error) {
    // Reading beyond the end: what came before it stands.
    if (!(error instanceof RangeError)) throw error
  }
  return records
}

/** The services of these types that can be reached: with a port and an address. */
export function toServices(records: readonly DnsRecord[], types: readonly string[]): Service[] {
  const services: Service[] = []
  for (const type of types) {
    const domain = `${type}.local`.toLowerCase()
    for (const pointer of records) {
      if (pointer.type !== 'PTR' || pointer.name !== domain) continue
      const name = nameOf(pointer.target)
      if (services.some((one) => one.type === type && one.instance === pointer.target[0])) continue
      const place = records.find((one) => one.type === 'SRV' && one.name === name)
      if (place?.type !== 'SRV') continue
      const addresses = records.flatMap((one) => (one.type === 'A' && one.name === place.host ? [one.address] : []))
      const texts = records.flatMap((one) => (one.type === 'TXT' && one.name === name ? [one.text] : []))
      services.push({
        type,
        instance: pointer.target[0] ?? '',
        port: place.port,
        addresses: [...new Set(addresses)],
        text: Object.assign({}, ...texts),
      })
    }
  }
  return services.filter(({ addresses }) => addresses.length > 0)
}

function readRecord(
  message: Buffer,
  about: { type: number; labels: readonly string[]; dataAt: number; endAt: number },
): DnsRecord | null {
  const { type, dataAt, endAt } = about
  const name = nameOf(about.labels)
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

/** `key=value` strings, each behind its length (RFC 6763 §6); the first of a name counts. */
function readText(data: Buffer): Record<string, string> {
  const text: Record<string, string> = {}
  for (let at = 0; at < data.length; at += 1 + (data[at] ?? 0)) {
    const pair = data.toString('utf8', at + 1, at + 1 + (data[at] ?? 0))
    const [, key = '', value = ''] = /^([^=]+)=?(.*)$/s.exec(pair) ?? []
    if (key !== '') text[key.toLowerCase()] ??= value
  }
  return text
}

/** Labels, following pointers to earlier ones (RFC 1035 §4.1.4). Throws a RangeError where they lead nowhere. */
function readName(message: Buffer, start: number): { labels: string[]; end: number } {
  const labels: string[] = []
  let end: number | undefined
  for (let at = start, jumps = 0; ; ) {
    const length = message.readUInt8(at)
    if (length === 0) return { labels, end: end ?? at + 1 }
    if (length >= 0xc0) {
      end ??= at + 2
      at = message.readUInt16BE(at) & 0x3fff
      jumps += 1
    } else {
      labels.push(message.toString('utf8', at + 1, at + 1 + length))
      at += 1 + length
    }
    if (jumps + labels.length > maxLabels) throw new RangeError('a name without an end')
  }
}

/** Names compare without regard to case. */
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
