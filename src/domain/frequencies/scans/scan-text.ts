/** The text of scan files: decoding, lines, cells, decimal numbers and times. */

const decodedAtOnce = 8192

/**
 * Decodes a text file as UTF-16 if it begins with a byte order mark or with ASCII characters in UTF-16, otherwise as
 * Latin-1. Scans are ASCII except for comments, which are not used, and the micro sign.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe) return decodeUtf16(bytes.subarray(2), 0)
  if (first === 0xfe && second === 0xff) return decodeUtf16(bytes.subarray(2), 1)
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return decodeUtf16(bytes, 0)
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return decodeUtf16(bytes, 1)
  return decodeLatin1(first === 0xef && second === 0xbb && third === 0xbf ? bytes.subarray(3) : bytes)
}

export function decodeLatin1(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let start = 0; start < bytes.length; start += decodedAtOnce) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + decodedAtOnce)))
  }
  return parts.join('')
}

/** `low` is the position of the lower byte in each pair. */
function decodeUtf16(bytes: Uint8Array, low: 0 | 1): string {
  const codes = new Uint16Array(bytes.length >> 1)
  for (let index = 0; index < codes.length; index += 1) {
    const start = index * 2
    codes[index] = (bytes[start + low] ?? 0) | ((bytes[start + 1 - low] ?? 0) << 8)
  }
  const parts: string[] = []
  for (let start = 0; start < codes.length; start += decodedAtOnce) {
    parts.push(String.fromCharCode(...codes.subarray(start, start + decodedAtOnce)))
  }
  return parts.join('')
}

export interface Line {
  readonly number: number
  readonly text: string
}

/** Skips empty lines. A line ends with LF, CRLF or CR. */
export function* linesOf(text: string): Iterable<Line> {
  const end = text.includes('\n') ? '\n' : '\r'
  let number = 0
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf(end, start)
    const stop = next === -1 ? text.length : next
    number += 1
    const line = text.slice(start, stop).trim()
    if (line !== '') yield { number, text: line }
    start = stop + 1
  }
}

export type Delimiter = ',' | ';' | '\t' | ' '

/** Splits a line into cells. Removes quotes around cells, and empty cells at the end. */
export function cellsOf(text: string, delimiter: Delimiter): string[] {
  const cells = text.includes('"') ? splitQuoted(text, delimiter) : text.split(delimiter === ' ' ? / +/ : delimiter)
  const trimmed = cells.map((cell) => cell.trim())
  while (trimmed.at(-1) === '') trimmed.pop()
  return trimmed
}

function splitQuoted(text: string, delimiter: Delimiter): string[] {
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === delimiter && !isQuoted) {
      cells.push(cell)
      cell = ''
    } else cell += character
  }
  return [...cells, cell]
}

const decimal = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i

/** Accepts a decimal point or comma; null if the text is not a number. */
export function parseDecimal(text: string): number | null {
  return decimal.test(text) ? Number(text.replace(',', '.')) : null
}

export function isUnmeasured(text: string): boolean {
  return /^([+-]?(nan|inf|infinity))?$/i.test(text)
}

/** Quotes a part of the file in an error message: at most 24 printable ASCII characters and unit signs. */
export function quote(text: string): string {
  const printable = text.replace(/[^\x20-\x7eµΩ]/g, '?')
  return `"${printable.length > 24 ? `${printable.slice(0, 24)}…` : printable}"`
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * Parses a date and time without a time zone as local time of this process, in epoch milliseconds. Returns null for
 * anything else. `11/22/2026` begins with the month unless only the day is possible; `22.11.2026` begins with the day.
 */
export function parseLocalTime(date: string, time: string): number | null {
  const day = parseDay(date)
  const [, hours, minutes, seconds = '0', half] =
    /^(\d{1,2}):([0-5]\d)(?::([0-5]\d(?:[.,]\d{1,9})?))?\s*([ap]m)?$/i.exec(time.trim()) ?? []
  if (day === null || hours === undefined) return null
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  const milliseconds = Math.floor(Number(seconds.replace(',', '.')) * 1000)
  const parsed = new Date(day.year, day.month - 1, day.day, hour, Number(minutes), 0, milliseconds)
  const isSameDay = parsed.getMonth() === day.month - 1 && parsed.getDate() === day.day
  return hour < 24 && isSameDay ? parsed.getTime() : null
}

function parseDay(text: string): { readonly year: number; readonly month: number; readonly day: number } | null {
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text)
  if (iso !== null) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) }
  const numeric = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$/.exec(text)
  if (numeric !== null) {
    const [first, second, year] = [Number(numeric[1]), Number(numeric[3]), Number(numeric[4])]
    const beginsWithDay = numeric[2] === '.' || first > 12
    return beginsWithDay ? { year, month: second, day: first } : { year, month: first, day: second }
  }
  const named = /^(?:[a-z]{3} )?([a-z]{3}) +(\d{1,2}) (\d{4})$/i.exec(text)
  const month = months.indexOf(named?.[1]?.toLowerCase() ?? '') + 1
  return named === null || month === 0 ? null : { year: Number(named[3]), month, day: Number(named[2]) }
}
