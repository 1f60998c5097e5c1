/** Converts the resources of an SSC 2 device to the common format. Pure. */

import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import type { DeviceEndpoint } from '../datagram-session.ts'
import { familyOfProduct } from './families.ts'
import type { Family } from './family.ts'
import { common } from './fields.ts'
import { firmwarePath, identityPath, property, type Resources, sitePath } from './resources.ts'

export const idPrefix = 'sscv2:'

export function productOf(resources: Resources): string {
  return common.product.read(property(resources, identityPath, 'product')) ?? ''
}

/** The serial number is the same on both network interfaces of a device. */
function serialOf(resources: Resources): string | null {
  const serial = common.serial.read(property(resources, identityPath, 'serial'))
  return serial && !/^0+$/.test(serial) ? serial : null
}

export function familyOfDevice(resources: Resources): Family | null {
  return familyOfProduct(productOf(resources))
}

export function deviceIdOf(resources: Resources, { host }: DeviceEndpoint): string {
  return idPrefix + (serialOf(resources) ?? host)
}

export function toDeviceReport(resources: Resources, endpoint: DeviceEndpoint): DeviceReport {
  const product = productOf(resources)
  const family = familyOfDevice(resources)
  const readSite = (name: 'deviceName' | 'location') => common[name].read(property(resources, sitePath, name))
  const id = deviceIdOf(resources, endpoint)
  const fault = family?.readFault(resources)
  return withoutUndefined<DeviceReport>({
    id,
    kind: 'receiver',
    name: readSite('deviceName') || endpoint.name || product || endpoint.host,
    device_type: family?.device_type ?? (product || 'ssc').toLowerCase(),
    model_name: family?.model ?? (product || null),
    online: true,
    serial_number: serialOf(resources),
    ip: endpoint.ip,
    description: readSite('location') || undefined,
    firmware_version: common.deviceVersion.read(property(resources, firmwarePath, 'deviceVersion')),
    details: fault === undefined ? undefined : { fault },
    channels: family?.readChannels(resources) ?? [],
    units: family?.readUnits?.(resources, id),
  })
}
