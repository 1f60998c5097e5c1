const minChars = 12
const maxBytes = 256

/** Common passwords in lower case. */
type CommonPasswords = Pick<ReadonlySet<string>, 'has'>

/**
 * Returns a message for the user if the password is not acceptable, otherwise null. Pages do not have the long list of
 * common passwords and leave that check to the service.
 */
export function passwordProblem(
  password: string,
  username: string,
  common: CommonPasswords = new Set(),
): string | null {
  if ([...password].length < minChars) return `expected at least ${minChars} characters`
  if (utf8Bytes(password) > maxBytes) return `expected at most ${maxBytes} bytes`
  if (isEasyToGuess(password, username, common)) return 'too easy to guess; use several unrelated words'
  return null
}

/** Different keyboards produce different Unicode sequences for the same text. */
export function normalizePassword(password: string): string {
  return password.normalize('NFC')
}

function utf8Bytes(text: string): number {
  let bytes = 0
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0
    bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4
  }
  return bytes
}

function isEasyToGuess(password: string, username: string, common: CommonPasswords): boolean {
  const text = password.normalize('NFKC').toLowerCase()
  if (isRepeated(text, common) || isRun(text)) return true
  // "Micwatch-2026!" and "password12345" are common words with digits and punctuation.
  const core = text.replace(/[^\p{L}]+/gu, '')
  if (core === '') return common.has(text)
  return common.has(text) || common.has(core) || isRepeated(core, common) || core === username.toLowerCase()
}

/** True for text such as "aaaaaaaaaaaa", "abcabcabcabc" or "micwatchmicwatch". */
function isRepeated(text: string, common: CommonPasswords): boolean {
  if (text.length < 6) return false
  for (let size = 1; size <= text.length / 2; size++) {
    const unit = text.slice(0, size)
    if ((size <= 4 || common.has(unit)) && unit.repeat(Math.ceil(text.length / size)).startsWith(text)) return true
  }
  return false
}

const runs = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiopasdfghjklzxcvbnm', 'qwertzuiopasdfghjklyxcvbnm']
  .map((run) => run.repeat(3))
  .flatMap((run) => [run, [...run].reverse().join('')])

/** True for text such as "123456789012" or "qwertyuiopas". */
function isRun(text: string): boolean {
  return runs.some((run) => run.includes(text))
}

/** For patterns with the flag `u`. */
export const usernamePattern = '^[\\p{L}\\p{N}][\\p{L}\\p{N}._@-]{0,63}$'

export function isUsername(name: string): boolean {
  return new RegExp(usernamePattern, 'u').test(name)
}

/** Returns the key of an account. Names that differ only in case or Unicode compatibility forms share a key. */
export function usernameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

/** A request to the hashing thread. With `hash`, the thread verifies the password; otherwise it hashes it. */
export interface HashTask {
  readonly password: string
  readonly hash?: string
}

export type HashResult =
  | { readonly ok: true; readonly value: string | boolean }
  | { readonly ok: false; readonly error: string }
