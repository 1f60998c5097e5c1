import { describe, expect, it } from 'vitest'
import { clientKey, isInNetwork, parseAddress, parseNetwork } from './address.ts'

describe('parseAddress', () => {
  it.each([
    ['10.0.0.1', [10, 0, 0, 1]],
    ['::ffff:10.0.0.1', [10, 0, 0, 1]],
    ['::1', [...new Array(15).fill(0), 1]],
    ['fe80::1%eth0', [0xfe, 0x80, ...new Array(13).fill(0), 1]],
    ['1:2:3:4:5:6:7:8', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
  ])('parses %s', (text, bytes) => expect(parseAddress(text)).toEqual(bytes))

  it.each([
    '',
    'unknown',
    '10.0.0',
    '10.0.0.256',
    '1::2::3',
    '1:2:3',
    ':::',
    '12345::',
    '10.0.0.1:80',
    '_hidden',
    '1.2.3.4::',
  ])('rejects %j', (text) => expect(parseAddress(text)).toBeNull())
})

describe('parseNetwork', () => {
  it.each([
    ['10.0.0.0/8', '10.200.3.4', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['192.168.4.0/22', '192.168.7.255', true],
    ['192.168.4.0/22', '192.168.8.0', false],
    ['0.0.0.0/0', '8.8.8.8', true],
    ['0.0.0.0/0', '::1', false],
    ['fd00::/8', 'fd12::9', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
  ])('%s contains %s: %s', (network, address, expected) => {
    const parsed = parseNetwork(network)
    expect(parsed && isInNetwork(parseAddress(address) ?? [], parsed)).toBe(expected)
  })

  it.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'loopback', 'fd00::/129'])('rejects %s', (text) =>
    expect(parseNetwork(text)).toBeNull(),
  )
})

it('clientKey is the same for all addresses of an IPv6 /64, and is the IPv4 address for a mapped address', () => {
  expect(clientKey('2001:db8:1:2:aaaa::1')).toBe(clientKey('2001:db8:1:2:bbbb:cccc:dddd:eeee'))
  expect(clientKey('2001:db8:1:2::1')).not.toBe(clientKey('2001:db8:1:3::1'))
  expect(clientKey('::ffff:10.1.2.3')).toBe('10.1.2.3')
})
