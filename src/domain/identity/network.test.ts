import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  formatSubnet,
  hostAddresses,
  isInSubnet,
  listScanNetworks,
  parseIpv4,
  parseNetworkMode,
  parseScanAddresses,
  parseScanSubnet,
  parseSubnet,
  selectLocalAddresses,
} from './network.ts'

describe('parseIpv4', () => {
  test.each(['0.0.0.0', '10.0.0.1', '255.255.255.255', '192.168.100.20'])('parses %s', (text) => {
    expect(parseIpv4(text)).not.toBeNull()
  })

  test.each([
    '',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.01',
    '010.0.0.1',
    '0x0a.0.0.1',
    '167772161',
    '10.0.0.1.',
    ' 10.0.0.1',
    '::1',
    '10.0.0.-1',
  ])('rejects %j', (text) => expect(parseIpv4(text)).toBeNull())
})

describe('parseScanSubnet', () => {
  test.each([
    ['192.168.1.0/24', '192.168.1.0/24'],
    ['192.168.1.77/24', '192.168.1.0/24'],
    ['10.255.255.255/22', '10.255.252.0/22'],
    ['172.31.0.9/32', '172.31.0.9/32'],
    ['100.64.0.0/22', '100.64.0.0/22'],
    ['169.254.1.1/31', '169.254.1.0/31'],
  ])('parses %s as %s', (text, expected) => {
    const subnet = parseScanSubnet(text, [])
    expect('error' in subnet ? subnet : formatSubnet(subnet)).toBe(expected)
  })

  // Conformance: C-5.34.
  test.each([
    ['192.168.0.0/21', /1024 addresses/],
    ['10.0.0.0/8', /1024 addresses/],
    ['0.0.0.0/0', /1024 addresses/],
    ['8.8.8.0/24', /outside/],
    ['127.0.0.0/24', /outside/],
    ['172.32.0.0/24', /outside/],
    ['100.128.0.0/24', /outside/],
    ['224.0.0.0/24', /outside/],
    ['192.168.1.0', /CIDR/],
    ['192.168.1.0/33', /CIDR/],
    ['192.168.1.0/024', /CIDR/],
    ['192.168.1/24', /CIDR/],
    ['fd00::/120', /CIDR/],
    ['', /CIDR/],
    [' 10.0.0.0/24', /CIDR/],
    ['10.0.0.0/24\n', /CIDR/],
  ])('rejects %s', (text, reason) => {
    expect(parseScanSubnet(text, [])).toMatchObject({ error: expect.stringMatching(reason) })
  })

  // Conformance: C-1.9.
  test('accepts a network that is completely inside a configured range', () => {
    expect(parseScanSubnet('203.0.113.128/25', ['203.0.113.0/24'])).not.toHaveProperty('error')
    expect(parseScanSubnet('203.0.112.0/23', ['203.0.113.0/24'])).toHaveProperty('error')
    expect(parseScanSubnet('203.0.113.0/25', ['nonsense'])).toHaveProperty('error')
  })

  test('hostAddresses omits the network and broadcast addresses', () => {
    const hosts = (text: string) => hostAddresses(parseSubnet(text) ?? { first: 0, last: -1, prefix: 32 })
    expect(hosts('10.0.0.0/30')).toEqual(['10.0.0.1', '10.0.0.2'])
    expect(hosts('10.0.0.4/31')).toEqual(['10.0.0.4', '10.0.0.5'])
    expect(hosts('10.0.0.7/32')).toEqual(['10.0.0.7'])
    expect(hosts('10.0.0.0/22')).toHaveLength(1022)
    expect(hosts('10.0.0.0/22').at(-1)).toBe('10.0.3.254')
  })

  test('isInSubnet is true for exactly the addresses with the same prefix', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.ipV4(), (base, prefix, other) => {
        const subnet = parseSubnet(`${base}/${prefix}`)
        if (subnet === null) throw new Error(`${base}/${prefix}`)
        const bits = (text: string) => (parseIpv4(text) ?? 0).toString(2).padStart(32, '0').slice(0, prefix)
        expect(isInSubnet(subnet, base)).toBe(true)
        expect(isInSubnet(subnet, other)).toBe(bits(base) === bits(other))
      }),
    )
    expect(isInSubnet({ first: 0, last: 2 ** 32 - 1, prefix: 0 }, null)).toBe(false)
  })
})

