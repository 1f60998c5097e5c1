import { describe, expect, it } from 'vitest'
import { MaskError, mask, maskSecrets, unmaskSecrets } from './secrets.ts'

const config = {
  api_base_url: 'https://10.0.0.1',
  shared_key: 'one',
  auth_header: true,
  devices: [
    { url: 'https://10.0.0.2', password: 'two' },
    { url: 'https://10.0.0.3', password: 'three' },
  ],
}

describe('secrets from outside', () => {
  // Conformance: C-5.57.
  // Reliability: 3.8.1.
  it('are masks, at any depth; flags are not secret', () => {
    const seen = maskSecrets(config)
    expect(seen).toEqual({
      ...config,
      shared_key: mask,
      devices: [
        { url: 'https://10.0.0.2', password: mask },
        { url: 'https://10.0.0.3', password: mask },
      ],
    })
    expect(unmaskSecrets(seen, config)).toEqual(config)
  })

  it('stay with their device when the list is put in another order', () => {
    const devices = [{ url: 'https://10.0.0.3', password: mask }]
    expect(unmaskSecrets({ devices }, config)).toEqual({ devices: [{ url: 'https://10.0.0.3', password: 'three' }] })
  })

  it('are refused where nothing is stored, and kept where what is stored cannot be read', () => {
    const devices = [{ url: 'https://10.0.0.4', password: mask }]
    expect(() => unmaskSecrets({ devices }, config)).toThrow(MaskError)
    expect(() => unmaskSecrets({ devices }, config)).toThrow('devices.0.password')
    expect(unmaskSecrets({ shared_key: mask }, { shared_key: null })).toEqual({ shared_key: null })
  })

  it('are masks under secret names only', () => {
    expect(unmaskSecrets({ username: mask }, {})).toEqual({ username: mask })
  })
})
