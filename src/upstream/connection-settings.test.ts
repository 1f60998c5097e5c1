import { describe, expect, test } from 'vitest'
import { ConfigError, parseConnection } from './connection-settings.ts'

const plain = {
  api_base_url: 'https://10.0.0.5:8443/',
  username: 'micwatch',
  password: 'secret',
  ssl_verify: false,
  timeout: 5,
  poll_interval: 3,
}
const upper = {
  BASE_URL: 'https://10.0.0.5:8443/',
  USERNAME: 'micwatch',
  PASSWORD: 'secret',
  VERIFY_SSL: false,
  TIMEOUT: 5,
  polling_interval: 3,
}
const url = { api_base_url: 'http://a' }
const noExtras = { isSystem: false, websocketUrl: null, fingerprint: null, name: null }

describe('the two notations', () => {
  // Conformance: S-2.23.
  test('are equal', () => {
    expect(parseConnection(upper)).toEqual(parseConnection(plain))
    expect(parseConnection(plain)).toEqual({
      addresses: [{ ...noExtras, isSystem: true, baseUrl: 'https://10.0.0.5:8443', secret: 'secret' }],
      username: 'micwatch',
      verifySsl: false,
      timeoutMs: 5000,
      rateLimit: { perSecond: 10, burst: 20 },
      isEnabled: true,
      pollIntervalSeconds: 3,
      streamTimeoutMs: 60_000,
      authHeader: null,
    })
  })

  // Conformance: C-1.14.
  test.each(Object.keys(plain))('may both give %s, if they agree', (key) => {
    const otherKey = Object.keys(upper)[Object.keys(plain).indexOf(key)] as keyof typeof upper
    expect(parseConnection({ ...plain, [otherKey]: upper[otherKey] })).toEqual(parseConnection(plain))
    const otherValue =
      typeof upper[otherKey] === 'boolean' ? true : typeof upper[otherKey] === 'number' ? 7 : 'http://other'
    expect(() => parseConnection({ ...plain, [otherKey]: otherValue })).toThrow(new RegExp(`^${key}: .*${otherKey}`))
  })

  test('may spell the same address differently', () => {
    const both = { BASE_URL: 'https://Mics.example/', api_base_url: 'https://mics.example' }
    expect(parseConnection(both).addresses).toEqual(parseConnection({ api_base_url: both.api_base_url }).addresses)
    expect(() => parseConnection({ ...both, BASE_URL: 'https://mics.example/a/' })).toThrow(/different values/)
  })

  // Conformance: S-8.4.
  test('have a default timeout of 10 seconds, or 30 seconds with BASE_URL', () => {
    expect(parseConnection(url).timeoutMs).toBe(10_000)
    expect(parseConnection({ BASE_URL: 'http://a' }).timeoutMs).toBe(30_000)
    expect(parseConnection({ BASE_URL: 'http://a', timeout: 2 }).timeoutMs).toBe(2000)
  })

  test('treat null as absent', () => {
    const empty = { username: null, websocket_url: null, shared_key: null, BASE_URL: null, TIMEOUT: null }
    expect(parseConnection({ ...url, ...empty })).toEqual(parseConnection(url))
  })
})

test('reads the secret from shared_key or password', () => {
  expect(parseConnection({ ...url, shared_key: 'k' }).addresses[0]?.secret).toBe('k')
  expect(parseConnection({ ...url, shared_key: 'k', password: 'k' }).addresses[0]?.secret).toBe('k')
  expect(() => parseConnection({ ...url, shared_key: 'k', PASSWORD: 'other' })).toThrow(/^shared_key: /)
})

// Conformance: C-1.19.
describe('a setting that is invalid in a header', () => {
  const key = { shared_key: 'k', auth_header: true }
  test.each([
    ['auth_header_name', { ...key, auth_header_name: 'X Key' }],
    ['auth_header_name', { ...key, auth_header_name: '' }],
    ['auth_header_name', { ...key, auth_header_name: 'X-Schlüssel' }],
    ['auth_header_name', { ...key, auth_header_name: 'Transfer-Encoding' }],
    ['auth_header_name', { ...key, auth_header_name: 'Sec-WebSocket-Key' }],
    ['shared_key', { ...key, shared_key: 'secret\n' }],
    ['shared_key', { shared_key: 'secret\r\n' }],
    ['shared_key', { ...key, shared_key: 'geheim€' }],
    ['shared_key', { ...key, shared_key: ' secret' }],
    ['password', { password: 'a\0b' }],
    ['PASSWORD', { PASSWORD: 'secret\n' }],
    ['username', { username: 'b€nutzer' }],
    ['username', { username: 'api\n' }],
    ['USERNAME', { USERNAME: 'b€nutzer' }],
    ['devices.0.password', { devices: [{ url: 'http://b', password: 'own\n' }] }],
    ['devices.0.password', { ...key, devices: [{ url: 'http://b', password: '€' }] }],
  ])('is rejected with its name: %s in %j', (name, config) => {
    const parse = () => parseConnection({ ...url, ...config })
    expect(parse).toThrow(ConfigError)
    expect(parse).toThrow(new RegExp(`^${name}: expected `))
  })

  test.each([
    { username: 'Bühne' },
    { shared_key: 'geheim €' },
    { ...key, shared_key: 'with spaces inside, and signs: "\\"' },
    { ...key, auth_header_name: 'X_Key.1' },
  ])('does not include %j', (config) => {
    expect(() => parseConnection({ ...url, ...config })).not.toThrow()
  })
})

