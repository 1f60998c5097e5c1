/**
 * Formats queries to Audio-Technica receivers and parses their replies. Sources: "System 20 PRO IP Control Protocol
 * Specifications" V0.0.5 and "ESW IP Control Specification" V1, as listed in the public ai4av catalogue, and the public
 * Companion modules for both systems. Pure.
 */

export interface Query {
  readonly command: string
  readonly channel?: number
}

export type Reply =
  /** Malformed `values` are null. */
  | { readonly command: string; readonly values: readonly string[] | null }
  /** A negative acknowledgement (NAK). */
  | { readonly command: string; readonly errorCode: number }

const maxMessageChars = 287
/** Longer divided messages are dropped. */
const maxDividedChars = 32 * maxMessageChars

/** `linkId` addresses one of several linked System 20 PRO receivers. ESW has the fixed value `0000`. */
export function formatQuery({ command, channel }: Query, linkId: string): string {
  return `${command} O ${linkId} 00 NC ${channel ?? ''}\r`
}

/** An unfinished message is kept until the connection's limit is reached. */
export function splitMessages(text: string): { readonly messages: readonly string[]; readonly rest: string } {
  const messages = text.split('\r')
  const rest = messages.pop() ?? ''
  return { messages, rest }
}

const envelope = /^\s*([a-z]\w*) (?:\S{1,8} \S{1,8} (NC|CS|CM|CE)(?: |$))?(.*)$/i

/**
 * Creates a parser for the messages of one session. It returns null for the beginning of a divided message (`CS`,
 * `CM`), an acknowledgement, and a malformed message.
 */
export function createReplyParser(): (message: string) => Reply | null {
  let divided: { readonly command: string; readonly text: string } | null = null
  return (message) => {
    const [, name, part = 'NC', text = ''] = envelope.exec(message.slice(0, maxMessageChars)) ?? []
    if (name === undefined) return null
    const command = name.toLowerCase()
    const isContinuation = part === 'CM' || part === 'CE'
    const beginning = isContinuation && divided?.command === command ? divided.text : null
    divided = null
    if (/^NAK\b/.test(text)) return { command, errorCode: Number(/(\d+)\s*$/.exec(text)?.[1] ?? otherError) }
    if (/^ACK\b/.test(text) || (isContinuation && beginning === null)) return null
    const whole = (beginning ?? '') + text
    if (part === 'CS' || part === 'CM') {
      if (whole.length <= maxDividedChars) divided = { command, text: whole }
      return null
    }
    return { command, values: message.length > maxMessageChars ? null : parseParameters(whole) }
  }
}

/** Parses parameters separated by commas. Texts are in quotation marks, which they cannot contain. */
function parseParameters(text: string): readonly string[] | null {
  const values: string[] = []
  const item = /\s*(?:"([^"]*)"|([^",]*))\s*(,|$)/y
  for (;;) {
    const [, quoted, bare = '', comma] = item.exec(text) ?? []
    if (comma === undefined) return null
    values.push(quoted ?? bare.trim())
    if (comma === '') return values
  }
}

// --- Error codes ------------------------------------------------------------------------------------------------------

const otherError = 99

const errorTexts: Readonly<Record<number, string>> = {
  1: 'syntax error',
  2: 'unknown command',
  3: 'incomplete divided message',
  4: 'invalid parameter',
  5: 'transmission timeout',
  11: 'nothing in this charging port',
  90: 'busy',
  92: 'busy (safe mode)',
  93: 'busy (extension)',
  [otherError]: 'other error',
}

export function describeErrorCode(code: number): string {
  return `NAK ${String(code).padStart(2, '0')}, ${errorTexts[code] ?? 'undocumented error'}`
}

/** True if the same query may succeed later. */
export function isBusy(reply: Reply): boolean {
  return 'errorCode' in reply && [90, 92, 93].includes(reply.errorCode)
}

// --- Values -----------------------------------------------------------------------------------------------------------

/** Returns NaN for anything else. */
export function parseInteger(value: string): number {
  return /^[-+]?\d{1,9}$/.test(value) ? Number(value) : Number.NaN
}

/** Parses hours and minutes in four digits, such as `0230`, to minutes. Returns NaN for anything else. */
export function parseMinutes(value: string): number {
  const [, hours, minutes] = /^(\d\d)([0-5]\d)$/.exec(value) ?? []
  return Number(hours) * 60 + Number(minutes)
}
