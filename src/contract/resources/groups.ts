/** Groups of slots. */

import Type from 'typebox'
import { type Body, flag, listOf, named, text, textOrNull } from '../described.ts'
import { id } from './common.ts'

export const Group = named('Group', 'Slots that are shown together.', {
  id,
  title: text('Heading.'),
  slots: listOf(Type.Integer(), 'Slots in the group.'),
  hide_charts: flag('True if charts are hidden.'),
  zone: textOrNull('Zone of its channels and placeholders; carriers in different zones make no intermodulation.'),
  manufacturer: textOrNull('Code of the manufacturer to which the group belongs.'),
})
export type Group = Body<typeof Group>
