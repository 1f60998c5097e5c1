/** Network scans and the devices that they found. */

import Type from 'typebox'
import { type Body, listOf, named, text, time, whole } from '../described.ts'
import { id, manufacturer } from './common.ts'
import { sourceErrors } from './health.ts'

const foundDeviceFields = {
  model: Type.Optional(text('Model; only present for devices that can be monitored individually.')),
  address: Type.Optional(
    text('Address to enter under `devices` in the configuration or, for a `system`, as `api_base_url`.'),
  ),
}

export const DiscoveredDevice = named(
  'DiscoveredDevice',
  'A device that a scan found and that is not a receiver yet.',
  {
    id,
    ip: text('IPv4 address.'),
    device_type: text('Model family.'),
    channels: whole('Number of channels.'),
    manufacturer,
    discovered_at: time('When it was first found.'),
    ...foundDeviceFields,
  },
)
export type DiscoveredDevice = Body<typeof DiscoveredDevice>

export const Scan = named('Scan', 'Result of a scan.', {
  discovered: whole('Number of devices.'),
  devices: listOf(
    Type.Object({
      ip: text('IPv4 address.'),
      device_type: text('Model family.'),
      channels: whole('Number of channels.'),
      manufacturer: Type.Optional(text('Code of the manufacturer; present if `address` is.')),
      ...foundDeviceFields,
    }),
    'Devices inside the subnet.',
  ),
  errors: sourceErrors,
})
export type ScanBody = Body<typeof Scan>

export const ScanNetworks = Type.Array(Type.String({ description: 'CIDR form.' }), {
  description: 'Networks of this machine that a scan accepts.',
})
