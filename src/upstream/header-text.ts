/** What an HTTP request header can carry (RFC 9110, section 5). */

const token = /^[!#$%&'*+.^_`|~\w-]+$/
/** Printable Latin-1 without white space at the ends, which the receiver would remove. */
const fieldValue = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/

/** Headers that the HTTP client sets itself or refuses. */
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

/** Whether `name` can be the name of a header that a setting adds to every request. */
export function isFreeHeaderName(name: string): boolean {
  const lower = name.toLowerCase()
  return token.test(name) && !reserved.has(lower) && !lower.startsWith('sec-websocket-')
}

export function isHeaderValue(text: string): boolean {
  return fieldValue.test(text)
}
