import { describe, expect, it } from 'vitest'
import {
  listMovedSecrets,
  listSecrets,
  MaskError,
  mask,
  maskSecrets,
  refuseMovedSecrets,
  unmaskSecrets,
} from './secrets.ts'

const config = {
  api_base_url: 'https://10.0.0.1',
  shared_key: 'one',
  auth_header: true,
  devices: [
    { url: 'https://10.0.0.2', password: 'two' },
    { url: 'https://10.0.0.3', password: 'three' },
  ],
}

describe('secrets', () => {
  // Conformance: C-5.57.
  // Reliability: 3.8.1.
  it('are masked at any depth, except for flags', () => {
    const masked = maskSecrets(config)
    expect(masked).toEqual({
      ...config,
      shared_key: mask,
      devices: [
        { url: 'https://10.0.0.2', password: mask },
        { url: 'https://10.0.0.3', password: mask },
      ],
    })
    expect(unmaskSecrets(masked, config)).toEqual(config)
  })

  it('stay with their device if the order of the list changes', () => {
    const devices = [{ url: 'https://10.0.0.3', password: mask }]
    expect(unmaskSecrets({ devices }, config)).toEqual({ devices: [{ url: 'https://10.0.0.3', password: 'three' }] })
  })

  it('are rejected if given as ******** while no value is stored, and kept if the stored value is unreadable', () => {
    const devices = [{ url: 'https://10.0.0.4', password: mask }]
    expect(() => unmaskSecrets({ devices }, config)).toThrow(MaskError)
    expect(() => unmaskSecrets({ devices }, config)).toThrow('devices.0.password')
    expect(unmaskSecrets({ shared_key: mask }, { shared_key: null })).toEqual({ shared_key: null })
  })

  it('are masked only under secret names', () => {
    expect(unmaskSecrets({ username: mask }, {})).toEqual({ username: mask })
  })
})

describe('stored secrets', () => {
  const use = (origin: string, secret = 'one') => ({ key: 'shared_key', secret, origin })
  const before = [use('https://10.0.0.1'), use('https://10.0.0.2', 'two')]

  it('are listed with their keys, without those that are masked', () => {
    expect(listSecrets({ ...config, shared_key: mask })).toEqual([
      { key: 'devices.0.password', secret: 'two' },
      { key: 'devices.1.password', secret: 'three' },
    ])
  })

  // Reliability: 3.8.6.
  it.each([
    ['http://10.0.0.1', 'one'],
    ['https://10.0.0.3', 'one'],
    ['https://10.0.0.1:8443', 'one'],
    ['https://10.0.0.1', 'two'],
  ])('are not sent to %s with the value %s', (origin, secret) => {
    const after = [use(origin, secret)]
    expect(listMovedSecrets({ before, after, entered: [] })).toEqual(after)
    expect(listMovedSecrets({ before, after, entered: [{ key: 'password', secret }] })).toEqual([])
    expect(() => refuseMovedSecrets({ before, after, entered: [] })).toThrow(
      `shared_key: enter it again, because the stored value was not entered for ${origin}`,
    )
  })

  // Reliability: 3.8.6.
  it('are sent to the addresses for which they were entered', () => {
    expect(listMovedSecrets({ before, after: before.slice(1), entered: [] })).toEqual([])
  })
})
