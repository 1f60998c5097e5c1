/** Unicode embeddings, overrides and isolates of text direction. With these, a name can look like another. */
export const directionOverrides = /[\u202a-\u202e\u2066-\u2069]/g

/** Validates names and values of HTTP request headers (RFC 9110, section 5). */
const token = /^[!#$%&'*+.^_`|~\w-]+$/
/** Printable Latin-1 characters, without white space at the ends, which the recipient would remove. */
const fieldValue = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/

/** Headers that the HTTP client sets itself or rejects. */
const reserved = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** True if a setting may add a header of this name to every request. */
export function isFreeHeaderName(name: string): boolean {
  const lower = name.toLowerCase()
  return token.test(name) && !reserved.has(lower) && !lower.startsWith('sec-websocket-')
}

export function isHeaderValue(text: string): boolean {
  return fieldValue.test(text)
}

/** Converts the description of an error to a sentence. */
export function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** Names that differ only in case or accents have the same key. */
export function nameKey(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

/** Returns a pattern that matches only this text. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
