import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatCancellation, formatGetRequest, formatSubscription, parseMessage } from './codec.ts'

test('an address is a nested object, several share one message', () => {
  expect(JSON.parse(formatGetRequest(['/rx1/name', '/rx1/frequency', '/device/identity/product']))).toEqual({
    rx1: { name: null, frequency: null },
    device: { identity: { product: null } },
  })
})

test('a subscription names its terms beside what it wants', () => {
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

test('values and refusals of one message', () => {
  // Seen from an EW-DX EM 2: jskeet DigiMixer, SscMessageTest.
  const seen =
    '{"osc":{"error":[{"abc":[404,{"desc":"address not found"}],"mates":{"tx1":{"battery":{"type":[424,{"desc":"failed dependency"}]}}}}]},"device":{"name":"EWDXEM2"}}'
  const { values, errors } = parseMessage(seen) ?? {}
  expect([...(values ?? [])]).toEqual([['/device/name', 'EWDXEM2']])
  expect(errors).toEqual([
    { address: '/abc', code: 404, text: 'address not found' },
    { address: '/mates/tx1/battery/type', code: 424, text: 'failed dependency' },
  ])
})

test('a refusal may be an object as well', () => {
  expect(parseMessage('{"osc":{"error":{"rx1":{"name":{"code":423,"desc":"locked"}}}}}')?.errors).toEqual([
    { address: '/rx1/name', code: 423, text: 'locked' },
  ])
})

test('arrays and null are values', () => {
  const { values } = parseMessage('{"mm":[[83,0,53,0,1,1,128,165,0]],"rx1":{"skx":{"battery":[]}},"rx2":null}') ?? {}
  expect(Object.fromEntries(values ?? [])).toEqual({
    '/mm': [[83, 0, 53, 0, 1, 1, 128, 165, 0]],
    '/rx1/skx/battery': [],
    '/rx2': null,
  })
})

describe('what is no message', () => {
  test.each(['', 'oops', '[]', '7', 'null', '"x"', '{"a":', `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`])(
    '%.20s',
    (text) => {
      expect(parseMessage(text)).toBeNull()
    },
  )

  test('nothing that is JSON trips it', () => {
    fc.assert(fc.property(fc.json(), (text) => parseMessage(text) !== undefined))
    const errors = fc.jsonValue().map((error) => JSON.stringify({ osc: { error } }))
    fc.assert(fc.property(errors, (text) => Array.isArray(parseMessage(text)?.errors)))
  })

  test('a message of thousands of values is read in part', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`v${at}`, at]))
    expect(parseMessage(JSON.stringify(many))?.values.size).toBe(2000)
  })
})
