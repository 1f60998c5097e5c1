import { describe, expect, it } from 'vitest'
import { checkMessage, checkResponse } from './support/response-check.ts'

const location = {
  id: 1,
  name: 'Hall',
  description: '',
  parent: null,
  zone: null,
  country: null,
  latitude: null,
  longitude: null,
  version: 1,
}
const respond = (status: number, json: unknown, type = 'application/json; charset=utf-8') => ({
  status,
  headers: { 'content-type': type },
  bytes: Buffer.from(JSON.stringify(json) ?? ''),
  json,
})
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

  it('rejects a status that the operation does not describe, whatever its body', () => {
    expect(() => check(201, location)).toThrow('GET /api/admin/locations/ 201 is not described')
    expect(() => check(409, { error: 'Already in use: Hall.', status: 409 })).toThrow('409 is not described')
    expect(() => check(415, { error: 'Not JSON.', status: 415 })).toThrow('415 is not described')
    check(409, { error: 'Already in use: Hall.', status: 409 }, 'POST')
    check(415, { error: 'Not JSON.', status: 415 }, 'POST')
  })

  it('rejects an error of another shape, also at an unknown address', () => {
    expect(() => check(400, { message: 'no' })).toThrow('differs from the contract')
    expect(() => check(404, { message: 'no' }, 'GET', '/api/nowhere')).toThrow('is not the standard error')
  })

  it('rejects another media type, and a body of a response without content', () => {
    const html = respond(200, undefined, 'text/html')
    expect(() => checkResponse('GET', '/api/admin/locations/', html)).toThrow('has the media type text/html')
    expect(() => checkResponse('GET', '/api/events.csv', html)).toThrow('has the media type text/html')
    checkResponse('GET', '/api/events.csv', respond(200, undefined, 'text/csv; charset=utf-8'))
    expect(() => check(204, {}, 'DELETE', '/api/admin/locations/1/')).toThrow('204 has the media type')
  })

  it('prefers the action to the record at the same address', () => {
    const tested = { status: 'healthy', sources: [] }
    check(200, tested, 'POST', '/api/admin/manufacturers/test')
  })
})

describe('the check of messages', () => {
  const event = { type: 'event_deleted', id: 51 }

  it('accepts the messages of each version', () => {
    checkMessage('v1', event)
    checkMessage('v2', { ...event, seq: 1 })
  })

  it.each([
    ['of the other version', { ...event, seq: 1 }, 'v1_event_deleted differs from the contract'],
    ['of an unknown type', { type: 'binary' }, 'v1_binary is not described'],
    ['with a field of another type', { ...event, id: '51' }, 'v1_event_deleted differs from the contract'],
    ['without a field', { type: 'event_deleted' }, 'v1_event_deleted differs from the contract'],
  ])('rejects a message %s', (_, message, problem) => {
    expect(() => checkMessage('v1', message)).toThrow(problem)
  })
})
