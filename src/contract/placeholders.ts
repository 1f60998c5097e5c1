/** Placeholders: equipment without telemetry, and blank places on the wall. */

import Type from 'typebox'
import { Condition } from './channels.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  choiceOf,
  id,
  LocalList,
  NoContent,
  named,
  nullable,
  oneOf,
  optional,
  pagedOf,
  slot,
  text,
  textOrNull,
  version,
  whole,
} from './schema.ts'
import { placeholderKinds } from './values.ts'

export const Placeholder = named('Placeholder', 'Equipment without telemetry, or a blank place on the wall.', {
  id,
  slot: whole('Slot.'),
  name: text('Name, which is the `label` of the slot; may be empty.'),
  kind: oneOf(placeholderKinds, 'Content of the slot; `blank`: nothing is shown there.'),
  frequency: textOrNull('Planned frequency, MHz with three decimals.'),
  note: text('The note of the slot.'),
  version,
})
export type PlaceholderBody = Body<typeof Placeholder>

export const PlaceholderInData = named('PlaceholderInData', 'A placeholder with its condition.', {
  ...Placeholder.properties,
  condition: Condition,
})
export type PlaceholderInData = Body<typeof PlaceholderInData>

export const placeholderKind = choiceOf(placeholderKinds)

export const placeholderFields = {
  name: Type.Optional(boundedText(0, 255)),
  frequency: Type.Optional(
    nullable(
      Type.String({ pattern: '^[1-9]\\d{0,4}\\.\\d{3}$' }),
      'text with a frequency in MHz with three decimals, such as 470.300',
    ),
  ),
  note: Type.Optional(boundedText(0, 4096)),
}

const placeholder = { kind: placeholderKind, slot: Type.Optional(slot), ...placeholderFields }
const NewPlaceholder = body(placeholder)
const PlaceholderChange = body(optional(placeholder))

export const placeholderOperations = operationsOf({
  listPlaceholders: endpoint('GET', '/api/placeholders/', {
    ...about('Hardware', 'Equipment without telemetry, and blank places on the wall.'),
    querystring: LocalList,
    response: { 200: pagedOf(Placeholder) },
  }),

  getPlaceholder: endpoint('GET', '/api/placeholders/:id/', {
    ...about('Hardware', 'One placeholder.'),
    params: ById,
    response: { 200: Placeholder },
  }),

  createPlaceholder: endpoint('POST', '/api/placeholders/', {
    ...about('Hardware', 'Adds a placeholder; without `slot`, in the next free slot.'),
    body: NewPlaceholder,
    response: { 201: Placeholder, 409: ErrorResponse },
  }),

  changePlaceholder: endpoint('PATCH', '/api/placeholders/:id/', {
    ...about('Hardware', 'Changes the given fields of a placeholder.'),
    params: ById,
    body: PlaceholderChange,
    response: { 200: Placeholder, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removePlaceholder: endpoint('DELETE', '/api/placeholders/:id/', {
    ...about('Hardware', 'Removes a placeholder.'),
    params: ById,
    response: { 204: NoContent, 412: ErrorResponse },
  }),
})
