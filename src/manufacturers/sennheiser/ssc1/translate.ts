/** What a device that speaks SSC 1 told -> the common format. Pure. */

import type { DeviceReport } from '../../../model/receiver.ts'
import { maxNameChars, readMac, readText, withoutUndefined } from '../../../upstream/fields.ts'
import type { Partner } from '../dialogue.ts'
import { familyOf } from '../family.ts'
import { familyOfProduct, firstOf } from './families.ts'
import type { SscValues } from './family.ts'

export const idPrefix = 'ssc1:'

/** `channels`: those that the device has. */
export function toObservation(values: SscValues, at: Partner & { readonly channels: readonly number[] }): DeviceReport {
  const product = readText(values.get('/device/identity/product')) ?? null
  const serial = readText(values.get('/device/identity/serial')) || null
  const mac = readMac(firstOf(values.get('/device/network/ether/macs'))) ?? null
  const family = familyOfProduct(product ?? '')
  const id = idPrefix + (serial ?? mac ?? at.host)
  return withoutUndefined({
    id,
    kind: 'receiver',
    name: readText(values.get('/device/name'), maxNameChars) || at.name || product || at.host,
    device_type: familyOf(product ?? '') ?? (product ?? 'ssc').toLowerCase(),
    model_name: product,
    online: true,
    serial_number: serial,
    mac_address: mac,
    ip: at.ip,
    firmware_version: readText(values.get('/device/identity/version')),
    channels: at.channels.map((channel) => family?.readChannel?.(values, channel) ?? { channel }),
    units: family?.readUnits?.(values, id),
  })
}