test('parseScanAddresses removes duplicates and accepts private networks only', () => {
  expect(parseScanAddresses(['10.0.0.1', ' 10.0.0.2', '10.0.0.1'], [])).toEqual(['10.0.0.1', '10.0.0.2'])
  expect(parseScanAddresses(['10.0.0.1', '1.1.1.1'], [])).toHaveProperty('error')
  expect(parseScanAddresses(['10.0.0.x'], [])).toHaveProperty('error')
  expect(
    parseScanAddresses(
      Array.from({ length: 1025 }, (_, index) => `10.1.${index >> 8}.${index & 255}`),
      [],
    ),
  ).toHaveProperty('error')
})

test.each([
  ['DHCP', 'dhcp'],
  [' Static ', 'static'],
  ['auto', 'auto'],
  ['MANUAL', 'manual'],
  ['weird', null],
  ['', null],
  [1, null],
  [null, null],
])('parseNetworkMode(%j) is %j', (value, expected) => {
  expect(parseNetworkMode(value)).toBe(expected)
})

const at = (cidr: string, internal = false) => ({
  ...{ family: 'IPv4', internal, cidr },
  address: cidr.split('/')[0] ?? '',
})

const anyInterface = { include: [], exclude: [] }

// Conformance: C-21.54.
it('lists each private network once, and of a large network the part around the address', () => {
  const virtual = ['docker0', 'br-4f1c', 'veth9a', 'tun0', 'tap1', 'wg0', 'tailscale0', 'ztabc']
  const interfaces = {
    lo: [at('127.0.0.1/8', true)],
    eth0: [at('192.168.1.20/24'), { ...at('fe80::1/64'), family: 'IPv6' }],
    eth1: [at('192.168.1.21/24'), at('10.20.30.40/8')],
    tunnel: [at('10.9.9.9/32')],
    none: undefined,
    ...Object.fromEntries(virtual.map((name, index) => [name, [at(`172.20.${index}.1/24`)]])),
  }
  const addresses = selectLocalAddresses(interfaces, anyInterface)
  expect(listScanNetworks(addresses, [])).toEqual(['192.168.1.0/24', '10.20.30.0/24'])
})

it('lists a public network only if the configuration allows it', () => {
  const addresses = selectLocalAddresses({ eth0: [at('203.0.113.5/25')] }, anyInterface)
  expect(listScanNetworks(addresses, [])).toEqual([])
  expect(listScanNetworks(addresses, ['203.0.113.0/24'])).toEqual(['203.0.113.0/25'])
})

// Conformance: C-24.4.
describe('selectLocalAddresses', () => {
  const interfaces = {
    lo: [at('127.0.0.1/8', true)],
    eth0: [at('192.168.1.20/24')],
    eth1: [at('169.254.7.7/16')],
    docker0: [at('172.17.0.1/16')],
    Tailscale0: [at('100.64.0.9/32')],
  }
  test.each([
    ['leaves out containers and VPNs, and keeps link-local networks', {}, ['eth0', 'eth1']],
    ['uses the included interfaces alone', { include: ['eth1', 'docker*'] }, ['eth1', 'docker0']],
    ['leaves out the excluded ones', { exclude: ['eth0'] }, ['eth1']],
    ['leaves out one that is included and excluded', { include: ['eth*'], exclude: ['eth0'] }, ['eth1']],
    ['uses a virtual interface if there is no other', { exclude: ['eth*', 'tailscale0'] }, ['docker0']],
    ['uses nothing if no interface has an included name', { include: ['en9'] }, []],
  ])('%s', (_, choice, expected) => {
    const addresses = selectLocalAddresses(interfaces, { ...anyInterface, ...choice })
    expect(addresses.map(({ interfaceName }) => interfaceName)).toEqual(expected)
  })
})
