/**
 * Replaces private values in a capture, the same value always with the same replacement. A replacement has the length
 * and the kinds of characters of the value, because many protocols have fields of fixed width.
 */

import { isIPv4 } from 'node:net'
import type { PrivateKind } from '../../domain/captures.ts'
import { digitsOfMac, macPattern, type PrivateValues } from './private-values.ts'

export interface RedactionOptions {
  /** Everything found by `findInJson` and `findInText`. */
  readonly values: PrivateValues
  /** Words of the protocol. A name that is one of them is replaced only where it is a complete value. */
  readonly words: ReadonlySet<string>
  /** Values that stay: models, versions. */
  readonly kept: ReadonlySet<string>
  /** Returns a whole number below `limit`. */
  readonly random: (limit: number) => number
}

const ipv4 = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g
const ipv6 = /(?<![0-9a-f:])(?:[0-9a-f]{1,4}:){1,7}:(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*)?(?![0-9a-f:])/gi
const minAnywhere = 3
const minDigitsAnywhere = 5
const valuesPerPattern = 200

export class Redaction {
  readonly #options: RedactionOptions
  /** By kind and value. */
  readonly #replacements = new Map<string, string>()
  readonly #used = new Set<string>()
  readonly #patterns: readonly RegExp[]
  /** For messages that are not text. */
  readonly #binaryPatterns: readonly RegExp[]
  /** Each form in which a value may occur -> its replacement. */
  readonly #forms = new Map<string, string>()

