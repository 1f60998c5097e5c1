/** Placeholders: equipment without telemetry, and blank places on the wall. */

import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, LocalList } from '../queries.ts'
import { NewPlaceholder, PlaceholderChange } from '../requests.ts'
import { Placeholder } from '../resources/placeholders.ts'

export const listPlaceholders = endpoint('GET', '/api/placeholders/', {
  ...operation('Hardware', 'listPlaceholders', 'Equipment without telemetry, and blank places on the wall.'),
  querystring: LocalList,
  response: { 200: pagedOf(Placeholder) },
})

export const getPlaceholder = endpoint('GET', '/api/placeholders/:id/', {
  ...operation('Hardware', 'getPlaceholder', 'One placeholder.'),
  params: ById,
  response: { 200: Placeholder },
})

export const createPlaceholder = endpoint('POST', '/api/placeholders/', {
  ...operation('Hardware', 'createPlaceholder', 'Adds a placeholder; without `slot`, in the next free slot.'),
  body: NewPlaceholder,
  response: { 201: Placeholder, 409: ErrorResponse },
})

export const changePlaceholder = endpoint('PATCH', '/api/placeholders/:id/', {
  ...operation('Hardware', 'changePlaceholder', 'Changes the given fields of a placeholder.'),
  params: ById,
  body: PlaceholderChange,
  response: { 200: Placeholder, 409: ErrorResponse },
})

export const removePlaceholder = endpoint('DELETE', '/api/placeholders/:id/', {
  ...operation('Hardware', 'removePlaceholder', 'Removes a placeholder.'),
  params: ById,
  response: { 204: NoContent },
})
