import { describe, expect, test } from 'vitest'
import { isOwnAddress } from '../pages.ts'
import { displayNameOf, roleOf } from './oidc.ts'
import { isUsername } from './password.ts'

const mapping = { crew: 'operator', guests: 'viewer', leads: 'admin', 'Sound crew': 'operator' } as const

describe('roleOf', () => {
  // Conformance: C-16.83.
  test.each([
    [['guests', 'leads', 'crew'], 'admin'],
    [['other', 'guests'], 'viewer'],
    ['crew', 'operator'],
    ['other crew  guests', 'operator'],
    ['Sound crew', 'operator'],
    [['Sound crew'], 'operator'],
  ])('%j has the role %s', (claim, role) => expect(roleOf(claim, mapping)).toBe(role))

  // Conformance: C-16.84.
  test.each([
    undefined,
    null,
    '',
    [],
    ['other'],
    'Crew',
    ['crew guests'],
    [['crew']],
    { crew: true },
    'constructor',
    7,
  ])('%j has no role', (claim) => expect(roleOf(claim, mapping)).toBeNull())
})

describe('displayNameOf', () => {
  const nameOf = (claims: Record<string, unknown>) => displayNameOf({ issuer: 'https://a', subject: 'u 1', claims })

  test('is the first name that the provider knows, without control characters and shortened', () => {
    expect(nameOf({ name: 'Ana Smith', email: 'a@b' })).toBe('Ana Smith')
    expect(nameOf({ name: ' ', preferred_username: 'Ana \u202eSmith\n' })).toBe('Ana Smith')
    expect(nameOf({ name: 7 })).toBe('u 1')
    expect(nameOf({ name: `A ${'b'.repeat(100)}` })).toHaveLength(64)
  })

  // Conformance: C-16.82.
  test.each(['root', 'ana@example.org', 'ｒｏｏｔ', 'ro\u200bot', 'рооt'])(
    'is never a name of a local user: %s',
    (name) => {
      const shown = nameOf({ name })
      expect(shown).toMatch(/ \(SSO\)$/)
      expect(isUsername(shown)).toBe(false)
    },
  )
})

describe('isOwnAddress', () => {
  test.each(['/', '/wall', '/wall?view=1&x=%20', '/help/index.html#a', '/a/..b'])('accepts %s', (text) =>
    expect(isOwnAddress(text, '')).toBe(true),
  )
  test.each([
    '',
    'wall',
    '//evil',
    '/\\evil',
    '/a\\..\\b',
    '/a/../b',
    '/a/%2E%2e/b',
    '/..',
    '/a b',
    '/\t/evil',
    'https://a/',
  ])('rejects %j', (text) => expect(isOwnAddress(text, '')).toBe(false))
  test('accepts only what is below the mount prefix', () => {
    expect(['/venue', '/venue/wall'].map((text) => isOwnAddress(text, '/venue'))).toEqual([true, true])
    expect(['/', '/wall', '/venue-2'].map((text) => isOwnAddress(text, '/venue'))).toEqual([false, false, false])
  })
})
