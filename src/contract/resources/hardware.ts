/** Receivers and transmitters as physical devices. */

import Type from 'typebox'
import { type Body, named, oneOf, text, textOrNull, wholeOrNull } from '../described.ts'
import { onlineStates, unitTypes } from '../values.ts'
import { TransmitterDetails } from './channels.ts'
import { id, ip, manufacturer } from './common.ts'
import { location } from './locations.ts'

const onlineState = oneOf(onlineStates, "`unknown` while the manufacturer's systems cannot be reached.")

export const Chassis = named('Chassis', 'A receiver as a physical device.', {
  id,
  name: text('As shown on the device.'),
  model: textOrNull("The manufacturer's model."),
  manufacturer,
  serial_number: textOrNull('Serial number.'),
  mac_address: textOrNull('MAC address.'),
  ip,
  status: onlineState,
  firmware_version: textOrNull('Firmware.'),
  location,
})
export type ChassisBody = Body<typeof Chassis>

export const Unit = named('Unit', 'A transmitter or an in-ear pack.', {
  id,
  name: textOrNull('Last reported name.'),
  device_type: oneOf(unitTypes, 'Type of the unit.'),
  model: textOrNull("The manufacturer's model."),
  manufacturer,
  battery_percentage: wholeOrNull('Percent.'),
  base_chassis: wholeOrNull('Id of the chassis that receives the unit or in which it is docked.'),
  channel: wholeOrNull('Number of the channel on that chassis.'),
  slot: wholeOrNull('Slot.'),
  status: onlineState,
  details: Type.Optional(TransmitterDetails),
})
export type UnitBody = Body<typeof Unit>

export const SiteUnit = named('SiteUnit', 'A transmitter that a channel of a site receives.', {
  ...Unit.properties,
  id: Type.Null({ description: 'Units of a site have no ids here.' }),
})
export type SiteUnitBody = Body<typeof SiteUnit>
