/** Converts the values of an SSC 1 device to the common format. Pure. */

import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { readMac, withoutUndefined } from '../../../upstream/fields.ts'
import type { DeviceEndpoint } from '../datagram-session.ts'
import { familyOf } from '../family.ts'
import { familyOfProduct } from './families.ts'
import type { SscValues } from './family.ts'
import { identity } from './fields.ts'

export const idPrefix = 'ssc1:'

/** `endpoint.channels` contains the numbers of the device's channels. */
export function toDeviceReport(
  values: SscValues,
  endpoint: DeviceEndpoint & { readonly channels: readonly number[] },
): DeviceReport {
  const product = identity.product.read(values.get('/device/identity/product')) ?? null
  const serial = identity.serial.read(values.get('/device/identity/serial')) || null
  const mac = readMac(identity.macs.read(values.get('/device/network/ether/macs'))) ?? null
  const family = familyOfProduct(product ?? '')
  const fault = family?.readFault?.(values)
  const id = idPrefix + (serial ?? mac ?? endpoint.host)
  return withoutUndefined({
    id,
    kind: 'receiver',
    name: identity.deviceName.read(values.get('/device/name')) || endpoint.name || product || endpoint.host,
    device_type: familyOf(product ?? '') ?? (product ?? 'ssc').toLowerCase(),
    model_name: product,
    online: true,
    serial_number: serial,
    mac_address: mac,
    ip: endpoint.ip,
    firmware_version: identity.version.read(values.get('/device/identity/version')),
    details: fault === undefined ? undefined : { fault },
    channels: endpoint.channels.map((channel) => family?.readChannel?.(values, channel) ?? { channel }),
    units: family?.readUnits?.(values, id),
  })
}