  constructor(options: RedactionOptions) {
    this.#options = options
    const anywhere: string[] = []
    const complete: string[] = []
    const binary: string[] = []
    const kept = [...options.kept]
    for (const [value, kind] of options.values) {
      if (options.kept.has(value) || isNoDevice(kind, value)) continue
      const replacement = this.#replacementOf(kind, value)
      for (const form of binaryFormsOf(kind, value)) {
        this.#forms.set(form(value), form(replacement))
        binary.push(form(value))
      }
      // Addresses in text are found by their form.
      if (kind === 'ip') continue
      const forms = formsOf(kind, value)
      for (const form of forms) this.#forms.set(form(value), form(replacement))
      const isShort = value.length < minAnywhere || (!/\p{L}/u.test(value) && value.length < minDigitsAnywhere)
      // A name that is part of a model is in the capture anyway.
      const isWord = options.words.has(value) || kept.some((text) => text.includes(value))
      const isAmbiguous = kind === 'name' && (isShort || isWord)
      ;(isAmbiguous ? complete : anywhere).push(...forms.map((form) => form(value)))
    }
    this.#binaryPatterns = toPatterns(binary, (value) => value)
    this.#patterns = [
      ...toPatterns(anywhere, (value) => `(?<![\\p{L}\\p{N}])0*${value}(?![\\p{L}\\p{N}])`),
      ...toPatterns(complete, (value) => `(?<=[{"]\\s*)${value}(?=\\s*(?:\\}|"(?!\\s*:)))`),
      ...toPatterns(complete, (value) => `(?<=\\b\\w*(?:NAME|LABEL|Name|Label)\\s)${value}(?=\\s*[\\r\\n>])`),
    ]
  }

  /** The number of different values that were replaced, by kind. */
  get counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const key of this.#replacements.keys()) {
      const kind = key.slice(0, key.indexOf(' '))
      counts[kind] = (counts[kind] ?? 0) + 1
    }
    return counts
  }

  redact(text: string): string {
    return this.redactParts([text], false).join('')
  }

  /** Redacts a text that arrived in parts. A value that continues in the next part is replaced in the first of them. */
  redactParts(parts: readonly string[], isBinary: boolean): string[] {
    let redacted = [...parts]
    for (const pattern of [...this.#patterns, ...(isBinary ? this.#binaryPatterns : [])]) {
      redacted = replaceInParts(redacted, pattern, (match) => this.#redactValue(match))
    }
    redacted = replaceInParts(redacted, macPattern, (match) => this.#redactMac(match))
    redacted = replaceInParts(redacted, ipv4, (match) => this.#redactIpv4(match))
    return replaceInParts(redacted, ipv6, (match) => this.#redactIpv6(match))
  }

  #redactValue(match: string): string {
    const replacement = this.#forms.get(match)
    if (replacement !== undefined) return replacement
    const value = match.replace(/^0+/, '')
    return match.slice(0, match.length - value.length) + (this.#forms.get(value) ?? value)
  }

  #redactMac(match: string): string {
    const separator = /[:-]|%3a/i.exec(match)?.[0] ?? ':'
    const digits = digitsOfMac(match)
    if (isNoDevice('mac', digits)) return match
    const replacement = this.#replacementOf('mac', digits)
    const pairs = (/[a-f]/.test(match) ? replacement : replacement.toUpperCase()).match(/../g) ?? []
    return pairs.join(separator)
  }

  #redactIpv4(match: string): string {
    const parts = match.split('.')
    const numbers = parts.map(Number)
    const [first = 0] = numbers
    const isPrivate = first > 0 && first !== 127 && first < 224 && numbers.every((number) => number <= 255)
    if (!isPrivate || this.#options.kept.has(match)) return match
    const replacement = this.#replacementOf('ip', numbers.join('.'))
    const isPadded = parts.every((part) => part.length === 3)
    return isPadded ? replacement.replace(/\d+/g, (part) => part.padStart(3, '0')) : replacement
  }

  #redactIpv6(match: string): string {
    return match === '::' || match === '::1' ? match : this.#replacementOf('ip', match.toLowerCase())
  }

  #replacementOf(kind: PrivateKind, value: string): string {
    const key = `${kind} ${value}`
    const known = this.#replacements.get(key)
    if (known !== undefined) return known
    const replacement = kind === 'ip' ? this.#nextAddress(value) : this.#invent(kind, value)
    this.#replacements.set(key, replacement)
    this.#used.add(replacement)
    return replacement
  }

  /** Addresses that RFC 5737, RFC 2544 and RFC 3849 reserve for documents and benchmarks. */
  #nextAddress(value: string): string {
    const number = [...this.#replacements.keys()].filter((key) => key.startsWith('ip ')).length + 1
    if (value.includes(':')) return `2001:db8::${number.toString(16)}`
    return number < 255 ? `192.0.2.${number}` : `198.18.${(number >> 8) & 255}.${number & 255}`
  }

  #invent(kind: PrivateKind, value: string): string {
    const kept = kind === 'mac' ? 6 : 0
    const { random } = this.#options
    for (let attempt = 0; ; attempt += 1) {
      const invented = value.slice(0, kept) + replaceCharacters(value.slice(kept), kind, random)
      // A value of one character has few replacements.
      const isFree = !this.#used.has(invented) && !this.#options.values.has(invented)
      if (isFree || attempt === 100) return invented
    }
  }
}

/** The addresses of no device and of all devices, and the serial number of a device that has none. */
function isNoDevice(kind: PrivateKind, value: string): boolean {
  return (kind === 'mac' && /^(?:0+|f+)$/.test(value)) || (kind === 'serial' && /^0+$/.test(value))
}

const alphabets = [
  'abcdefghijklmnopqrstuvwxyz',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  '0123456789',
  'àâçèéêëîïôùû',
  'アイカキサシタトナノマミ',
]

/** Keeps the number of UTF-8 bytes. A number gets no leading zero, which would not be valid JSON. */
function replaceCharacters(text: string, kind: PrivateKind, random: (limit: number) => number): string {
  if (kind === 'mac') return [...text].map(() => random(16).toString(16)).join('')
  return [...text]
    .map((character, index) => {
      if (index === 0 && /[1-9]/.test(character)) return String(1 + random(9))
      const alphabet = alphabets.find((letters) => letters.includes(character)) ?? similarAlphabet(character)
      return alphabet === undefined ? character : [...alphabet][random([...alphabet].length)]
    })
    .join('')
}

