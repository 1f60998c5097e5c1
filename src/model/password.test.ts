import { describe, expect, it } from 'vitest'
import { leakedPasswords } from './leaked-passwords.ts'
import { isUsername, passwordProblem, usernameKey } from './password.ts'

describe('a password', () => {
  it.each([
    'correct horse battery',
    'Größere Bühne links',
    'xK4#pL9!vQ2m',
    'twelve chars',
    '🎤🎧🎸🎹🥁🎺🎻🪕🎷🪗🪘🎙',
    'micwatch is not all there is',
  ])('%s will do', (password) => expect(passwordProblem(password, 'ana')).toBeNull())

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
    // Of the leaked lists, as they stand there and with decoration.
    ['1q2w3e4r5t6y', 'easy to guess'],
    ['Finalfantasy', 'easy to guess'],
    ['needforspeed', 'easy to guess'],
    ['!!Rammstein-2026', 'easy to guess'],
    ['chickenwing101', 'easy to guess'],
  ])('%s will not', (password, why) => expect(passwordProblem(password, 'bartholomew')).toContain(why))
})

// Reliability: 3.6.1.
it('is none of the commonest, of which at least 3,000 are known', () => {
  expect(new Set(leakedPasswords).size).toBeGreaterThanOrEqual(3000)
  for (const password of leakedPasswords) expect([password, passwordProblem(password, 'ana')]).not.toContain(null)
})

describe('a user name', () => {
  it.each(['ana', 'Ana.K', 'ana@venue.example', 'Jürgen', '李雷', 'a'.repeat(64)])('%s will do', (name) =>
    expect(isUsername(name)).toBe(true),
  )
  it.each(['', ' ', 'ana k', '.ana', 'a'.repeat(65), 'ana\n', '<b>', 'ana\u0000'])('%j will not', (name) =>
    expect(isUsername(name)).toBe(false),
  )
  it('is the same in any case and width', () => expect(usernameKey('ＡNA')).toBe(usernameKey('ana')))
})
