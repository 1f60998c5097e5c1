/** Chassis and units: receivers, transmitters and in-ear packs as physical devices. */

import Type from 'typebox'
import { TransmitterDetails } from './channels.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { location } from './locations.ts'
import {
  type Body,
  ById,
  id,
  idOf,
  ip,
  manufacturer,
  manufacturerFilter,
  named,
  oneOf,
  pagedOf,
  paging,
  query,
  Scope,
  sameValue,
  siteFilter,
  siteInsteadOfLocal,
  text,
  textOrNull,
  wholeOrNull,
} from './schema.ts'
import { onlineStates, unitTypes } from './values.ts'

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

const percent = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description })

const ChassisQuery = query({
  status: oneOf(onlineStates, sameValue),
  manufacturer: manufacturerFilter,
  site: siteFilter,
  ...paging,
})

export const UnitQuery = query({
  battery_percentage: percent('Only units with exactly this battery level.'),
  battery_percentage__gte: percent('Only units with at least this battery level.'),
  battery_percentage__lte: percent('Only units with at most this battery level.'),
  base_chassis: idOf('Id of a chassis, to return only units that it receives or that are docked in it.'),
  device_type: oneOf(unitTypes, sameValue),
  status: oneOf(onlineStates, sameValue),
  manufacturer: manufacturerFilter,
  site: siteInsteadOfLocal,
  ...paging,
})

export const hardwareOperations = operationsOf({
  listChassis: endpoint('GET', '/api/chassis/', {
    ...about('Hardware', 'Receivers as physical devices.'),
    querystring: ChassisQuery,
    response: { 200: pagedOf(Chassis) },
  }),

  getChassis: endpoint('GET', '/api/chassis/:id/', {
    ...about('Hardware', 'One receiver as a physical device.'),
    params: ById,
    querystring: Scope,
    response: { 200: Chassis },
  }),

  listUnits: endpoint('GET', '/api/units/', {
    ...about('Hardware', 'Transmitters and in-ear packs.'),
    querystring: UnitQuery,
    response: { 200: pagedOf(Type.Union([Unit, SiteUnit])) },
  }),

  getUnit: endpoint('GET', '/api/units/:id/', {
    ...about('Hardware', 'One transmitter or in-ear pack.'),
    params: ById,
    querystring: Scope,
    response: { 200: Unit },
  }),
})
