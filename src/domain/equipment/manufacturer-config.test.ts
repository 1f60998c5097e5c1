import { describe, expect, it } from 'vitest'
import {
  type ConfigKey,
  changedConfig,
  fieldValue,
  findRepeatedCode,
  isChecked,
  listUnshownKeys,
  resolveKey,
} from './manufacturer-config.ts'

const all: readonly ConfigKey[] = ['api_base_url', 'shared_key', 'ssl_verify', 'timeout', 'auth_header', 'devices']
const stored = {
  api_base_url: 'https://10.0.0.1:10000',
  shared_key: '********',
  timeout: 10,
  devices: ['http://10.0.0.2', { url: 'http://10.0.0.3', password: '********' }],
}

/** Fills a form with the stored values, changes some fields, and returns the changes that submitting it would send. */
const submit = (config: Record<string, unknown>, changes: Record<string, string | null> = {}) => {
  const values = all.map((key) => {
    const isCheckbox = key === 'ssl_verify' || key === 'auth_header'
    const value = isCheckbox ? (isChecked(config, key) ? 'on' : null) : fieldValue(config, key)
    return [resolveKey(config, key), value] as const
  })
  const inputs = { ...Object.fromEntries(values), ...changes }
  return changedConfig(config, all, (name) => inputs[name] ?? null)
}

describe('changedConfig', () => {
  it.each([
    ['nothing', {}, {}],
    ['an address', { api_base_url: ' https://10.0.0.9 ' }, { api_base_url: 'https://10.0.0.9' }],
    ['a number', { timeout: '7' }, { timeout: 7 }],
    ['text that is not a number', { timeout: 'long' }, { timeout: 'long' }],
    ['an emptied field', { timeout: '' }, { timeout: null }],
    ['a secret', { shared_key: 'new' }, { shared_key: 'new' }],
    ['a cleared checkbox that is on by default', { ssl_verify: null }, { ssl_verify: false }],
    ['a checked checkbox that is off by default', { auth_header: 'on' }, { auth_header: true }],
    [
      'addresses with their other stored fields',
      { devices: 'http://10.0.0.3\n\nhttp://10.0.0.4' },
      { devices: [{ url: 'http://10.0.0.3', password: '********' }, 'http://10.0.0.4'] },
    ],
    ['a cleared list of addresses', { devices: ' \n' }, { devices: null }],
  ])('returns %s', (_what, changes, expected) => {
    expect(submit(stored, changes)).toEqual(expected)
  })

  it('keeps the stored spelling of keys', () => {
    const aliased = { BASE_URL: 'https://10.0.0.1', TIMEOUT: 30, VERIFY_SSL: false }
    expect(submit(aliased)).toEqual({})
    expect(submit(aliased, { TIMEOUT: '5', VERIFY_SSL: 'on' })).toEqual({ TIMEOUT: 5, VERIFY_SSL: true })
  })

  it('does not change unreadable secrets and keys without a field', () => {
    const config = { shared_key: null, enabled: false }
    expect(submit(config)).toEqual({})
    expect(listUnshownKeys(config, all)).toEqual(['enabled'])
  })
})

it.each([
  [['shure', 'sennheiser'], null],
  [['a', 'b', 'b', 'a'], { key: '2.code', problem: 'expected every code once; b is repeated' }],
])('findRepeatedCode in %j returns the first repeated code', (codes, repeated) => {
  expect(findRepeatedCode(codes.map((code) => ({ code })))).toEqual(repeated)
})
