/**
 * The command text of the Lectrosonics DSQD ("DSQD Command Reference", July 2019): one line a question, one line an
 * answer. Pure.
 */

/** A number, or text that stood in quotes. */
export type Value = number | string

/** A channel, or all of them: numbers only, one each. */
export type Address = number | '*'

interface Reply {
  readonly name: string
  /** Null where the answer leaves it out. */
  readonly address: Address | null
  readonly values: readonly Value[]
}

/** The `!` asks for an answer that repeats the name, so that no answer is taken for another's. */
export function query(name: string, address?: Address): string {
  return `!${name}${address === undefined ? '' : `(${address})`}?\r`
}

/**
 * `OK name=value`, `OK name(1)=value`, and of several values `{1,2,3}`. Null for anything else: an error, or the answer
 * to something that was not asked this way.
 */
export function parseReply(line: string): Reply | null {
  const [, name = '', address, rest = ''] = /^OK\s+([a-z]+)(?:\((\d|\*)\))?\s*=\s*(.*)$/i.exec(line.trim()) ?? []
  const values = name === '' ? null : parseValues(rest)
  if (values === null) return null
  return { name: name.toLowerCase(), address: address === '*' ? address : Number(address) || null, values }
}

/** Which brackets stand around an array is not said in what is public, so any will do. */
function parseValues(text: string): readonly Value[] | null {
  const inner = /^[[{(](.*)[\]})]$/.exec(text)?.[1] ?? text
  const values: Value[] = []
  const item = /\s*(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))\s*(,|$)/y
  while (item.lastIndex < inner.length) {
    const [, quoted, bare, comma] = item.exec(inner) ?? []
    if (quoted !== undefined) values.push(unquote(quoted))
    else if (bare !== undefined && Number.isFinite(Number(bare))) values.push(Number(bare))
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

// --- Formulas ---------------------------------------------------------------------------------------------------------

/** `rxameter`, and the fourth of `chstat`: half decibels below full scale. */
export function toDbfs(raw: number): number {
  return raw / 2
}

/** `rxrmeter`, and the fifth of `chstat`: quarter dBµV, which at 50 ohm is 107 dB above the same in dBm. */
export function toDbm(raw: number): number {
  return raw / 4 - 107
}

/** `chstat`: sixteen numbers, in this order. */
const statusNames = [
  'isPresent',
  'isPowered',
  'isLinked',
  'audioMeter',
  'rfMeter',
  'isScanning',
  'antenna',
  'isMuted',
  'isSquelched',
  'batteryTimerMinutes',
  'batteryWarning',
  'isPanelLocked',
  'isLimiting',
  'isClipping',
  'batteryTenthsOfVolt',
  'batteryPercent',
] as const

export type ChannelStatus = Readonly<Record<(typeof statusNames)[number], number>>

/** Null where it is not all there. */
export function toChannelStatus(values: readonly Value[]): ChannelStatus | null {
  if (values.length !== statusNames.length || values.some((value) => typeof value !== 'number')) return null
  return Object.fromEntries(statusNames.map((name, at) => [name, values[at]])) as unknown as ChannelStatus
}
