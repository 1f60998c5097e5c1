/**
 * Formats queries to the Lectrosonics DSQD and parses its replies, one line each. Source: "DSQD Command Reference",
 * July 2019. Pure.
 */

export type Value = number | string

/** A channel, or `*` for all channels. Only numeric values support `*`; the reply has one value per channel. */
export type Address = number | '*'

interface Reply {
  readonly name: string
  /** Null if the reply omits it. */
  readonly address: Address | null
  readonly values: readonly Value[]
}

/** The `!` requests a reply that repeats the name, so that replies can be matched to queries. */
export function formatQuery(name: string, address?: Address): string {
  return `!${name}${address === undefined ? '' : `(${address})`}?\r`
}

/**
 * Parses `OK name=value` and `OK name(1)=value`; several values are written as `{1,2,3}`. Returns null for anything
 * else: an error, or the reply to a query without `!`.
 */
export function parseReply(line: string): Reply | null {
  const [, name = '', address, rest = ''] = /^OK\s+([a-z]+)(?:\((\d|\*)\))?\s*=\s*(.*)$/i.exec(line.trim()) ?? []
  const values = name === '' ? null : parseValues(rest)
  if (values === null) return null
  return { name: name.toLowerCase(), address: address === '*' ? address : Number(address) || null, values }
}

/** Accepts all kinds of brackets around an array, because the public documents do not show them. */
function parseValues(text: string): readonly Value[] | null {
  const inner = /^[[{(](.*)[\]})]$/.exec(text)?.[1] ?? text
  const values: Value[] = []
  const item = /\s*(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))\s*(,|$)/y
  while (item.lastIndex < inner.length) {
    const [, quoted, bare, comma] = item.exec(inner) ?? []
    if (quoted !== undefined) values.push(unquote(quoted))
    else if (bare !== undefined) values.push(Number.isFinite(Number(bare)) ? Number(bare) : bare)
    else return null
    if (comma !== ',') break
  }
  return values
}

const escapes: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t' }

function unquote(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|(.))/gi, (_, hex: string | undefined, sign = '') =>
    hex === undefined ? (escapes[sign] ?? sign) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