// Conformance: C-3.19.
test('lists individual devices after the system, with optional passwords of their own', () => {
  const fingerprint = 'ab'.repeat(32)
  const devices = ['http://10.0.0.7', { url: 'https://10.0.0.8/', password: 'own', name: 'Stage', fingerprint }]
  expect(parseConnection({ ...url, password: 'shared', devices }).addresses).toEqual([
    { ...noExtras, isSystem: true, baseUrl: 'http://a', secret: 'shared' },
    { ...noExtras, baseUrl: 'http://10.0.0.7', secret: 'shared' },
    {
      ...noExtras,
      baseUrl: 'https://10.0.0.8',
      secret: 'own',
      name: 'Stage',
      fingerprint: Array(32).fill('AB').join(':'),
    },
  ])
  expect(parseConnection({ devices: [] }).addresses).toEqual([])
})

test.each([
  ['tcp://10.0.0.9', 'tcp://10.0.0.9:2202'],
  ['TCP://Stage-Left/', 'tcp://stage-left:2202'],
  ['udp://10.0.0.9:4000', 'udp://10.0.0.9:4000'],
  ['tcp://[fe80::1]', 'tcp://[fe80::1]:2202'],
])('normalizes %j of a device without HTTP to %s', (text, expected) => {
  const { addresses } = parseConnection({ devices: [text] }, { 'tcp:': 2202, 'udp:': 2202 })
  expect(addresses).toEqual([{ ...noExtras, baseUrl: expected, secret: '' }])
})

test.each([
  [{ devices: ['tcp://10.0.0.9'] }, /^devices\.0: .*http:\/\/ or https:\/\//],
  [{ devices: ['ssc1://10.0.0.9/rx1'] }, /^devices\.0: expected ssc1:\/\/host or ssc1:\/\/host:port/],
  [{ devices: [{ url: 'ssc1:///x' }] }, /^devices\.0\.url: /],
  [{ devices: [{ url: 'https://a', fingerprint: 'ab:cd' }] }, /^devices\.0\.fingerprint: .*64 hex digits/],
  [{ devices: [{ url: 'https://a', name: 7 }] }, /^devices\.0\.name: expected text/],
  [{ api_base_url: 'ssc1://10.0.0.9' }, /^api_base_url: /],
])('rejects an invalid device: %j', (config, message) => {
  expect(() => parseConnection(config, { 'ssc1:': 45 })).toThrow(message)
})

test.each([
  ['http://a/', 'http://a'],
  [' HTTP://A:80 ', 'http://a'],
  ['https://10.0.0.5:443/mics//', 'https://10.0.0.5/mics'],
])('normalizes %j to %s', (text, expected) => {
  expect(parseConnection({ api_base_url: text }).addresses[0]?.baseUrl).toBe(expected)
})

// Conformance: C-3.14.
test('sends the key header only when it is configured', () => {
  expect(parseConnection({ ...url, auth_header_name: 'X-Key' }).authHeader).toBeNull()
  expect(parseConnection({ ...url, auth_header: true }).authHeader).toBe('X-Vendor-Auth-Key')
  expect(parseConnection({ ...url, auth_header: true, auth_header_name: 'X-Key' }).authHeader).toBe('X-Key')
})

// Reliability: 3.12.7.
test.each<[Record<string, unknown>, string]>([
  [{ base_url: 'http://a' }, 'base_url'],
  [JSON.parse('{"__proto__": 1}'), '__proto__'],
  [{ api_base_url: 7 }, 'api_base_url'],
  [{ BASE_URL: 7 }, 'BASE_URL'],
  [{ api_base_url: '' }, 'api_base_url'],
  [{ api_base_url: '10.0.0.5' }, 'api_base_url'],
  [{ api_base_url: 'ftp://a' }, 'api_base_url'],
  [{ api_base_url: 'http://u:p@a' }, 'api_base_url'],
  [{ api_base_url: 'http://a/#x' }, 'api_base_url'],
  [{ api_base_url: 'http://a/?x=1' }, 'api_base_url'],
  [{ timeout: 0 }, 'timeout'],
  [{ timeout: 61 }, 'timeout'],
  [{ timeout: 2.5 }, 'timeout'],
  [{ TIMEOUT: '10' }, 'TIMEOUT'],
  [{ poll_interval: 1.5 }, 'poll_interval'],
  [{ calls_per_second: 0 }, 'calls_per_second'],
  [{ burst: 0.5 }, 'burst'],
  [{ ssl_verify: 'false' }, 'ssl_verify'],
  [{ VERIFY_SSL: 0 }, 'VERIFY_SSL'],
  [{ enabled: 'yes' }, 'enabled'],
  [{ websocket_url: 'file:///etc/passwd' }, 'websocket_url'],
  [{ websocket_url: 'http://[' }, 'websocket_url'],
  [{ websocket_url: 'ws://a:b@10.0.0.1/' }, 'websocket_url'],
  [{ websocket_url: 'ws://10.0.0.1/?token=x' }, 'websocket_url'],
  [{ devices: 'http://a' }, 'devices'],
  [{ devices: ['http://a', 7] }, 'devices.1'],
  [{ devices: [{ password: 'x' }] }, 'devices.0.url'],
  [{ devices: [{ url: 'http://a', password: 7 }] }, 'devices.0.password'],
  [{ devices: ['http://a', 'http://A:80/'] }, 'devices'],
])('rejects %j and names the key', (config, key) => {
  const parse = () => parseConnection(config)
  expect(parse).toThrow(ConfigError)
  expect(parse).toThrow(new RegExp(`^${key}: `))
})
