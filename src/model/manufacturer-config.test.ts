import { describe, expect, it } from 'vitest'
import {
  type ConfigKey,
  changedConfig,
  fieldValue,
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

/** The form as it stands before anybody types, with these fields typed over. */
const form = (config: Record<string, unknown>, over: Record<string, string | null> = {}) => {
  const values = all.map((key) => {
    const isBox = key === 'ssl_verify' || key === 'auth_header'
    const value = isBox ? (isChecked(config, key) ? 'on' : null) : fieldValue(config, key)
    return [resolveKey(config, key), value] as const
  })
  const typed = { ...Object.fromEntries(values), ...over }
  return changedConfig(config, all, (name) => typed[name] ?? null)
}

describe('a form', () => {
  it.each([
    ['nothing', {}, {}],
    ['an address', { api_base_url: ' https://10.0.0.9 ' }, { api_base_url: 'https://10.0.0.9' }],
    ['a number', { timeout: '7' }, { timeout: 7 }],
    ['what is no number', { timeout: 'long' }, { timeout: 'long' }],
    ['an emptied field', { timeout: '' }, { timeout: null }],
    ['a secret', { shared_key: 'new' }, { shared_key: 'new' }],
    ['a box that was ticked without being told', { ssl_verify: null }, { ssl_verify: false }],
    ['a box that was not', { auth_header: 'on' }, { auth_header: true }],
    [
      'addresses, keeping what else is known of them',
      { devices: 'http://10.0.0.3\n\nhttp://10.0.0.4' },
      { devices: [{ url: 'http://10.0.0.3', password: '********' }, 'http://10.0.0.4'] },
    ],
    ['no addresses any more', { devices: ' \n' }, { devices: null }],
  ])('sends %s', (_what, over, change) => {
    expect(form(stored, over)).toEqual(change)
  })

  it('keeps to the form in which it is stored', () => {
    const other = { BASE_URL: 'https://10.0.0.1', TIMEOUT: 30, VERIFY_SSL: false }
    expect(form(other)).toEqual({})
    expect(form(other, { TIMEOUT: '5', VERIFY_SSL: 'on' })).toEqual({ TIMEOUT: 5, VERIFY_SSL: true })
  })

  it('leaves what cannot be read, and what it does not show', () => {
    const config = { shared_key: null, enabled: false }
    expect(form(config)).toEqual({})
    expect(listUnshownKeys(config, all)).toEqual(['enabled'])
  })
})
