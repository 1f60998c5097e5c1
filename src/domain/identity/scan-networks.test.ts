import { expect, it } from 'vitest'
import { listScanNetworks } from './scan-networks.ts'

const at = (cidr: string, internal = false) => ({
  ...{ family: 'IPv4', internal, cidr },
  address: cidr.split('/')[0] ?? '',
})

it('lists each private network once, and of a large network the part around the address', () => {
  const interfaces = {
    lo: [at('127.0.0.1/8', true)],
    eth0: [at('192.168.1.20/24'), { ...at('fe80::1/64'), family: 'IPv6' }],
    eth1: [at('192.168.1.21/24'), at('10.20.30.40/8')],
    tunnel: [at('10.9.9.9/32')],
    none: undefined,
  }
  expect(listScanNetworks(interfaces, [])).toEqual(['192.168.1.0/24', '10.20.30.0/24'])
})

it('lists a public network only if the configuration allows it', () => {
  const interfaces = { eth0: [at('203.0.113.5/25')] }
  expect(listScanNetworks(interfaces, [])).toEqual([])
  expect(listScanNetworks(interfaces, ['203.0.113.0/24'])).toEqual(['203.0.113.0/25'])
})
