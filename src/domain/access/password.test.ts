import { describe, expect, it } from 'vitest'
import { leakedPasswords } from './leaked-passwords.ts'
import { isUsername, passwordProblem, usernameKey } from './password.ts'

describe('passwordProblem', () => {
  it.each([
    'correct horse battery',
    'Größere Bühne links',
    'xK4#pL9!vQ2m',
    'twelve chars',
    '🎤🎧🎸🎹🥁🎺🎻🪕🎷🪗🪘🎙',
    'micwatch is not all there is',
  ])('accepts %s', (password) => expect(passwordProblem(password, 'ana')).toBeNull())

  // Conformance: C-6.17.
  // Reliability: 3.6.1.
  it.each([
    ['elevenchars', 'at least 12'],
    ['äöüäöü', 'at least 12'],
    ['x'.repeat(200) + 'ä'.repeat(40), 'at most 256 bytes'],
    ['password12345', 'easy to guess'],
    ['Micwatch-2026!', 'easy to guess'],
    ['micwatchmicwatch', 'easy to guess'],
    ['aaaaaaaaaaaa', 'easy to guess'],
    ['123456789012', 'easy to guess'],
    ['qwertyuiopas', 'easy to guess'],
    ['Administrator1', 'easy to guess'],
    ['bartholomew-1', 'easy to guess'],
    // Leaked passwords, unchanged and with added digits and punctuation.
    ['1q2w3e4r5t6y', 'easy to guess'],
    ['Finalfantasy', 'easy to guess'],
    ['needforspeed', 'easy to guess'],
    ['!!Rammstein-2026', 'easy to guess'],
    ['chickenwing101', 'easy to guess'],
  ])('rejects %s', (password, reason) => expect(passwordProblem(password, 'bartholomew')).toContain(reason))
})

// Reliability: 3.6.1.
it('passwordProblem rejects all leaked passwords, of which at least 3,000 are listed', () => {
  expect(new Set(leakedPasswords).size).toBeGreaterThanOrEqual(3000)
  for (const password of leakedPasswords) expect([password, passwordProblem(password, 'ana')]).not.toContain(null)
})

describe('isUsername', () => {
  it.each(['ana', 'Ana.K', 'ana@venue.example', 'Jürgen', '李雷', 'a'.repeat(64)])('accepts %s', (name) =>
    expect(isUsername(name)).toBe(true),
  )
  it.each(['', ' ', 'ana k', '.ana', 'a'.repeat(65), 'ana\n', '<b>', 'ana\u0000'])('rejects %j', (name) =>
    expect(isUsername(name)).toBe(false),
  )
  it('usernameKey ignores case and width', () => expect(usernameKey('ＡNA')).toBe(usernameKey('ana')))
})
