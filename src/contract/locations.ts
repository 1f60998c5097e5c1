import Type from 'typebox'
import { TransmitterDetails } from './channels.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  coordinates,
  countryCode,
  flag,
  id,
  LocalList,
  listOf,
  manufacturer,
  NoContent,
  name,
  named,
  nullable,
  optional,
  orNull,
  pagedOf,
  recordId,
  Scope,
  text,
  textOrNull,
  version,
  whole,
  wholeOrNull,
  zone,
} from './schema.ts'

export const LocationReference = named('LocationReference', 'A location in another record.', {
  id,
  name: text('Name of the location.'),
})
export type LocationReference = Body<typeof LocationReference>

export const location = orNull(LocationReference, 'Its location.')

const locationProperties = {
  id,
  name: text('Name.'),
  description: text('Free text.'),
  zone: textOrNull('Zone of its contents; carriers in different zones do not intermodulate.'),
  country: textOrNull('Code of its country (ISO 3166-1 alpha-2).'),
  latitude: orNull(Type.Number(), 'Degrees; north is positive.'),
  longitude: orNull(Type.Number(), 'Degrees; east is positive.'),
  version,
}

export const Location = named('Location', 'A location.', {
  ...locationProperties,
  parent: wholeOrNull('Id of the location that contains it.'),
})
export type Location = Body<typeof Location>

const LayoutReceiver = named('LayoutReceiver', 'A receiver in the layout.', {
  id,
  name: text('As shown on the device.'),
  manufacturer,
  device_type: text('Model family.'),
  model: textOrNull("The manufacturer's model."),
  ip: textOrNull('IPv4 address.'),
  is_active: flag('False while it is offline.'),
  channels: listOf(
    Type.Object({
      id,
      channel: whole('Number of the channel on its receiver.'),
      slot: whole('Slot.'),
      name: textOrNull('As shown on the device.'),
    }),
    'By number.',
  ),
  units: listOf(
    Type.Object({
      id,
      name: textOrNull('Last reported name.'),
      battery: wholeOrNull('Percent.'),
      is_online: flag('False while it is offline.'),
      details: orNull(TransmitterDetails, 'Additional values that some equipment reports.'),
    }),
    'Units that the device reports but does not receive on a channel: docked transmitters and in-ear packs.',
  ),
})
export type LayoutReceiver = Body<typeof LayoutReceiver>

const LayoutLocation = Type.Cyclic(
  {
    LayoutLocation: named('LayoutLocation', 'A location with its contents.', {
      ...locationProperties,
      receivers: listOf(LayoutReceiver, 'Receivers in this location.'),
      locations: listOf(Type.Ref('LayoutLocation'), 'Locations inside this one.'),
    }),
  },
  'LayoutLocation',
)
export type LayoutLocation = Body<typeof LayoutLocation>

export const Layout = named('HardwareLayout', 'Locations with their receivers and channels.', {
  locations: listOf(LayoutLocation, 'Top-level locations.'),
  unplaced: listOf(LayoutReceiver, 'Receivers without a location.'),
})
export type HardwareLayout = Body<typeof Layout>

export const locationFields = {
  description: Type.Optional(boundedText(0, 2000)),
  zone: Type.Optional(zone),
  country: Type.Optional(nullable(countryCode, 'a country code of two letters, such as DE')),
  latitude: Type.Optional(nullable(coordinates.latitude, 'degrees from -90 to 90')),
  longitude: Type.Optional(nullable(coordinates.longitude, 'degrees from -180 to 180')),
}
export const locationId = nullable(recordId, 'the id of a location')
const givenLocation = { name, parent: Type.Optional(locationId), ...locationFields }
const NewLocation = body(givenLocation)
const LocationChange = body(optional(givenLocation))

export const locationOperations = operationsOf({
  listLocations: endpoint('GET', '/api/admin/locations/', {
    ...about('Review', 'Locations.'),
    querystring: LocalList,
    response: { 200: pagedOf(Location) },
  }),

  createLocation: endpoint('POST', '/api/admin/locations/', {
    ...about('Review', 'Adds a location.'),
    body: NewLocation,
    response: { 201: Location, 409: ErrorResponse },
  }),

  changeLocation: endpoint('PATCH', '/api/admin/locations/:id/', {
    ...about('Review', 'Changes a location.'),
    params: ById,
    body: LocationChange,
    response: { 200: Location, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeLocation: endpoint('DELETE', '/api/admin/locations/:id/', {
    ...about('Review', 'Removes an empty location.'),
    params: ById,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),

  getHardwareLayout: endpoint('GET', '/api/admin/hardware-layout/', {
    ...about('Review', 'Locations with their receivers and channels.'),
    querystring: Scope,
    response: { 200: Layout },
  }),
})
