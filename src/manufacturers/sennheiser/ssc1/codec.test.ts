import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatCancellation, formatGetRequest, formatSubscription, parseMessage } from './codec.ts'

test('formatGetRequest nests the addresses of several values in one message', () => {
  expect(JSON.parse(formatGetRequest(['/rx1/name', '/rx1/frequency', '/device/identity/product']))).toEqual({
    rx1: { name: null, frequency: null },
    device: { identity: { product: null } },
  })
})

test('formatSubscription puts the terms next to the addresses', () => {
  const terms = { lifetimeS: 30, count: 1000, minMs: 200, maxMs: 200 }
  expect(JSON.parse(formatSubscription(['/m/rx1/rssi'], terms))).toEqual({
    osc: {
      state: {
        subscribe: [{ '#': { min: 200, max: 200, count: 1000, lifetime: 30 }, m: { rx1: { rssi: null } } }],
      },
    },
  })
  expect(JSON.parse(formatCancellation([['/mm']]))).toEqual({
    osc: { state: { subscribe: [{ '#': { cancel: true }, mm: null }] } },
  })
})

test('parses the values and errors of one message', () => {
  // Received from an EW-DX EM 2: jskeet DigiMixer, SscMessageTest.
  const message =
    '{"osc":{"error":[{"abc":[404,{"desc":"address not found"}],"mates":{"tx1":{"battery":{"type":[424,{"desc":"failed dependency"}]}}}}]},"device":{"name":"EWDXEM2"}}'
  const { values, errors } = parseMessage(message) ?? {}
  expect([...(values ?? [])]).toEqual([['/device/name', 'EWDXEM2']])
  expect(errors).toEqual([
    { address: '/abc', code: 404, text: 'address not found' },
    { address: '/mates/tx1/battery/type', code: 424, text: 'failed dependency' },
  ])
})

test('parses an error in the form of an object', () => {
  expect(parseMessage('{"osc":{"error":{"rx1":{"name":{"code":423,"desc":"locked"}}}}}')?.errors).toEqual([
    { address: '/rx1/name', code: 423, text: 'locked' },
  ])
})

test('parses an error about a whole message', () => {
  // In this form, a KH 120 II rejects a message with an address that it does not have, according to its owner.
  const rejected = { address: '', code: 400, text: 'message not understood' }
  expect(parseMessage('{"osc":{"error":[400,{"desc":"message not understood"}]}}')?.errors).toEqual([rejected])
  const asObject = '{"osc":{"error":[{"desc":"message not understood","code":400}]}}'
  expect(parseMessage(asObject)?.errors).toEqual([rejected])
})

test('parses arrays and null as values', () => {
  const { values } = parseMessage('{"mm":[[83,0,53,0,1,1,128,165,0]],"rx1":{"skx":{"battery":[]}},"rx2":null}') ?? {}
  expect(Object.fromEntries(values ?? [])).toEqual({
    '/mm': [[83, 0, 53, 0, 1, 1, 128, 165, 0]],
    '/rx1/skx/battery': [],
    '/rx2': null,
  })
})

describe('invalid messages', () => {
  test.each(['', 'oops', '[]', '7', 'null', '"x"', '{"a":', `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`])(
    'returns null for %.20s',
    (text) => {
      expect(parseMessage(text)).toBeNull()
    },
  )

  test('never throws for arbitrary JSON', () => {
    fc.assert(fc.property(fc.json(), (text) => parseMessage(text) !== undefined))
    const errors = fc.jsonValue().map((error) => JSON.stringify({ osc: { error } }))
    fc.assert(fc.property(errors, (text) => Array.isArray(parseMessage(text)?.errors)))
  })

  test('reads at most 2000 values of a message', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`v${index}`, index]))
    expect(parseMessage(JSON.stringify(many))?.values.size).toBe(2000)
  })
})