function similarAlphabet(character: string): string | undefined {
  const code = character.codePointAt(0) ?? 0
  if (!/\p{L}/u.test(character)) return undefined
  return code < 0x800 ? alphabets[3] : alphabets[4]
}

type Form = (value: string) => string

const plain: Form = (value) => value
const escaped: Form = (value) => JSON.stringify(value).slice(1, -1)
const escapedAscii: Form = (value) =>
  escaped(value).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const inUrl: Form = (value) => encodeURIComponent(value.toWellFormed())
const inLatin1: Form = (value) => Buffer.from(value, 'utf8').toString('latin1')
const hex: Form = (value) => Buffer.from(value, 'utf8').toString('hex')
const upperHex: Form = (value) => hex(value).toUpperCase()
const base64: Form = (value) => Buffer.from(value, 'utf8').toString('base64').replace(/=+$/, '')
const withUnderscores: Form = (value) => value.replaceAll(' ', '_')
const upper: Form = (value) => value.toUpperCase()
/** The bytes of a MAC address by which ids of devices differ. */
const macTail: Form = (digits) => digits.slice(4)
const upperMacTail: Form = (digits) => upper(macTail(digits))
const macBytes: Form = (digits) => Buffer.from(digits, 'hex').toString('latin1')
const ipBytes: Form = (ip) => Buffer.from(ip.split('.').map(Number)).toString('latin1')
const reversedIpBytes: Form = (ip) => Buffer.from(ip.split('.').map(Number).reverse()).toString('latin1')

/** Short values are too likely to occur in other values in these forms. */
const minEncoded = 4

/** Returns the texts in which a message may contain a name. */
export function textsOfName(name: string): readonly string[] {
  return formsOf('name', name).map((form) => form(name))
}

function formsOf(kind: PrivateKind, value: string): readonly Form[] {
  if (kind === 'mac') return [plain, upper, macTail, upperMacTail]
  const inText = [plain, escaped, escapedAscii, inUrl, inLatin1, withUnderscores]
  return value.length < minEncoded ? inText : [...inText, hex, upperHex, base64]
}

function binaryFormsOf(kind: PrivateKind, value: string): readonly Form[] {
  if (kind === 'mac') return [macBytes]
  return kind === 'ip' && isIPv4(value) ? [ipBytes, reversedIpBytes] : []
}

/** The longest values first, because they may contain others. */
function toPatterns(values: readonly string[], toPattern: (value: string) => string): RegExp[] {
  const longestFirst = [...new Set(values)].filter((value) => value !== '').sort((a, b) => b.length - a.length)
  return Array.from({ length: Math.ceil(longestFirst.length / valuesPerPattern) }, (_, index) => {
    const part = longestFirst.slice(index * valuesPerPattern, (index + 1) * valuesPerPattern)
    const alternatives = part.map((value) => value.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join('|')
    return new RegExp(toPattern(`(?:${alternatives})`), 'gu')
  })
}

/** Replaces matches in the joined parts. The parts keep their boundaries, except within a match. */
function replaceInParts(parts: readonly string[], pattern: RegExp, replace: (match: string) => string): string[] {
  const joined = parts.join('')
  const result: string[] = []
  const matches = [...joined.matchAll(pattern)].map(({ 0: match, index }) => ({
    start: index,
    end: index + match.length,
    text: replace(match),
  }))
  let start = 0
  let next = 0
  /** The end of the last match, which may lie in a later part. */
  let done = 0
  for (const part of parts) {
    const end = start + part.length
    let text = ''
    for (let match = matches[next]; match !== undefined && match.start < end; match = matches[++next]) {
      text += joined.slice(Math.max(start, done), match.start) + match.text
      done = match.end
    }
    result.push(text + joined.slice(Math.min(end, Math.max(start, done)), end))
    start = end
  }
  return result
}
