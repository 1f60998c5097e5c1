import { describe, expect, it } from 'vitest'
import { checkResponse } from './response-check.ts'

const location = { id: 1, name: 'Hall', description: '', parent: null, zone: null }
const respond = (status: number, json: unknown) => ({ status, headers: {}, bytes: Buffer.alloc(0), json })
const check = (status: number, json: unknown, method = 'GET', path = '/api/admin/locations/?page=1') =>
  checkResponse(method, path, respond(status, json))

describe('the check of responses', () => {
  it('accepts declared bodies, with and without paging, and the standard error', () => {
    check(200, [location])
    check(200, { count: 1, next: null, previous: null, results: [location] })
    check(404, { error: 'There is no page 2.', status: 404 })
  })

  it.each<[string, unknown]>([
    ['a missing field', [{ id: 1, name: 'Hall', parent: null }]],
    ['an undeclared field', [{ ...location, secret: 1 }]],
    ['a field of another type', [{ ...location, id: '1' }]],
    ['an undeclared field of a page', { count: 0, next: null, previous: null, results: [], more: 1 }],
  ])('rejects %s', (_, json) => {
    expect(() => check(200, json)).toThrow('differs from the contract')
  })

  it('rejects a status that the operation does not declare, and an error of another shape', () => {
    expect(() => check(201, location)).toThrow('no declared body for status 201')
    expect(() => check(409, { message: 'no' })).toThrow('no declared body for status 409')
    expect(() => check(404, { message: 'no' }, 'GET', '/api/nowhere')).toThrow('no declared body')
  })

  it('prefers the action to the record at the same address', () => {
    const tested = { status: 'healthy', sources: [] }
    check(200, tested, 'POST', '/api/admin/manufacturers/test')
  })
})
