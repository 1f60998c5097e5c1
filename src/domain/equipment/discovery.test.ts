import { describe, expect, test } from 'vitest'
import { queueStatuses } from '../../contract/values.ts'
import { boundMetadata, nextStatuses } from './discovery.ts'

// Conformance: S-3.7.
test('nextStatuses covers every status, and imported is final', () => {
  expect(Object.keys(nextStatuses).sort()).toEqual([...queueStatuses].sort())
  expect(nextStatuses.imported).toEqual([])
  expect(nextStatuses.rejected).toEqual(['pending'])
})

describe('boundMetadata', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

  // Conformance: C-4.16.
  test('keeps valid metadata unchanged', () => {
    expect(boundMetadata({ device_id: 'a', levels: [1, null] })).toEqual({ device_id: 'a', levels: [1, null] })
    expect(boundMetadata(undefined)).toBeNull()
  })

  test('replaces control characters and lone surrogates in text, and removes direction overrides', () => {
    const unusual = { text: 'a\u0000b\u001bc\ud800d', list: ['\u202e<b>'] }
    expect(boundMetadata(unusual)).toEqual({ text: 'a b c\ufffdd', list: ['<b>'] })
  })

  // Reliability: 3.8.4.
  test('masks secrets', () => {
    expect(boundMetadata({ device_id: 'a', auth: { shared_key: 'x' } })).toEqual({
      device_id: 'a',
      auth: { shared_key: '********' },
    })
  })

  // Reliability: U20.
  test.each([
    ['too deep', nested(65)],
    ['far too deep', JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))],
    ['too large', { text: 'x'.repeat(64 * 1024) }],
  ])('drops metadata that is %s', (_name, metadata) => {
    expect(boundMetadata(metadata)).toEqual({ truncated: true })
  })
})
