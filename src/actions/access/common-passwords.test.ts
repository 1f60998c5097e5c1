import { describe, expect, it } from 'vitest'
import { passwordProblem } from '../../domain/access/password.ts'
import { commonPasswords as common } from './common-passwords.ts'

describe('passwordProblem with the list of common passwords', () => {
  it.each([
    'correct horse battery',
    'Größere Bühne links',
    'xK4#pL9!vQ2m',
    'twelve chars',
    '🎤🎧🎸🎹🥁🎺🎻🪕🎷🪗🪘🎙',
    'micwatch is not all there is',
  ])('accepts %s', (password) => expect(passwordProblem(password, 'ana', common)).toBeNull())

  // Conformance: C-6.17.
  // Reliability: 3.6.1.
  it.each([
    'password12345',
    'Micwatch-2026!',
    'micwatchmicwatch',
    'Administrator1',
    // Leaked passwords, unchanged and with added digits and punctuation.
    '1q2w3e4r5t6y',
    'Finalfantasy',
    'needforspeed',
    '!!Rammstein-2026',
    'chickenwing101',
  ])('rejects %s', (password) => expect(passwordProblem(password, 'bartholomew', common)).toContain('easy to guess'))

  // Reliability: 3.6.1.
  it('rejects every common password, of which at least 3,000 are listed', () => {
    expect(common.size).toBeGreaterThanOrEqual(3000)
    for (const password of common) expect([password, passwordProblem(password, 'ana', common)]).not.toContain(null)
  })
})
