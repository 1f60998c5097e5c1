/** What may be a password, and what may be a user name. */

import { commonPasswords } from './common-passwords.ts'

const minChars = 12
const maxBytes = 256

/** Why it cannot be a password, as a sentence for the person who chose it; null when it can. */
export function passwordProblem(password: string, username: string): string | null {
  if ([...password].length < minChars) return `expected at least ${minChars} characters`
  if (new TextEncoder().encode(password).length > maxBytes) return `expected at most ${maxBytes} bytes`
  if (isCommon(password, username))
    return 'this one is too easy to guess; take several words that have nothing in common'
  return null
}

/** The same text typed on different keyboards is the same password. */
export function normalizePassword(password: string): string {
  return password.normalize('NFC')
}

function isCommon(password: string, username: string): boolean {
  const text = password.normalize('NFKC').toLowerCase()
  if (isRepeated(text) || isRun(text)) return true
  // "Micwatch-2026!" is "micwatch" with decoration; so is "password12345".
  const core = text.replace(/[^\p{L}]+/gu, '')
  if (core === '') return commonPasswords.has(text)
  return commonPasswords.has(text) || commonPasswords.has(core) || isRepeated(core) || core === username.toLowerCase()
}

/** "aaaaaaaaaaaa", "abcabcabcabc", "micwatchmicwatch". */
function isRepeated(text: string): boolean {
  if (text.length < 6) return false
  for (let size = 1; size <= text.length / 2; size++) {
    const unit = text.slice(0, size)
    if ((size <= 4 || commonPasswords.has(unit)) && unit.repeat(Math.ceil(text.length / size)).startsWith(text))
      return true
  }
  return false
}

const runs = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiopasdfghjklzxcvbnm', 'qwertzuiopasdfghjklyxcvbnm']
  .map((run) => run.repeat(3))
  .flatMap((run) => [run, [...run].reverse().join('')])

/** "123456789012", "qwertyuiopas". */
function isRun(text: string): boolean {
  return runs.some((run) => run.includes(text))
}

const usernamePattern = '^[\\p{L}\\p{N}][\\p{L}\\p{N}._@-]{0,63}$'

export function isUsername(name: string): boolean {
  return new RegExp(usernamePattern, 'u').test(name)
}

/** Names that look alike are one account. */
export function usernameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

/** What the thread that hashes is asked: with a hash whether it fits, without one to make one. */
export interface HashTask {
  readonly password: string
  readonly hash?: string
}

export type HashResult =
  | { readonly ok: true; readonly value: string | boolean }
  | { readonly ok: false; readonly error: string }
