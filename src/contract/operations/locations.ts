/** Locations, and the administration of receivers. */

import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, LocalList, Scope, ScopedList } from '../queries.ts'
import { LocationChange, NewLocation, NewReceiver, ReceiverChange } from '../requests.ts'
import { Layout, Location } from '../resources/locations.ts'
import { ReceiverDetail } from '../resources/receivers.ts'

export const listLocations = endpoint('GET', '/api/admin/locations/', {
  ...operation('Review', 'listLocations', 'Locations.'),
  querystring: LocalList,
  response: { 200: pagedOf(Location) },
})

export const createLocation = endpoint('POST', '/api/admin/locations/', {
  ...operation('Review', 'createLocation', 'Adds a location.'),
  body: NewLocation,
  response: { 201: Location, 409: ErrorResponse },
})

export const changeLocation = endpoint('PATCH', '/api/admin/locations/:id/', {
  ...operation('Review', 'changeLocation', 'Changes a location.'),
  params: ById,
  body: LocationChange,
  response: { 200: Location, 409: ErrorResponse },
})

export const removeLocation = endpoint('DELETE', '/api/admin/locations/:id/', {
  ...operation('Review', 'removeLocation', 'Removes an empty location.'),
  params: ById,
  response: { 204: NoContent, 409: ErrorResponse },
})

export const getHardwareLayout = endpoint('GET', '/api/admin/hardware-layout/', {
  ...operation('Review', 'getHardwareLayout', 'Locations with their receivers and channels.'),
  querystring: Scope,
  response: { 200: Layout },
})

export const listReceiverDetails = endpoint('GET', '/api/admin/receivers/', {
  ...operation('Review', 'listReceiverDetails', 'All receivers with all known details.'),
  querystring: ScopedList,
  response: { 200: pagedOf(ReceiverDetail) },
})

export const createReceiver = endpoint('POST', '/api/admin/receivers/', {
  ...operation('Review', 'createReceiver', 'Adds a receiver that no system has reported.'),
  body: NewReceiver,
  response: { 201: ReceiverDetail, 409: ErrorResponse },
})

export const changeReceiver = endpoint('PATCH', '/api/admin/receivers/:id/', {
  ...operation(
    'Review',
    'changeReceiver',
    'Changes the name, address or location of a receiver. A new address or location is logged as a movement.',
  ),
  params: ById,
  body: ReceiverChange,
  response: { 200: ReceiverDetail, 409: ErrorResponse },
})

export const removeReceiver = endpoint('DELETE', '/api/admin/receivers/:id/', {
  ...operation('Review', 'removeReceiver', 'Removes a receiver.'),
  params: ById,
  response: { 204: NoContent, 409: ErrorResponse },
})
