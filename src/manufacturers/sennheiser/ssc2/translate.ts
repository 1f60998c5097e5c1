/** What a device that speaks SSC 2 told -> the common format. Pure. */

import type { DeviceReport } from '../../../model/receiver.ts'
import { maxNameChars, readText, withoutUndefined } from '../../../upstream/fields.ts'
import type { Partner } from '../dialogue.ts'
import { familyOfProduct } from './families.ts'
import type { Family } from './family.ts'
import { firmwarePath, identityPath, property, type Resources, sitePath } from './resources.ts'

export const idPrefix = 'sscv2:'

function productOf(known: Resources): string {
  return readText(property(known, identityPath, 'product')) ?? ''
}

/** The serial is what both network interfaces of a device have in common. Null where there is none to tell. */
function serialOf(known: Resources): string | null {
  const serial = readText(property(known, identityPath, 'serial'))
  return serial && !/^0+$/.test(serial) ? serial : null
}

export function familyOfDevice(known: Resources): Family | null {
  return familyOfProduct(productOf(known))
}

export function idOf(known: Resources, { host }: Partner): string {
  return idPrefix + (serialOf(known) ?? host)
}

export function toObservation(known: Resources, partner: Partner): DeviceReport {
  const product = productOf(known)
  const family = familyOfDevice(known)
  const site = (name: string) => readText(property(known, sitePath, name), maxNameChars)
  const id = idOf(known, partner)
  return withoutUndefined<DeviceReport>({
    id,
    kind: 'receiver',
    name: site('deviceName') || partner.name || product || partner.host,
    device_type: family?.device_type ?? (product || 'ssc').toLowerCase(),
    model_name: family?.model ?? (product || null),
    online: true,
    serial_number: serialOf(known),
    ip: partner.ip,
    description: site('location') || undefined,
    firmware_version: readText(property(known, firmwarePath, 'deviceVersion')),
    channels: family?.readChannels(known) ?? [],
    units: family?.readUnits?.(known, id),
  })
}
