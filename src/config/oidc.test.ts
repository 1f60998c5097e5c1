import { expect, test } from 'vitest'
import { toOidc } from './oidc.ts'

const roles = { crew: 'operator' } as const

// Conformance: C-16.92.
test('toOidc has defaults, and needs an issuer, a client and roles', () => {
  expect(toOidc({})).toBeNull()
  expect(toOidc({ label: 'x' })).toBe('issuer')
  expect(toOidc({ issuer: 'https://a' })).toBe('client_id')
  expect(toOidc({ issuer: 'https://a', client_id: 'm' })).toBe('roles')
  expect(toOidc({ issuer: 'https://a', client_id: 'm', roles })).toEqual({
    issuer: 'https://a',
    client_id: 'm',
    client_secret: null,
    scopes: ['openid', 'profile', 'email'],
    role_claim: 'groups',
    roles,
    label: 'Single sign-on',
  })
  expect(toOidc({ issuer: 'https://a', client_id: 'm', roles, scopes: ['openid', 'groups'] })).toMatchObject({
    scopes: ['openid', 'groups'],
  })
})
