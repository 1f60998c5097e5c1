/** Placeholders: equipment without telemetry, and blank places on the wall. */

import { type Body, named, oneOf, text, textOrNull, whole } from '../described.ts'
import { placeholderKinds } from '../values.ts'
import { Condition } from './channels.ts'
import { id } from './common.ts'

export const Placeholder = named('Placeholder', 'Equipment without telemetry, or a blank place on the wall.', {
  id,
  slot: whole('Slot.'),
  name: text('Name; may be empty if `kind` is `blank`.'),
  kind: oneOf([...placeholderKinds], 'What is in the slot; `blank`: nothing is shown there.'),
  frequency: textOrNull('MHz with three decimals.'),
  note: text('Free text.'),
})
export type PlaceholderBody = Body<typeof Placeholder>

export const PlaceholderInData = named('PlaceholderInData', 'A placeholder with its condition.', {
  ...Placeholder.properties,
  condition: Condition,
})
export type PlaceholderInData = Body<typeof PlaceholderInData>
