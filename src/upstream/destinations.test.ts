import { describe, expect, it } from 'vitest'
import { createDestinations, isHostBlocked, withoutLinkLocal } from './destinations.ts'

// Reliability: 1.15, 3.9.1.
describe('blocked destinations', () => {
  const destinations = createDestinations()
  destinations.blockListener('127.0.0.1', 8080)
  destinations.blockListener('::', 9090)

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '::ffff:0:a9fe:a9fe',
    '::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2001:0:7f00:1::5601:5601',
    '2001:db8::5efe:a9fe:a9fe',
    'fe80::200:5efe:169.254.169.254',
    '64:ff9b:1:a9fe:a9:fe00::',
    '64:ff9b:1:a9:fe:a9fe::',
    '64:ff9b:1:0:a9:fea9:fe00::',
    '2001:db8:64::a9fe:a9fe',
    'fe80::a9fe:a9fe%eth0',
    '169.254.170.23',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '192.0.0.192',
    '64:ff9b::c000:c0',
    'fd00:ec2::23',
    'fd00:ec2:ffff::1',
    'fd20:ce::254',
    'fd20:ce:0:0:1::',
    '0:0:0:0:0:FFFF:A9FE:A9FE',
    '224.0.0.251',
    'ff02::fb',
    '255.255.255.255',
    '0.0.0.0',
    '0.1.2.3',
    '::',
  ])('%s', (address) => expect(destinations.isBlocked(address, 80)).toBe(true))

  it.each([
    '127.0.0.1',
    '::1',
    '169.254.17.3',
    '10.0.0.7',
    '192.168.1.20',
    'fe80::1',
    'fe80::5efe:169.254.17.3',
    'fd00::7',
    'fd00:ec3::1',
    'fd20:ce:0:1::254',
    '64:ff9b:1::a00:7',
    '168.63.129.17',
    '8.8.8.8',
  ])('do not include %s', (address) => expect(destinations.isBlocked(address, 80)).toBe(false))

  // Reliability: 3.9.3.
  it.each(['169.254.17.3', 'fe80::1', '::ffff:169.254.17.3', 'fd00::5efe:a9fe:1103', '64:ff9b::a9fe:1103'])(
    'include the link-local address %s for services',
    (address) => expect(withoutLinkLocal(destinations).isBlocked(address, 80)).toBe(true),
  )

  it('include the addresses on which this process listens', () => {
    expect(destinations.isBlocked('127.0.0.1', 8080)).toBe(true)
    expect(destinations.isBlocked('::ffff:127.0.0.1', 8080)).toBe(true)
    expect(destinations.isBlocked('fd00::5efe:127.0.0.1', 8080)).toBe(true)
    expect(destinations.isBlocked('127.0.0.1', 8081)).toBe(false)
    expect(destinations.isBlocked('127.0.0.1', 9090)).toBe(true)
    expect(destinations.isBlocked('10.255.255.254', 9090)).toBe(false)
  })

  it('include names that resolve to a blocked address', async () => {
    expect(await isHostBlocked(destinations, new URL('http://localhost:9090'))).toBe(true)
    expect(await isHostBlocked(destinations, new URL('http://localhost:9091'))).toBe(false)
    expect(await isHostBlocked(destinations, new URL('http://no-such-name.invalid'))).toBe(false)
  })
})
