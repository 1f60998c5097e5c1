/** IPv4 and IPv6 addresses and networks as bytes, and the key for per-client limits. */

/**
 * Returns the four or sixteen bytes of an IP address; four for a mapped IPv4 address (`::ffff:10.0.0.1`). Returns null
 * for other text.
 */
export function parseAddress(text: string): readonly number[] | null {
  const bytes = text.includes(':') ? parseIpv6(text.replace(/%[\w.-]+$/, '')) : parseIpv4(text)
  const isMapped = bytes?.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255
  return isMapped && bytes[11] === 255 ? bytes.slice(12) : bytes
}

function parseIpv4(text: string): number[] | null {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return null
  const bytes = text.split('.').map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes : null
}

function parseIpv6(text: string): number[] | null {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const [head, tail] = halves.map((half, index) => parseGroups(half, index === halves.length - 1))
  if (head === null || head === undefined || tail === null) return null
  if (tail === undefined) return head.length === 16 ? head : null
  const missing = 16 - head.length - tail.length
  return missing < 2 ? null : [...head, ...new Array<number>(missing).fill(0), ...tail]
}

/** An embedded IPv4 address is only allowed at the end of the whole address. */
function parseGroups(text: string, endsAddress: boolean): number[] | null {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    const isLast = endsAddress && index === groups.length - 1
    const ipv4 = isLast && group.includes('.') ? parseIpv4(group) : null
    if (ipv4 !== null) bytes.push(...ipv4)
    else if (/^[0-9a-f]{1,4}$/i.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255)
    else return null
  }
  return bytes
}

export interface Network {
  readonly bytes: readonly number[]
  readonly prefix: number
}

/** Parses a network such as `10.0.0.0/8`, or a single address. */
export function parseNetwork(text: string): Network | null {
  const [address = '', length, ...rest] = text.split('/')
  const bytes = parseAddress(address)
  if (bytes === null || rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return null
  const prefix = length === undefined ? bytes.length * 8 : Number(length)
  return prefix <= bytes.length * 8 ? { bytes, prefix } : null
}

export function isInNetwork(address: readonly number[], { bytes, prefix }: Network): boolean {
  if (address.length !== bytes.length) return false
  return bytes.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefix - index * 8))
    return ((byte ^ (address[index] ?? 0)) & (0xff00 >> bits) & 0xff) === 0
  })
}

/**
 * Returns the key under which a client's attempts are counted. All addresses of an IPv6 /64 share a key, since one host
 * can use any of them.
 */
export function clientKey(address: string): string {
  const bytes = parseAddress(address)
  if (bytes === null || bytes.length === 4) return bytes?.join('.') ?? address
  return `${Array.from({ length: 4 }, (_, index) => (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16)).join(':')}::/64`
}

/** Accepts host names and addresses. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}
