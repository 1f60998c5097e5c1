import { describe, expect, it } from 'vitest'
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
    ['aaaaaaaaaaaa', 'easy to guess'],
    ['123456789012', 'easy to guess'],
    ['qwertyuiopas', 'easy to guess'],
    ['bartholomew-1', 'easy to guess'],
  ])('rejects %s', (password, reason) => expect(passwordProblem(password, 'bartholomew')).toContain(reason))
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
